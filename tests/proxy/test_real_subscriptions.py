"""A16: what is subscribed to changes beneath running clients, and reaches them without a restart."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import trio

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.clients import Client, overlaps
from tests.clients.makes import each, makes
from tests.kafka import Cluster
from tests.proxy.running import Running
from tests.proxy.settled import at_rest, describe
from tests.proxy.test_members import NATIVE

pytestmark = pytest.mark.broker

# kafka-python 3.0.12 often never comes back from a subscription that is changed, with or without a proxy.
CAN_RESUBSCRIBE = ["confluent-kafka", "aiokafka", "java-3.9"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Clients that still want a deleted topic would make it again, some without a setting not to."""
    with Cluster.start(overrides={"auto.create.topics.enable": "false"}) as kafka:
        yield kafka


async def new_topic(kafka: Cluster, count: int = 2, name: str = "") -> str:
    name = name or f"subscriptions-{uuid.uuid4()}"
    await trio.to_thread.run_sync(kafka.create_topic, name, count)
    return name


def delete_topic(kafka: Cluster, name: str) -> None:
    request = m.DeleteTopicsRequest(topic_names=[name], timeout_ms=10_000)
    [answer] = kafka.ask_any(keys.DELETE_TOPICS, 5, request).responses
    assert answer.error_code == 0


def every(topic: str, count: int) -> set[tuple[str, int]]:
    return {(topic, number) for number in range(count)}


async def is_native(kafka: Cluster, group: str) -> None:
    """A broker's own classic group would follow its topics, too."""
    described = await trio.to_thread.run_sync(describe, kafka, group)
    assert [member.member_type for member in described.members] == [NATIVE]


@makes(CAN_RESUBSCRIBE)
async def test_a_running_client_subscribes_to_other_topics(
    libraries: list[str], cluster: Cluster, proxy: Running
) -> None:
    await each(libraries, partial(subscribes_anew, cluster, proxy))


async def subscribes_anew(kafka: Cluster, proxy: Running, library: str) -> None:
    """One more, then only that one: what it goes on reading it reads once."""
    first, second = await new_topic(kafka), await new_topic(kafka)
    async with await Client.start(library, proxy.bootstrap, name="alice") as alice:
        alice.subscribe(first, first, session_timeout_ms=20_000, heartbeat_interval_ms=500)
        await alice.until(lambda: alice.owned == every(first, 2))
        alice.resubscribe([first, second])
        await alice.until(lambda: alice.owned == every(first, 2) | every(second, 2))
        await alice.produce(first, 10)
        await alice.produce(second, 10, first=10)
        await alice.until(lambda: len(alice.values) >= 20)
        alice.resubscribe([second])
        await alice.until(lambda: alice.owned == every(second, 2))
        await alice.produce(second, 10, first=20)
        await alice.until(lambda: len(alice.values) >= 30)
        assert sorted(alice.values, key=int) == [str(number) for number in range(30)]
        await is_native(kafka, first)


@makes([*CAN_RESUBSCRIBE, "kafka-python"])
async def test_topics_grow_go_and_come_back_beneath_a_running_client(
    libraries: list[str], cluster: Cluster, proxy: Running
) -> None:
    await each(libraries, partial(follows_its_topics, cluster, proxy))


async def follows_its_topics(kafka: Cluster, proxy: Running, library: str) -> None:
    """A topic of the same name is another topic, and is read from its beginning."""
    lasting, passing = await new_topic(kafka), await new_topic(kafka)
    async with await Client.start(library, proxy.bootstrap, name="alice") as alice:
        # Java would commit offsets of the topic that is gone, in vain, before it joins again: for max.poll.interval.ms.
        times: dict[str, Any] = {"session_timeout_ms": 20_000, "heartbeat_interval_ms": 500}
        alice.subscribe([lasting, passing], lasting, commit="none", **times)
        await alice.until(lambda: alice.owned == every(lasting, 2) | every(passing, 2))
        await trio.to_thread.run_sync(kafka.grow_topic, lasting, 4)
        await alice.until(lambda: alice.owned == every(lasting, 4) | every(passing, 2))
        await alice.produce(lasting, 40)
        await alice.until(lambda: len(alice.values) >= 40)
        await trio.to_thread.run_sync(delete_topic, kafka, passing)
        await alice.until(lambda: alice.owned == every(lasting, 4))
        await new_topic(kafka, 3, passing)
        await alice.until(lambda: alice.owned == every(lasting, 4) | every(passing, 3))
        await alice.produce(passing, 10, first=40)
        wanted = {str(number) for number in range(50)}
        await alice.until(lambda: set(alice.values) == wanted)
        await is_native(kafka, lasting)


async def test_a_pattern_finds_the_topic_that_is_made_later(cluster: Cluster, proxy: Running) -> None:
    """The client matches it (librdkafka does, for the classic protocol), and says at its next JoinGroup what it found."""
    topic = await new_topic(cluster)
    async with await Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice:
        alice.subscribe(f"^{topic}.*", topic, session_timeout_ms=20_000, heartbeat_interval_ms=500)
        await alice.until(lambda: alice.owned == every(topic, 2))
        later = await new_topic(cluster, 2, f"{topic}-later")
        await alice.until(lambda: alice.owned == every(topic, 2) | every(later, 2))
        await alice.produce(later, 10)
        await alice.until(lambda: len(alice.values) >= 10)
        await is_native(cluster, topic)


@pytest.mark.parametrize("way", ["directly", "through the proxy"])
async def test_a_native_members_pattern_finds_it_too_beside_a_legacy_member(
    cluster: Cluster, proxy: Running, way: str
) -> None:
    """There the coordinator matches it (KIP-848, "Regex Based Subscription"), and no member names the new topic."""
    topic = await new_topic(cluster)
    native_at = cluster.bootstrap if way == "directly" else proxy.bootstrap
    async with (
        await Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice,
        await Client.start("confluent-kafka", native_at, name="nina") as nina,
    ):
        alice.subscribe(topic, topic, session_timeout_ms=20_000, heartbeat_interval_ms=500)
        nina.subscribe(f"^{topic}.*", topic, protocol="consumer")
        await nina.until(lambda: nina.owned and alice.owned | nina.owned == every(topic, 2))
        later = await new_topic(cluster, 2, f"{topic}-later")
        await nina.until(lambda: nina.owned >= every(later, 2) and alice.owned | nina.owned >= every(topic, 2))
        await alice.produce(topic, 10)
        await alice.produce(later, 10, first=10)
        await nina.until(lambda: len(alice.values) + len(nina.values) >= 20)
        assert sorted(alice.values + nina.values, key=int) == [str(number) for number in range(20)]
        assert overlaps([alice, nina]) == []
        described = await at_rest(cluster, topic, alice, nina)
        assert [member.member_type for member in described.members] == [NATIVE] * 2
