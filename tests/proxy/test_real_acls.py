"""What brokers allow a client to do, granted and withdrawn while it runs: the proxy asks in its name and has no say in it."""

from __future__ import annotations

import socket
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.clients import Client, Sasl
from tests.kafka import Cluster, Security
from tests.kafka.admin import until
from tests.kafka.wire import exchange
from tests.proxy.by_hand import REBALANCE_IN_PROGRESS, ByHand
from tests.proxy.running import Running, room
from tests.proxy.settled import describe
from tests.proxy.test_group_requests import share

pytestmark = pytest.mark.broker

UNKNOWN_MEMBER_ID, GROUP_AUTHORIZATION_FAILED, FENCED_INSTANCE_ID = 25, 30, 82
# So that nobody waits long for the end of a session.
SHORT = {"group.consumer.min.session.timeout.ms": "5000"}


@pytest.fixture(scope="module")
def kafka_acls() -> Iterator[Cluster]:
    with Cluster.start(security=Security(sasl=("PLAIN",), authorizer=True), overrides=SHORT) as cluster:
        yield cluster


class Known(ByHand):
    """It has to say who it is, and looks at no metadata: real clients do, and many come again by themselves."""

    def __init__(self, name: str, *about: Any, **more: Any) -> None:
        self.name = name
        super().__init__(*about, **more)

    def connect(self) -> socket.socket:
        sock = super().connect()
        self.authenticates(sock)
        return sock

    def authenticates(self, sock: socket.socket) -> None:
        exchange(sock, keys.SASL_HANDSHAKE, 1, m.SaslHandshakeRequest(mechanism="PLAIN"), self.client_id)
        proof = m.SaslAuthenticateRequest(auth_bytes=f"\0{self.name}\0{self.name}-secret".encode())
        assert exchange(sock, keys.SASL_AUTHENTICATE, 1, proof, self.client_id).error_code == 0


def topic_read_by(kafka: Cluster, *users: str) -> str:
    """And in the group of the same name."""
    topic = f"acls-{uuid.uuid4()}"
    kafka.create_topic(topic, partitions=2)
    for name in users:
        kafka.allow(f"User:{name}", "group", topic, "read")
        kafka.allow(f"User:{name}", "topic", topic, "read", "describe")
    return topic


async def test_who_may_not_read_the_group_hears_so_and_nothing_of_its_members(kafka_acls: Cluster) -> None:
    topic = f"acls-{uuid.uuid4()}"
    kafka_acls.create_topic(topic, partitions=2)
    kafka_acls.allow("User:alice", "group", topic, "read")
    for name in ("alice", "bob"):
        kafka_acls.allow(f"User:{name}", "topic", topic, "read", "describe")
    with Running(kafka_acls.bootstrap) as proxy:
        await trio.to_thread.run_sync(proxy.ready)
        alices = Sasl("PLAIN", "alice", "alice-secret")
        bobs = Sasl("PLAIN", "bob", "bob-secret")
        async with (
            await Client.start("confluent-kafka", proxy.bootstrap, name="alice", sasl=alices) as alice,
            await Client.start("confluent-kafka", proxy.bootstrap, name="bob", sasl=bobs) as bob,
        ):
            alice.subscribe(topic, topic, session_timeout_ms=10_000)
            await alice.until(lambda: len(alice.owned) == 2)
            bob.subscribe(topic, topic, session_timeout_ms=10_000)
            refused = await bob.event("error")
            assert "GROUP_AUTHORIZATION_FAILED" in str(refused).upper()
            assert len(alice.owned) == 2


