"""What each library does its own way in the group protocol, as read from its source or seen on the wire; one story each.

The names say whose habit it is. Common to all stories: an answer outside the vocabulary that every library survives
breaks the world (simulation/legacy.py, SAFE), and so does a partition in two hands.
"""

from __future__ import annotations

import struct
from typing import Any

import pytest

from simulation.embedded import subscription
from simulation.errors import Error
from simulation.story import Legacy, Story
from tests.simulation.stories.by_hand import ByHand

COOPERATIVE: dict[str, Any] = {"cooperative": True, "assignor": "cooperative-sticky"}
HABITS: dict[str, dict[str, Any]] = {
    "java": {"join_version": 9, "session_timeout_ms": 45_000},
    "java-cooperative": {"join_version": 9, "session_timeout_ms": 45_000} | COOPERATIVE,
    "librdkafka": {"retry_ms": 1_000},
    "librdkafka-cooperative": {"retry_ms": 1_000} | COOPERATIVE,
    "kafka-python": {"assignor": "range"},
    "aiokafka": {"joins_in_a_row": 3},
    "sarama": {"assignor": "range", "revoke_ms": 1_000},
    "kafka-go": {"join_version": 1, "hangs_up_after_leave": True, "retry_ms": 5_000, "session_timeout_ms": 30_000},
    "franz-go": {"sockets": 2} | COOPERATIVE,
    "kafkajs": {
        "assignor": "RoundRobinAssigner",
        "beat_ms": 500,
        "beat_jitter_ms": 4_500,
        "session_timeout_ms": 30_000,
    },
    "ruby-kafka": {"join_version": 1, "retry_ms": 1_000},
}
EACH = pytest.mark.parametrize("library", HABITS)


def together(library: str, **more: Any) -> tuple[Story, list[Legacy]]:
    story = Story(foo=6)
    members = [story.legacy(name, **(HABITS[library] | more)).joins() for name in ("one", "two")]
    story.settles()
    return story, members


# --- every library -------------------------------------------------------------------------------------------------


@EACH
def test_joins_shares_with_a_native_and_leaves(library: str) -> None:
    story, members = together(library)
    story.native("nina").joins()
    story.settles()
    assert sorted(len(share) for share in story.shares().values()) == [2, 2, 2]
    members[0].leaves().is_no_member()
    story.settles()
    assert sorted(len(share) for share in story.shares().values()) == [3, 3]
    for member in members:
        member.was_refused()


@EACH
def test_lives_through_lost_sockets_a_moving_coordinator_and_a_restarted_proxy(library: str) -> None:
    story, members = together(library)
    before = story.shares()
    for member in members:
        member.loses_its_sockets()
    story.passes(5_000)
    story.coordinator_moves(gap_ms=2_000).passes(5_000)
    story.proxy_restarts().passes(10_000)
    story.settles()
    assert story.shares() == before
    for member in members:
        member.was_refused().is_a_member()


@EACH
def test_all_libraries_mix_in_one_group(library: str) -> None:
    """Nobody is asked for a protocol that all have in common: every member is judged alone."""
    story = Story(foo=6)
    others = [each for each in ("sarama", "kafkajs", "franz-go") if each != library]
    members = [story.legacy(each, **HABITS[each]).joins() for each in (library, *others[:2])]
    story.settles()
    assert sorted(len(share) for share in story.shares().values()) == [2, 2, 2]
    for member in members:
        member.was_refused()


@EACH
def test_no_answer_comes_later_than_its_patience(library: str) -> None:
    """The shortest read timeout is sarama's, 30 s for every request: half a minute of trouble must not look like that."""
    story = Story(foo=6)
    story.native("slow", revoke_ms=60_000).joins()
    story.settles()
    began = story.world.now
    story.legacy("newcomer", **HABITS[library]).joins().syncs()
    assert story.world.now - began < 10_000


# --- aiokafka ------------------------------------------------------------------------------------------------------


def test_aiokafka_sends_several_joins_in_a_row_and_is_one_member() -> None:
    story = Story(foo=4)
    member = story.legacy("aiokafka", **HABITS["aiokafka"]).joins().syncs().owns(0, 1, 2, 3)
    member.was_refused()
    assert len(story.world.group.members) == 1
    story.passes(30_000)
    assert len(story.world.group.members) == 1


