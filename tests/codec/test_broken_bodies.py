"""What a broker takes from a client must not fail here: bodies that are broken, judged by Kafka's own classes and by us.

Both refuse a body, or both read it and write the same. Where they do not is in DISAGREEMENTS, with the reason.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from kafka_protocol import CodecError, decode, encode, messages
from kafka_protocol.frames import RequestHeader, decode_request_header, encode_request_header
from kafka_protocol.schema import Field
from tests.codec.breaking import WAYS, Places, broken, write_varint
from tests.codec.chance import Chance
from tests.codec.kafkas_classes import NEWEST, OLDER, Given, Verdict, known_to, verdicts

EACH = 12
# Frames.py reads it by hand. Of a request that is in both of its versions.
API_KEY, FLEXIBLE_FROM = 12, 4
HEADER = (
    Field("api_key", "int16"),
    Field("api_version", "int16"),
    Field("correlation_id", "int32"),
    Field("client_id", "string", nullable=(0, 2), never_compact=True),
)
WITHOUT_TAGS, WITH_TAGS = 1, 2

pytestmark = pytest.mark.broker


class Disagreement(NamedTuple):
    why: str
    kafka: str
    ours: str
    releases: tuple[str, ...] = (NEWEST, OLDER)


# What Kafka says of it and what we say, as patterns.
DISAGREEMENTS = (
    Disagreement(
        "tags in disorder, or of a number that Kafka keeps for itself: it reads them, but would not write them; we sort them",
        r"UNWRITABLE .*(comes after tag|as an undefined tag)",
        r"READ",
    ),
    Disagreement(
        "a tag twice: KIP-482 has none, and Kafka writes none, but looks only when it writes",
        r"READ|UNWRITABLE",
        r"REFUSED .*: (tag \d+|a tag) twice",
    ),
    Disagreement(
        "the size of a tag that it knows: Kafka does not look at it; whoever does not know the tag must be able to skip it",
        r"READ|UNWRITABLE .*(comes after tag|as an undefined tag)",
        r"REFUSED .*: tag \d+ says",
    ),
    Disagreement(
        "tags of Fetch that other versions have: to us unknown ones. No Fetch is decoded by the proxy",
        r"REFUSED .*Tag \d is not valid for version",
        r"READ",
    ),
    Disagreement(
        "a negative number of tags: to the older release that is none, to the newer one an error as to us",
        r"READ|UNWRITABLE .*comes after tag",
        r"REFUSED .*: (\d+ tagged fields in \d+|more tagged fields than) bytes",
        (OLDER,),
    ),
    Disagreement(
        "more than 10,000 tags: the newer release has that limit; here memory is bounded by the size of requests",
        r"REFUSED .*10001",
        r"READ",
        (NEWEST,),
    ),
    Disagreement(
        "text that is no UTF-8 and too long when it is: a broker can not write it down either",
        r"UNWRITABLE .*too long to be serialized",
        r"REFUSED .*a string of 60,000 bytes|REFUSED .*too long a string",
    ),
)


@pytest.mark.parametrize("release", [NEWEST, OLDER])
def test_broken_bodies_are_read_and_refused_as_kafka_does(release: str) -> None:
    broken_so = [*_broken_bodies(release), *_broken_headers(), *_by_hand()]
    judged = zip(broken_so, verdicts(release, [given for _, given in broken_so]), strict=True)
    different = [(way, given, kafka, ours) for (way, given), kafka in judged if not _agree(kafka, ours := _ours(given))]
    known = [each for each in DISAGREEMENTS if release in each.releases]
    reasons = [next((each.why for each in known if _is(each, kafka, ours)), None) for *_, kafka, ours in different]
    assert [each for each, why in zip(different, reasons, strict=True) if why is None] == []
    assert set(reasons) == {each.why for each in known}
    assert {way.partition(" ")[0] for way, _ in broken_so} == WAYS.keys()


def _agree(kafka: Verdict, ours: Verdict) -> bool:
    return (kafka.word == ours.word == "REFUSED") or kafka == ours


def _is(disagreement: Disagreement, kafka: Verdict, ours: Verdict) -> bool:
    said = ((disagreement.kafka, kafka), (disagreement.ours, ours))
    return all(re.match(pattern, f"{verdict.word} {verdict.said}") for pattern, verdict in said)


def _broken_bodies(release: str) -> Iterator[tuple[str, Given]]:
    chance, draw = Chance(5), random.Random(6)
    for schema, version in known_to(release):
        flexible = version >= schema.flexible_from
        body = encode(chance.message(schema, version, tags=True), version)
        places = Places(schema.name, schema.fields(version), version, flexible, body)
        for _ in range(EACH):
            way, other = broken(places, draw)
            yield way, Given(schema.name, schema.key, version, other)


def _broken_headers() -> Iterator[tuple[str, Given]]:
    draw = random.Random(7)
    for version in (WITHOUT_TAGS, WITH_TAGS):
        tags = ((3, b"x"), (100, b"yy")) if version == WITH_TAGS else ()
        api_version = FLEXIBLE_FROM if version == WITH_TAGS else FLEXIBLE_FROM - 1
        header = encode_request_header(RequestHeader(API_KEY, api_version, 7, "a client's name", tags))
        places = Places("RequestHeader", HEADER, version, version == WITH_TAGS, header)
        for _ in range(40 * EACH):
            way, other = broken(places, draw)
            # Of another request it could have another header.
            if other[:4] == header[:4]:
                yield way, Given("RequestHeader", 0, version, other)


def _by_hand() -> Iterator[tuple[str, Given]]:
    """Too long for chance."""
    tags = b"".join(write_varint(tag) + b"\0" for tag in range(10_001))
    heartbeat = encode(messages.HeartbeatRequest(group_id="g"), 4)[:-1]
    yield "tags by hand", Given("HeartbeatRequest", 12, 4, heartbeat + write_varint(10_001) + tags)
    header = encode_request_header(RequestHeader(API_KEY, FLEXIBLE_FROM - 1, 1, "?" * 20_000))
    body = encode(messages.HeartbeatRequest(group_id="?" * 20_000), 3)
    yield "text by hand", Given("HeartbeatRequest", 12, 3, body.replace(b"?", b"\xe9"))
    yield "text by hand", Given("RequestHeader", 0, WITHOUT_TAGS, header.replace(b"?", b"\xe9"))


def _ours(given: Given) -> Verdict:
    try:
        written, end = _header_again(given) if given.name == "RequestHeader" else _body_again(given)
    except CodecError as error:
        return Verdict("REFUSED", 0, str(error))
    return Verdict("READ", len(given.body) - end, written.hex())


def _header_again(given: Given) -> tuple[bytes, int]:
    header, end = decode_request_header(given.body)
    return encode_request_header(header), end


def _body_again(given: Given) -> tuple[bytes, int]:
    cls = getattr(messages, given.name)
    message = decode(cls, given.version, given.body, to_the_end=False)
    return encode(message, given.version), _end(cls, given)


def _end(cls: type, given: Given) -> int:
    """Where the message ends: the error that something is left over says from which byte on."""
    try:
        decode(cls, given.version, given.body)
    except CodecError as error:
        return error.offset or 0
    return len(given.body)
