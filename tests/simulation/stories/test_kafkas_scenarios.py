"""Scenarios of Kafka's own tests for mixed groups (GroupMetadataManagerTest, ConsumerProtocolMigrationTest), and those in
which the broker's own translation was seen to fail. Each test names the one it answers to.
"""

from __future__ import annotations

from typing import Any

import pytest

from simulation.brokers import V4_0, V4_4, BrokerLine, GroupSettings
from simulation.embedded import partitions_of
from simulation.errors import Error
from simulation.network import Weather
from simulation.story import Legacy, Native, Story
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
    assert story.world.now - began < 2_000
    story.settles()


@LINES
def test_who_come_together_begin_each_with_its_own_share(line: BrokerLine) -> None:
    """Threads of one application, a deployment. The first could have all, and would keep the others waiting."""
    story = Story(line, foo=6)
    members = [story.legacy(name).asks_to_join() for name in ("ann", "bob", "cat")]
    story.until(lambda: all(len(each.who.partitions) == 2 for each in members), "each has its share", within_ms=1_500)
    for each in members:
        each.has_joined_times(2)


@pytest.mark.parametrize("away_ms", [75, 100, 125, 150, 175])
def test_they_do_so_too_where_the_coordinator_is_slow(away_ms: int) -> None:
    """A description comes late then, and says too late who should look."""
    story = Story(weather=Weather(upstream_delay_ms=(away_ms, away_ms)), foo=6)
    members = [story.legacy(name).asks_to_join() for name in ("ann", "bob", "cat")]
    story.settles(within_ms=3_000)
    for each in members:
        each.has_joined_times(2)


def test_nobody_is_told_to_rebalance_before_there_is_a_target() -> None:
    """testClassicGroup{Heartbeat,Sync}ToConsumerGroupDuringAssignmentDelay: the group epoch alone is no reason."""
    story = Story(foo=4)
    member = ByHand(story, "member").enters()
    story.native("nina").joins()
    assert (story.world.group.epoch, story.world.group.assignment_epoch) == (3, 2)
    assert member.syncs().error_code == Error.NONE
    story.until(lambda: member.beats() is Error.REBALANCE_IN_PROGRESS, "there is one")
    assert story.world.group.assignment_epoch == 3
    member.joins()
    member.syncs()
    member.goes_along()


# --- online migration ----------------------------------------------------------------------------------------------

STATICALLY = pytest.mark.parametrize("contract", [{}, {"instance_id": "i"}], ids=["dynamic", "static"])


@STATICALLY
def test_an_eager_member_makes_room_for_a_native_one_request_by_request(contract: dict[str, Any]) -> None:
    """testOnlineMigrationWithEagerAssignmentStrategy, but for the fetches of offsets, which pass."""
    story = Story(foo=3)
    member = ByHand(story, "member", **contract).enters().owns(0, 1, 2)
    nina = story.native("nina").joins().owns()
    old = member.generation
    assert member.beats(generation=old + 1) is Error.ILLEGAL_GENERATION
    story.until(lambda: member.beats() is Error.REBALANCE_IN_PROGRESS, "it is told")
    assert member.commits(0, 1, 2, offset=5) is Error.NONE
    assert member.joins(owned=(0, 1, 2), protocol_type="other").error_code == Error.INCONSISTENT_GROUP_PROTOCOL
    assert member.joins(owned=()).generation == old + 1
    assert member.syncs(generation=old).error_code == Error.ILLEGAL_GENERATION
    assert member.syncs(protocol_name="other").error_code == Error.INCONSISTENT_GROUP_PROTOCOL
    assert member.syncs().error_code == Error.NONE
    member.goes_along()
    assert member.generation == old + 1
    share_out(story, member, nina)


@STATICALLY
def test_a_cooperative_member_makes_room_for_a_native_one_request_by_request(contract: dict[str, Any]) -> None:
    """testOnlineMigrationWithCooperativeAssignmentStrategy."""
    story = Story(foo=3)
    member = ByHand(story, "member", assignors=("cooperative-sticky",), **contract).enters().owns(0, 1, 2)
    nina = story.native("nina").joins().owns()
    old = member.generation
    story.until(lambda: member.beats() is Error.REBALANCE_IN_PROGRESS, "it is told")
    assert member.joins(owned=(0, 1, 2)).generation == old
    subset = partitions_of(member.syncs().assignment)
    assert subset < member.partitions
    assert member.beats() is Error.REBALANCE_IN_PROGRESS
    assert member.joins(owned=[number for _, number in subset]).generation == old + 1
    member.syncs()
    member.goes_along()
    assert member.partitions == subset
    share_out(story, member, nina)


def share_out(story: Story, member: ByHand, nina: Native) -> None:
    """One has what the other has not, and together they have all."""
    assert not member.partitions & nina.who.partitions
    assert {number for _, number in member.partitions | nina.who.partitions} == {0, 1, 2}
    story.group_is("Stable", member.generation)


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


@pytest.mark.parametrize("style", [{}, {"cooperative": True, "assignor": "cooperative-sticky"}])
@pytest.mark.parametrize("static", [False, True], ids=["dynamic", "static"])
def test_five_clients_with_six_partitions_are_upgraded_one_by_one_and_taken_back(
    style: dict[str, Any], static: bool
) -> None:
    """test_consumer_rolling_upgrade and test_consumer_rolling_downgrade: all are there after each step."""
    story = Story(foo=6)
    names = ("a", "b", "c", "d", "e")
    own: dict[str, Any] = {name: {"instance_id": f"i-{name}"} if static else {} for name in names}
    old = [story.legacy(name, **own[name], **style).joins() for name in names]
    story.settles()
    natives = [story.native(name.upper(), **own[name]) for name in names]
    for member, native in zip(old, natives, strict=True):
        steps_aside(story, member, native)
    assert story.world.proxies["proxy"].members == {}
    new = [story.legacy(f"{name}2", **own[name], **style) for name in names]
    for native, member in zip(natives, new, strict=True):
        steps_aside(story, native, member)
    assert len(story.world.proxies["proxy"].members) == len(names)


def steps_aside(story: Story, member: Legacy | Native, successor: Legacy | Native) -> None:
    member.who.stops()
    story.passes(500)
    successor.joins()
    story.settles()
    assert sorted(len(share) for share in story.shares().values()) == [1, 1, 1, 1, 2]
