"""B6: what cannot be translated passes, and is translated when the reason is gone."""

from __future__ import annotations

import socket
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from struct import pack
from typing import Any

import pytest
import trio

from kafka_protocol import encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.clients import Client, overlaps
from tests.kafka import Cluster
from tests.kafka.cluster import NEWEST
from tests.kafka.wire import exchange
from tests.proxy.running import Running
from tests.proxy.settled import at_rest, describe
from tests.proxy.test_members import NATIVE, seen

pytestmark = pytest.mark.broker

KAFKA_3 = "3.9.1"
GROUP_ID_NOT_FOUND = 69
PARTITIONS = 6
PASSES = "group passes untranslated"


def joins(client: Client, topic: str) -> None:
    # One of them once said nothing for minutes after its broker's restart: should it do so again, its errors tell more.
    talkative = {"debug": "cgrp,broker"} if client.library == "confluent-kafka" else None
    client.subscribe(topic, topic, session_timeout_ms=30_000, heartbeat_interval_ms=500, settings=talkative)


def passed(proxy: Running, client: Client) -> list[str]:
    return [line for line in proxy.log.read_text().splitlines() if PASSES in line and f"client={client.name}" in line]


def fetches_as_of_old(sock: socket.socket, topic: str) -> None:
    """These brokers still take it: who has had an answer and waits for another is not too old for them."""
    partition = m.FetchRequestFetchPartition(partition=0, partition_max_bytes=1_000)
    of_topic = m.FetchRequestFetchTopic(topic=topic, partitions=[partition])
    fetch = m.FetchRequest(replica_id=-1, max_wait_ms=100, min_bytes=1, topics=[of_topic])
    assert exchange(sock, keys.FETCH, 2, fetch, "ancient").responses[0].partitions[0].error_code == 0
    fetch.max_wait_ms, fetch.min_bytes = 60_000, 1_000_000
    frame = encode_request(keys.FETCH, 2, 2, "ancient", fetch)
    sock.sendall(pack(">i", len(frame)) + frame)


@asynccontextmanager
async def standing(**how: Any) -> AsyncIterator[tuple[Cluster, Running, str]]:
    """A cluster, a proxy before it, and a topic."""
    topic = f"passing-{uuid.uuid4()}"
    with await trio.to_thread.run_sync(partial(Cluster.start, **how)) as kafka:
        await trio.to_thread.run_sync(kafka.create_topic, topic, PARTITIONS)
        with await trio.to_thread.run_sync(Running, kafka.bootstrap) as proxy:
            await trio.to_thread.run_sync(proxy.ready)
            yield kafka, proxy, topic
            assert proxy.mistakes() == 0


async def test_a_cluster_of_kafka_3_passes_and_its_members_move_over_when_it_is_upgraded() -> None:
    async with (
        standing(version=KAFKA_3) as (kafka, proxy, topic),
        await Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice,
        await Client.start("kafka-python", proxy.bootstrap, name="bob") as bob,
        await Client.start("confluent-kafka", proxy.bootstrap, name="carol") as carol,
    ):
        every = {(topic, number) for number in range(PARTITIONS)}
        for client in (alice, bob):
            joins(client, topic)
        await bob.until(lambda: len(alice.owned) == len(bob.owned) == PARTITIONS // 2)
        await bob.produce(topic, 60)
        await bob.until(lambda: len(alice.values) + len(bob.values) >= 60)
        assert [len(passed(proxy, client)) for client in (alice, bob)] == [1, 1]

        # Not in order: the last words of a broker alone that stops may be a Metadata without any broker, and librdkafka 2.16,
        # told so, forgets the only one it had to ask, with a proxy between them or without.
        with proxy.connect(1) as ancient:
            await trio.to_thread.run_sync(fetches_as_of_old, ancient, topic)
            await trio.to_thread.run_sync(kafka.kill, 1)
            assert await trio.to_thread.run_sync(ancient.recv, 1) == b""
        assert "client too old" not in proxy.log.read_text()
        await trio.to_thread.run_sync(kafka.start_node, 1, NEWEST)
        await trio.to_thread.run_sync(kafka.finish_upgrade)
        joins(carol, topic)
        await carol.until(lambda: all(len(client.owned) == 2 for client in (alice, bob, carol)), within=90)
        group = await at_rest(kafka, topic, alice, bob, carol)
        assert [member.member_type for member in group.members] == [NATIVE] * 3
        await bob.produce(topic, 60, first=60)
        await bob.until(lambda: len(alice.values) + len(bob.values) + len(carol.values) >= 120)
        assert alice.owned | bob.owned | carol.owned == every
        assert overlaps([alice, bob, carol]) == []


async def test_who_passes_because_of_direct_classic_members_is_translated_when_they_are_gone() -> None:
    """Under the policy `disabled` a classic group must be empty before it can be another: the last one restarts."""
    async with (
        standing(overrides={"group.consumer.migration.policy": "disabled"}) as (kafka, proxy, topic),
        await Client.start("confluent-kafka", kafka.bootstrap, name="direct") as direct,
        await Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice,
        await Client.start("confluent-kafka", proxy.bootstrap, name="anew") as anew,
    ):
        joins(direct, topic)
        await direct.until(lambda: len(direct.owned) == PARTITIONS)
        joins(alice, topic)
        await alice.until(lambda: len(alice.owned) == len(direct.owned) == PARTITIONS // 2)
        assert (await trio.to_thread.run_sync(describe, kafka, topic)).error_code == GROUP_ID_NOT_FOUND
        await direct.close()
        await alice.until(lambda: len(alice.owned) == PARTITIONS)
        assert len(passed(proxy, alice)) == 1
        await alice.close()
        joins(anew, topic)
        await anew.until(lambda: len(anew.owned) == PARTITIONS)
        group = await seen(kafka, topic, lambda group: group.group_state == "Stable")
        assert [(member.client_id, member.member_type) for member in group.members] == [("anew", NATIVE)]
        assert passed(proxy, anew) == []
