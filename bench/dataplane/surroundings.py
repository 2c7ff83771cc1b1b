"""What else a reader must know of a run: the versions, and how busy the machine was before it began."""

from __future__ import annotations

import os

import confluent_kafka

from tests.kafka.cluster import NEWEST


def surroundings(upstream: str | None = None) -> str:
    broker = f"Kafka {NEWEST}" if upstream is None else f"the broker at {upstream}"
    load = os.getloadavg()[0]
    return f"{broker}, librdkafka {confluent_kafka.libversion()[0]}; load average {load:.1f} at the start."
