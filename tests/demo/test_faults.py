"""The embedded cluster misbehaves when it is told to, and not otherwise."""

from __future__ import annotations

import pytest

from demo.cluster import Cluster, Code, Cut, Delay, Fail, Lose
from kafka_protocol import messages as m
from tests.clients import Client
from tests.demo.asking import Asker, Asking

COMMIT = m.OffsetCommitRequest(
    group_id="billing",
    topics=[
        m.OffsetCommitRequestTopic(
            name="orders", partitions=[m.OffsetCommitRequestPartition(partition_index=0, committed_offset=7)]
        )
    ],
)


async def coordinator(asker: Asking, cluster: Cluster, client_id: str = "by hand") -> Asker:
    return await asker(cluster, cluster.coordinator_of("billing").number, client_id)


async def commit(node: Asker) -> int:
    return int((await node.ask(9, COMMIT)).topics[0].partitions[0].error_code)


def committed(cluster: Cluster) -> list[int]:
    return list(cluster.coordinator.committed("billing").values())


async def test_a_failure_is_answered_as_often_as_planned_and_nothing_is_done(cluster: Cluster, asker: Asking) -> None:
    cluster.faults.add("OffsetCommit", Fail(Code.COORDINATOR_LOAD_IN_PROGRESS), times=2)
    node = await coordinator(asker, cluster)
    assert [await commit(node), await commit(node)] == [Code.COORDINATOR_LOAD_IN_PROGRESS] * 2
    assert committed(cluster) == []
    assert (await commit(node), committed(cluster)) == (Code.NONE, [7])


async def test_a_cut_comes_before_anything_is_done(cluster: Cluster, asker: Asking) -> None:
    cluster.faults.add("OffsetCommit", Cut())
    with pytest.raises(EOFError):
        await commit(await coordinator(asker, cluster))
    assert committed(cluster) == []


async def test_a_lost_answer_comes_after_everything_is_done(cluster: Cluster, asker: Asking) -> None:
    cluster.faults.add("OffsetCommit", Lose())
    with pytest.raises(EOFError):
        await commit(await coordinator(asker, cluster))
    assert committed(cluster) == [7]


async def test_a_delayed_request_is_answered_all_the_same(cluster: Cluster, asker: Asking) -> None:
    cluster.faults.add("OffsetCommit", Delay(100))
    before = cluster.now_ms
    assert await commit(await coordinator(asker, cluster)) == Code.NONE
    assert cluster.now_ms - before >= 99


async def test_a_fault_may_be_for_one_client_only(cluster: Cluster, asker: Asking) -> None:
    cluster.faults.add("OffsetCommit", Fail(Code.NOT_COORDINATOR), client_id="alice")
    assert await commit(await coordinator(asker, cluster, "bob")) == Code.NONE
    assert await commit(await coordinator(asker, cluster, "alice")) == Code.NOT_COORDINATOR
    assert list(cluster.faults) == []


async def test_a_fault_may_be_for_one_node_only(cluster: Cluster, asker: Asking) -> None:
    cluster.faults.add("Metadata", Fail(Code.UNKNOWN_TOPIC_OR_PARTITION), node=2)
    told = [(await (await asker(cluster, node)).ask(4, m.MetadataRequest(topics=None))).topics[0] for node in (1, 2)]
    assert [topic.error_code for topic in told] == [Code.NONE, Code.UNKNOWN_TOPIC_OR_PARTITION]


async def test_connections_of_one_node_are_cut(cluster: Cluster, asker: Asking) -> None:
    first, second = await asker(cluster, 1), await asker(cluster, 2)
    for each in (first, second):
        await each.ask(0, m.ApiVersionsRequest())
    cluster.cut_connections(node=1)
    with pytest.raises(EOFError):
        await first.ask(0, m.ApiVersionsRequest())
    await second.ask(0, m.ApiVersionsRequest())


async def test_an_idempotent_producer_survives_lost_answers_without_a_double(cluster: Cluster) -> None:
    cluster.faults.add("Produce", Lose(), times=3)
    async with await Client.start("confluent-kafka", cluster.bootstrap) as alice:
        await alice.produce("orders", 200)
    assert sum(cluster.log("orders", number).next_offset for number in range(4)) == 200
    assert len(cluster.faults.befallen) == 3


async def test_a_native_member_goes_on_after_heartbeats_lost_cut_and_refused(cluster: Cluster) -> None:
    for fault in (Lose(), Cut(), Fail(Code.COORDINATOR_LOAD_IN_PROGRESS)):
        cluster.faults.add("ConsumerGroupHeartbeat", fault)
    async with await Client.start("confluent-kafka", cluster.bootstrap) as alice:
        alice.subscribe("orders", "billing", protocol="consumer")
        await alice.until(lambda: len(alice.owned) == 4)
    assert len(cluster.faults.befallen) == 3
