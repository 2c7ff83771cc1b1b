"""A4, A6, A8, A15: what members of one group, of many makes, notice of one another."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import AsyncExitStack
from functools import partial

import pytest
import trio

from tests.clients import LIBRARIES, Client, overlaps
from tests.clients.driver import Partition, partitions
from tests.clients.makes import each, makes
from tests.kafka import Cluster
from tests.matrix.steady import Steady
from tests.proxy.running import Running
from tests.proxy.settled import at_rest, noticed

pytestmark = pytest.mark.broker

SESSION_MS = 20_000
HEARTBEAT_MS = 500
# Far longer than a parked JoinGroup waits for a whole assignment (3 s).
SLOW_CALLBACK_MS = 7_000


@pytest.fixture(scope="module")
def proxy(kafka: Cluster) -> Iterator[Running]:
    with Running(kafka.bootstrap) as running:
        yield running.ready()
        assert running.mistakes() == 0


async def new_topic(kafka: Cluster, count: int) -> str:
    name = f"groups-{uuid.uuid4()}"
    await trio.to_thread.run_sync(kafka.create_topic, name, count)
    return name


def joins(client: Client, topic: str, strategy: str | None = None, revoke_ms: int = 0) -> None:
    client.subscribe(
        topic,
        topic,
        strategy=strategy,
        revoke_ms=revoke_ms,
        session_timeout_ms=SESSION_MS,
        heartbeat_interval_ms=HEARTBEAT_MS,
    )


def let_go(client: Client) -> list[set[Partition]]:
    return [partitions(event) for event in client.seen("revoked") if partitions(event)]


# As its users write it: who offers no protocol metadata says version 1 and sends 0 (kafka-go).
EVERY_STRATEGY = {
    "confluent-kafka": "range",
    "kafka-python": "roundrobin",
    "aiokafka": "sticky",
    "java-3.9": "cooperative",
    "kafka-go": "range",
}


@pytest.mark.skipif(bool(LIBRARIES["kafka-go"].missing), reason="needs go")
async def test_members_of_every_strategy_share_a_group_and_read_everything_once(kafka: Cluster, proxy: Running) -> None:
    """A4: a broker by itself would refuse the second of them."""
    topic = await new_topic(kafka, 10)
    async with AsyncExitStack() as stack:
        members = []
        for library, strategy in EVERY_STRATEGY.items():
            one = await stack.enter_async_context(await Client.start(library, proxy.bootstrap, name=library))
            joins(one, topic, strategy)
            members.append(one)
        await at_rest(kafka, topic, *members)
        assert [len(one.owned) for one in members] == [2] * 5
        await members[0].produce(topic, 200)

        def read() -> list[str]:
            return sorted((value for one in members for value in one.values), key=int)

        await members[0].until(lambda: len(read()) >= 200)
        assert read() == [str(number) for number in range(200)]
        assert all(one.values for one in members)
        assert overlaps(members) == []


@makes(["confluent-kafka", "kafka-python", "java-3.9"])
async def test_a_cooperative_member_sees_only_its_own_difference(
    libraries: list[str], kafka: Cluster, proxy: Running
) -> None:
    await each(libraries, partial(sees_only_its_difference, kafka, proxy))


async def sees_only_its_difference(kafka: Cluster, proxy: Running, library: str) -> None:
    """A6: somebody comes and goes; what it keeps is never revoked, and is read without a gap or a repetition."""
    topic = await new_topic(kafka, 6)
    every = {(topic, number) for number in range(6)}
    steady = Steady(kafka.bootstrap, topic, 6)
    async with (
        await Client.start(library, proxy.bootstrap, name="alice") as alice,
        await Client.start("confluent-kafka", proxy.bootstrap, name="bob") as bob,
    ):
        joins(alice, topic, "cooperative")
        await alice.until(lambda: alice.owned == every)
        joins(bob, topic, "cooperative")
        await at_rest(kafka, topic, alice, bob)
        bobs, kept = bob.owned, alice.owned
        assert len(bobs) == 3
        await bob.close()
        await alice.until(lambda: alice.owned == every)
        await trio.to_thread.run_sync(steady.end)
        await alice.until(lambda: len(set(alice.values + bob.values)) == steady.sent)
        assert let_go(alice) == [bobs]
        gained = [partitions(event) for event in alice.seen("assigned") if partitions(event)]
        assert [each for each in gained if each & kept] == [every]
        for topic_, number in kept:
            offsets = [offset for t, p, offset, _ in alice.records if (t, p) == (topic_, number)]
            assert offsets == list(range(len(offsets)))


async def test_a_slow_revoke_callback_delays_only_its_own_partitions(kafka: Cluster, proxy: Running) -> None:
    """A8: what others gave up is read by the newcomer while bob's callback runs, and what they kept is read by them."""
    topic = await new_topic(kafka, 12)
    steady = Steady(kafka.bootstrap, topic, 12)
    async with (
        await Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice,
        await Client.start("kafka-python", proxy.bootstrap, name="bob") as bob,
        await Client.start("confluent-kafka", proxy.bootstrap, name="carol") as carol,
    ):
        joins(alice, topic, "cooperative")
        joins(bob, topic, "range", SLOW_CALLBACK_MS)
        await at_rest(kafka, topic, alice, bob)
        alices, bobs = alice.owned, bob.owned
        joins(carol, topic, "cooperative")
        begun = await bob.event("revoking", partitions=sorted(map(list, bobs)))
        ended = await bob.event("revoked")
        await at_rest(kafka, topic, alice, bob, carol)
        await trio.to_thread.run_sync(steady.end)

        def read_meanwhile(client: Client) -> set[Partition]:
            batches = [each for each in client.seen("records") if begun["at_ms"] < each["at_ms"] < ended["at_ms"]]
            return {(topic, number) for batch in batches for topic, number, _, _ in batch["records"]}

        assert alices & alice.owned <= read_meanwhile(alice)
        assert alices & carol.owned <= read_meanwhile(carol)
        assert alices & carol.owned
        assert not bobs & read_meanwhile(carol)
        assert overlaps([alice, bob, carol]) == []


