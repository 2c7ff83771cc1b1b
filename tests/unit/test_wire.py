"""What a broker may say: whatever it is, only its own connection hears of it."""

from __future__ import annotations

import contextlib
from struct import pack
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_protocol import API, encode_request, encode_response, fields_of, messages, schema_of
from proxy.addresses import Directory
from proxy.causes import Disconnect
from proxy.settings import Settings
from proxy.treatments import Treatment
from proxy.wire import LARGEST_FIND_COORDINATOR, REWRITTEN_FROM, Wire, api_of, ceiling
from tests.codec.chance import Chance

REWRITTEN = [(key, version) for key, first in REWRITTEN_FROM.items() for version in range(first, ceiling(key) + 1)]


def wire() -> Wire:
    return Wire(Directory(Settings(upstream=("kafka:9092",))))


TAKEN = [(api >> 16, api & 0xFFFF) for api, what in wire().treatments.items() if what is Treatment.TAKEN]


@given(st.sampled_from(REWRITTEN), st.binary(max_size=200))
def test_no_answer_raises_anything_but_the_end_of_its_connection(which: tuple[int, int], answer: bytes) -> None:
    with contextlib.suppress(Disconnect):
        wire().rewrite(api_of(*which), answer)


@given(
    st.sampled_from(REWRITTEN),
    st.integers(0, 10_000),
    st.lists(st.tuples(st.integers(0, 100_000), st.integers(0, 255)), max_size=3),
)
def test_nor_does_one_in_which_bytes_were_changed(
    which: tuple[int, int], seed: int, changes: list[tuple[int, int]]
) -> None:
    key, version = which
    said = Chance(seed).message(schema_of(API[key].response), version, tags=True)
    answer = bytearray(encode_response(key, version, 7, said))
    for at, byte in changes:
        answer[at % len(answer)] = byte
    with contextlib.suppress(Disconnect):
        wire().rewrite(api_of(key, version), answer)


def test_more_coordinators_than_can_be_read_in_a_moment_end_the_connection() -> None:
    """Millions of one letter each are asked for in 2 MB."""
    few, many = (b"\0\0\0\7\0" + bytes(size) for size in (LARGEST_FIND_COORDINATOR - 5, LARGEST_FIND_COORDINATOR))
    with pytest.raises(Disconnect, match="malformed_answer"):
        wire().rewrite(api_of(messages.keys.FIND_COORDINATOR, 4), few)
    with pytest.raises(Disconnect, match=r"answer_too_large: .* ask for fewer at once"):
        wire().rewrite(api_of(messages.keys.FIND_COORDINATOR, 4), many)


def test_a_length_without_an_end_is_no_mistake_of_ours() -> None:
    with pytest.raises(Disconnect, match="malformed_answer: ProduceResponse v11, responses at byte"):
        wire().rewrite(api_of(messages.keys.PRODUCE, 11), b"\0\0\0\7\0" + b"\xff" * 8)


METADATA = [version for key, version in REWRITTEN if key == messages.keys.METADATA]


@pytest.mark.parametrize("version", METADATA)
def test_a_broker_that_knows_of_no_broker_is_not_believed(version: int) -> None:
    """A client of librdkafka 2.13 or newer would forget all brokers, and stand still."""
    topic = messages.MetadataResponseTopic(name="t")
    words = messages.MetadataResponse(topics=[topic], brokers=[])
    with pytest.raises(Disconnect, match="no_brokers: Metadata that names no broker"):
        wire().rewrite(
            api_of(messages.keys.METADATA, version), encode_response(messages.keys.METADATA, version, 7, words)
        )


def test_but_what_it_says_is_wrong_reaches_its_client() -> None:
    """From version 13: REBOOTSTRAP_REQUIRED, say."""
    words = messages.MetadataResponse(brokers=[], error_code=129)
    answer = encode_response(messages.keys.METADATA, 13, 7, words)
    assert wire().rewrite(api_of(messages.keys.METADATA, 13), answer) == answer


@pytest.mark.parametrize(
    ("version", "lifetime_ms", "begins"), [(0, 5, False), (1, 0, False), (1, 5, True), (2, 5, True)]
)
def test_a_session_begins_with_the_answer_that_says_how_long_it_lasts(
    version: int, lifetime_ms: int, begins: bool
) -> None:
    verdict = messages.SaslAuthenticateResponse(session_lifetime_ms=lifetime_ms)
    key = messages.keys.SASL_AUTHENTICATE
    answer = encode_response(key, version, 1, verdict)
    assert wire().begins_session(api_of(key, version), answer) is begins
    assert not wire().begins_session(api_of(key, version), answer[:-1])


@given(st.sampled_from(TAKEN), st.integers(0, 10_000), st.integers(0, 500), st.text(max_size=20))
def test_whose_group_a_request_is_of_is_read_from_its_front_or_not_at_all(
    which: tuple[int, int], seed: int, cut: int, client_id: str
) -> None:
    key, version = which
    asked = Chance(seed).message(schema_of(API[key].request), version, tags=True)
    frame = encode_request(key, version, 7, client_id, asked)
    expected = named_in(asked, {field.name for field in fields_of(type(asked), version)})
    assert wire().group_of(frame) == expected
    assert wire().group_of(frame[:cut]) in (expected, None)


def named_in(asked: Any, fields: set[str]) -> str:
    if "group_id" in fields:
        return str(asked.group_id)
    first = asked.groups[0] if "groups" in fields and asked.groups else ""
    return first if isinstance(first, str) else str(first.group_id)


@given(st.sampled_from(TAKEN), st.binary(max_size=100))
def test_and_whatever_a_client_sends_has_a_group_or_none(which: tuple[int, int], rest: bytes) -> None:
    assert isinstance(wire().group_of(pack(">hhi", *which, 7) + rest), str | None)
