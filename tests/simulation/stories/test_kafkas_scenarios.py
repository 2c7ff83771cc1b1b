"""Scenarios of Kafka's own tests for mixed groups (GroupMetadataManagerTest, ConsumerProtocolMigrationTest), and those in
which the broker's own translation was seen to fail. Each test names the one it answers to.
"""

from __future__ import annotations

from typing import Any

import pytest

from simulation.brokers import V4_0, V4_4, BrokerLine, GroupSettings
from simulation.errors import Error
from simulation.story import Story
from tests.simulation.stories.by_hand import ByHand

LINES = pytest.mark.parametrize("line", [V4_0, V4_4], ids=lambda line: line.name)

# --- joining -------------------------------------------------------------------------------------------------------


def test_a_group_over_its_size_takes_nobody() -> None:
    """testJoiningConsumerGroupThrowsExceptionIfGroupOverMaxSize."""
    story = Story(foo=4, settings=GroupSettings(max_size=1))
    ByHand(story, "first").enters()
    second = ByHand(story, "second")
    second.joins()
    assert second.joins().error_code == Error.GROUP_MAX_SIZE_REACHED
    second.is_over()


# --- the assignment interval ---------------------------------------------------------------------------------------


def test_a_newcomer_within_the_assignment_interval_is_served_by_its_first_join() -> None:
    """Live finding X8: a broker answers it with nothing, and then lets it wait for a heartbeat."""
    story = Story(foo=4)
    story.native("nina", through="proxy").joins()
    began = story.world.now
    newcomer = story.legacy("newcomer").joins().syncs()
    assert len(newcomer.who.partitions) == 2
    newcomer.has_joined_times(2)
    assert story.world.now - began < 2_500
    story.settles()


def test_nobody_is_told_to_rebalance_before_there_is_a_target() -> None:
    """testClassicGroupHeartbeatToConsumerGroupDuringAssignmentDelay: the group epoch alone is no reason."""
    story = Story(foo=4)
    member = ByHand(story, "member").enters()
    story.native("nina").joins()
    assert (story.world.group.epoch, story.world.group.assignment_epoch) == (3, 2)
    story.until(lambda: member.beats() is Error.REBALANCE_IN_PROGRESS, "there is one")
    assert story.world.group.assignment_epoch == 3
    member.joins()
    member.syncs()
    member.goes_along()


# --- timers --------------------------------------------------------------------------------------------------------


def test_the_session_of_a_classic_member_is_its_own() -> None:
    """testConsumerGroupMemberUsingClassicProtocolFencedWhenSessionTimeout."""
    story = Story(foo=4)
    short = ByHand(story, "short", session_timeout_ms=6_000).enters()
    story.passes(8_000)
    assert not short.stands
    assert short.beats() is Error.UNKNOWN_MEMBER_ID
    short.is_over()


def test_a_session_longer_than_the_coordinators_is_kept_for_the_client() -> None:
    story = Story(foo=4)
    long = ByHand(story, "long", session_timeout_ms=120_000).enters()
    story.passes(110_000)
    assert long.stands
    assert long.beats() is Error.NONE


def test_commits_keep_a_session() -> None:
    """A broker's own translation forgets that (clients of the classic protocol may go without Heartbeats while they
    commit)."""
    story = Story(foo=4)
    member = ByHand(story, "member", session_timeout_ms=10_000).enters()
    for offset in range(1, 6):
        story.passes(8_000)
        assert member.commits(0, offset=offset) is Error.NONE
    assert member.stands


# --- commits -------------------------------------------------------------------------------------------------------


@LINES
def test_commits_hold_across_epochs_that_the_client_is_never_told_of(line: BrokerLine) -> None:
    """Live finding X13: on 4.0 the coordinator takes the newest epoch and no other."""
    story = Story(line, foo=4)
    member = ByHand(story, "member").enters()
    told = member.generation
    for offset, name in enumerate(("a", "b", "c", "d"), 1):
        story.native(name, topics=("bar",)).joins()
        assert member.commits(0, 1, 2, 3, offset=offset) is Error.NONE
        story.passes(3_000)
    story.until(lambda: member.beats() is Error.NONE and not story.world.converged(), "all is quiet")
    assert story.world.group.members[member.member_id].epoch == story.world.group.epoch >= told
    assert member.commits(0, 1, 2, 3, offset=9) is Error.NONE
    assert member.generation == told


@LINES
def test_commits_of_the_revoke_callback_are_taken_and_those_of_an_older_generation_are_not(line: BrokerLine) -> None:
    """testOnlineMigrationWithEagerAssignmentStrategy: "commits ok at the old generation"."""
    story = Story(line, foo=4)
    member = ByHand(story, "member").enters()
    story.native("nina").joins()
    story.until(lambda: member.beats() is Error.REBALANCE_IN_PROGRESS, "it is told")
    old = member.generation
    assert member.commits(0, 1, 2, 3, offset=5) is Error.NONE
    member.joins()
    member.syncs()
    member.goes_along()
    mine = [number for _, number in member.partitions]
    assert member.commits(*mine, offset=6, generation=old) is Error.ILLEGAL_GENERATION
    assert member.commits(*mine, offset=6) is Error.NONE


# --- a rolling restart ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", [{}, {"cooperative": True, "assignor": "cooperative-sticky"}])
@pytest.mark.parametrize("static", [False, True], ids=["dynamic", "static"])
def test_five_clients_with_six_partitions_are_restarted_one_by_one(style: dict[str, Any], static: bool) -> None:
    """consumer_protocol_migration_test.py, test_consumer_rolling_upgrade: after each step all are there and consume."""
    story = Story(foo=6)
    names = ("a", "b", "c", "d", "e")
    members = [story.legacy(n, instance_id=f"i-{n}" if static else None, **style).joins() for n in names]
    story.settles()
    for member in members:
        member.who.stops()
        story.passes(500)
        member.joins()
        story.settles()
        assert sorted(len(share) for share in story.shares().values()) == [1, 1, 1, 1, 2]
    for member in members:
        member.was_refused()
