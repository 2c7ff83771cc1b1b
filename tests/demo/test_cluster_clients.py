"""C4: real clients take the embedded cluster for a Kafka cluster, with and without the proxy between."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio

from demo.cluster import Cluster
from tests.clients import LIBRARIES, Client, overlaps
from tests.proxy.running import Running

PYTHON = ["confluent-kafka", "kafka-python", "aiokafka"]
NEED_TOOLS = [pytest.param(name, marks=pytest.mark.broker) for name in LIBRARIES if name not in PYTHON]
EVERY = [*PYTHON, *NEED_TOOLS]
NATIVE = ["confluent-kafka", pytest.param("java-4.4", marks=pytest.mark.broker)]
ALL = {("orders", number) for number in range(4)}


@pytest.fixture
async def proxy(cluster: Cluster) -> AsyncIterator[Running]:
    """Started from a thread, for it asks the cluster, which lives in ours, before it is ready."""
    running = await trio.to_thread.run_sync(Running, cluster.bootstrap)
    with running:
        await trio.to_thread.run_sync(running.ready)
        yield running


@pytest.mark.parametrize("library", NATIVE)
async def test_native_members_share_the_partitions_and_go_on_where_others_stopped(
    library: str, cluster: Cluster
) -> None:
    async with (
        await Client.start(library, cluster.bootstrap, name="alice") as alice,
        await Client.start(library, cluster.bootstrap, name="bob") as bob,
    ):
        await alice.produce("orders", 100)
        alice.subscribe("orders", "billing", protocol="consumer", commit="each")
        await alice.until(lambda: len(alice.values) == 100)
        bob.subscribe("orders", "billing", protocol="consumer", commit="each")
        await bob.until(lambda: len(bob.owned) == 2 and alice.owned | bob.owned == ALL)
        await alice.close()
        await bob.until(lambda: bob.owned == ALL)
        await bob.produce("orders", 20, first=100)
        await bob.until(lambda: len(bob.values) == 20)
        assert sorted(map(int, bob.values)) == list(range(100, 120))
        assert overlaps([alice, bob]) == []


@pytest.mark.parametrize("library", EVERY)
async def test_a_legacy_client_reads_through_the_proxy_all_that_it_wrote(
    library: str, proxy: Running, cluster: Cluster
) -> None:
    async with await Client.start(library, proxy.bootstrap, name="alice") as alice:
        await alice.produce("orders", 50)
        alice.subscribe("orders", "billing")
        await alice.until(lambda: len(alice.values) >= 50, within=40)
        assert sorted(map(int, alice.values)) == list(range(50))
        group = cluster.coordinator.describe("billing")
        assert [len(member.assignment) for member in group.members] == [4]
        assert "alice" in group.members[0].client_id


async def test_legacy_and_native_members_share_a_group_through_the_proxy(proxy: Running, cluster: Cluster) -> None:
    async with (
        await Client.start("kafka-python", proxy.bootstrap, name="old") as old,
        await Client.start("confluent-kafka", cluster.bootstrap, name="new") as new,
    ):
        old.subscribe("orders", "billing")
        await old.until(lambda: old.owned == ALL)
        new.subscribe("orders", "billing", protocol="consumer")
        await new.until(lambda: len(new.owned) == len(old.owned) == 2, within=40)
        assert overlaps([old, new]) == []


async def test_a_native_member_that_commits_through_the_proxy_is_not_taken_for_a_legacy_one(
    proxy: Running, cluster: Cluster
) -> None:
    async with await Client.start("confluent-kafka", proxy.bootstrap) as alice:
        await alice.produce("orders", 20)
        alice.subscribe("orders", "billing", protocol="consumer", commit="each")
        await alice.until(lambda: len(alice.values) == 20)
        await alice.event("committed")
        await alice.close()
    assert "member adopted" not in proxy.log.read_text()


async def test_a_classic_member_without_the_proxy_is_told_that_the_group_is_not_classic(cluster: Cluster) -> None:
    async with await Client.start("confluent-kafka", cluster.bootstrap, name="alice") as alice:
        alice.subscribe("orders", "billing")
        told = await alice.event("error")
        assert "Inconsistent group protocol" in told["message"] or "INCONSISTENT_GROUP_PROTOCOL" in told["message"]


@pytest.mark.parametrize("library", PYTHON)
async def test_a_client_makes_topics_and_is_told_every_broker(library: str, cluster: Cluster) -> None:
    async with await Client.start(library, cluster.bootstrap) as alice:
        await alice.create_topic("more", partitions=3)
        assert cluster.topics.of(["more"])[2].partition == 2
        await alice.produce("more", 10)