def test_who_may_not_read_the_group_speaks_for_nobody_in_it_though_it_knows_the_members_words(
    kafka_acls: Cluster,
) -> None:
    """Before the proxy as before the broker: the member is there, and remembered by the proxy."""
    topic = f"spoken-for-{uuid.uuid4()}"
    kafka_acls.create_topic(topic, partitions=2)
    kafka_acls.allow("User:alice", "group", topic, "read")
    for name in ("alice", "bob"):
        kafka_acls.allow(f"User:{name}", "topic", topic, "read", "describe")
    node = kafka_acls.coordinator(topic)
    with Running(kafka_acls.bootstrap, "--node", str(node)) as proxy:
        at = ("127.0.0.1", proxy.ready().port_of(node))
        with closing(Known("alice", at, topic, topic)) as alice:
            alice.joins()

            def asks(what: Callable[[Known], int]) -> int:
                """Of a connection that has asked nothing yet."""
                with closing(Known("bob", at, topic, topic)) as bob:
                    bob.member_id, bob.generation = alice.member_id, alice.generation
                    return what(bob)

            told = {
                "beats": asks(lambda bob: bob.beat()),
                "syncs": asks(lambda bob: int(bob.sync().error_code)),
                "commits": asks(lambda bob: bob.commit(topic, 0, 7)),
                "joins": asks(lambda bob: int(bob.join().error_code)),
                "leaves": asks(lambda bob: int(bob.leave(version=1).error_code)),
            }
            assert told == dict.fromkeys(told, GROUP_AUTHORIZATION_FAILED)
            assert alice.beat() == 0
            assert alice.commit(topic, 0, 1) == 0


async def test_a_topic_one_may_not_describe_costs_only_itself(kafka_acls: Cluster) -> None:
    """A classic JoinGroup never needed it; the coordinator refuses a native member that names such a topic."""
    topic, hidden = f"seen-{uuid.uuid4()}", f"hidden-{uuid.uuid4()}"
    for name in (topic, hidden):
        kafka_acls.create_topic(name, partitions=2)
    kafka_acls.allow("User:alice", "group", topic, "read")
    kafka_acls.allow("User:alice", "topic", topic, "read", "describe")
    with Running(kafka_acls.bootstrap) as proxy:
        await trio.to_thread.run_sync(proxy.ready)
        alices = Sasl("PLAIN", "alice", "alice-secret")
        async with await Client.start("confluent-kafka", proxy.bootstrap, name="alice", sasl=alices) as alice:
            alice.subscribe([topic, hidden], topic, session_timeout_ms=10_000)
            await alice.until(lambda: alice.owned == {(topic, 0), (topic, 1)})
            group = await trio.to_thread.run_sync(describe, kafka_acls, topic)
            assert [member.subscribed_topic_names for member in group.members] == [[topic]]


def test_a_topic_is_told_of_soon_after_its_client_may_describe_it(kafka_acls: Cluster) -> None:
    topic, hidden = f"seen-{uuid.uuid4()}", f"hidden-{uuid.uuid4()}"
    for name in (topic, hidden):
        kafka_acls.create_topic(name, partitions=2)
    kafka_acls.allow("User:alice", "group", topic, "read")
    kafka_acls.allow("User:alice", "topic", topic, "read", "describe")
    node = kafka_acls.coordinator(topic)
    with (
        Running(kafka_acls.bootstrap, "--node", str(node)) as proxy,
        closing(Known("alice", ("127.0.0.1", proxy.ready().port_of(node)), topic, topic, hidden)) as alice,
    ):
        alice.joins()
        assert alice.owned == {topic: [0, 1]}
        [line] = [line for line in proxy.log.read_text().splitlines() if "topics left out" in line]
        assert f"group={topic} client=by-hand topics={hidden}" in line
        kafka_acls.allow("User:alice", "topic", hidden, "read", "describe")
        # It is looked at once in 45 s.
        deadline = time.monotonic() + 120
        while alice.beat() != REBALANCE_IN_PROGRESS:
            assert time.monotonic() < deadline
            time.sleep(1)
        alice.join(claims=alice.owned)
        alice.sync()
        assert alice.owned == {topic: [0, 1], hidden: [0, 1]}


