"""B8: translated members of several makes in one group, while their coordinator dies or hangs and every broker is restarted.

In plaintext, and over TLS with SASL: there a member's own connection cannot be opened anew by the proxy, which holds no
credentials, so all hangs on the connection that lingers and on the client coming back.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import trio

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.clients import Client, Sasl, Tls, overlaps
from tests.kafka import Cluster, Security
from tests.kafka.admin import until
from tests.kafka.certificates import Certificates
from tests.kafka.wire import exchange, send
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running
from tests.proxy.settled import assigned, at_rest, describe, noticed

pytestmark = pytest.mark.broker

PARTITIONS = 6
# A broker is given up after 3 s, and on a busy machine everything behind that takes its time.
PATIENCE_SECONDS = 90
SESSION_MS = 45_000
# For so long the coordinator itself would wait for a silent member, where a test says so.
PATIENT_MS = "600000"
# kafka-python may come back to the one that hangs, and wait there for another 20 s.
QUICK_TO_FIND = ("confluent-kafka", "java-3.9")
# Less than clients wait for an answer by default, and more than it takes them to find another coordinator; and how long it
# takes until there is one.
SUCCESSORS_PATIENCE_SECONDS, SUCCESSION_SECONDS = 25, 15
PLAIN, SASL_HANDSHAKE, SASL_AUTHENTICATE = "PLAIN", 17, 36
LIBRARIES = ("confluent-kafka", "kafka-python", "java-3.9")
# Confluent's word for: a record that is sent again is written once.
ONCE = {"enable.idempotence": True}


class Way(NamedTuple):
    """A cluster, a proxy before it, and how clients come to it."""

    kafka: Cluster
    proxy: Running
    certificates: Certificates | None = None

    def connect(self, node: int | None = None) -> socket.socket:
        sock = self.proxy.connect(node)
        return sock if self.certificates is None else self.secure(sock)

    def secure(self, plain: socket.socket) -> socket.socket:
        """TLS, and who it is."""
        assert self.certificates is not None
        trusting = ssl.create_default_context(cafile=str(self.certificates.authority))
        sock = trusting.wrap_socket(plain, server_hostname="127.0.0.1")
        exchange(sock, SASL_HANDSHAKE, 1, m.SaslHandshakeRequest(mechanism=PLAIN))
        proof = m.SaslAuthenticateRequest(auth_bytes=b"\0alice\0alice-secret")
        assert exchange(sock, SASL_AUTHENTICATE, 1, proof).error_code == 0
        return sock

    def ask_for_brokers(self) -> None:
        """Whose ports are open from then on."""
        with self.connect() as sock:
            assert exchange(sock, keys.METADATA, 1, m.MetadataRequest(topics=[])).brokers

    @property
    def secrets(self) -> dict[str, Any]:
        if self.certificates is None:
            return {}
        return {"tls": Tls(self.certificates.authority), "sasl": Sasl(PLAIN)}


@pytest.fixture(scope="module")
def plaintext() -> Iterator[Way]:
    with Cluster.start(nodes=3) as kafka, Running(kafka.bootstrap) as proxy:
        yield Way(kafka, proxy.ready())


@pytest.fixture(scope="module")
def sasl_tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    folder = tmp_path_factory.mktemp("sasl-tls")
    security, patient = Security(tls=True, sasl=(PLAIN,)), {"group.consumer.max.session.timeout.ms": PATIENT_MS}
    with Cluster.start(nodes=3, security=security, overrides=patient) as kafka:
        theirs, ours = kafka.certificates, Certificates()
        assert theirs is not None
        with Running(kafka.bootstrap, "--config", str(_configured(folder, ours, theirs))) as proxy:
            yield Way(kafka, proxy, ours)


def _configured(folder: Path, ours: Certificates, theirs: Certificates) -> Path:
    pem = ours.issue("proxy", "127.0.0.1", "localhost")
    config = folder / "proxy.toml"
    config.write_text(
        f'[client_tls]\ncertificate_file = "{pem}"\nprivate_key_file = "{pem}"\n'
        f'[upstream_tls]\nca_file = "{theirs.authority}"\n'
    )
    return config


@pytest.fixture(params=["plaintext", "sasl_tls"])
def way(request: pytest.FixtureRequest) -> Way:
    found: Way = request.getfixturevalue(request.param)
    return found


def in_sync(kafka: Cluster, *topics: str) -> bool:
    """Every replica has caught up: the next broker may go without taking anything along."""
    request = m.MetadataRequest(topics=[m.MetadataRequestTopic(name=name) for name in topics])
    found = kafka.ask_any(keys.METADATA, 4, request).topics
    return all(len(each.isr_nodes) == len(kafka.nodes) for topic in found for each in topic.partitions)


async def all_read(clients: list[Client], count: int) -> None:
    wanted = {str(number) for number in range(count)}

    def read() -> list[str]:
        return [value for client in clients for value in client.values]

    await clients[0].until(lambda: wanted <= set(read()), PATIENCE_SECONDS, f"{count} records")
    assert sorted(read()) == sorted(wanted)


@pytest.mark.timeout(600)
async def test_members_live_through_the_death_of_their_coordinator_and_the_restart_of_every_broker(way: Way) -> None:
    """Nobody is fenced, nothing moves, nobody is told a word, and every record is read once."""
    topic = f"restarts-{uuid.uuid4()}"
    kafka = way.kafka
    kafka.create_topic(topic, partitions=PARTITIONS, replication=3)

    def whole_again() -> bool:
        return in_sync(kafka, topic, "__consumer_offsets")

    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(
                await Client.start(library, way.proxy.bootstrap, name=library, within=60, **way.secrets)
            )
            for library in LIBRARIES
        ]
        for client in clients:
            client.subscribe(topic, topic, session_timeout_ms=SESSION_MS, heartbeat_interval_ms=500)
        writer = clients[0]
        before = await at_rest(kafka, topic, *clients)
        words = [noticed(client) for client in clients]
        await writer.produce(topic, 60, settings=ONCE)
        await all_read(clients, 60)

        victim = await trio.to_thread.run_sync(kafka.coordinator, topic)
        await trio.to_thread.run_sync(kafka.kill, victim)
        await writer.produce(topic, 60, first=60, within=PATIENCE_SECONDS, settings=ONCE)
        await all_read(clients, 120)
        await trio.to_thread.run_sync(kafka.start_node, victim)
        await trio.to_thread.run_sync(until, whole_again, "the broker has caught up")
        after_the_kill = await at_rest(kafka, topic, *clients)

        for node in kafka.nodes:
            await trio.to_thread.run_sync(kafka.restart, node)
            await trio.to_thread.run_sync(until, whole_again, "the broker has caught up")
        await writer.produce(topic, 60, first=120, within=PATIENCE_SECONDS, settings=ONCE)
        await all_read(clients, 180)
        after = await at_rest(kafka, topic, *clients)

        assert [noticed(client) for client in clients] == words
        assert overlaps(clients) == []
        for group in (after_the_kill, after):
            assert {each.member_id for each in group.members} == {each.member_id for each in before.members}
            assert assigned(group) == assigned(before)
        assert way.proxy.mistakes() == 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize("end", [Cluster.stop, Cluster.kill], ids=["stopped", "killed"])
def test_a_brokers_port_refuses_while_it_is_away_from_the_moment_that_its_clients_hear_of_it(
    way: Way, end: Callable[[Cluster, int], None]
) -> None:
    """As its own does. librdkafka before 1.0 takes who hangs up at once for a broker of 0.9."""
    kafka, proxy, node = way.kafka, way.proxy, 2
    kafka.wait_until_whole()
    way.ask_for_brokers()
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(way.connect(node)) for _ in range(3)]
        neighbour = stack.enter_context(way.connect(1))
        end(kafka, node)
        try:
            for client in clients:
                assert client.recv(1) == b""
                with pytest.raises(ConnectionRefusedError):
                    proxy.connect(node)
            assert proxy.metric("brokers_away") == 1
            # Behind the bootstrap listener any broker will do.
            way.ask_for_brokers()
        finally:
            kafka.start_node(node)
        proxy.wait_for(lambda: proxy.metric("brokers_away") == 0, "the broker is back")
        proxy.connect(node).close()
        neighbour.setblocking(False)
        with pytest.raises((BlockingIOError, ssl.SSLWantReadError)):
            neighbour.recv(1)


@pytest.mark.timeout(600)
async def test_members_live_on_while_their_coordinator_hangs(plaintext: Way) -> None:
    """No connection of theirs breaks, no answer comes, and the successor waits for them for one session. Nor does it matter
    that the one that hung believes, when it wakes, that nothing has happened."""
    topic = f"hangs-{uuid.uuid4()}"
    kafka = plaintext.kafka
    kafka.create_topic(topic, partitions=PARTITIONS, replication=3)
    kafka.set_group_config(topic, consumer_session_timeout_ms=str(SUCCESSORS_PATIENCE_SECONDS * 1_000))
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(await Client.start(library, plaintext.proxy.bootstrap, name=library))
            for library in QUICK_TO_FIND
        ]
        for client in clients:
            client.subscribe(topic, topic, session_timeout_ms=SESSION_MS, heartbeat_interval_ms=500)
        before = await at_rest(kafka, topic, *clients)
        words = [noticed(client) for client in clients]

        victim = await trio.to_thread.run_sync(kafka.coordinator, topic)
        with kafka.hanging(victim):
            await trio.sleep(SUCCESSORS_PATIENCE_SECONDS + SUCCESSION_SECONDS)
        await trio.to_thread.run_sync(until, lambda: in_sync(kafka, topic, "__consumer_offsets"), "it has caught up")
        await clients[0].produce(topic, 60, within=PATIENCE_SECONDS, settings=ONCE)
        await all_read(clients, 60)
        after = await at_rest(kafka, topic, *clients)

        assert [noticed(client) for client in clients] == words
        assert {each.member_id for each in after.members} == {each.member_id for each in before.members}
        assert plaintext.proxy.mistakes() == 0


class Secured(ByHand):
    """The same, over TLS, and who it is."""

    def __init__(self, way: Way, port: int, group: str) -> None:
        self._way = way
        super().__init__(("127.0.0.1", port), group, group)

    def connect(self) -> socket.socket:
        return self._way.secure(super().connect())


@pytest.fixture
def secured(sasl_tls: Way) -> Iterator[Secured]:
    """At its coordinator, whose port is open once a client has been told of it."""
    topic = f"lingering-{uuid.uuid4()}"
    sasl_tls.kafka.create_topic(topic, partitions=4)
    sasl_tls.ask_for_brokers()
    one = Secured(sasl_tls, sasl_tls.proxy.port_of(sasl_tls.kafka.coordinator(topic)), topic)
    yield one
    one.close()


def test_a_member_lives_on_after_its_secured_socket_and_speaks_on_a_new_one(secured: Secured, sasl_tls: Way) -> None:
    one = secured.joins()
    (before,) = describe(sasl_tls.kafka, one.group).members
    for _ in range(3):
        one.on_new_socket()
        assert one.beat() == 0
        assert one.commit(one.topics[0], 0, 5) == 0
    (after,) = describe(sasl_tls.kafka, one.group).members
    assert (after.member_id, after.member_epoch) == (before.member_id, before.member_epoch)


def test_the_lingering_connection_gives_a_silent_member_up_in_its_own_principals_name(
    secured: Secured, sasl_tls: Way
) -> None:
    """The coordinator would wait for ten minutes; the member's session of 6 s ends it, over the connection left behind."""
    sasl_tls.kafka.set_group_config(secured.group, consumer_session_timeout_ms=PATIENT_MS)
    secured.session_timeout_ms = 6_000
    one = secured.joins()
    (member,) = describe(sasl_tls.kafka, one.group).members
    one.sock.close()
    until(lambda: not describe(sasl_tls.kafka, one.group).members, "the member has left")
    log = sasl_tls.proxy.log.read_text()
    assert any("session" in line and member.member_id in line for line in log.splitlines())


