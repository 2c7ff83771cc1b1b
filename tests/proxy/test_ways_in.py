"""Which way a client comes in, and what stands there: names on one port, IPv6, seeds of which some are dead, a full house."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, Producer

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.kafka import Cluster
from tests.kafka.certificates import Certificates
from tests.kafka.jars import client_jars
from tests.kafka.ports import free_ports
from tests.kafka.wire import exchange
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running, remote_ports

pytestmark = pytest.mark.broker

ROUNDTRIP = Path(__file__).parent / "clients" / "Roundtrip.java"
CLIENT_SECONDS = 90


def produced(bootstrap: str, topic: str) -> KafkaError | None:
    told: list[KafkaError | None] = []
    producer = Producer({"bootstrap.servers": bootstrap, "message.timeout.ms": 60_000})
    producer.produce(topic, b"value", on_delivery=lambda error, _: told.append(error))
    producer.flush(60)
    assert told, "nothing was heard of the message"
    return told[0]


def consumed(bootstrap: str, topic: str) -> list[bytes | None]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    try:
        return [message.value() for message in consumer.consume(1, 60)]
    finally:
        consumer.close()


# ------------------------------------------------------------------------------------------------------------- names


def java_that_knows(names: Path, config: Path) -> list[str]:
    """Its resolver can be given a file of hosts; those of other libraries ask the machine's."""
    properties = [f"-Djdk.net.hosts.file={names}", f"-Dclient.config={config}"]
    return ["java", *properties, "-cp", f"{client_jars('4.4.0')}/*", str(ROUNDTRIP)]


def test_a_library_reaches_three_brokers_by_name_on_one_port(kafka3: Cluster, tmp_path: Path) -> None:
    kafka3.create_topic("by-name", partitions=3, replication=3)
    names = ["kafka.example", *(f"broker-{node}.kafka.example" for node in kafka3.nodes)]
    (tmp_path / "hosts").write_text("".join(f"127.0.0.1 {name}\n" for name in names))
    own = Certificates()
    shown = own.issue("proxy", *names)
    (tmp_path / "client").write_text(
        f"security.protocol=SSL\nssl.truststore.type=PEM\nssl.truststore.location={own.authority}\n"
    )
    (tmp_path / "proxy.toml").write_text(
        f'[client_tls]\ncertificate_file = "{shown}"\nprivate_key_file = "{shown}"\n'
        '[sni]\nbroker_pattern = "broker-{node}.kafka.example"\nbootstrap_name = "kafka.example"\n'
    )
    with Running(kafka3.bootstrap, "--config", str(tmp_path / "proxy.toml")) as proxy:
        proxy.ready()
        command = java_that_knows(tmp_path / "hosts", tmp_path / "client")
        dialled, said = watched([*command, f"kafka.example:{proxy.base}", "by-name", "by-name-group"])
        assert "OK consumed=100 committed=100" in said, said[-3_000:]
        assert dialled == {proxy.base}
        assert proxy.disconnects("client_tls_failed") == 0


def watched(command: list[str]) -> tuple[set[int], str]:
    """The ports that a client was seen connected to, and what it said."""
    dialled: set[int] = set()
    deadline = time.monotonic() + CLIENT_SECONDS
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            while process.poll() is None and time.monotonic() < deadline:
                # Between two looks it may close something, or end.
                with contextlib.suppress(OSError):
                    dialled |= set(remote_ports(process.pid))
                time.sleep(0.1)
        finally:
            process.kill()
        return dialled, process.communicate()[0]


# -------------------------------------------------------------------------------------------------------------- IPv6


@pytest.fixture(scope="module")
def kafka_ipv6() -> Iterator[Cluster]:
    with Cluster.start(host="[::1]") as cluster:
        yield cluster


def test_clients_and_brokers_may_both_be_on_ipv6(kafka_ipv6: Cluster) -> None:
    kafka_ipv6.create_topic("ipv6")
    with Running(kafka_ipv6.bootstrap, host="[::1]") as proxy:
        proxy.ready()
        with proxy.connect() as sock:
            brokers = exchange(sock, keys.METADATA, 12, m.MetadataRequest(topics=[])).brokers
        assert [(broker.host, broker.port) for broker in brokers] == [("::1", proxy.port_of(1))]
        assert produced(proxy.bootstrap, "ipv6") is None
        assert consumed(proxy.bootstrap, "ipv6") == [b"value"]


def test_the_proxy_joins_clients_on_ipv4_to_brokers_on_ipv6(kafka_ipv6: Cluster) -> None:
    kafka_ipv6.create_topic("ipv4-to-ipv6")
    with Running(kafka_ipv6.bootstrap) as proxy:
        assert produced(proxy.ready().bootstrap, "ipv4-to-ipv6") is None