def test_who_may_not_read_the_group_for_a_while_hears_so_and_comes_back(kafka_acls: Cluster) -> None:
    topic = topic_read_by(kafka_acls, "alice")
    node = kafka_acls.coordinator(topic)
    with (
        Running(kafka_acls.bootstrap, "--node", str(node)) as proxy,
        closing(Known("alice", ("127.0.0.1", proxy.ready().port_of(node)), topic, topic)) as alice,
    ):
        alice.joins()
        kafka_acls.forbid("User:alice", "group", topic, "read")
        deadline = time.monotonic() + 60
        while alice.beat() != GROUP_AUTHORIZATION_FAILED:
            assert time.monotonic() < deadline
            time.sleep(1)
        assert alice.commit(topic, 0, 1) == GROUP_AUTHORIZATION_FAILED
        kafka_acls.allow("User:alice", "group", topic, "read")
        # On a connection of its own, as clients come back from an error that they take for fatal.
        alice.on_new_socket()
        alice.member_id = ""
        assert alice.joins().owned == {topic: [0, 1]}
        assert alice.commit(topic, 0, 1) == 0


@pytest.mark.parametrize("how", ["falls silent", "leaves"])
def test_what_it_had_who_may_not_read_the_group_any_more_is_soon_its_neighbours(kafka_acls: Cluster, how: str) -> None:
    """As with a broker, which hears of it no more either. What it has upstream would be there for 45 s, so the neighbour's
    connection says that it has gone."""
    topic = topic_read_by(kafka_acls, "alice", "bob")
    node = kafka_acls.coordinator(topic)
    with (
        Running(kafka_acls.bootstrap, "--node", str(node)) as proxy,
        closing(Known("alice", ("127.0.0.1", proxy.ready().port_of(node)), topic, topic)) as alice,
        closing(Known("alice", ("127.0.0.1", proxy.port_of(node)), topic, topic)) as witness,
        closing(Known("bob", ("127.0.0.1", proxy.port_of(node)), topic, topic)) as bob,
    ):
        alice.session_timeout_ms = 6_000
        alice.joins()
        share(alice, bob)
        kafka_acls.forbid("User:alice", "group", topic, "read")
        until(lambda: witness.beat() == GROUP_AUTHORIZATION_FAILED, "the broker knows")
        if how == "leaves":
            # She might read it a moment ago, so it may be heard here; but not there.
            answer = alice.leave()
            codes = [answer.error_code, *(each.error_code for each in answer.members)]
            assert GROUP_AUTHORIZATION_FAILED in codes
        since = time.monotonic()
        while bob.beat() != REBALANCE_IN_PROGRESS:
            assert time.monotonic() < since + 30
            if how == "falls silent":
                alice.beat()
            time.sleep(0.5)
        bob.join(claims=bob.owned)
        bob.sync()
        assert bob.owned == {topic: [0, 1]}
        [line] = [line for line in proxy.log.read_text().splitlines() if "may not read its group any more" in line]
        assert f"group={topic} client=by-hand" in line


def test_who_might_read_the_group_once_speaks_for_nobody_in_it_when_that_is_withdrawn(kafka_acls: Cluster) -> None:
    """On the connection on which it might: it knows alice's member, and would fence it, remove it, be told what it has."""
    topic = topic_read_by(kafka_acls, "alice", "bob")
    node = kafka_acls.coordinator(topic)
    with (
        Running(kafka_acls.bootstrap, "--node", str(node)) as proxy,
        closing(Known("alice", ("127.0.0.1", proxy.ready().port_of(node)), topic, topic, instance_id="i-1")) as alice,
        closing(Known("bob", ("127.0.0.1", proxy.port_of(node)), topic, topic)) as bob,
    ):
        alice.joins()
        bob.member_id, bob.generation, bob.instance_id = alice.member_id, alice.generation, "i-2"
        assert [each.error_code for each in bob.leave().members] == [FENCED_INSTANCE_ID]
        kafka_acls.forbid("User:bob", "group", topic, "read")
        deadline = time.monotonic() + 60
        while bob.leave().error_code != GROUP_AUTHORIZATION_FAILED:
            assert time.monotonic() < deadline
            time.sleep(1)
        bob.instance_id = None
        assert bob.beat() == GROUP_AUTHORIZATION_FAILED
        assert bob.sync().error_code == GROUP_AUTHORIZATION_FAILED
        assert bob.leave().error_code == GROUP_AUTHORIZATION_FAILED
        bob.instance_id, bob.member_id = "i-1", ""
        assert bob.leave().error_code == GROUP_AUTHORIZATION_FAILED
        assert bob.join().error_code == GROUP_AUTHORIZATION_FAILED
        assert alice.beat() == 0


