"""python -m bench.codec.run [--markdown]: microseconds per message against kio and kafka-python, and the import time.

The same bytes are decoded and encoded by all. Rounds are interleaved; the median of the rounds is shown.
"""

from __future__ import annotations

import argparse
import io
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.document import write_section
from kafka_protocol import decode, encode, schema_of
from kafka_protocol import messages as m

ROUNDS = 9
ROUND_SECONDS = 0.02

Codec = tuple[Callable[[], Any], Callable[[], Any]]


def samples() -> list[tuple[str, Any, int]]:
    partitions = list(range(100))
    protocol = m.JoinGroupRequestProtocol(name="range", metadata=bytes(60))
    join = m.JoinGroupRequest(group_id="group", member_id="m" * 40, protocol_type="consumer", protocols=[protocol] * 8)
    commit = m.OffsetCommitRequest(
        group_id="group",
        generation_id_or_member_epoch=3,
        member_id="m" * 40,
        topics=[
            m.OffsetCommitRequestTopic(
                name="topic",
                partitions=[m.OffsetCommitRequestPartition(partition_index=n, committed_offset=n) for n in range(50)],
            )
        ],
    )
    owned = [m.ConsumerGroupHeartbeatRequestTopicPartitions(topic_id=bytes(16), partitions=partitions)]
    told = m.ConsumerGroupHeartbeatResponseAssignment(
        topic_partitions=[m.ConsumerGroupHeartbeatResponseTopicPartitions(topic_id=bytes(16), partitions=partitions)]
    )
    topics = [
        m.MetadataResponseTopic(
            name=f"topic-{n}",
            topic_id=bytes(16),
            partitions=[
                m.MetadataResponsePartition(
                    partition_index=p, leader_id=1, replica_nodes=[1, 2, 3], isr_nodes=[1, 2, 3]
                )
                for p in range(20)
            ],
        )
        for n in range(50)
    ]
    brokers = [m.MetadataResponseBroker(node_id=n, host=f"broker-{n}.example", port=9092) for n in range(3)]
    return [
        ("Heartbeat v4 request", m.HeartbeatRequest(group_id="group", generation_id=3, member_id="m" * 40), 4),
        ("Heartbeat v4 response", m.HeartbeatResponse(), 4),
        ("JoinGroup v9 request", join, 9),
        (
            "SyncGroup v5 response",
            m.SyncGroupResponse(protocol_type="consumer", protocol_name="range", assignment=bytes(190)),
            5,
        ),
        ("OffsetCommit v9 request, 50 partitions", commit, 9),
        (
            "ConsumerGroupHeartbeat v1 request, 100 partitions",
            m.ConsumerGroupHeartbeatRequest(group_id="g", member_id="m", topic_partitions=owned),
            1,
        ),
        (
            "ConsumerGroupHeartbeat v1 response, 100 partitions",
            m.ConsumerGroupHeartbeatResponse(member_id="m", assignment=told),
            1,
        ),
        ("Metadata v12 response, 50 × 20", m.MetadataResponse(brokers=brokers, topics=topics), 12),
    ]


def ours(message: Any, version: int, body: bytes) -> Codec:
    cls = type(message)
    return lambda: decode(cls, version, body), lambda: encode(message, version)


def kio(message: Any, version: int, body: bytes) -> Codec:
    from kio.index import load_request_schema, load_response_schema
    from kio.serial import entity_reader, entity_writer

    name = type(message).__name__
    entity = (load_request_schema if name.endswith("Request") else load_response_schema)(
        schema_of(type(message)).key, version
    )
    read, write = entity_reader(entity), entity_writer(entity)
    value, _ = read(body, 0)
    return lambda: read(body, 0), lambda: write(io.BytesIO(), value)


def kafka_python(message: Any, version: int, body: bytes) -> Codec | None:
    from kafka.protocol import consumer, metadata

    cls = next(
        (
            getattr(module, type(message).__name__, None)
            for module in (consumer, metadata)
            if hasattr(module, type(message).__name__)
        ),
        None,
    )
    if cls is None:
        return None
    value = cls.decode(body, version=version)
    value._header = None
    return lambda: cls.decode(body, version=version), lambda: value.encode(version=version)


def timed(act: Callable[[], Any]) -> float:
    """Microseconds a call, over a stretch long enough to time."""
    calls, start = 0, time.perf_counter()
    while (took := time.perf_counter() - start) < ROUND_SECONDS:
        for _ in range(20):
            act()
        calls += 20
    return took / calls * 1e6


def import_milliseconds() -> float:
    program = "import time; t = time.perf_counter(); import kafka_protocol; print((time.perf_counter() - t) * 1000)"
    return statistics.median(
        float(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout) for _ in range(9)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--markdown", action="store_true", help="write the table into docs/benchmarks.md")
    options = parser.parse_args()
    lines = [
        "| message | bytes | ours: decode, encode, sum | kio | kafka-python | fastest |",
        "|---|---|---|---|---|---|",
    ]
    for title, message, version in samples():
        body = encode(message, version)
        codecs = {
            "ours": ours(message, version, body),
            "kio": kio(message, version, body),
            "kafka-python": kafka_python(message, version, body),
        }
        rounds: dict[str, list[tuple[float, float]]] = {}
        for _ in range(ROUNDS):
            for name, codec in codecs.items():
                if codec is not None:
                    rounds.setdefault(name, []).append((timed(codec[0]), timed(codec[1])))
        medians = {
            name: tuple(statistics.median(column) for column in zip(*found, strict=True))
            for name, found in rounds.items()
        }
        cells = [
            f"{medians[n][0]:.2f}, {medians[n][1]:.2f}, **{sum(medians[n]):.2f}**" if n in medians else "–"
            for n in codecs
        ]
        fastest = min(medians, key=lambda name: sum(medians[name]))
        lines.append(f"| {title} | {len(body):,} | {' | '.join(cells)} | {fastest} |")
        print(lines[-1], flush=True)
    lines.append(f"\nImporting the codec takes {import_milliseconds():.0f} ms.")
    print(lines[-1])
    if options.markdown:
        write_section("codec", "python -m bench.codec.run --markdown", "\n".join(lines))


if __name__ == "__main__":
    main()
