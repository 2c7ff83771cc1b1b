"""Static membership (KIP-345) as legacy clients know it, over a protocol that has another idea of it: there the second
process of an instance is refused (UNRELEASED_INSTANCE_ID), here it wins and the first one is fenced.

Tests that name one of Kafka's own (GroupMetadataManagerTest) answer to it.
"""

from __future__ import annotations

from typing import Any

from simulation.brokers import GroupSettings
from simulation.errors import Error
from simulation.story import Legacy, Story
from tests.simulation.stories.by_hand import ByHand

STATIC: dict[str, Any] = {"instance_id": "i"}


def two_at_rest() -> tuple[Story, Legacy, Legacy]:
    story = Story(foo=4)
    alice, bob = story.legacy("alice", **STATIC).joins(), story.legacy("bob").joins()
    story.settles()
    story.passes(9_000)
    return story, alice, bob


def test_a_static_member_that_is_bounced_says_nothing_and_gets_the_same_partitions() -> None:
    """Java, kafka-python, sarama and aiokafka send no LeaveGroup for static members."""
    story = Story(foo=6)
    members = {name: story.legacy(name, instance_id=f"i-{name}").joins() for name in ("a", "b", "c")}
    story.settles()
    story.passes(9_000)
    before, epoch = story.shares(), story.world.group.epoch
    joins = {name: members[name].who.joins for name in ("b", "c")}
    members["a"].who.stops()
    story.passes(3_000)
    members["a"].joins().syncs()
    story.settles()
    assert story.shares() == before
    story.group_is("Stable", epoch)
    for name in ("b", "c"):
        members[name].has_joined_times(joins[name]).was_refused()


def test_librdkafka_leaves_by_member_id_also_when_it_is_static() -> None:
    """LeaveGroup v1 has no instance: a real leave, as it is before any broker."""
    story = Story(foo=4)
    member = ByHand(story, "librdkafka", instance_id="i").enters()
    assert member.leaves() is Error.NONE
    assert not member.stands
    story.legacy("next", instance_id="i").joins().syncs().owns(0, 1, 2, 3)


def test_a_static_client_that_vanishes_and_is_back_in_its_session_finds_all_as_it_was() -> None:
    story, alice, bob = two_at_rest()
    before, joins = story.shares(), bob.who.joins
    alice.vanishes()
    story.passes(4_000)
    alice.joins().syncs()
    story.settles()
    assert story.shares() == before
    bob.has_joined_times(joins)


def test_a_second_process_of_one_instance_takes_over_and_the_first_is_fenced() -> None:
    story, alice, bob = two_at_rest()
    share, epoch = alice.who.partitions, story.world.group.epoch
    second = story.legacy("alice2", **STATIC).joins().syncs()
    assert second.who.partitions == share
    story.until(lambda: not alice.who.alive, "the first has heard it")
    assert alice.who.fatal is Error.FENCED_INSTANCE_ID
    story.settles()
    story.group_is("Stable", epoch)
    second.was_refused()
    bob.was_refused()


def test_that_holds_over_a_restart_of_the_proxy() -> None:
    """UNRELEASED_INSTANCE_ID, which the coordinator says then, never reaches a client (simulation/legacy.py, SAFE)."""
    story, alice, _ = two_at_rest()
    share = alice.who.partitions
    alice.vanishes()
    story.proxy_restarts(with_journal=False)
    second = story.legacy("alice2", **STATIC).joins().syncs()
    assert second.who.partitions == share
    story.settles()


def test_a_static_member_can_rejoin_a_full_group() -> None:
    """testStaticMemberCanRejoinConsumerGroupWithClassicProtocolWhenGroupIsFull."""
    story = Story(foo=4, settings=GroupSettings(max_size=1))
    first = story.legacy("first", instance_id="i").joins().syncs()
    first.who.stops()
    first.joins().syncs().owns(0, 1, 2, 3)


def test_a_new_static_member_cannot_join_a_full_group() -> None:
    """testNewStaticMemberClassicGroupJoinConsumerGroupWhenFull."""
    story = Story(foo=4, settings=GroupSettings(max_size=1))
    ByHand(story, "first", instance_id="i").enters()
    second = ByHand(story, "second", instance_id="j")
    assert second.joins().error_code == Error.GROUP_MAX_SIZE_REACHED
    second.is_over()


def test_a_static_member_replaced_by_an_unknown_id_hands_its_assignment_over_without_a_new_epoch() -> None:
    """testJoiningConsumerGroupReplacingExistingStaticMember."""
    story = Story(foo=4)
    old = ByHand(story, "old", instance_id="i").enters()
    epoch = story.world.group.epoch
    old.is_over()
    new = ByHand(story, "new", instance_id="i").enters().owns(0, 1, 2, 3)
    assert story.world.group.epoch == epoch
    assert new.member_id != old.member_id


def test_a_static_member_that_comes_back_with_another_subscription_moves_the_epoch() -> None:
    """testJoiningConsumerGroupWithExistingStaticMemberAndNewSubscription."""
    story = Story(foo=4, bar=1)
    old = ByHand(story, "old", instance_id="i").enters()
    epoch = story.world.group.epoch
    old.is_over()
    new = ByHand(story, "new", instance_id="i", topics=("foo", "bar")).enters()
    new.goes_along()
    assert story.world.group.epoch == epoch + 1
    assert len(new.partitions) == 5


def test_a_static_member_with_an_id_nobody_has_is_unknown() -> None:
    """testStaticMemberJoiningConsumerGroupWithUnknownInstanceId."""
    stranger = ByHand(Story(foo=4), "stranger", instance_id="i")
    stranger.member_id = "somebody"
    assert stranger.joins().error_code == Error.UNKNOWN_MEMBER_ID
    stranger.is_over()


def test_a_member_may_not_change_its_instance() -> None:
    """testStaticMemberJoiningConsumerGroupWithUnmatchedMemberId, from the member's side."""
    member = ByHand(Story(foo=4), "member", instance_id="i").enters()
    assert member.joins(owned=(0, 1, 2, 3), instance_id="j").error_code == Error.FENCED_INSTANCE_ID
    assert member.beats() is Error.NONE


def test_a_static_member_can_be_removed_by_its_instance() -> None:
    """testConsumerGroupMemberUsingClassicProtocolBatchLeaveGroup, the part of a static member: as an admin does it."""
    story = Story(foo=4)
    member = ByHand(story, "member", instance_id="i").enters()
    assert member.leaves(instance_id="j") is Error.FENCED_INSTANCE_ID
    assert member.stands
    assert member.leaves(instance_id="i") is Error.NONE
    assert member.beats() is Error.UNKNOWN_MEMBER_ID
