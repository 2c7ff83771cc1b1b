"""Who walks: the client libraries as they are deployed, by version and assignment strategy."""

from __future__ import annotations

from typing import NamedTuple

from tests.clients import LIBRARIES, OLDER


class Row(NamedTuple):
    library: str
    strategy: str | None = None
    static: bool = False

    @property
    def name(self) -> str:
        return " ".join([self.library, self.strategy or "default", *(["static"] if self.static else [])])

    @property
    def missing(self) -> str:
        return {**LIBRARIES, **OLDER}[self.library].missing


ROWS = [
    Row("java-1.1"),
    Row("java-2.1"),
    Row("java-2.4", "cooperative"),
    Row("java-2.8", "sticky"),
    Row("java-3.9"),
    Row("java-3.9", "cooperative"),
    Row("java-3.9", static=True),
    Row("java-4.4"),
    Row("confluent-kafka", "range"),
    Row("confluent-kafka", "cooperative"),
    Row("confluent-kafka", static=True),
    Row("kafka-python-2"),
    Row("kafka-python"),
    Row("aiokafka"),
    Row("sarama-1.40", "range"),
    Row("sarama", "range"),
    Row("sarama", "sticky"),
    Row("sarama", "cooperative"),
    Row("kafka-go-0.4.47"),
    Row("kafka-go"),
    Row("franz-go-1.15", "cooperative"),
    Row("franz-go", "cooperative"),
    Row("franz-go", "range"),
    Row("kafkajs"),
    Row("platformatic"),
]
# What pytest runs: a cooperative member and an eager one of two makes, and a restart that nobody is to notice.
QUICK = [Row("confluent-kafka", "cooperative"), Row("aiokafka"), Row("confluent-kafka", static=True)]
