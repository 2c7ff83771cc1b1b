"""B2, B8, B9: brokers that are cut off for a while, or removed for good, and clients that come by another proxy."""

from __future__ import annotations

import re
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
import trio

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.clients import Client, overlaps
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.kafka.ports import free_ports
from tests.proxy.relay import Relay, open_relay
from tests.proxy.running import Running, room
from tests.proxy.settled import at_rest, noticed

pytestmark = pytest.mark.broker

PARTITIONS = 6
SESSION_MS = 45_000
# Some beats of every client, and what the proxy tries again meanwhile; far from anybody's session.
CUT_SECONDS = 4


def values(*clients: Client) -> list[str]:
    return sorted((value for client in clients for value in client.values), key=int)


def numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


def joins(client: Client, topic: str) -> None:
    client.subscribe(topic, topic, session_timeout_ms=SESSION_MS, heartbeat_interval_ms=500)


# --- cut, and deaf ------------------------------------------------------------------------------------------------


class Upstream(NamedTuple):
    kafka: Cluster
    proxy: Running
    road: Relay


@pytest.fixture(scope="module")
def far_kafka() -> Iterator[tuple[Cluster, int]]:
    """It tells its clients that it is where the road begins."""
    [port] = free_ports(1)
    with Cluster.start() as kafka:
        kafka.advertise(1, f"127.0.0.1:{port}")
        yield kafka, port


@asynccontextmanager
async def upstream(far_kafka: tuple[Cluster, int]) -> AsyncIterator[Upstream]:
    kafka, port = far_kafka
    async with open_relay(port, ("127.0.0.1", kafka.nodes[1].client_port)) as road:
        with await trio.to_thread.run_sync(Running, road.address) as proxy:
            await trio.to_thread.run_sync(proxy.ready)
            yield Upstream(kafka, proxy, road)
            assert proxy.mistakes() == 0


@pytest.fixture
def topic(far_kafka: tuple[Cluster, int]) -> str:
    name = f"upstream-{uuid.uuid4()}"
    far_kafka[0].create_topic(name, partitions=PARTITIONS)
    return name


async def test_a_stable_group_outlives_a_cut(far_kafka: tuple[Cluster, int], topic: str) -> None:
    """And that its answers were lost before: nobody is told a word, nothing is read twice."""
    async with (
        upstream(far_kafka) as (kafka, proxy, road),
        await Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice,
        await Client.start("kafka-python", proxy.bootstrap, name="bob") as bob,
    ):
        joins(alice, topic)
        joins(bob, topic)
        before = await at_rest(kafka, topic, alice, bob)
        told = [noticed(alice), noticed(bob)]
        await bob.produce(topic, 60)
        await bob.until(lambda: len(values(alice, bob)) >= 60)
        road.lose_answers()
        await trio.sleep(CUT_SECONDS)
        assert road.answers_lost
        road.cut()
        await trio.sleep(CUT_SECONDS)
        road.mend()
        await bob.produce(topic, 60, first=60)
        await bob.until(lambda: len(values(alice, bob)) >= 120)
        after = await at_rest(kafka, topic, alice, bob)
        assert [noticed(alice), noticed(bob)] == told
        assert {each.member_id for each in after.members} == {each.member_id for each in before.members}
        assert after.group_epoch == before.group_epoch
        assert values(alice, bob) == numbers(120)


async def test_who_joins_while_answers_are_lost_is_one_member_in_the_end(
    far_kafka: tuple[Cluster, int], topic: str
) -> None:
    async with (
        upstream(far_kafka) as (kafka, proxy, road),
        await Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice,
        await Client.start("kafka-python", proxy.bootstrap, name="bob") as bob,
    ):
        joins(alice, topic)
        await at_rest(kafka, topic, alice)
        joins(bob, topic)
        # The broker has heard of him; what it says goes nowhere.
        await trio.to_thread.run_sync(proxy.wait_for, lambda: "client=bob" in joined(proxy), "bob joins")
        road.lose_answers()
        await trio.sleep(CUT_SECONDS)
        road.cut()
        road.mend()
        group = await at_rest(kafka, topic, alice, bob)
        assert len(group.members) == 2
        assert len(alice.owned) == len(bob.owned) == PARTITIONS // 2
        await bob.produce(topic, 60)
        await bob.until(lambda: len(values(alice, bob)) >= 60)
        assert values(alice, bob) == numbers(60)
        assert overlaps([alice, bob]) == []