def test_who_is_silent_when_its_coordinator_moves_is_given_up_over_a_neighbours_connection(
    secured: Secured, sasl_tls: Way
) -> None:
    """Its own leads to a broker that is its coordinator no more, and it opens no other."""
    kafka, group = sasl_tls.kafka, secured.group
    kafka.set_group_config(group, consumer_session_timeout_ms=PATIENT_MS)
    # A leave is tried for as long again, and the neighbour must be answered by then.
    secured.session_timeout_ms = 20_000
    secured.joins()
    with contextlib.closing(Secured(sasl_tls, secured.address[1], group)) as neighbour:
        # Of its own, so that neither waits for the other.
        neighbour.topics = (f"{group}-neighbour",)
        kafka.create_topic(*neighbour.topics)
        neighbour.session_timeout_ms = 300_000
        neighbour.joins()
        kafka.move_coordinator(group)
        until(lambda: _is_answered(neighbour, sasl_tls), "the neighbour is answered again")
        found_at = time.monotonic()
        until(lambda: len(describe(kafka, group).members) == 1, "the silent member has left")
        # One session from then, and not another from when its own has ended.
        assert time.monotonic() - found_at < 1.5 * secured.session_timeout_ms / 1_000
        (left,) = describe(kafka, group).members
        assert left.member_id == neighbour.member_id