async def test_a_callback_that_outlasts_its_rebalance_timeout_costs_its_member_the_partitions(
    kafka: Cluster, proxy: Running
) -> None:
    """A8: the others do not wait for it for ever, and it is told so when it comes back."""
    topic = await new_topic(kafka, 6)
    async with (
        await Client.start("java-3.9", proxy.bootstrap, name="bob") as bob,
        await Client.start("confluent-kafka", proxy.bootstrap, name="carol") as carol,
    ):
        # To a coordinator the longest time between two polls is the rebalance timeout.
        bob.subscribe(topic, topic, strategy="range", revoke_ms=SESSION_MS, max_poll_interval_ms=SESSION_MS // 4)
        await at_rest(kafka, topic, bob)
        joins(carol, topic, "range")
        await bob.event("revoking")
        await carol.until(lambda: len(carol.owned) == 6, what="all that bob had")
        assert not bob.seen("revoked")
        await bob.event("assigned")
        await at_rest(kafka, topic, bob, carol)
        assert len(bob.owned) == len(carol.owned) == 3


@makes(["java-3.9", "franz-go"])
async def test_a_rejoin_of_its_own_accord_disturbs_nobody(libraries: list[str], kafka: Cluster, proxy: Running) -> None:
    await each(libraries, partial(rejoins, kafka, proxy))


async def rejoins(kafka: Cluster, proxy: Running, library: str) -> None:
    """A15: it has the same again, and nobody hears of it."""
    topic = await new_topic(kafka, 6)
    async with (
        await Client.start(library, proxy.bootstrap, name="alice") as alice,
        await Client.start("confluent-kafka", proxy.bootstrap, name="bob") as bob,
    ):
        joins(alice, topic, "range")
        joins(bob, topic, "range")
        before = await at_rest(kafka, topic, alice, bob)
        had, told, others = alice.owned, len(alice.seen("assigned")), noticed(bob)
        for round_ in (1, 2):
            alice.rejoin()
            await alice.until(lambda wanted=told + round_: len(alice.seen("assigned")) >= wanted)  # type: ignore[misc]
        after = await at_rest(kafka, topic, alice, bob)
        assert alice.owned == had
        assert noticed(bob) == others
        assert after.group_epoch == before.group_epoch
        assert len(alice.seen("assigned")) == told + 2
