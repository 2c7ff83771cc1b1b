"""The codec against others: Kafka's own classes of two releases, and kio. And the generator against what is checked in."""

from __future__ import annotations

import io

import pytest

from kafka_protocol import encode
from kafka_protocol.generator.definitions import read_jar, unite
from kafka_protocol.generator.writing import package
from tests.codec.chance import Chance
from tests.codec.kafkas_classes import NEWEST, OLDER, Given, Verdict, jar, known_to, verdicts
from tests.codec.test_codec import EVERY_VERSION
from tests.kafka.jars import ROOT

EACH = 5

pytestmark = pytest.mark.broker


def test_the_messages_checked_in_are_those_that_the_generator_writes() -> None:
    written = package(unite([read_jar(jar(NEWEST)), read_jar(jar(OLDER))]))
    checked_in = {path.name: path.read_text() for path in (ROOT / "kafka_protocol/messages").glob("*.py")}
    assert written.keys() == checked_in.keys()
    assert [name for name in written if written[name] != checked_in[name]] == [], "run `make codec`"


@pytest.mark.parametrize("release", [NEWEST, OLDER])
def test_kafkas_own_classes_read_and_write_the_same_bytes(release: str) -> None:
    chance, given = Chance(3), []
    for schema, version in known_to(release):
        for number in range(EACH):
            body = encode(chance.message(schema, version, tags=number % 2 == 1), version)
            given.append(Given(schema.name, schema.key, version, body))
    judged = zip(given, verdicts(release, given), strict=True)
    same = Verdict("READ", 0, "")
    assert [(each, said) for each, said in judged if said != same._replace(said=each.body.hex())] == []
    assert len(given) > 2_000


def test_kio_reads_and_writes_the_same_bytes_where_it_can() -> None:
    """kio refuses unknown tags, unknown error codes and odd timestamps: those messages it can't judge."""
    from kio.index import load_request_schema, load_response_schema
    from kio.serial import entity_reader, entity_writer

    chance, judged, different = Chance(4), 0, []
    for schema, version in EVERY_VERSION:
        if schema.key < 0:
            continue
        body = encode(chance.message(schema, version, tags=False), version)
        try:
            load = load_request_schema if schema.name.endswith("Request") else load_response_schema
            entity = load(schema.key, version)
            read, _ = entity_reader(entity)(body, 0)
        except Exception:
            continue
        out = io.BytesIO()
        entity_writer(entity)(out, read)
        judged += 1
        if out.getvalue() != body:
            different.append(f"{schema.name} v{version}")
    assert different == []
    assert judged > 50
