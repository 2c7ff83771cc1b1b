"""The codec against others: Kafka's own classes of two releases, and kio. And the generator against what is checked in."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest

from kafka_protocol import encode
from kafka_protocol.generator.definitions import read_jar, unite
from kafka_protocol.generator.writing import package
from kafka_protocol.schema import Schema
from tests.codec.chance import Chance
from tests.codec.test_codec import EVERY_VERSION
from tests.kafka.jars import ROOT, client_jars

NEWEST, OLDER = "4.4.0", "3.9.1"
EACH = 5

pytestmark = pytest.mark.broker


def jar(version: str) -> Path:
    return client_jars(version) / f"kafka-clients-{version}.jar"


def test_the_messages_checked_in_are_those_that_the_generator_writes() -> None:
    written = package(unite([read_jar(jar(NEWEST)), read_jar(jar(OLDER))]))
    checked_in = {path.name: path.read_text() for path in (ROOT / "kafka_protocol/messages").glob("*.py")}
    assert written.keys() == checked_in.keys()
    assert [name for name in written if written[name] != checked_in[name]] == [], "run `make codec`"


@pytest.mark.parametrize("release", [NEWEST, OLDER])
def test_kafkas_own_classes_read_and_write_the_same_bytes(release: str) -> None:
    served = {schema.name: schema for schema in unite([read_jar(jar(release))])} if release == NEWEST else _old()
    chance, lines = Chance(3), []
    for schema, version in EVERY_VERSION:
        if schema.name in served and served[schema.name].versions[0] <= version <= served[schema.name].versions[1]:
            for number in range(EACH):
                body = encode(chance.message(schema, version, tags=number % 2 == 1), version)
                lines.append(f"{schema.name} {schema.key} {version} {body.hex()}")
    source = str(Path(__file__).with_name("Oracle.java"))
    command = ["java", "-cp", f"{client_jars(release)}/*", source]
    done = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=True)
    said = done.stdout.splitlines()
    assert [line for line in said if line.startswith("DIFFERENT")] == []
    assert said[-1] == f"SAME {len(lines)}"
    assert len(lines) > 2_000


# Kafka changed this unstable version in place: the two releases disagree with one another.
CHANGED_IN_PLACE = {"ReadShareGroupStateSummaryResponse"}


def _old() -> dict[str, Schema]:
    """What the older release defines of today's messages, in its own versions."""
    newest, older = read_jar(jar(NEWEST)), read_jar(jar(OLDER))
    for definition in newest.values():
        definition["validVersions"] = older.get(definition["name"], {}).get("validVersions", "none")
    schemas = [schema for schema in unite([newest, older]) if schema.layouts]
    return {schema.name: schema for schema in schemas if schema.name not in CHANGED_IN_PLACE}


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
