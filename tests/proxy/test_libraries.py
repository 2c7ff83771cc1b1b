"""B4: each legacy library does through the proxy what it does without, and is told no broker's own address."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from functools import partial

import pytest
import trio

from tests.clients import LIBRARIES, Client, overlaps
from tests.clients.makes import each, makes
from tests.kafka import Cluster
from tests.proxy.running import Running

pytestmark = pytest.mark.broker

TRANSACTIONAL = [name for name, library in LIBRARIES.items() if library.transactions]


@pytest.fixture(scope="module")
def proxy(kafka3: Cluster) -> Iterator[Running]:
    with Running(kafka3.bootstrap) as running:
        yield running.ready()


async def new_topic(kafka: Cluster) -> str:
    name = f"through-{uuid.uuid4()}"
    await trio.to_thread.run_sync(kafka.create_topic, name, 3, 3)
    return name


@makes()
async def test_it_produces_consumes_commits_and_hands_over(
    libraries: list[str], proxy: Running, kafka3: Cluster
) -> None:
    await each(libraries, partial(hands_over, proxy, kafka3))
    assert proxy.mistakes() == proxy.disconnects("unsupported_version") == 0


async def hands_over(proxy: Running, kafka3: Cluster, library: str) -> None:
    topic = await new_topic(kafka3)
    every = {(topic, number) for number in range(3)}
    async with (
        await Client.start(library, proxy.bootstrap, name="alice") as alice,
        await Client.start(library, proxy.bootstrap, name="bob") as bob,
    ):
        told = await alice.metadata()
        assert {int(node): address for node, address in told.items()} == {
            node: f"127.0.0.1:{proxy.port_of(node)}" for node in kafka3.nodes
        }
        await alice.produce(topic, 100)
        alice.subscribe(topic, topic, commit="each", session_timeout_ms=6000, heartbeat_interval_ms=500)
        await alice.until(lambda: len(alice.values) >= 100)
        bob.subscribe(topic, topic, commit="each", session_timeout_ms=6000, heartbeat_interval_ms=500)
        await bob.until(lambda: bob.owned and bob.owned | alice.owned == every)
        alice.kill()
        await bob.until(lambda: bob.owned == every)
        await bob.produce(topic, 10, first=100)
        await bob.until(lambda: {str(number) for number in range(100, 110)} <= set(bob.values))
        assert overlaps([alice, bob]) == []


@makes(TRANSACTIONAL)
async def test_its_transactions_hold_while_a_leader_moves(
    libraries: list[str], proxy: Running, kafka3: Cluster
) -> None:
    await each(libraries, partial(transacts, proxy, kafka3))


async def transacts(proxy: Running, kafka3: Cluster, library: str) -> None:
    topic = await new_topic(kafka3)
    async with await Client.start(library, proxy.bootstrap) as alice:
        # Another id: the coordinator may still be writing the abort, and not every library waits for that.
        await alice.transact(topic, 10, transactional_id=f"aborted-{topic}", abort=True)
        leader = (await trio.to_thread.run_sync(kafka3.leaders, topic))[0]
        away = next(node for node in kafka3.nodes if node != leader)
        await trio.to_thread.run_sync(kafka3.elect_leader, topic, 0, away)
        await alice.transact(topic, 10, first=10, transactional_id=f"tx-{topic}")
        alice.subscribe(topic, topic)
        await alice.until(lambda: len(alice.values) >= 10)
        assert sorted(alice.values) == [str(number) for number in range(10, 20)]
