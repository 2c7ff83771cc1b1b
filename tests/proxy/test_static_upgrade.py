"""A14: static members from one protocol to the other and back, each under the instance id that it had."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.clients import Client, overlaps
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.kafka.wire import exchange
from tests.proxy.by_hand import COORDINATOR_IS_COMING, ByHand
from tests.proxy.running import Running
from tests.proxy.settled import at_rest, describe, noticed

pytestmark = pytest.mark.broker

FENCED_INSTANCE_ID, UNRELEASED_INSTANCE_ID, UNSUPPORTED_ASSIGNOR = 82, 111, 112
INSTANCE = "i-1"


class Native(ByHand):
    """One that speaks ConsumerGroupHeartbeat, over a socket of its own."""

    def heartbeat(self, epoch: int, **more: Any) -> Any:
        self.member_id = self.member_id or str(uuid.uuid4())
        request = m.ConsumerGroupHeartbeatRequest(
            group_id=self.group, member_id=self.member_id, member_epoch=epoch, instance_id=self.instance_id, **more
        )
        return exchange(self.sock, keys.CONSUMER_GROUP_HEARTBEAT, 1, request, "native")

    def begins(self, **more: Any) -> Any:
        return until(lambda: self._begun(**more), "there is a coordinator")

    def _begun(self, **more: Any) -> Any:
        answer = self.heartbeat(
            0, rebalance_timeout_ms=30_000, subscribed_topic_names=list(self.topics), topic_partitions=[], **more
        )
        return None if answer.error_code in COORDINATOR_IS_COMING else answer


@pytest.fixture
def topic(cluster: Cluster) -> str:
    name = f"upgrade-{uuid.uuid4()}"
    cluster.create_topic(name, partitions=4)
    return name


@pytest.fixture
def comes(proxy: Running, cluster: Cluster, topic: str) -> Iterator[Callable[..., Any]]:
    """Clients of one instance, each where it is told to come, which end with the test."""
    made: list[ByHand] = []

    def come(kind: type[ByHand], to: Running | None = None) -> ByHand:
        port = (to or proxy).port_of(cluster.coordinator(topic))
        made.append(kind(("127.0.0.1", port), topic, topic, instance_id=INSTANCE))
        return made[-1]

    yield come
    for one in made:
        one.close()


def numbers_of(answer: Any) -> list[int]:
    topics = answer.assignment.topic_partitions if answer.assignment is not None else []
    return sorted(number for each in topics for number in each.partitions)


def test_a_legacy_member_that_has_stopped_is_replaced_by_a_native_one_at_once(
    comes: Callable[..., Any], cluster: Cluster, topic: str
) -> None:
    legacy = comes(ByHand).joins()
    epoch = describe(cluster, topic).group_epoch
    legacy.close()
    native = comes(Native)
    answer = native.begins()
    assert (answer.error_code, answer.error_message) == (0, None)
    assert numbers_of(answer) == legacy.owned[topic]
    group = describe(cluster, topic)
    assert [each.member_id for each in group.members] == [native.member_id]
    assert group.group_epoch == epoch


def test_one_that_is_still_there_is_fenced(comes: Callable[..., Any]) -> None:
    legacy = comes(ByHand).joins()
    assert comes(Native).begins().error_code == 0
    assert legacy.beat() == FENCED_INSTANCE_ID


def test_a_native_member_that_is_refused_takes_nobodys_instance(comes: Callable[..., Any]) -> None:
    legacy = comes(ByHand).joins()
    assert comes(Native).begins(server_assignor="nobody's").error_code == UNSUPPORTED_ASSIGNOR
    assert legacy.beat() == 0


def test_a_native_members_instance_is_its_own(comes: Callable[..., Any]) -> None:
    native = comes(Native)
    epoch = native.begins().member_epoch
    assert comes(Native).begins().error_code == UNRELEASED_INSTANCE_ID
    assert native.heartbeat(epoch).error_code == 0


def test_a_member_of_another_proxy_is_replaced_too(comes: Callable[..., Any], cluster: Cluster) -> None:
    """As is one of this proxy before a restart: nothing is known of either but what the coordinator says."""
    legacy = comes(ByHand).joins()
    with Running(cluster.bootstrap) as another:
        assert comes(Native, to=another.ready()).begins().error_code == 0
        until(lambda: legacy.beat() == FENCED_INSTANCE_ID, "the coordinator has fenced it")


def test_once_an_admin_has_removed_it_a_native_member_may_come_directly(
    comes: Callable[..., Any], proxy: Running, cluster: Cluster, topic: str
) -> None:
    comes(ByHand).joins().close()
    tool = [sys.executable, "-m", "kafka.admin", "--bootstrap-servers", proxy.bootstrap, "groups", "remove-members"]
    subprocess.run([*tool, "--group-id", topic, "--group-instance-id", INSTANCE], check=True, timeout=60)
    host, port = cluster.nodes[cluster.coordinator(topic)].address.split(":")
    native = Native((host, int(port)), topic, topic, instance_id=INSTANCE)
    assert native.begins().error_code == 0
    native.close()


@pytest.mark.parametrize("library", ["confluent-kafka", "java-4.4"])
async def test_static_clients_become_native_and_legacy_again_and_their_neighbour_hears_nothing(
    cluster: Cluster, proxy: Running, topic: str, library: str
) -> None:
    async with AsyncExitStack() as stack:

        async def start(library: str, name: str, protocol: str) -> Client:
            one = await stack.enter_async_context(await Client.start(library, proxy.bootstrap, name=name))
            session_ms = 30_000 if protocol == "classic" else None
            one.subscribe(
                topic, topic, protocol=protocol, instance_id=name, session_timeout_ms=session_ms, commit="each"
            )
            return one

        ann, bob = await start(library, "ann", "classic"), await start("kafka-python", "bob", "classic")
        before = await at_rest(cluster, topic, ann, bob)
        had, heard = ann.owned, noticed(bob)
        anns = [ann]

        async def read_by(count: int) -> None:
            await bob.until(lambda: sum(len(each.values) for each in (*anns, bob)) >= count)
            assert {value for each in (*anns, bob) for value in each.values} == set(map(str, range(count)))

        for count, protocol in ((40, "consumer"), (80, "classic")):
            await anns[-1].close()
            anns.append(await start(library, "ann", protocol))
            after = await at_rest(cluster, topic, anns[-1], bob)
            assert (anns[-1].owned, noticed(bob), after.group_epoch) == (had, heard, before.group_epoch)
            await bob.produce(topic, 40, first=count - 40)
            await read_by(count)
        assert overlaps([*anns, bob]) == []