def test_brackets_with_two_colons_are_every_address() -> None:
    with Running(f"127.0.0.1:{free_ports(1)[0]}", "--advertise", "localhost", host="[::]") as proxy:
        for host in ("127.0.0.1", "::1"):
            with socket.create_connection((host, proxy.base), 30) as client:
                # No broker answers.
                assert client.recv(1) == b""
                address = f"[{host}]" if ":" in host else host
                said = f"disconnected cause=broker_unreachable client={address}:{client.getsockname()[1]} "
            proxy.wait_for(lambda said=said: said in proxy.log.read_text(), f"it says {said}")


# ------------------------------------------------------------------------------------------------------------- seeds


def test_one_live_seed_among_dead_ones_is_enough(kafka: Cluster) -> None:
    kafka.create_topic("seeds")
    first, last = free_ports(2)
    with Running(f"127.0.0.1:{first},{kafka.bootstrap},127.0.0.1:{last}") as proxy:
        assert produced(proxy.ready().bootstrap, "seeds") is None
        # Who answered the proxy itself is dialled first.
        assert proxy.metric("upstream_connect_failures_total") == 0
        assert proxy.disconnects("broker_unreachable") == 0


def test_a_seed_that_dies_is_replaced_by_a_broker_that_was_no_seed(kafka3: Cluster) -> None:
    kafka3.create_topic("lost-seed", partitions=1, replication=3)
    with Running(kafka3.nodes[1].address) as proxy:
        proxy.ready()
        kafka3.kill(1)
        try:
            with proxy.connect() as sock:
                answer = exchange(sock, keys.METADATA, 12, m.MetadataRequest(topics=[]))
            assert {broker.node_id for broker in answer.brokers} >= {2, 3}
            assert produced(proxy.bootstrap, "lost-seed") is None
        finally:
            kafka3.start_node(1)


# ------------------------------------------------------------------------------------------------------------ limits


def answered(proxy: Running) -> bool:
    """A newcomer is let in, and then leaves."""
    with proxy.connect() as sock:
        try:
            return bool(exchange(sock, keys.API_VERSIONS, 0, m.ApiVersionsRequest()).error_code == 0)
        except (ConnectionError, EOFError):
            return False


def test_no_more_connections_than_allowed_and_those_that_are_go_on(kafka: Cluster, tmp_path: Path) -> None:
    (tmp_path / "proxy.toml").write_text("[limits]\nmax_connections = 2\n")
    with Running(kafka.bootstrap, "--config", str(tmp_path / "proxy.toml")) as proxy:
        proxy.ready()
        with proxy.connect() as first:
            second = proxy.connect(1)
            for sock in (first, second):
                assert exchange(sock, keys.API_VERSIONS, 0, m.ApiVersionsRequest()).error_code == 0
            assert not answered(proxy)
            proxy.count_one_more("too_many_connections", 0)
            for sock in (first, second):
                assert exchange(sock, keys.METADATA, 1, m.MetadataRequest(topics=[])).brokers
            second.close()
            proxy.wait_for(lambda: answered(proxy), "there is room again")


class Secured(ByHand):
    """Where the proxy has a certificate."""

    def connect(self) -> socket.socket:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return context.wrap_socket(super().connect())


@pytest.mark.parametrize("kind", [ByHand, Secured])
def test_clients_that_have_gone_take_no_room_from_those_that_come(
    kafka: Cluster, tmp_path: Path, kind: type[ByHand]
) -> None:
    """Their members stay for as long as their sessions, here half an hour, and so do the connections these speak on."""
    name, pem = f"gone-{uuid.uuid4()}", Certificates().broker
    tls = f'[client_tls]\ncertificate_file = "{pem}"\nprivate_key_file = "{pem}"\n' if kind is Secured else ""
    (tmp_path / "proxy.toml").write_text(f"[limits]\nmax_connections = 2\n{tls}")
    kafka.create_topic(name)
    node = kafka.coordinator(name)
    with Running(kafka.bootstrap, "--config", str(tmp_path / "proxy.toml"), "--node", str(node)) as proxy:
        at, members = ("127.0.0.1", proxy.ready().port_of(node)), []
        for number in range(5):
            one = kind(at, f"{name}-{number}", name)
            one.session_timeout_ms = one.rebalance_timeout_ms = 1_800_000
            members.append(one.joins())
            one.close()
        first = members[0]
        first.on_new_socket()
        with contextlib.closing(first):
            proxy.wait_for(lambda: first.beat() == 0, "the first is back")
        assert proxy.disconnects("too_many_connections") == 4
        assert proxy.mistakes() == 0
