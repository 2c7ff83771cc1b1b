"""A9, A11, A14: members that stall, that come back, that are restarted one by one."""

from __future__ import annotations

import contextlib
import os
import signal
import uuid
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.clients import Client, overlaps
from tests.clients.makes import each
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.kafka.wire import send
from tests.matrix.steady import Steady
from tests.proxy.by_hand import REBALANCE_IN_PROGRESS, ByHand
from tests.proxy.running import Running
from tests.proxy.settled import at_rest, describe, noticed
from tests.proxy.test_members import NATIVE

pytestmark = pytest.mark.broker

PARTITIONS = 6
ROLLING_RESTARTS = int(os.environ.get("ROLLING_RESTARTS", "5"))
# Of the application, between two polls; librdkafka wants its session to be no longer.
MAX_POLL_MS, STALL_MS = 6_000, 14_000
# Of a group, as brokers allow it.
LONGEST_SESSION_MS = "60000"
# Of JoinGroup: a newcomer has its id with the answer, and not before.
BEFORE_IDS_ARE_REQUIRED = 3
# Longer than the proxy waits for a replacement at first, and no longer than it can learn to.
AWAY_SECONDS = 1


@pytest.fixture(scope="module")
def proxy(kafka: Cluster) -> Iterator[Running]:
    with Running(kafka.bootstrap) as running:
        yield running.ready()
        assert running.mistakes() == 0


@pytest.fixture
def topic(kafka: Cluster) -> str:
    return new_topic(kafka)


def new_topic(kafka: Cluster) -> str:
    name = f"absences-{uuid.uuid4()}"
    kafka.create_topic(name, partitions=PARTITIONS)
    return name


def every(topic: str) -> set[tuple[str, int]]:
    return {(topic, number) for number in range(PARTITIONS)}


def values(*clients: Client) -> list[str]:
    return sorted((value for client in clients for value in client.values), key=int)


def numbers(count: int) -> list[str]:
    return [str(number) for number in range(count)]


async def test_who_stalls_past_its_poll_interval_leaves_and_comes_back(kafka: Cluster, proxy: Running) -> None:
    """A11: these libraries leave by themselves when the application hangs, and their heartbeat threads live on."""
    await each(["confluent-kafka", "kafka-python", "java-3.9"], partial(stalls, kafka, proxy))


async def stalls(kafka: Cluster, proxy: Running, library: str) -> None:
    topic = await trio.to_thread.run_sync(new_topic, kafka)
    async with (
        await Client.start(library, proxy.bootstrap, name="alice") as alice,
        await Client.start("confluent-kafka", proxy.bootstrap, name="bob") as bob,
    ):
        times: dict[str, Any] = {"session_timeout_ms": MAX_POLL_MS, "heartbeat_interval_ms": 500}
        alice.subscribe(topic, topic, max_poll_interval_ms=MAX_POLL_MS, **times)
        bob.subscribe(topic, topic, **times)
        await at_rest(kafka, topic, alice, bob)
        await bob.produce(topic, 60)
        await bob.until(lambda: len(values(alice, bob)) >= 60)
        await trio.sleep(1)
        words = len(noticed(alice))
        alice.stall(STALL_MS)
        await bob.until(lambda: bob.owned == every(topic))
        assert len(noticed(alice)) == words, "she had hung up before she was back"
        await bob.produce(topic, 60, first=60)
        await bob.until(lambda: len(values(alice, bob)) >= 120)
        await alice.until(lambda: len(noticed(alice)) > words)
        await at_rest(kafka, topic, alice, bob)
        assert len(alice.owned) == len(bob.owned) == PARTITIONS // 2
        assert values(alice, bob) == numbers(120)