def joined(proxy: Running) -> str:
    return "\n".join(line for line in proxy.log.read_text().splitlines() if "member joins" in line)


# --- another proxy ------------------------------------------------------------------------------------------------


class Moved:
    """Two proxies on two hosts in the broker's eyes, and clients that a load balancer moves from one to the other."""

    def __init__(self, kafka: Cluster, port: int, stack: AsyncExitStack) -> None:
        self._kafka, self._port, self._stack = kafka, port, stack
        self._base = room(6)
        self._ports = (self._base, self._base + 1 + 1)

    async def begin(self, topic: str, *settings: str) -> None:
        enter = self._stack.enter_async_context
        server = ("127.0.0.1", self._kafka.nodes[1].client_port)
        road = await enter(open_relay(self._port, server, source="127.0.0.9"))
        near = "{}:{}".format(*self._kafka.nodes[1].internal)
        self.left = await self._proxy(near, "127.0.0.2", *settings)
        self.right = await self._proxy(road.address, "127.0.0.3")
        self._balancer = [await enter(open_relay(port, ("127.0.0.2", port))) for port in self._ports]
        self.clients = [
            await enter(await Client.start(library, self._balancer[0].address, name=library))
            for library in ("confluent-kafka", "kafka-python")
        ]
        for client in self.clients:
            client.subscribe(topic, topic, session_timeout_ms=10_000, heartbeat_interval_ms=500)
        self._before = await at_rest(self._kafka, topic, *self.clients)
        self._owned = [client.owned for client in self.clients]

    async def _proxy(self, broker: str, host: str, *settings: str) -> Running:
        started = partial(Running, broker, "--advertise", "127.0.0.1", *settings, host=host, base=self._base)
        proxy = self._stack.enter_context(await trio.to_thread.run_sync(started))
        return await trio.to_thread.run_sync(proxy.ready)

    def move(self, host: str) -> None:
        for each, port in zip(self._balancer, self._ports, strict=True):
            each.lead((host, port))

    async def nobody_has_noticed(self, topic: str) -> None:
        after = await at_rest(self._kafka, topic, *self.clients)
        assert {each.member_id for each in after.members} == {each.member_id for each in self._before.members}
        assert after.group_epoch == self._before.group_epoch
        assert [client.owned for client in self.clients] == self._owned

    async def read_on(self, topic: str) -> None:
        await self.clients[0].produce(topic, 30)
        await self.clients[0].until(lambda: len(values(*self.clients)) >= 30)
        assert values(*self.clients) == numbers(30)
        assert overlaps(self.clients) == []


async def test_clients_that_move_to_another_proxy_stay_the_members_they_were(
    far_kafka: tuple[Cluster, int], topic: str
) -> None:
    """B9: as a load balancer moves them, all at once, there and back.

    The proxy that they came from lives, and does not leave on their behalf when it has heard nothing for a session.
    """
    async with AsyncExitStack() as stack:
        moved = Moved(*far_kafka, stack)
        await moved.begin(topic)
        for host, former in (("127.0.0.3", moved.left), ("127.0.0.2", moved.right)):
            moved.move(host)
            await until_it_has_lost_both(former)
            await moved.nobody_has_noticed(topic)
        await moved.read_on(topic)


async def test_clients_that_are_back_before_their_proxy_has_missed_them_stay_the_members_they_were(
    far_kafka: tuple[Cluster, int], topic: str
) -> None:
    """Meanwhile both proxies beat for them, and the coordinator shows whichever was last: the other must not take its host
    for its own, and leave for them when their sessions are over there."""
    async with AsyncExitStack() as stack:
        moved = Moved(*far_kafka, stack)
        await moved.begin(topic)
        moved.move("127.0.0.3")
        await until_it_has_adopted_both(moved.right)
        await trio.sleep(CUT_SECONDS)
        moved.move("127.0.0.2")
        await until_it_has_lost_both(moved.right)
        await moved.nobody_has_noticed(topic)
        await moved.read_on(topic)


