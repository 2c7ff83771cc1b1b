"""The test bed itself: what the other tests take for granted about their brokers."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from tests.kafka import Cluster, Security, jvm
from tests.kafka.jars import ROOT, broker_jars
from tests.kafka.jvm import archived

pytestmark = pytest.mark.broker


def produced(bootstrap: str, topic: str, **settings: object) -> int:
    """How many of ten records the brokers confirmed."""
    errors: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": bootstrap, "delivery.timeout.ms": 20_000, **settings})
    for number in range(10):
        producer.produce(topic, str(number), on_delivery=lambda error, _: errors.append(error))
    producer.flush(25)
    return sum(error is None for error in errors)


def read(bootstrap: str, topic: str, count: int, **settings: object) -> list[bytes]:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": f"g-{uuid.uuid4()}", "auto.offset.reset": "earliest", **settings}
    )
    consumer.subscribe([topic])
    values: list[bytes] = []
    deadline = time.monotonic() + 30
    while len(values) < count and time.monotonic() < deadline:
        values += [message.value() or b"" for message in consumer.consume(count, 1.0) if message.error() is None]
    consumer.close()
    return values


@pytest.mark.parametrize("bed", ["kafka", "kafka3", "kafka40"])
def test_what_is_produced_is_read(request: pytest.FixtureRequest, bed: str) -> None:
    cluster: Cluster = request.getfixturevalue(bed)
    topic = f"plain-{bed}"
    cluster.create_topic(topic, partitions=3, replication=len(cluster.nodes))
    assert produced(cluster.bootstrap, topic) == 10
    assert sorted(read(cluster.bootstrap, topic, 10)) == [b"%d" % number for number in range(10)]


@pytest.mark.parametrize("bed", ["kafka", "kafka40"])
def test_a_native_consumer_is_served(request: pytest.FixtureRequest, bed: str) -> None:
    cluster: Cluster = request.getfixturevalue(bed)
    cluster.create_topic("native")
    produced(cluster.bootstrap, "native")
    assert len(read(cluster.bootstrap, "native", 10, **{"group.protocol": "consumer"})) == 10


def test_tls_needs_our_authority(kafka_tls: Cluster) -> None:
    trusted = {"security.protocol": "SSL", "ssl.ca.location": str(kafka_tls.certificates.authority)}
    assert produced(kafka_tls.bootstrap, "tls", **trusted) == 10
    with pytest.raises(KafkaException):
        AdminClient({"bootstrap.servers": kafka_tls.bootstrap, "security.protocol": "SSL"}).list_topics(timeout=3)


def test_mutual_tls_needs_a_certificate(kafka_mtls: Cluster) -> None:
    certificates = kafka_mtls.certificates
    anonymous = {"security.protocol": "SSL", "ssl.ca.location": str(certificates.authority)}
    alice = str(certificates.issue("alice", "alice"))
    shown = {**anonymous, "ssl.certificate.location": alice, "ssl.key.location": alice}
    assert produced(kafka_mtls.bootstrap, "mutual", **shown) == 10
    with pytest.raises(KafkaException):
        AdminClient({"bootstrap.servers": kafka_mtls.bootstrap, **anonymous}).list_topics(timeout=3)


def login(mechanism: str, user: str) -> dict[str, object]:
    if mechanism == "OAUTHBEARER":
        unsecured = {"enable.sasl.oauthbearer.unsecure.jwt": True, "sasl.oauthbearer.config": f"principal={user}"}
        return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism, **unsecured}
    known = {"sasl.username": user, "sasl.password": f"{user}-secret"}
    return {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": mechanism, **known}


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"])
def test_alice_may_write_and_bob_may_not(kafka_sasl: Cluster, mechanism: str) -> None:
    topic = f"of-alice-{mechanism}"
    kafka_sasl.create_topic(topic)
    kafka_sasl.allow("User:alice", "topic", topic, "write", "describe")
    assert produced(kafka_sasl.bootstrap, topic, **login(mechanism, "alice")) == 10
    assert produced(kafka_sasl.bootstrap, topic, **login(mechanism, "bob")) == 0


def test_a_wrong_password_is_refused(kafka_sasl: Cluster) -> None:
    errors: list[KafkaError] = []
    wrong: dict[str, Any] = {**login("PLAIN", "alice"), "sasl.password": "guessed", "error_cb": errors.append}
    client = AdminClient({"bootstrap.servers": kafka_sasl.bootstrap, "log_level": 0, **wrong})
    with pytest.raises(KafkaException):
        client.list_topics(timeout=3)
    client.poll(1)
    assert KafkaError._AUTHENTICATION in [error.code() for error in errors]


def test_sasl_over_tls(kafka_sasl_tls: Cluster) -> None:
    trusted = {"security.protocol": "SASL_SSL", "ssl.ca.location": str(kafka_sasl_tls.certificates.authority)}
    assert produced(kafka_sasl_tls.bootstrap, "sasl-tls", **{**login("SCRAM-SHA-512", "alice"), **trusted}) == 10


def test_a_coordinator_moves(kafka3: Cluster) -> None:
    before = kafka3.coordinator("wanderer")
    after = kafka3.move_coordinator("wanderer")
    assert after != before
    assert kafka3.coordinator("wanderer") == after
    assert kafka3.move_coordinator("wanderer", to=before) == before


def test_a_leader_is_elected_also_where_no_replica_was(kafka3: Cluster) -> None:
    kafka3.create_topic("led", partitions=1, replication=2)
    stranger = ({1, 2, 3} - set(kafka3.replicas("led", 0))).pop()
    kafka3.elect_leader("led", 0, to=stranger)
    assert kafka3.leaders("led") == {0: stranger}
    assert len(kafka3.replicas("led", 0)) == 2


def test_a_group_config_is_taken_and_a_wrong_one_refused(kafka: Cluster) -> None:
    kafka.set_group_config("configured", consumer_session_timeout_ms="50000")
    with pytest.raises(RuntimeError, match="refused"):
        kafka.set_group_config("configured", consumer_session_timeout_ms="1")


def test_a_topic_grows(kafka: Cluster) -> None:
    kafka.create_topic("growing", partitions=2)
    kafka.grow_topic("growing", partitions=5)
    assert sorted(kafka.leaders("growing")) == [0, 1, 2, 3, 4]


def test_a_killed_node_returns_with_its_port_and_data_and_a_new_one_joins() -> None:
    with Cluster.start(nodes=3) as cluster:
        cluster.create_topic("kept", partitions=3, replication=3)
        assert produced(cluster.bootstrap, "kept", acks="all") == 10
        address = cluster.nodes[2].address
        cluster.kill(2)
        assert len(read(cluster.bootstrap, "kept", 10)) == 10
        cluster.start_node(2)
        assert cluster.nodes[2].address == address
        cluster.restart(1)
        assert len(read(address, "kept", 10)) == 10
        added = cluster.add_node()
        cluster.elect_leader("kept", 0, to=added)
        assert len(read(cluster.nodes[added].address, "kept", 10)) == 10
        folder = cluster.folder
    assert not folder.exists()


def test_a_failure_names_the_logs_and_keeps_them() -> None:
    with pytest.raises(ZeroDivisionError) as failure, Cluster.start() as cluster:
        1 / 0  # noqa: B018
    assert str(cluster.folder) in failure.value.__notes__[0]
    assert "started" in cluster.logs(1)
    cluster.keep_logs = False
    cluster.close()


@pytest.mark.parametrize(
    ("setting", "value", "complaint"),
    [("num.network.threads", "0", "Value must be at least 1"), ("authorizer.class.name", "NoSuch", "NoSuch")],
    ids=["when formatted", "when launched"],
)
def test_a_broker_that_cannot_start_says_why(setting: str, value: str, complaint: str) -> None:
    with pytest.raises(RuntimeError, match=complaint) as failure:
        Cluster.start(overrides={setting: value})
    shutil.rmtree(failure.value.__notes__[0].split()[-1])


def test_brokers_die_with_whoever_started_them() -> None:
    script = "from tests.kafka import Cluster; c = Cluster.start(); print(c._running[1].pid, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as us:
        broker = int(us.stdout.readline())
        os.kill(broker, 0)
        us.send_signal(signal.SIGKILL)
    assert gone(broker)


def test_a_broker_maps_the_classes_of_those_before_it(kafka: Cluster) -> None:
    [option] = archived(f"kafka-{kafka.version}", [broker_jars(kafka.version)], _is_there)
    archive = option.partition("=")[2]
    assert archive in Path(f"/proc/{kafka._running[1].pid}/maps").read_text()


def _is_there(_: list[str]) -> None:
    raise AssertionError("whoever started the broker has it")


def test_an_archive_is_made_once_and_one_of_no_use_keeps_no_broker_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jvm, "ARCHIVES", tmp_path / "classes")
    asked = list[list[str]]()
    first, second = (archived("none", [], asked.append) for _ in range(2))
    assert len(asked) == 1
    assert first == second
    with Cluster.start(jvm=first) as cluster:
        assert cluster.coordinator("group") == 1


def test_beside_other_classes_an_archive_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or beside the same, that were copied: who maps an archive looks at their times."""
    monkeypatch.setattr(jvm, "ARCHIVES", tmp_path / "classes")
    jar = tmp_path / "a.jar"
    found = set[str]()
    for time_s in (1, 2):
        jar.touch()
        os.utime(jar, (time_s, time_s))
        found |= {*archived("none", [jar], lambda _: None)}
    assert len(found) == 2


def gone(pid: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_security_names_the_protocol_as_kafka_does() -> None:
    assert Security(tls=True, sasl=("PLAIN",)).protocol == "SASL_SSL"
    assert Security(sasl=("PLAIN",)).protocol == "SASL_PLAINTEXT"
    assert Security().protocol == "PLAINTEXT"