async def test_a_static_member_comes_back_through_a_proxy_that_was_restarted_meanwhile(
    kafka: Cluster, topic: str, tmp_path: Path
) -> None:
    """A14: it has the same partitions again, its neighbour hears nothing, and the group has not moved."""
    config = tmp_path / "proxy.toml"
    config.write_text(f'[translation]\njournal = "{tmp_path / "journal"}"\n')

    def joins(client: Client) -> None:
        client.subscribe(
            topic, topic, instance_id=client.name, session_timeout_ms=30_000, heartbeat_interval_ms=500, commit="each"
        )

    proxy = Running(kafka.bootstrap, "--config", str(config)).ready()
    async with AsyncExitStack() as stack:

        async def start(library: str, name: str) -> Client:
            one = await stack.enter_async_context(await Client.start(library, proxy.bootstrap, name=name))
            joins(one)
            return one

        alice, bob = await start("confluent-kafka", "alice"), await start("kafka-python", "bob")
        before = await at_rest(kafka, topic, alice, bob)
        had, told = alice.owned, noticed(bob)
        await bob.produce(topic, 60)
        await bob.until(lambda: len(values(alice, bob)) >= 60)
        await alice.close()
        await trio.to_thread.run_sync(proxy.process.end, signal.SIGKILL)
        with Running(kafka.bootstrap, "--config", str(config), base=proxy.base) as again:
            await trio.to_thread.run_sync(again.ready)
            anew = await start("confluent-kafka", "alice")
            after = await at_rest(kafka, topic, anew, bob)
            assert anew.owned == had
            assert noticed(bob) == told
            assert after.group_epoch == before.group_epoch
            await bob.produce(topic, 60, first=60)
            await bob.until(lambda: len(values(alice, anew, bob)) >= 120)
            assert values(alice, anew, bob) == numbers(120)
            assert again.mistakes() == 0


@pytest.mark.parametrize(
    ("session_ms", "comes_back_as"), [(30_000, "by-hand"), (6_000, "another")], ids=["begins anew", "session is over"]
)
def test_what_an_old_member_has_is_free_when_its_client_does_not_come_back_after_a_restart(
    session_ms: int, comes_back_as: str, kafka: Cluster, topic: str, tmp_path: Path
) -> None:
    """The coordinator would wait for a minute."""
    kafka.set_group_config(topic, consumer_session_timeout_ms=LONGEST_SESSION_MS)
    config = tmp_path / "proxy.toml"
    config.write_text(f'[translation]\njournal = "{tmp_path / "journal"}"\n')
    proxy = Running(kafka.bootstrap, "--config", str(config)).ready()
    one = ByHand(("127.0.0.1", proxy.port_of(kafka.coordinator(topic))), topic, topic)
    one.session_timeout_ms = session_ms
    had = one.joins().owned
    proxy.process.end(signal.SIGKILL)
    with Running(kafka.bootstrap, "--config", str(config), base=proxy.base) as again, contextlib.closing(one):
        again.ready()
        one.member_id, one.client_id = "", comes_back_as
        one.on_new_socket()
        assert one.joins().owned == had
        assert len(describe(kafka, topic).members) == 1
        assert f"member leaves, whose client has not come back group={topic} " in again.log.read_text()


@pytest.fixture
def waiting(kafka: Cluster, topic: str, tmp_path: Path) -> Iterator[tuple[Running, ByHand, ByHand]]:
    """A member that has everything, and is silent; and a newcomer that waits for some of it, and has not heard its id."""
    kafka.set_group_config(topic, consumer_session_timeout_ms=LONGEST_SESSION_MS)
    config = tmp_path / "proxy.toml"
    config.write_text(f'[translation]\njournal = "{tmp_path / "journal"}"\npark_ms = 20_000\n')
    with Running(kafka.bootstrap, "--config", str(config)) as proxy:
        address = "127.0.0.1", proxy.ready().port_of(kafka.coordinator(topic))
        one, two = ByHand(address, topic, topic), ByHand(address, topic, topic)
        with contextlib.closing(one), contextlib.closing(two):
            one.joins()
            send(two.sock, keys.JOIN_GROUP, BEFORE_IDS_ARE_REQUIRED, two.join_request(), two.client_id)
            until(lambda: len(describe(kafka, topic).members) == 2, "the newcomer is a member")
            yield proxy, one, two


def test_what_was_meant_for_a_newcomer_is_free_when_its_proxy_was_killed_before_it_had_told_it_anything(
    waiting: tuple[Running, ByHand, ByHand], kafka: Cluster, topic: str, tmp_path: Path
) -> None:
    proxy, one, two = waiting
    proxy.process.end(signal.SIGKILL)
    with Running(kafka.bootstrap, "--config", str(tmp_path / "proxy.toml"), base=proxy.base) as again:
        again.ready()
        for each in (one, two):
            each.on_new_socket()
        had = one.owned
        assert one.leave().error_code == 0
        two.joins(BEFORE_IDS_ARE_REQUIRED)
        while two.owned != had:
            until(lambda: two.beat() == REBALANCE_IN_PROGRESS, "what its first self was to have is free")
            two.joins(BEFORE_IDS_ARE_REQUIRED)
        assert len(describe(kafka, topic).members) == 1
        assert f"member leaves, whose client has not come back group={topic} " in again.log.read_text()