# --- franz-go ------------------------------------------------------------------------------------------------------


def test_franz_go_joins_on_one_socket_and_beats_on_another() -> None:
    story = Story(foo=4)
    member = ByHand(story, "franz", version=9)
    member.joins()
    member.joins()
    member.syncs()
    member.takes_a_new_socket()
    assert (member.beats(), member.commits(0, 1, 2, 3)) == (Error.NONE, Error.NONE)


# --- kafka-go ------------------------------------------------------------------------------------------------------


def kafka_go(story: Story) -> ByHand:
    """Its subscription says version 1 and has the body of version 0: owned partitions are missing (issue 1156)."""
    body_of_0 = subscription(("foo",), (), -1, version=0)
    return ByHand(story, "kafka-go", version=1, metadata=struct.pack(">h", 1) + body_of_0[2:])


def test_kafka_go_says_version_1_and_sends_version_0() -> None:
    kafka_go(Story(foo=4)).enters().owns(0, 1, 2, 3)


def test_kafka_go_opens_a_new_socket_for_each_generation_and_one_more_to_leave() -> None:
    story = Story(foo=4)
    member = kafka_go(story).enters()
    member.takes_a_new_socket()
    member.joins()
    member.syncs()
    member.owns(0, 1, 2, 3)
    member.takes_a_new_socket()
    assert member.leaves() is Error.NONE
    assert not member.stands


def test_kafka_go_joins_again_with_an_id_it_was_told_is_unknown() -> None:
    """Other libraries drop it. It has nothing any more and claims nothing, so it may as well keep its name."""
    story = Story(foo=4)
    member = kafka_go(story).enters()
    story.world.group.remove([story.world.group.members[member.member_id]])
    story.until(lambda: member.beats() is Error.UNKNOWN_MEMBER_ID, "it is told")
    assert member.joins().error_code == Error.NONE
    member.syncs()
    member.owns(0, 1, 2, 3)


# --- kafkajs -------------------------------------------------------------------------------------------------------


def test_kafkajs_beats_only_between_batches_and_hears_of_a_rebalance_by_the_next_one() -> None:
    story = Story(foo=4)
    member = story.legacy("kafkajs", **HABITS["kafkajs"]).joins().syncs()
    story.passes(60_000)
    nina = story.native("nina", through="proxy").joins()
    began = story.world.now
    nina.comes_to_own(*_numbers(story, nina.who.member_id))
    assert story.world.now - began < 7_000
    story.settles()
    member.was_refused()


def test_kafkajs_calls_its_assignor_by_a_name_of_its_own_and_hears_it_again() -> None:
    member = ByHand(Story(foo=2), "kafkajs", assignors=("RoundRobinAssigner",)).enters()
    assert member.joins().protocol_name == "RoundRobinAssigner"
    member.is_over()


# --- sarama --------------------------------------------------------------------------------------------------------


def test_sarama_beats_and_commits_on_with_the_old_generation_while_its_handlers_drain() -> None:
    story = Story(foo=4)
    member = ByHand(story, "sarama").enters()
    story.native("nina").joins()
    story.until(lambda: member.beats() is Error.REBALANCE_IN_PROGRESS, "it is told")
    for offset in range(2, 6):
        story.passes(1_000)
        assert member.beats() is Error.REBALANCE_IN_PROGRESS
        assert member.commits(0, 1, 2, 3, offset=offset) is Error.NONE
    old = member.generation
    member.joins()
    member.syncs()
    assert member.beats(generation=old) is Error.ILLEGAL_GENERATION
    member.goes_along()


def test_sarama_sticky_puts_user_data_into_its_subscription() -> None:
    """Nobody reads it, and nobody must (KAFKA-18134: a broker refuses to convert a group for it)."""
    story = Story(foo=4)
    head = struct.pack(">hih3s", 1, 1, 3, b"foo")
    metadata = head + struct.pack(">i5s", 5, b"\x00\x01\x02\x03\x04") + struct.pack(">i", 0)
    ByHand(story, "sarama", metadata=metadata, assignors=("sticky",)).enters().owns(0, 1, 2, 3)