def test_who_may_not_read_the_group_says_of_nobody_in_it_that_it_is_native(kafka_acls: Cluster, tmp_path: Path) -> None:
    """A restarted proxy knows alice's member from its journal, and hears of it from somebody else first."""
    topic, base, config = f"named-{uuid.uuid4()}", room(6), tmp_path / "proxy.toml"
    config.write_text(f'[translation]\njournal = "{tmp_path / "journal"}"')
    kafka_acls.create_topic(topic, partitions=2)
    kafka_acls.allow("User:alice", "group", topic, "read")
    kafka_acls.allow("User:alice", "topic", topic, "read", "describe")
    node = kafka_acls.coordinator(topic)
    how = ("--node", str(node), "--config", str(config))
    with Running(kafka_acls.bootstrap, *how, base=base) as proxy:
        at = ("127.0.0.1", proxy.ready().port_of(node))
        alice = Known("alice", at, topic, topic).joins()
    with (
        Running(kafka_acls.bootstrap, *how, base=base) as proxy,
        closing(alice),
        closing(Known("bob", (at[0], proxy.ready().port_of(node)), topic, topic)) as bob,
    ):
        beat = m.ConsumerGroupHeartbeatRequest(group_id=topic, member_id=alice.member_id, member_epoch=alice.generation)
        assert bob.ask(keys.CONSUMER_GROUP_HEARTBEAT, 0, beat).error_code == GROUP_AUTHORIZATION_FAILED
        alice.on_new_socket()
        assert alice.beat() == 0
        assert alice.commit(topic, 0, 1) == 0


def test_who_may_not_describe_the_whole_group_begins_anew_after_a_restart(kafka_acls: Cluster) -> None:
    """The broker describes the group to nobody who may not describe all its topics, not even its own members to them."""
    group = f"in-part-{uuid.uuid4()}"
    mine, other = f"{group}-mine", f"{group}-other"
    kafka_acls.set_group_config(group, consumer_session_timeout_ms="6000")
    for name, topic in (("alice", mine), ("bob", other)):
        kafka_acls.create_topic(topic, partitions=2)
        kafka_acls.allow(f"User:{name}", "group", group, "read")
        kafka_acls.allow(f"User:{name}", "topic", topic, "read", "describe")
    node, base = kafka_acls.coordinator(group), room(6)
    with Running(kafka_acls.bootstrap, "--node", str(node), base=base) as proxy:
        at = ("127.0.0.1", proxy.ready().port_of(node))
        alice, bob = Known("alice", at, group, mine), Known("bob", at, group, other)
        assert bob.joins().owned == {other: [0, 1]}
        assert alice.joins().owned == {mine: [0, 1]}
    with (
        Running(kafka_acls.bootstrap, "--node", str(node), base=base) as proxy,
        closing(alice),
        closing(bob),
    ):
        proxy.ready()
        for one in (alice, bob):
            one.on_new_socket()
            assert one.beat() == UNKNOWN_MEMBER_ID
            one.member_id = ""
        for one, topic in ((alice, mine), (bob, other)):
            until(partial(_has_both, one.joins(), topic), "what its former member had is its own again")


def _has_both(one: ByHand, topic: str) -> bool:
    if one.beat() == REBALANCE_IN_PROGRESS:
        one.joins()
    return one.owned == {topic: [0, 1]}