def test_a_newcomer_that_was_told_nothing_leaves_when_its_proxy_stops(
    waiting: tuple[Running, ByHand, ByHand], kafka: Cluster, topic: str
) -> None:
    """Its client comes back as another."""
    proxy, one, _ = waiting
    proxy.stop()
    assert [each.member_id for each in describe(kafka, topic).members] == [one.member_id]


async def test_of_members_that_restart_one_by_one_only_the_first_disturbs_anybody(
    kafka: Cluster, proxy: Running, topic: str
) -> None:
    """It teaches the proxy how long the others will be away."""
    async with AsyncExitStack() as stack:

        async def start(name: str) -> Client:
            return await stack.enter_async_context(await Client.start("confluent-kafka", proxy.bootstrap, name=name))

        a, b, c, again_a, again_b = [await start(name) for name in ("a", "b", "c", "again-a", "again-b")]
        for member in (a, b, c):
            member.subscribe(topic, topic, strategy="range")
        await at_rest(kafka, topic, a, b, c)
        await restarts(a, again_a, topic)
        await at_rest(kafka, topic, again_a, b, c)

        before, share = [noticed(again_a), noticed(c)], set(b.owned)
        await restarts(b, again_b, topic)
        await at_rest(kafka, topic, again_a, again_b, c)
        assert [noticed(again_a), noticed(c)] == before
        assert again_b.owned == share


async def restarts(leaver: Client, again: Client, topic: str) -> None:
    await leaver.leave()
    await trio.sleep(AWAY_SECONDS)
    again.subscribe(topic, topic, strategy="range")


def committed(kafka: Cluster, group: str) -> dict[int, int]:
    """As the coordinator has it."""
    wanted = m.OffsetFetchRequestTopic(name=group, partition_indexes=list(range(PARTITIONS)))
    request = m.OffsetFetchRequest(group_id=group, topics=[wanted])
    answer = kafka.ask(kafka.coordinator(group), keys.OFFSET_FETCH, 5, request)
    assert answer.error_code == 0
    return {each.partition_index: each.committed_offset for each in answer.topics[0].partitions}


@pytest.mark.timeout(120 + 20 * ROLLING_RESTARTS)
async def test_rolling_restarts_lose_nothing_and_never_take_a_commit_back(
    kafka: Cluster, proxy: Running, topic: str
) -> None:
    """A9: members are restarted one after another while records come; ROLLING_RESTARTS says how often."""
    steady = Steady(kafka.bootstrap, topic, PARTITIONS)
    everybody: list[Client] = []
    async with AsyncExitStack() as stack:

        async def start(library: str) -> Client:
            name = f"{library}-{len(everybody)}"
            one = await stack.enter_async_context(await Client.start(library, proxy.bootstrap, name=name))
            one.subscribe(topic, topic, commit="each", session_timeout_ms=20_000, heartbeat_interval_ms=500)
            everybody.append(one)
            return one

        present = [await start("confluent-kafka"), await start("kafka-python"), await start("aiokafka")]
        place = dict.fromkeys(range(PARTITIONS), -1)
        for _ in range(ROLLING_RESTARTS):
            first = present.pop(0)
            await first.close()
            present.append(await start(first.library))
            await present[-1].until(lambda: all(one.owned for one in present))
            await present[-1].until(lambda: sum(len(one.owned) for one in present) == PARTITIONS)
            # A broker's own classic group would lose nothing either.
            group = await trio.to_thread.run_sync(describe, kafka, topic)
            assert [member.member_type for member in group.members] == [NATIVE] * 3
            now = await trio.to_thread.run_sync(committed, kafka, topic)
            assert all(now[number] >= place[number] for number in now), f"{place} became {now}"
            place = now
        await trio.to_thread.run_sync(steady.end)
        wanted = set(numbers(steady.sent))
        await present[0].until(lambda: wanted <= read(everybody))
        await present[0].until(lambda: sum(committed(kafka, topic).values()) == steady.sent)
        assert overlaps(everybody, tolerance_ms=5) == []


def read(clients: list[Client]) -> set[str]:
    return {value for client in clients for value in client.values}
