"""A17, B9: records are copied exactly once, whatever happens to the copiers; two proxies serve one group."""

from __future__ import annotations

import signal
import uuid
from contextlib import AsyncExitStack

import pytest
import trio

from tests.clients import Client, overlaps
from tests.kafka import Cluster
from tests.proxy.running import Running
from tests.proxy.settled import at_rest, describe
from tests.proxy.test_members import NATIVE, SOON_GIVEN_UP_MS, seen

pytestmark = pytest.mark.broker

RECORDS = 1_500


@pytest.mark.parametrize("library", ["confluent-kafka", "java-3.9"])
async def test_copies_are_exactly_once_through_rebalances_and_a_kill(library: str, kafka3: Cluster) -> None:
    source, copy = f"from-{uuid.uuid4()}", f"to-{uuid.uuid4()}"
    for name in (source, copy):
        kafka3.create_topic(name, partitions=4, replication=3)
    with Running(kafka3.bootstrap) as proxy:
        await trio.to_thread.run_sync(proxy.ready)
        async with AsyncExitStack() as stack:

            async def copier(name: str) -> Client:
                one = await stack.enter_async_context(await Client.start(library, proxy.bootstrap, name=name))
                one.subscribe(
                    source,
                    source,
                    commit="none",
                    session_timeout_ms=6_000,
                    heartbeat_interval_ms=500,
                    transform={"to": copy, "transactional_id": f"copies-{name}-{source}"},
                )
                return one

            reader = await stack.enter_async_context(
                await Client.start("confluent-kafka", kafka3.bootstrap, name="reader")
            )
            reader.subscribe(copy, copy)
            alice = await copier("alice")
            await alice.until(lambda: len(alice.owned) == 4)

            async with trio.open_nursery() as nursery:
                nursery.start_soon(_produce_slowly, reader, source)
                bob = await copier("bob")
                await bob.until(lambda: len(bob.owned) == 2)
                carol = await copier("carol")
                await carol.until(lambda: bool(carol.owned))
                bob.kill()
                await trio.sleep(2)
            wanted = {str(number) for number in range(RECORDS)}
            await reader.until(lambda: wanted <= set(reader.values), within=150)
            await trio.sleep(2)
            group = await trio.to_thread.run_sync(describe, kafka3, source)
            # Of a broker's own classic group it would be as true.
            assert [member.member_type for member in group.members] == [NATIVE] * 2
            assert sorted(reader.values, key=int) == sorted(wanted, key=int)
        assert proxy.mistakes() == 0


async def _produce_slowly(client: Client, topic: str) -> None:
    for first in range(0, RECORDS, 100):
        await client.produce(topic, 100, first=first, settings={"enable.idempotence": True})
        await trio.sleep(0.5)


@pytest.fixture
def topic(kafka3: Cluster) -> str:
    name = f"two-proxies-{uuid.uuid4()}"
    kafka3.create_topic(name, partitions=4, replication=3)
    return name


async def test_two_proxies_serve_one_group(kafka3: Cluster, topic: str) -> None:
    every = {(topic, number) for number in range(4)}
    kafka3.set_group_config(topic, consumer_session_timeout_ms=SOON_GIVEN_UP_MS)
    with Running(kafka3.bootstrap) as left, Running(kafka3.bootstrap) as right:
        await trio.to_thread.run_sync(left.ready)
        await trio.to_thread.run_sync(right.ready)
        async with (
            await Client.start("kafka-python", left.bootstrap, name="alice") as alice,
            await Client.start("confluent-kafka", right.bootstrap, name="bob") as bob,
        ):
            for client in (alice, bob):
                client.subscribe(topic, topic, session_timeout_ms=8_000, heartbeat_interval_ms=500)
            await at_rest(kafka3, topic, alice, bob)
            assert alice.owned | bob.owned == every
            assert alice.owned
            assert bob.owned
            await trio.to_thread.run_sync(left.process.end, signal.SIGKILL)
            alice.kill()
            # Nobody is left to say that she has gone; the coordinator finds out.
            await bob.until(lambda: bob.owned == every)
            assert overlaps([alice, bob]) == []
            group = await seen(kafka3, topic, lambda group: group.group_state == "Stable")
            assert len(group.members) == 1
