"""The codec by itself: what goes in comes out, what is wrong is a CodecError that says where."""

from __future__ import annotations

import contextlib
import importlib
import random
import re
import struct
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_protocol import (
    API,
    CodecError,
    decode,
    decode_prefix,
    decode_request,
    encode,
    encode_request,
    encode_response,
    messages,
    schema_of,
    surgery,
)
from kafka_protocol.explaining import explain_decoding
from kafka_protocol.frames import RequestHeader, decode_request_header, encode_request_header, response_body_offset
from kafka_protocol.messages import keys
from kafka_protocol.schema import Schema
from tests.codec.breaking import Places, broken
from tests.codec.chance import Chance

SCHEMAS: list[Schema] = [
    schema
    for module in sorted(set(messages.MODULES.values()))
    for schema in importlib.import_module(f"kafka_protocol.messages.{module}").SCHEMAS.values()
]
EVERY_VERSION = [
    (schema, version) for schema in SCHEMAS for version in range(schema.versions[0], schema.versions[1] + 1)
]


def test_every_client_facing_api_is_there_from_version_zero() -> None:
    assert {0, 1, 3, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 28, 36, 60, 68, 69, 78, 79} <= API.keys()
    for api in API.values():
        assert schema_of(api.request).versions == schema_of(api.response).versions == api.versions
    since_zero = {key for key, api in API.items() if api.versions[0] == 0}
    # ShareGroup* began as unstable versions that no release ever served.
    assert API.keys() - since_zero <= {76, 77, 78, 79, 80, 83, 84, 85, 86, 87}


@pytest.mark.parametrize("tags", [False, True])
def test_what_is_encoded_decodes_to_the_same_in_every_version(tags: bool) -> None:
    chance = Chance(1)
    for schema, version in EVERY_VERSION:
        message = chance.message(schema, version, tags)
        written = encode(message, version)
        read = decode(type(message), version, written)
        assert read == message, f"{schema.name} v{version}"
        assert encode(read, version) == written


