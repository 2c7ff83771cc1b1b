"""What the embedded cluster says to requests no library would send, in every version it offers."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import trio
from confluent_kafka.admin import AdminClient

from demo.cluster import Cluster, Code, open_cluster
from demo.cluster.apis import OFFERED
from kafka_protocol import API
from kafka_protocol import messages as m
from simulation.brokers import GroupSettings
from tests.demo.asking import Asking

VERSIONS = [(key, version) for key, (first, last) in OFFERED.items() for version in range(first, last + 1)]


@pytest.mark.parametrize(("key", "version"), VERSIONS, ids=[f"{API[key].name}-{version}" for key, version in VERSIONS])
async def test_every_version_offered_is_answered(key: int, version: int, cluster: Cluster, asker: Asking) -> None:
    body = API[key].request()
    if API[key].name == "Produce":
        body.acks = 1
    answer = await (await asker(cluster)).ask(version, body)
    assert type(answer) is API[key].response


async def test_who_asks_for_versions_in_one_too_new_is_told_the_versions(asker: Asking) -> None:
    async with open_cluster() as cluster:
        node = await asker(cluster)
        # It is answered as version 0, which differs from what the caller expects of version 5 only behind the list.
        told = await node.ask_expecting(
            0, 5, m.ApiVersionsRequest(client_software_name="x", client_software_version="y")
        )
        assert told.error_code == Code.UNSUPPORTED_VERSION
        assert {each.api_key for each in told.api_keys} == set(OFFERED)


async def test_a_version_that_is_not_offered_ends_the_connection(cluster: Cluster, asker: Asking) -> None:
    with pytest.raises(EOFError):
        await (await asker(cluster)).ask(10, m.OffsetCommitRequest(group_id="billing"))


async def test_a_partition_is_served_by_its_leader_only(cluster: Cluster, asker: Asking) -> None:
    known = (await (await asker(cluster)).ask(12, m.MetadataRequest(topics=None))).topics[0]
    leader = known.partitions[0].leader_id
    wanted = m.ListOffsetsRequest(
        topics=[
            m.ListOffsetsRequestListOffsetsTopic(
                name="orders",
                partitions=[m.ListOffsetsRequestListOffsetsPartition(partition_index=0, timestamp=-1)],
            )
        ]
    )
    for node in cluster.nodes:
        told = (await (await asker(cluster, node)).ask(7, wanted)).topics[0].partitions[0].error_code
        assert told == (Code.NONE if node == leader else Code.NOT_LEADER_OR_FOLLOWER)


async def test_a_group_is_coordinated_by_one_node_only(cluster: Cluster, asker: Asking) -> None:
    found = await (await asker(cluster)).ask(4, m.FindCoordinatorRequest(coordinator_keys=["billing"]))
    for node in cluster.nodes:
        told = (await (await asker(cluster, node)).ask(0, m.ConsumerGroupDescribeRequest(group_ids=["billing"]))).groups
        wanted = Code.GROUP_ID_NOT_FOUND if node == found.coordinators[0].node_id else Code.NOT_COORDINATOR
        assert told[0].error_code == wanted


async def test_topics_are_made_when_asked_for_only_where_that_is_on(asker: Asking) -> None:
    wanted = m.MetadataRequest(topics=[m.MetadataRequestTopic(name="new")])
    async with open_cluster() as strict, open_cluster(auto_create_partitions=5) as lenient:
        refused = (await (await asker(strict)).ask(9, wanted)).topics[0]
        made = (await (await asker(lenient)).ask(9, wanted)).topics[0]
    assert (refused.error_code, len(made.partitions)) == (Code.UNKNOWN_TOPIC_OR_PARTITION, 5)


async def test_a_member_that_falls_silent_is_gone_after_its_session(asker: Asking) -> None:
    async with open_cluster(topics={"orders": 4}, settings=GroupSettings(session_timeout_ms=200)) as cluster:
        node = await asker(cluster)
        join = m.ConsumerGroupHeartbeatRequest(
            group_id="billing",
            member_id="alice",
            rebalance_timeout_ms=1_000,
            subscribed_topic_names=["orders"],
            topic_partitions=[],
        )
        joined = await node.ask(1, join)
        await trio.sleep(0.25)
        again = m.ConsumerGroupHeartbeatRequest(group_id="billing", member_id="alice", member_epoch=joined.member_epoch)
        assert (await node.ask(1, again)).error_code == Code.UNKNOWN_MEMBER_ID


async def test_who_subscribes_by_an_expression_hears_next_time_what_it_means(asker: Asking) -> None:
    async with open_cluster(topics={"orders": 2, "payments": 1}) as cluster:
        node = await asker(cluster)
        join = m.ConsumerGroupHeartbeatRequest(
            group_id="billing",
            member_id="alice",
            rebalance_timeout_ms=1_000,
            subscribed_topic_names=[],
            subscribed_topic_regex="ord.*",
            topic_partitions=[],
        )
        joined = await node.ask(1, join)
        assert joined.assignment.topic_partitions == []
        beat = m.ConsumerGroupHeartbeatRequest(group_id="billing", member_id="alice", member_epoch=joined.member_epoch)
        [given] = (await node.ask(1, beat)).assignment.topic_partitions
        assert given.topic_id.hex() == cluster.topics.ids["orders"]
        [group] = (await node.ask(0, m.ConsumerGroupDescribeRequest(group_ids=["billing"]))).groups
        assert group.members[0].subscribed_topic_regex == "ord.*"


async def test_a_fetch_waits_until_there_is_something(cluster: Cluster, asker: Asking) -> None:
    leader = cluster.leader(cluster.topics.ids["orders"], 0)
    node = await asker(cluster, leader)
    part = m.FetchRequestFetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1_000)
    wanted = m.FetchRequest(
        max_wait_ms=60_000, min_bytes=1, topics=[m.FetchRequestFetchTopic(topic="orders", partitions=[part])]
    )
    answers = []

    async def fetch() -> None:
        answers.append(await node.ask(12, wanted))

    with trio.fail_after(10):
        async with trio.open_nursery() as tasks:
            tasks.start_soon(fetch)
            await trio.sleep(0.1)
            assert answers == []
            cluster.log("orders", 0).append(ONE_RECORD)
            cluster.announce_records()
    assert answers[0].responses[0].partitions[0].high_watermark == 1


async def test_a_topic_is_fetched_by_its_id_until_there_is_another_one_of_its_name(
    cluster: Cluster, asker: Asking
) -> None:
    topic_id = bytes.fromhex(cluster.topics.ids["orders"])
    cluster.log("orders", 0).append(ONE_RECORD)
    node = await asker(cluster, cluster.leader(topic_id.hex(), 0))
    part = m.FetchRequestFetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1_000)
    wanted = m.FetchRequest(topics=[m.FetchRequestFetchTopic(topic_id=topic_id, partitions=[part])], max_bytes=1_000)

    async def fetched() -> Any:
        [topic] = (await node.ask(13, wanted)).responses
        assert topic.topic_id == topic_id
        return topic.partitions[0]

    assert (await fetched()).records == ONE_RECORD
    cluster.delete_topic("orders")
    cluster.create_topic("orders", 4)
    assert (await fetched()).error_code == Code.UNKNOWN_TOPIC_ID


ONE_RECORD = bytes(8) + (49).to_bytes(4) + bytes(4) + b"\2" + bytes(4 + 2 + 4 + 8 + 8) + b"\xff" * 14 + bytes(4)


def test_it_runs_as_a_server_of_its_own() -> None:
    command = [sys.executable, "-m", "demo.cluster", "--nodes", "2", "--topic", "orders:6"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            client = AdminClient({"bootstrap.servers": server.stdout.readline().strip()})
            told = client.list_topics(timeout=10)
        finally:
            server.terminate()
        assert server.wait(10) == 0
    assert (len(told.brokers), len(told.topics["orders"].partitions)) == (2, 6)
