"""B4, B10: what the proxy itself sees to on the way, beside the translation: what members of a group that moves are called,
who is paced, who is held no more."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from kafka_protocol import decode
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.groups.describing import PAINTED_AT_ONCE
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.kafka.cluster import OLDEST
from tests.kafka.wire import read_frame, send
from tests.proxy.by_hand import (
    REBALANCE_IN_PROGRESS,
    ByHand,
)
from tests.proxy.running import Running
from tests.proxy.settled import assigned, describe
from tests.proxy.test_fetching import epoch_of
from tests.proxy.test_static_upgrade import Native

pytestmark = pytest.mark.broker

PARTITIONS = 4
# As the settings are by default.
MOVING_MS, QUIET_MS = 300, 2_000
# How the client below beats, and longer than any answer takes that is not held.
RHYTHM_SECONDS, AT_ONCE_SECONDS = 1.5, 0.6
TIMER_SECONDS = 2.0
BEATS = 8
# Of `Pacing`.
COORDINATOR_LOAD_IN_PROGRESS = 14


@pytest.fixture
def comes(proxy: Running, cluster: Cluster) -> Iterator[Callable[..., Any]]:
    """Members of one group, which end with the test."""
    topic = f"on-the-way-{uuid.uuid4()}"
    cluster.create_topic(topic, partitions=PARTITIONS)
    made: list[ByHand] = []

    def come(kind: type[ByHand] = ByHand) -> ByHand:
        made.append(kind(("127.0.0.1", proxy.port_of(cluster.coordinator(topic))), topic, topic))
        return made[-1]

    yield come
    for one in made:
        one.close()


def test_a_group_that_moves_is_called_by_the_classic_name_and_found_by_it(
    comes: Callable[..., Any], cluster: Cluster
) -> None:
    one, two, tool = comes(), comes(), comes()
    one.instance_id = "i-1"
    one.joins()
    with ThreadPoolExecutor() as beside:
        joined = beside.submit(two.join)
        until(lambda: describe(cluster, one.group).group_state == "Reconciling", "the first must let go")
        asked = m.DescribeGroupsRequest(groups=[one.group], include_authorized_operations=True)
        said = tool.ask(keys.DESCRIBE_GROUPS, 5, asked).groups[0]
        assert (said.group_state, len(said.members)) == ("CompletingRebalance", 2)
        found = describe(cluster, one.group)
        assert said.protocol_data == found.assignor_name
        assert {
            (each.member_id, each.group_instance_id, each.client_id, each.client_host) for each in said.members
        } == {(each.member_id, each.instance_id, each.client_id, each.client_host) for each in found.members}
        # To read and to describe, as bits.
        assert said.authorized_operations & (1 << 3 | 1 << 8) == 1 << 3 | 1 << 8
        for wanted, is_listed in (("CompletingRebalance", True), ("Stable", False)):
            groups = tool.ask(keys.LIST_GROUPS, 4, m.ListGroupsRequest(states_filter=[wanted])).groups
            assert ((one.group, wanted) in {(each.group_id, each.group_state) for each in groups}) is is_listed
        one.joins()
        assert joined.result().error_code == 0


def test_a_tool_that_asks_for_many_groups_at_once_is_shown_each(comes: Callable[..., Any], cluster: Cluster) -> None:
    """And whoever has a pattern with the topics that it has: a classic member names those that fit."""
    tool = comes()
    (topic,) = tool.topics
    native = {f"{topic}-{number}": {"subscribed_topic_names": [topic]} for number in range(2 * PAINTED_AT_ONCE)}
    pattern, nobody = f"{topic}-pattern", f"{topic}-nobody"
    of_all: dict[str, dict[str, Any]] = {**native, pattern: {"subscribed_topic_regex": topic}}

    def beats(group: str, epoch: int, **more: Any) -> Any:
        request = m.ConsumerGroupHeartbeatRequest(group_id=group, member_id="native", member_epoch=epoch, **more)
        return cluster.ask(cluster.coordinator(topic), keys.CONSUMER_GROUP_HEARTBEAT, 1, request)

    def begins(group: str) -> bool:
        how = of_all[group]
        return bool(beats(group, 0, rebalance_timeout_ms=30_000, topic_partitions=[], **how).error_code == 0)

    for group in of_all:
        until(partial(begins, group), "there is a coordinator")
    epoch = [1]

    def has_its_own() -> bool:
        epoch.append(beats(pattern, epoch[-1]).member_epoch)
        return any(assigned(describe(cluster, pattern)).values())

    until(has_its_own, "the pattern's topic is found")
    said = tool.ask(keys.DESCRIBE_GROUPS, 5, m.DescribeGroupsRequest(groups=[nobody, *of_all])).groups
    assert {each.group_id: len(each.members) for each in said} == {nobody: 0, **dict.fromkeys(of_all, 1)}
    subscribed = {
        tuple(decode(m.ConsumerProtocolSubscription, 0, member.member_metadata, 2).topics)
        for each in said
        for member in each.members
    }
    assert subscribed == {(topic,)}


def test_a_rack_is_told_to_the_coordinator(comes: Callable[..., Any], cluster: Cluster) -> None:
    one = comes()
    one.subscription_version, one.rack_id = 3, "rack-7"
    one.joins()
    assert [each.rack_id for each in describe(cluster, one.group).members] == ["rack-7"]


def test_a_native_member_that_passes_is_told_to_beat_often_while_its_group_moves(comes: Callable[..., Any]) -> None:
    native = comes(Native)
    begun = native.begins()
    assert begun.error_code == 0
    assert MOVING_MS <= begun.heartbeat_interval_ms < QUIET_MS
    epoch = begun.member_epoch

    def is_told(interval_ms: int) -> bool:
        nonlocal epoch
        answer = native.heartbeat(epoch)
        epoch = answer.member_epoch
        assert answer.heartbeat_interval_ms >= MOVING_MS
        return bool(answer.heartbeat_interval_ms == interval_ms)

    until(lambda: is_told(QUIET_MS), "the group is quiet")


def test_a_native_member_that_passes_is_given_time_when_the_coordinator_is_slow(
    comes: Callable[..., Any], cluster: Cluster
) -> None:
    """librdkafka gives a heartbeat up, and hangs up, once the interval it was told has passed."""
    native = comes(Native)
    epoch = native.begins().member_epoch
    with ThreadPoolExecutor(1) as beside:
        with cluster.hanging(cluster.coordinator(native.group)):
            answer = beside.submit(native.heartbeat, epoch)
            time.sleep(0.6)
        assert answer.result().heartbeat_interval_ms > QUIET_MS


def test_a_native_member_that_passes_does_not_beat_in_the_grace_after_a_leave(
    comes: Callable[..., Any], cluster: Cluster
) -> None:
    """Lest the coordinator give away what a restarted client has again in a moment. It hears nothing, and is not missed: who
    would be kept waiting might hang up."""
    native, one = comes(Native), comes()
    node = cluster.coordinator(native.group)
    epoch = native.begins().member_epoch
    one.join()
    one.leave()
    with cluster.hanging(node):
        answer = native.heartbeat(epoch)
    assert (answer.error_code, answer.member_id, answer.member_epoch) == (0, native.member_id, epoch)
    assert answer.assignment is None
    assert answer.heartbeat_interval_ms >= MOVING_MS


def test_a_commit_of_nobody_knows_who_hears_no_word_that_only_native_members_know(
    comes: Callable[..., Any], cluster: Cluster
) -> None:
    """To a proxy that never saw it, it may be one; its generation is an epoch that the coordinator has left behind."""
    one, other = comes(), comes()
    one.joins()
    other.topics = (f"{one.group}-other",)
    cluster.create_topic(*other.topics)
    other.joins()
    until(lambda: epoch_of(cluster, one) > one.generation, "the member has moved on, and its client was told nothing")
    with Running(cluster.bootstrap) as another:
        one.address = ("127.0.0.1", another.ready().port_of(cluster.coordinator(one.group)))
        one.on_new_socket()
        code = one.commit(one.group, 0, 5, version=9)
        # Since 4.3 a coordinator takes an older epoch too.
        assert code == (COORDINATOR_LOAD_IN_PROGRESS if cluster.version == OLDEST else 0)
        assert one.beat() in (0, REBALANCE_IN_PROGRESS)
        one.joins()
        assert one.commit(one.group, 0, 5, version=9) == 0


def test_a_native_member_whose_first_word_to_a_proxy_is_a_commit_is_not_taken_over(
    comes: Callable[..., Any], cluster: Cluster
) -> None:
    """It commits in the words that legacy members have, and beats for itself."""
    native = comes(Native)
    native.generation = native.begins().member_epoch
    with Running(cluster.bootstrap) as another:
        native.address = ("127.0.0.1", another.ready().port_of(cluster.coordinator(native.group)))
        native.on_new_socket()
        assert native.commit(native.group, 0, 5, version=9) == 0
        assert "member adopted" not in another.log.read_text()
        assert native.heartbeat(native.generation).error_code == 0


def test_what_comes_behind_a_held_heartbeat_is_answered_at_once(comes: Callable[..., Any]) -> None:
    one = comes().joins()
    until(lambda: beaten(one, pause=0.1) > AT_ONCE_SECONDS, "a heartbeat is held")
    time.sleep(RHYTHM_SECONDS)
    with ThreadPoolExecutor() as beside:
        held = beside.submit(read_frame, one.sock)
        beat = m.HeartbeatRequest(group_id=one.group, generation_id=one.generation, member_id=one.member_id)
        send(one.sock, keys.HEARTBEAT, 3, beat)
        time.sleep(AT_ONCE_SECONDS / 3)
        assert not held.done()
        began = time.monotonic()
        send(one.sock, keys.API_VERSIONS, 0, m.ApiVersionsRequest())
        held.result()
        read_frame(one.sock)
        assert time.monotonic() - began < AT_ONCE_SECONDS


def test_who_sends_nothing_while_its_heartbeat_is_held_is_soon_held_no_more(comes: Callable[..., Any]) -> None:
    """As a client does that has one request under way at a time. It beats by a timer, in the rhythm that is supposed of it:
    its beats tell nothing of what waits behind them."""
    one = comes()
    one.session_timeout_ms = int(3_000 * TIMER_SECONDS)
    one.joins()
    began, took = time.monotonic(), []
    for number in range(1, BEATS + 1):
        time.sleep(max(0, began + number * TIMER_SECONDS - time.monotonic()))
        took.append(answered(one))
    assert max(took) > AT_ONCE_SECONDS, "none was held"
    assert max(took[-BEATS // 2 :]) < AT_ONCE_SECONDS


def beaten(one: ByHand, pause: float) -> float:
    time.sleep(RHYTHM_SECONDS)
    return answered(one, pause)


def answered(one: ByHand, pause: float = 0) -> float:
    """How long the answer to a Heartbeat took; the next request is sent so long after it."""
    began = time.monotonic()
    assert one.beat() == 0
    took = time.monotonic() - began
    time.sleep(pause)
    one.ask(keys.API_VERSIONS, 0, m.ApiVersionsRequest())
    return took
