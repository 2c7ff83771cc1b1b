"""B4: what goes beyond a legacy library: exactly-once copies, admin requests, KIP-848 consumers, share groups, Streams, other
protocol types; and that clients are seen to dial no broker directly."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, Producer

from kafka_protocol import messages as m
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.kafka.jars import BUILD, client_jars, jars
from tests.kafka.jvm import BRIEFLY
from tests.kafka.wire import exchange
from tests.proxy.by_hand import COORDINATOR_IS_COMING
from tests.proxy.running import Running, remote_ports

pytestmark = pytest.mark.broker

CLIENTS = Path(__file__).parent / "clients"
CLIENT_SECONDS = 150


def python(name: str) -> Callable[[], list[str]]:
    return lambda: [sys.executable, str(CLIENTS / name)]


def streams() -> list[str]:
    folder = jars(CLIENTS / "streams.xml", BUILD / "clients" / "streams-3.9.1")
    return ["java", *BRIEFLY, "-cp", f"{folder}/*", str(CLIENTS / "Streams.java")]


def java(version: str, program: str = "Roundtrip.java") -> Callable[[], list[str]]:
    return lambda: ["java", *BRIEFLY, "-cp", f"{client_jars(version)}/*", str(CLIENTS / program)]


MAKES = {
    "java-3.9.1": java("3.9.1"),
    "java-4.4.0": java("4.4.0"),
    "java-4.4.0-native": lambda: [*java("4.4.0")(), "{}", "consumer"],
    "java-4.4.0-share-group": java("4.4.0", "Share.java"),
    "java-3.9.1-streams": streams,
    "confluent-kafka": python("confluent.py"),
}


@pytest.fixture(scope="module")
def one(kafka: Cluster) -> Iterator[Running]:
    with Running(kafka.bootstrap) as proxy:
        yield proxy.ready()


@pytest.fixture(scope="module")
def three(kafka3: Cluster) -> Iterator[Running]:
    with Running(kafka3.bootstrap) as proxy:
        yield proxy.ready()


def roundtrip(make: str, proxy: Running, cluster: Cluster, topic: str) -> None:
    words = [proxy.bootstrap, topic, f"{topic}-group"]
    command = MAKES[make]()
    extra = command[command.index("{}") + 1 :] if "{}" in command else []
    command = [*(command[: command.index("{}")] if "{}" in command else command), *words, *extra]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    dialled: set[int] = set()
    # Not a pipe: nobody reads while it runs.
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        deadline = time.monotonic() + CLIENT_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(OSError):
                dialled |= set(remote_ports(process.pid))
            time.sleep(0.1)
        process.kill()
        process.wait()
        output.seek(0)
        said = output.read()
    assert "OK consumed=100 committed=100" in said, said[-3_000:]
    assert dialled
    assert not dialled & {port for node in cluster.nodes.values() for port in (node.client_port, node.internal_port)}


@pytest.mark.parametrize("make", MAKES)
def test_a_client_of_each_make_with_one_broker(make: str, one: Running, kafka: Cluster) -> None:
    topic = f"one-{make}"
    kafka.create_topic(topic, partitions=1)
    if "share" in make:
        kafka.set_group_config(f"{topic}-group", share_auto_offset_reset="earliest")
    roundtrip(make, one, kafka, topic)
    assert one.mistakes() == one.disconnects("malformed_request") == 0
    assert one.disconnects("unsupported_version") == 0


@pytest.mark.parametrize("make", ["java-4.4.0", "confluent-kafka"])
def test_a_client_with_three_brokers(make: str, three: Running, kafka3: Cluster) -> None:
    topic = f"three-{make}"
    kafka3.create_topic(topic, partitions=1, replication=3)
    roundtrip(make, three, kafka3, topic)


@pytest.mark.parametrize("protocol_type", ["connect", "sr"])
def test_groups_of_other_protocol_types_pass(protocol_type: str, one: Running, kafka: Cluster) -> None:
    """Connect workers and Schema Registry elect leaders by the same requests, with metadata of their own."""
    group = f"{protocol_type}-cluster"
    protocols = [m.JoinGroupRequestProtocol(name="v0", metadata=b"opaque to everybody else")]
    join = m.JoinGroupRequest(
        group_id=group,
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type=protocol_type,
        protocols=protocols,
    )
    with one.connect(kafka.coordinator(group)) as sock:

        def joins() -> Any:
            answer = exchange(sock, 11, 3, join, client_id="worker")
            return answer if answer.error_code not in COORDINATOR_IS_COMING else None

        joined = until(joins, "the coordinator answers")
        assert joined.error_code == 0
        assert joined.leader == joined.member_id
        assert joined.members[0].metadata == b"opaque to everybody else"
        leaving = m.LeaveGroupRequest(group_id=group, member_id=joined.member_id)
        assert exchange(sock, 13, 1, leaving).error_code == 0


def test_leader_elections_and_a_broker_restart_lose_nothing(three: Running, kafka3: Cluster) -> None:
    topic = "moving"
    kafka3.create_topic(topic, partitions=3, replication=3)
    stop = threading.Event()
    failures: list[KafkaError | None] = []
    sent: list[bytes] = []

    def produce() -> None:
        producer = Producer({"bootstrap.servers": three.bootstrap, "enable.idempotence": True, "linger.ms": 5})
        while not stop.is_set():
            value = str(len(sent)).encode()
            sent.append(value)
            producer.produce(topic, value, on_delivery=lambda error, _: failures.append(error) if error else None)
            producer.poll(0.002)
        failures.extend([None] * producer.flush(60))

    producing = threading.Thread(target=produce)
    producing.start()
    try:
        for partition in range(3):
            leader = kafka3.leaders(topic)[partition]
            kafka3.elect_leader(topic, partition, next(node for node in kafka3.nodes if node != leader))
        kafka3.restart(2)
        time.sleep(1)
    finally:
        stop.set()
        producing.join()
    assert failures == []
    consumer = Consumer({"bootstrap.servers": three.bootstrap, "group.id": "moving", "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    seen: list[bytes] = []
    deadline = time.monotonic() + 60
    while len(seen) < len(sent) and time.monotonic() < deadline:
        seen += [message.value() or b"" for message in consumer.consume(1_000, 1.0) if not message.error()]
    consumer.close()
    assert sorted(seen) == sorted(sent)
    assert len(sent) > 500
