"""Requests that are wrong, or merely odd: each gets the code a classic broker gives, and disturbs nobody else."""

from __future__ import annotations

from simulation.errors import Error
from simulation.story import Story
from tests.simulation.stories.by_hand import ByHand
from tests.simulation.stories.watching import Watch
from translation.states import Phase


def test_wrong_inputs_get_what_a_classic_broker_says() -> None:
    story = Story(foo=2)
    member = ByHand(story, "member", instance_id="i").enters()
    stranger = ByHand(story, "stranger")
    inconsistent = Error.INCONSISTENT_GROUP_PROTOCOL
    assert stranger.joins(protocol_type="connect").error_code == inconsistent
    assert stranger.joins(assignors=()).error_code == inconsistent
    assert stranger.joins(metadata=b"\x00").error_code == inconsistent
    assert stranger.joins(session_timeout_ms=1).error_code == 26  # INVALID_SESSION_TIMEOUT
    stranger.member_id = "not-one-of-ours"
    assert stranger.joins(instance_id="i").error_code == Error.UNKNOWN_MEMBER_ID
    assert stranger.joins(instance_id="j").error_code == Error.UNKNOWN_MEMBER_ID
    stranger.is_over()
    assert member.beats(instance_id="j") is Error.FENCED_INSTANCE_ID
    assert member.beats() is Error.NONE


def test_a_commit_of_what_it_has_lost_is_refused_until_it_knows_its_new_generation() -> None:
    """From then on such a commit is meant, as in a classic group."""
    story = Story(foo=4)
    member = ByHand(story, "member").enters()
    story.native("nina").joins()
    story.until(lambda: member.beats() is Error.REBALANCE_IN_PROGRESS, "it is told")
    before = member.generation
    member.joins()
    assert member.commits(0, 1, 2, 3) is Error.REBALANCE_IN_PROGRESS
    member.syncs()
    assert member.commits(0, 1, 2, 3, generation=before) is Error.ILLEGAL_GENERATION
    assert member.commits(*(number for _, number in member.partitions)) is Error.NONE
    member.goes_along()


def test_an_empty_list_of_topics_is_a_member_without_partitions() -> None:
    story = Story(foo=2)
    ByHand(story, "idle", topics=()).enters().owns()
    assert Watch(story).member(next(iter(story.world.group.members))).phase is Phase.STABLE


def test_a_leave_of_nobody_moves_no_epoch() -> None:
    """testClassicGroupLeaveToConsumerGroupWithoutValidLeaveGroupMember."""
    story = Story(foo=4)
    ByHand(story, "member", instance_id="i").enters()
    epoch = story.world.group.epoch
    stranger = ByHand(story, "stranger")
    stranger.member_id = "somebody"
    assert stranger.leaves() is Error.UNKNOWN_MEMBER_ID
    assert story.world.group.epoch == epoch
    stranger.is_over()