def test_every_cut_of_a_message_is_an_error_that_names_message_and_offset() -> None:
    chance = Chance(2)
    for schema, version in EVERY_VERSION:
        written = encode(chance.message(schema, version, tags=True), version)
        for end in {0, len(written) // 3, len(written) // 2, len(written) - 1}:
            if 0 <= end < len(written):
                with pytest.raises(CodecError, match=rf"{schema.name} v{version}, .* at byte \d+"):
                    decode(getattr(messages, schema.name), version, written[:end])


def test_a_byte_too_many_is_an_error() -> None:
    body = encode(messages.HeartbeatRequest(group_id="g"), 4)
    with pytest.raises(CodecError, match=r"HeartbeatRequest v4, as a whole at byte \d+: 1 bytes are left over"):
        decode(messages.HeartbeatRequest, 4, body + b"\0")


def test_an_error_names_the_field_within_its_lists() -> None:
    broken = bytearray(encode(messages.JoinGroupRequest(group_id="g", protocols=[_protocol("a"), _protocol("b")]), 5))
    broken[broken.rindex(b"b") - 1] = 0xFF
    with pytest.raises(CodecError, match=r"protocols\[1\]\.name at byte \d+: 255 bytes are needed, 5 are left"):
        decode(messages.JoinGroupRequest, 5, bytes(broken))


def test_an_error_behind_ten_thousand_fields_is_not_looked_for() -> None:
    """It would take seconds in 4 MB, in which nobody else is heard."""
    leavers = [messages.LeaveGroupRequestMemberIdentity() for _ in range(4_000)]
    few, many = (encode(messages.LeaveGroupRequest(members=each), 4) for each in (leavers[:2_000], leavers))
    with pytest.raises(CodecError, match=r"as a whole at byte 6004: 1 bytes are left over"):
        decode(messages.LeaveGroupRequest, 4, few + b"x")
    with pytest.raises(
        CodecError, match=r"members\[3332\]\.group_instance_id at byte 10000: something is wrong behind this"
    ):
        decode(messages.LeaveGroupRequest, 4, many + b"x")
    tagged = encode(messages.HeartbeatRequest(unknown_tags=tuple((n, b"") for n in range(10_001))), 4)
    with pytest.raises(CodecError, match=r"as a whole at byte \d+: something is wrong behind this"):
        decode(messages.HeartbeatRequest, 4, tagged + b"x")


def test_an_error_in_a_prefix_names_the_place_that_the_whole_would() -> None:
    brokers = [messages.MetadataResponseBroker(host="h" * 5), messages.MetadataResponseBroker(host="h" * 40)]
    for version in range(14):
        body = encode(messages.MetadataResponse(brokers=brokers), version)
        cut = body[: body.index(b"h" * 40) + 8]
        said = []
        for read in (decode, _front_of_metadata):
            with pytest.raises(
                CodecError, match=r"brokers\[1\]\.host at byte \d+: 40 bytes are needed, 8 are left"
            ) as error:
                read(messages.MetadataResponse, version, cut)
            said.append(str(error.value))
        assert said[0] == said[1]


def _front_of_metadata(_: type, version: int, body: bytes) -> object:
    return surgery.split_metadata(body, version)


@pytest.mark.parametrize("version", [3, 4])
def test_what_is_not_utf8_is_read_as_kafka_reads_it(version: int) -> None:
    body = encode(messages.HeartbeatRequest(group_id="caf?", member_id="m"), version).replace(b"?", b"\xe9")
    assert decode(messages.HeartbeatRequest, version, body).group_id == "caf\N{REPLACEMENT CHARACTER}"
    header = encode_request_header(RequestHeader(12, version, 1, "caf?")).replace(b"?", b"\xe9")
    assert decode_request_header(header)[0].client_id == "caf\N{REPLACEMENT CHARACTER}"


@pytest.mark.parametrize("surrogate", [b"\xed\xa0\x80", b"\xed\xbf"])
def test_a_surrogate_is_one_letter_that_is_none_as_to_kafka(surrogate: bytes) -> None:
    """Not three: the group would be another one to the broker."""
    written = encode(messages.HeartbeatRequest(group_id="caf" + "?" * len(surrogate)), 3)
    read = decode(messages.HeartbeatRequest, 3, written.replace(b"?" * len(surrogate), surrogate))
    assert read.group_id == "caf\N{REPLACEMENT CHARACTER}"


# PyPI's kafka-protocol 0.1 writes the first.
@pytest.mark.parametrize("length", [b"\xff\xff\xff\xff\x0f", b"\x83\x80\x80\x80\x78", b"\x81\x80\x80\x80\x08"])
def test_a_negative_length_that_is_compact_is_null_where_null_may_be(length: bytes) -> None:
    sound = encode(messages.HeartbeatRequest(group_id="g", member_id="m"), 4)
    assert sound.endswith(b"m\0\0")
    assert decode(messages.HeartbeatRequest, 4, sound[:-2] + length + b"\0").group_instance_id is None
    with pytest.raises(CodecError, match="group_id at byte 5: null where null may not be"):
        decode(messages.HeartbeatRequest, 4, length + sound[2:])


@pytest.mark.parametrize("length", [-1, -2, -(2**15)])
def test_any_negative_length_is_null_where_null_may_be(length: int) -> None:
    written = struct.pack(">h", length)
    sound = encode(messages.HeartbeatRequest(group_id="g", member_id="m"), 3)
    assert decode(messages.HeartbeatRequest, 3, sound[:-2] + written).group_instance_id is None
    with pytest.raises(CodecError, match="group_id at byte 2: null where null may not be"):
        decode(messages.HeartbeatRequest, 3, written + sound[3:])
    topics = struct.pack(">i", length * 2**16)
    assert decode(messages.MetadataRequest, 1, topics).topics is None
    header = encode_request_header(RequestHeader(12, 3, 1, None))
    assert decode_request_header(header[:-2] + written) == (RequestHeader(12, 3, 1, None), len(header))


def test_any_negative_marker_is_a_null_struct() -> None:
    sound = encode(messages.ConsumerGroupHeartbeatResponse(member_id="m", assignment=None), 0)
    assert sound.endswith(b"\xff\0")
    for marker in (b"\x80", b"\xfe"):
        assert decode(messages.ConsumerGroupHeartbeatResponse, 0, sound[:-2] + marker + b"\0").assignment is None


@pytest.mark.parametrize("version", [0, 3, 4])
def test_of_a_request_nobody_looks_at_what_is_behind_its_last_field(version: int) -> None:
    request = messages.HeartbeatRequest(group_id="g", generation_id=5, member_id="m")
    frame = encode_request(keys.HEARTBEAT, version, 7, "a client", request)
    assert decode_request(frame + b"more") == decode_request(frame)
    for end in range(len(frame)):
        with pytest.raises(CodecError, match=r"^(HeartbeatRequest|RequestHeader) v"):
            decode_request(frame[:end])


def test_a_string_has_32767_bytes_at_most_in_every_version() -> None:
    for version in (3, 4):
        longest = messages.HeartbeatRequest(group_id="g" * 32_767)
        assert decode(messages.HeartbeatRequest, version, encode(longest, version)) == longest
        with pytest.raises(CodecError, match="group_id: longer than 32,767 bytes"):
            encode(messages.HeartbeatRequest(group_id="g" * 32_768), version)
    # 32,768 and one, as a varint.
    too_long = b"\x81\x80\x02" + b"g" * 32_768 + b"\0\0\0\0\1\0\0"
    with pytest.raises(CodecError, match="group_id at byte 3: a string of 32,768 bytes, of at most 32,767"):
        decode(messages.HeartbeatRequest, 4, too_long)
    # What is not UTF-8 is longer when it is written again.
    grows = encode(messages.HeartbeatRequest(group_id="?" * 20_000), 3).replace(b"?", b"\xe9")
    with pytest.raises(CodecError, match="group_id at byte 2: a string of 60,000 bytes, of at most 32,767"):
        decode(messages.HeartbeatRequest, 3, grows)
    header = encode_request_header(RequestHeader(12, 3, 1, "?" * 20_000)).replace(b"?", b"\xe9")
    with pytest.raises(CodecError, match="RequestHeader v3, client_id of api 12 at byte 10: too long a string"):
        decode_request_header(header)


def _protocol(name: str) -> messages.JoinGroupRequestProtocol:
    return messages.JoinGroupRequestProtocol(name=name)


def test_a_list_longer_than_its_bytes_is_refused_before_memory_is_taken() -> None:
    with pytest.raises(CodecError, match="2147483647 elements in 0 bytes"):
        decode(messages.MetadataRequest, 1, b"\x7f\xff\xff\xff")


@pytest.mark.parametrize(
    ("message", "version", "reason"),
    [
        (messages.HeartbeatRequest(group_id=None), 4, "group_id: null where null may not be"),  # type: ignore[arg-type]
        (messages.HeartbeatRequest(generation_id=2**31), 4, "generation_id"),
        (messages.HeartbeatRequest(group_id=7), 0, "group_id: 7 is no string"),  # type: ignore[arg-type]
        (
            messages.JoinGroupRequest(protocols=[messages.JoinGroupRequestProtocol(metadata=None)]),  # type: ignore[arg-type]
            5,
            "protocols.metadata",
        ),
        (messages.HeartbeatRequest(), 9, "versions 0 to 4 are known"),
    ],
)
def test_what_can_not_be_written_is_an_error_that_names_the_field(message: object, version: int, reason: str) -> None:
    with pytest.raises(CodecError, match=re.escape(reason)):
        encode(message, version)


def test_an_unknown_version_is_refused_by_name() -> None:
    with pytest.raises(CodecError, match="JoinGroupRequest v99"):
        decode(messages.JoinGroupRequest, 99, b"")


@given(st.sampled_from(EVERY_VERSION), st.binary(max_size=400))
def test_no_bytes_at_all_raise_anything_but_a_codec_error(which: tuple[Schema, int], data: bytes) -> None:
    schema, version = which
    with contextlib.suppress(CodecError):
        decode(getattr(messages, schema.name), version, data)


@given(st.sampled_from(EVERY_VERSION), st.integers(0, 10_000), st.data())
def test_flipped_bytes_are_read_alike_by_the_fast_and_the_slow_way(
    which: tuple[Schema, int], seed: int, data: st.DataObject
) -> None:
    schema, version = which
    body = bytearray(encode(Chance(seed).message(schema, version, tags=True), version))
    for _ in range(data.draw(st.integers(1, 3)) if body else 0):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    _is_read_alike(schema, version, bytes(body))


def test_broken_bodies_are_read_alike_by_the_fast_and_the_slow_way() -> None:
    chance, draw = Chance(8), random.Random(9)
    for schema, version in EVERY_VERSION:
        body = encode(chance.message(schema, version, tags=True), version)
        places = Places(schema.name, schema.fields(version), version, version >= schema.flexible_from, body)
        for _ in range(6):
            way, other = broken(places, draw)
            _is_read_alike(schema, version, other, way)


def _is_read_alike(schema: Schema, version: int, body: bytes, way: str = "") -> None:
    slow = explain_decoding(schema.name, schema.fields(version), version, version >= schema.flexible_from, body, 0)
    fast = None
    try:
        decode(getattr(messages, schema.name), version, body)
    except CodecError as error:
        fast = str(error)
    # The words are the slow way's in both: where it finds nothing wrong, the fast one must not either.
    assert fast == (None if slow.reason == "0 bytes are left over" else str(slow)), way


@given(st.binary(max_size=60))
def test_no_header_raises_anything_but_a_codec_error(data: bytes) -> None:
    try:
        header, at = decode_request_header(data)
    except CodecError:
        return
    assert 0 < at <= len(data)
    assert decode_request_header(encode_request_header(header))[0] == header


def test_the_client_id_is_never_compact_and_may_be_null() -> None:
    for client_id in (None, "", "a client"):
        header = RequestHeader(12, 4, 7, client_id, ((5, b"x"),))
        assert decode_request_header(encode_request_header(header)) == (header, len(encode_request_header(header)))
    assert encode_request_header(RequestHeader(12, 4, 7, "ab"))[8:10] == b"\0\2"


def test_the_answer_to_api_versions_has_the_oldest_header_in_every_version() -> None:
    assert [response_body_offset(18, version, bytes(9)) for version in (0, 3, 5)] == [4, 4, 4]
    assert [response_body_offset(12, version, bytes(9)) for version in (0, 4)] == [4, 5]


def test_metadata_brokers_are_exchanged_without_touching_what_follows() -> None:
    schema = schema_of(messages.MetadataResponse)
    for version in range(14):
        answers = [Chance(seed).message(schema, version, tags=True) for seed in range(30)]
        full = [answer for answer in answers if answer.brokers and answer.topics]
        assert full
        for answer in full:
            body = encode(answer, version)
            front, rest = surgery.split_metadata(body, version)
            assert front.brokers == answer.brokers
            for broker in answer.brokers:
                broker.host = broker.host * 2 + "elsewhere"
            front.brokers = answer.brokers
            assert surgery.join_metadata(front, version, body[rest:]) == encode(answer, version)


def test_acks_are_found_at_the_front_of_a_produce_request_or_more_of_it_is_asked_for() -> None:
    for version in range(14):
        for transactional_id in (None, "t" * 200) if version >= 3 else (None,):
            body = messages.ProduceRequest(transactional_id=transactional_id, acks=-1, timeout_ms=9)
            header = encode_request_header(
                RequestHeader(0, version, 1, "c" * 700, ((9, b"tag"),) if version >= 9 else ())
            )
            frame = header + encode(body, version)
            ends = [surgery.produce_acks(frame[:end]) for end in range(len(frame) + 1)]
            assert ends[-1] == -1
            assert set(ends) == {None, -1}
            assert ends == sorted(ends, key=lambda found: found is not None)


def test_acks_are_found_behind_a_transactional_id_that_is_null_as_a_varint_of_minus_one() -> None:
    frame = encode_request(keys.PRODUCE, 9, 1, "c", messages.ProduceRequest(acks=0, timeout_ms=9))
    null = encode_request_header(RequestHeader(0, 9, 1, "c"))
    assert frame.startswith(null + b"\0")
    assert surgery.produce_acks(null + b"\xff\xff\xff\xff\x0f" + frame[len(null) + 1 :]) == 0


@pytest.mark.parametrize("version", range(10, 14))
def test_a_produce_answer_without_tags_names_no_broker_and_any_other_must_be_decoded(version: int) -> None:
    chance, found = Chance(version), set()
    for _ in range(400):
        said = chance.message(schema_of(messages.ProduceResponse), version, tags=True)
        answer = encode_response(0, version, 7, said)
        found.add(surgery.names_no_broker(answer, version))
        assert not (said.node_endpoints and surgery.names_no_broker(answer, version))
    assert found == {True, False}


@pytest.mark.parametrize("version", range(10, 14))
def test_of_a_produce_answer_only_the_usual_shape_is_known_at_a_glance(version: int) -> None:
    partition = messages.ProduceResponsePartitionProduceResponse
    failed = messages.ProduceResponseBatchIndexAndErrorMessage(batch_index=3)
    usual = [partition(index=n, error_code=n, base_offset=2**40 + n) for n in range(20)]
    for partitions, at_a_glance in (
        (usual, True),
        ([], True),
        ([*usual, partition(error_message="no")], False),
        # As long as none at all.
        ([*usual, partition(error_message="")], False),
        ([*usual, partition(record_errors=[failed])], False),
        ([partition(current_leader=messages.ProduceResponseLeaderIdAndEpoch(leader_id=2)), *usual], False),
    ):
        topic = messages.ProduceResponseTopicProduceResponse(name="t" * 200, partition_responses=partitions)
        answer = encode_response(0, version, 7, messages.ProduceResponse(responses=[topic, topic], throttle_time_ms=9))
        assert surgery.names_no_broker(answer, version) is at_a_glance
        assert not any(surgery.names_no_broker(answer[:end], version) for end in range(4, len(answer)))
        assert not surgery.names_no_broker(answer + b"\0", version)


def test_a_prefix_ends_where_its_last_field_does() -> None:
    body = encode(messages.HeartbeatRequest(group_id="g", generation_id=5, member_id="m"), 4)
    front, at = decode_prefix(messages.HeartbeatRequest, 4, body, "generation_id")
    assert (front.group_id, front.generation_id, front.member_id) == ("g", 5, "")
    assert body[at:] == b"\x02m\x00\x00"


def test_importing_the_codec_loads_no_message() -> None:
    """But for two tables."""
    loaded = (
        "import sys, kafka_protocol; print(*sorted(n for n in sys.modules if n.startswith('kafka_protocol.messages.')))"
    )
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["kafka_protocol.messages.apis", "kafka_protocol.messages.keys"]
