"""What Kafka's own classes make of bodies: Oracle.java, run on the clients of two releases."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from kafka_protocol.generator.definitions import read_jar, unite
from kafka_protocol.schema import Schema
from tests.codec.test_codec import EVERY_VERSION
from tests.kafka.jars import client_jars

NEWEST, OLDER = "4.4.0", "3.9.1"
# Kafka changed this unstable version in place: the two releases disagree with one another.
CHANGED_IN_PLACE = {"ReadShareGroupStateSummaryResponse"}


class Given(NamedTuple):
    name: str
    key: int
    version: int
    body: bytes


class Verdict(NamedTuple):
    """READ: `said` is the same message, written again. UNWRITABLE: read, but not written. REFUSED. Of both `said` is why."""

    word: str
    # Bytes behind the message.
    left: int
    said: str


def jar(release: str) -> Path:
    return client_jars(release) / f"kafka-clients-{release}.jar"


def verdicts(release: str, given: Iterable[Given]) -> list[Verdict]:
    source = str(Path(__file__).with_name("Oracle.java"))
    # It lives for a second: what makes long runs quick is left out.
    command = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", f"{client_jars(release)}/*", source]
    lines = "\n".join(f"{each.name} {each.key} {each.version} {each.body.hex()}" for each in given)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    said = (line.split(" ", 2) for line in done.stdout.splitlines())
    return [Verdict(word, int(left), rest) for word, left, rest in said]


@cache
def known_to(release: str) -> list[tuple[Schema, int]]:
    """The messages and versions that we have and this release has."""
    schemas = unite([read_jar(jar(release))]) if release == NEWEST else _old()
    served = {schema.name: schema.versions for schema in schemas}
    none = (0, -1)
    return [
        (schema, version)
        for schema, version in EVERY_VERSION
        if served.get(schema.name, none)[0] <= version <= served.get(schema.name, none)[1]
    ]


def _old() -> list[Schema]:
    """What the older release defines of today's messages, in its own versions."""
    newest, older = read_jar(jar(NEWEST)), read_jar(jar(OLDER))
    for definition in newest.values():
        definition["validVersions"] = older.get(definition["name"], {}).get("validVersions", "none")
    return [schema for schema in unite([newest, older]) if schema.layouts and schema.name not in CHANGED_IN_PLACE]