# --- librdkafka ----------------------------------------------------------------------------------------------------


def test_librdkafka_joins_at_most_once_a_second() -> None:
    """A cooperative one that must let go does so in SyncGroup, and its second JoinGroup comes a second later."""
    story = Story(foo=4)
    member = ByHand(story, "librdkafka").enters()
    nina = story.native("nina").joins()
    story.until(lambda: member.beats() is Error.REBALANCE_IN_PROGRESS, "it is told")
    member.joins(owned=(0, 1, 2, 3))
    keeps = {number for _, number in member.partitions} & _numbers(story, member.member_id)
    member.syncs()
    story.passes(1_000)
    assert nina.who.partitions == frozenset()
    member.joins(owned=keeps)
    member.syncs()
    member.goes_along()
    assert len(nina.who.partitions) == 2


def test_librdkafka_eager_rejoins_whenever_metadata_of_its_topics_changes() -> None:
    story, [one, two] = together("librdkafka")
    joins = two.who.joins
    one.rejoins().syncs()
    one.rejoins().syncs()
    story.settles()
    two.has_joined_times(joins).was_refused()


# --- Java ----------------------------------------------------------------------------------------------------------


def test_java_beats_while_its_sync_is_pending_and_hears_the_answers_in_order() -> None:
    """From 2.7: the Heartbeat queues behind SyncGroup on the same socket."""
    story = Story(foo=2)
    member = ByHand(story, "java")
    member.joins()
    member.joins()
    beat = member.asks_to_beat()
    assert member.syncs().error_code == Error.NONE
    assert member.hears(beat).error_code == Error.NONE


def test_java_offers_two_assignors_and_is_answered_with_its_first_every_time() -> None:
    """An unlisted name is an IllegalStateException there; another one than before would change its way of rebalancing."""
    member = ByHand(Story(foo=2), "java", assignors=("range", "cooperative-sticky")).enters()
    names = {member.joins(owned=(0, 1)).protocol_name for _ in range(3)}
    assert names == {"range"}
    assert member.syncs().protocol_name == "range"


def test_java_checks_that_sync_speaks_of_the_protocol_it_joined_with() -> None:
    member = ByHand(Story(foo=2), "java", assignors=("range",)).enters()
    member.joins(owned=(0, 1))
    assert member.syncs(protocol_type="consumer", protocol_name="range").error_code == Error.NONE
    member.joins(owned=(0, 1))
    assert member.syncs(protocol_name="roundrobin").error_code == Error.INCONSISTENT_GROUP_PROTOCOL
    assert member.syncs(protocol_type="connect").error_code == Error.INCONSISTENT_GROUP_PROTOCOL


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_an_empty_assignment_is_well_formed_and_of_the_members_own_version(version: int) -> None:
    """Java throws on fewer than two bytes, franz-go on none, kafka_ex on null user data."""
    story = Story(foo=1)
    story.legacy("busy").joins()
    story.settles()
    # Of her and busy, the coordinator gives the odd partition to busy.
    idle = ByHand(story, "zoe", embedded_version=version)
    idle.joins()
    idle.joins()
    assert idle.syncs().assignment == struct.pack(">hii", version, 0, 0)
    idle.owns()


# --- leaving -------------------------------------------------------------------------------------------------------


def test_kafkajs_and_kafka_go_hang_up_right_after_leave_and_have_left() -> None:
    story = Story(foo=4)
    member = story.legacy("hasty", hangs_up_after_leave=True).joins().syncs()
    story.passes(1_000)
    member.who.stops()
    story.passes(1_000)
    member.is_no_member()


def test_leaving_while_a_join_is_parked() -> None:
    story = Story(foo=4)
    story.native("slow", revoke_ms=2_000).joins()
    story.settles()
    member = ByHand(story, "member")
    member.joins()
    join = member.asks_to_join()
    story.until(lambda: member.stands, "it is a member")
    member.takes_a_new_socket()
    assert member.leaves() is Error.NONE
    assert join[0].error_code == Error.UNKNOWN_MEMBER_ID
    assert not member.stands
    story.settles()


def _numbers(story: Story, member_id: str) -> set[int]:
    """What it shall have."""
    return {each.partition for each in story.world.group.target[member_id]}