async def until_it_has_lost_both(proxy: Running) -> None:
    def has_lost_both() -> bool:
        lost = re.findall(r'member leaves .* cause=(?:SeenElsewhere|"seen elsewhere")', proxy.log.read_text())
        return len(lost) == 2

    await trio.to_thread.run_sync(proxy.wait_for, has_lost_both, "it has lost both")


async def until_it_has_adopted_both(proxy: Running) -> None:
    def has_adopted_both() -> bool:
        return proxy.log.read_text().count("member adopted") == 2

    await trio.to_thread.run_sync(proxy.wait_for, has_adopted_both, "both are there")


async def test_a_proxy_that_leaves_on_exit_does_not_leave_for_clients_that_another_has(
    far_kafka: tuple[Cluster, int], topic: str, tmp_path: Path
) -> None:
    """As in a rolling restart: a load balancer moves clients away first, and the proxy they had is stopped soon after."""
    config = tmp_path / "proxy.toml"
    config.write_text("[translation]\nleave_on_exit = true\n")
    async with AsyncExitStack() as stack:
        moved = Moved(*far_kafka, stack)
        await moved.begin(topic, "--config", str(config))
        moved.move("127.0.0.3")
        await until_it_has_adopted_both(moved.right)
        # Until the coordinator has heard of them from there.
        await trio.sleep(CUT_SECONDS)
        await trio.to_thread.run_sync(moved.left.stop)
        await moved.nobody_has_noticed(topic)
        await moved.read_on(topic)


# --- removed for good ---------------------------------------------------------------------------------------------


async def test_a_broker_that_is_removed_for_good_is_forgotten_and_its_clients_read_on() -> None:
    """As operators do it: partitions are moved away, it is stopped, it is struck off. It was the proxy's first seed."""
    topic = f"removed-{uuid.uuid4()}"
    with await trio.to_thread.run_sync(Cluster.start) as kafka:
        gone = await trio.to_thread.run_sync(kafka.add_node)
        await trio.to_thread.run_sync(kafka.create_topic, topic, PARTITIONS)
        seeds = ",".join(kafka.nodes[node].address for node in (gone, 1))
        with await trio.to_thread.run_sync(Running, seeds) as proxy:
            await trio.to_thread.run_sync(proxy.ready)
            async with (
                await Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice,
                await Client.start("kafka-python", proxy.bootstrap, name="bob") as bob,
            ):
                joins(alice, topic)
                joins(bob, topic)
                before = await at_rest(kafka, topic, alice, bob)
                told = [noticed(alice), noticed(bob)]
                await trio.to_thread.run_sync(drain, kafka, gone, topic, "__consumer_offsets")
                await trio.to_thread.run_sync(kafka.stop, gone)
                unregister(kafka, gone)
                await trio.to_thread.run_sync(until, lambda: brokers(kafka) == {1}, "it is struck off")

                await bob.produce(topic, 60)
                await bob.until(lambda: len(values(alice, bob)) >= 60)
                after = await at_rest(kafka, topic, alice, bob)
                assert await bob.metadata() == {1: f"127.0.0.1:{proxy.port_of(1)}"}
                assert [noticed(alice), noticed(bob)] == told
                assert {each.member_id for each in after.members} == {each.member_id for each in before.members}
                assert values(alice, bob) == numbers(60)
                async with await Client.start("confluent-kafka", proxy.bootstrap, name="carol") as carol:
                    joins(carol, topic)
                    await carol.until(lambda: len(carol.owned) == PARTITIONS // 3)
            assert proxy.get("/readyz")[0] == 200
            assert proxy.mistakes() == 0


def drain(kafka: Cluster, node: int, *topics: str) -> None:
    for topic in topics:
        for partition, leader in kafka.leaders(topic).items():
            if leader == node:
                kafka.elect_leader(topic, partition, to=1)


def unregister(kafka: Cluster, node: int) -> None:
    assert kafka.ask(1, keys.UNREGISTER_BROKER, 0, m.UnregisterBrokerRequest(broker_id=node)).error_code == 0


def brokers(kafka: Cluster) -> set[int]:
    return {broker.node_id for broker in kafka.ask(1, keys.METADATA, 1, m.MetadataRequest(topics=[])).brokers}