@pytest.mark.timeout(300)
def test_who_leaves_on_a_new_connection_leaves_over_that(plaintext: Way) -> None:
    """Its member's own ended with the broker, and nothing was said since."""
    kafka, topic = plaintext.kafka, f"leaving-{uuid.uuid4()}"
    kafka.create_topic(topic, 1)
    with contextlib.closing(
        ByHand(("127.0.0.1", plaintext.proxy.port_of(kafka.coordinator(topic))), topic, topic)
    ) as one:
        # A leave that finds no connection is tried for so long.
        one.session_timeout_ms = 600_000
        one.joins()
        kafka.restart(kafka.coordinator(topic))
        until(lambda: _has_left(one, plaintext), "it has left")
        assert describe(kafka, topic).members == []


def _has_left(one: ByHand, way: Way) -> bool:
    one.address = ("127.0.0.1", way.proxy.port_of(way.kafka.coordinator(one.group)))
    one.on_new_socket()
    answer = one.leave()
    return not answer.error_code and [each.error_code for each in answer.members] == [0]


def _is_answered(one: Secured, way: Way) -> bool:
    one.address = ("127.0.0.1", way.proxy.port_of(way.kafka.coordinator(one.group)))
    one.on_new_socket()
    return one.beat() == 0


def test_a_newcomer_that_hangs_up_a_secured_socket_before_it_has_heard_its_id_is_gone_at_once(
    secured: Secured, sasl_tls: Way
) -> None:
    two = Secured(sasl_tls, secured.address[1], secured.group)
    for each in (secured, two):
        each.session_timeout_ms = each.rebalance_timeout_ms = 300_000
    secured.joins()
    send(two.sock, keys.JOIN_GROUP, 3, two.join_request(), two.client_id)
    until(lambda: len(describe(sasl_tls.kafka, two.group).members) == 2, "it waits for partitions of the first")
    two.sock.close()
    until(lambda: len(describe(sasl_tls.kafka, two.group).members) == 1, "the newcomer is gone")
