"""What else a reader must know of a run: the versions, how the machine sends, and how busy it was before it began."""

from __future__ import annotations

import os
from pathlib import Path

import confluent_kafka

from tests.kafka.cluster import NEWEST


def surroundings(upstream: str | None = None) -> str:
    broker = f"Kafka {NEWEST}" if upstream is None else f"the broker at {upstream}"
    congestion_control = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    load = os.getloadavg()[0]
    library = f"librdkafka {confluent_kafka.libversion()[0]}"
    return f"{broker}, {library}; congestion control {congestion_control}; load average {load:.1f} at the start."
