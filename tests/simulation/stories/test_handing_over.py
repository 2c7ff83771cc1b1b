"""From hand to hand (design: a partition that nobody owns is a partition nobody reads). How long a partition is without
an owner when it moves, by who gives and who takes, and what it costs to know when.

A direct native member takes at its own heartbeats, every 5 s: letting go long before one of them gains nobody anything.
"""

from __future__ import annotations

from statistics import median
from typing import Any

import pytest

from simulation.brokers import GroupSettings
from simulation.story import Story
from translation.rules import Pacing, Rules

INTERVAL_MS = 5_000


def idle_ms(story: Story) -> int:
    """Since the last time it was asked for: partition-milliseconds that nobody owned."""
    ledger = story.world.ledger
    idle, ledger.idle_ms = ledger.idle_ms, 0
    return idle


def at_rest(*names: str, foo: int = 6, **settings: Any) -> Story:
    story = Story(foo=foo, **settings)
    for name in names:
        story.legacy(name).joins()
    story.settles()
    story.passes(9_000)
    idle_ms(story)
    return story


def test_between_two_clients_of_this_proxy_a_partition_is_idle_for_a_few_round_trips() -> None:
    """An eager client pays for all it has: it must let go of everything to be told anything."""
    story = at_rest("alice", "bob")
    story.legacy("carol").joins()
    story.settles()
    assert idle_ms(story) < 6 * 500


def test_cooperative_clients_leave_idle_only_what_moves() -> None:
    story = Story(foo=6)
    style: dict[str, Any] = {"cooperative": True, "assignor": "cooperative-sticky"}
    for name in ("alice", "bob"):
        story.legacy(name, **style).joins()
    story.settles()
    story.passes(9_000)
    idle_ms(story)
    story.legacy("carol", **style).joins()
    story.settles()
    assert 0 < idle_ms(story) < 2 * 1_000


def test_a_native_that_passes_through_takes_as_soon_as_a_legacy_client_lets_go() -> None:
    story = at_rest("alice")
    nina = story.native("nina", through="proxy").joins()
    began = story.world.now
    story.settles()
    assert len(nina.who.partitions) == 3
    assert story.world.now - began < 3_000
    assert idle_ms(story) < 6 * 1_000


def test_clients_that_commit_all_the_time_hand_over_as_well_as_others() -> None:
    """A commit ends a held Heartbeat, so they hear of a rebalance only at their beats, or with that answer."""
    idle = {
        commit_ms: sum(idle_when_one_joins(commit_ms, at) for at in range(0, 5_000, 500)) for commit_ms in (250, 5_000)
    }
    assert idle[250] < 2 * idle[5_000]


def idle_when_one_joins(commit_ms: int, moment_ms: int) -> int:
    story = Story(foo=12)
    for name in ("alice", "bob", "carol", "dave"):
        story.legacy(name, commit_ms=commit_ms).joins()
    story.settles()
    story.passes(9_000 + moment_ms)
    idle_ms(story)
    story.legacy("erin", commit_ms=commit_ms).joins()
    story.settles()
    return idle_ms(story)


@pytest.mark.parametrize("interval_ms", [2_000, INTERVAL_MS, 15_000])
def test_for_a_direct_native_partitions_are_given_up_just_before_it_beats(interval_ms: int) -> None:
    """In a group that moves anyway, so that its joining is seen: letting go at once leaves more idle. How often it beats is
    its coordinator's to say (`consumer.heartbeat.interval.ms`)."""
    settings = GroupSettings(heartbeat_interval_ms=interval_ms)
    idle: dict[int, int] = {}
    for plan_ms in (0, Rules().plan_ms):
        moments = range(0, interval_ms, interval_ms // 10)
        idle[plan_ms] = sum(idle_when_a_native_joins(plan_ms, settings, moment_ms) for moment_ms in moments)
    assert idle[Rules().plan_ms] < 0.7 * idle[0]


def idle_when_a_native_joins(plan_ms: int, settings: GroupSettings, moment_ms: int) -> int:
    story = at_rest("alice", "bob", "carol", foo=12, rules=Rules(plan_ms=plan_ms), settings=settings)
    story.legacy("dave").joins()
    story.settles()
    story.passes(moment_ms)
    idle_ms(story)
    story.native("nina").joins()
    story.settles()
    return idle_ms(story)


@pytest.mark.parametrize(("hold_beat_part", "at_least"), [(Rules().hold_beat_part, 10), (0.0, 7)])
def test_the_first_direct_native_has_all_of_its_partitions_at_its_next_beat(
    hold_beat_part: float, at_least: int
) -> None:
    """In a group at rest, whose members here look in turns: whoever sees it knows since when, at the earliest, it is there.
    Clients that are not held may hear of it too late, and then it is the beat after."""
    took = [ms_until_the_first_native_is_at_rest(hold_beat_part, moment_ms) for moment_ms in range(0, INTERVAL_MS, 500)]
    assert sum(ms < INTERVAL_MS + 500 for ms in took) >= at_least


def ms_until_the_first_native_is_at_rest(hold_beat_part: float, moment_ms: int) -> int:
    story = at_rest("alice", "bob", "carol", foo=12, rules=Rules(hold_beat_part=hold_beat_part))
    story.passes(moment_ms)
    story.native("nina").joins()
    return story.settles()


def test_a_newcomer_does_not_wait_for_what_natives_give_at_beats_far_away() -> None:
    """What a client here gives is told at once."""
    assert median(ms_until_a_newcomer_has_something(at) for at in range(0, 5_000, 500)) < 700


@pytest.mark.parametrize("interval_ms", [INTERVAL_MS, 2 * INTERVAL_MS])
def test_the_only_legacy_member_takes_what_a_native_gives_as_soon_as_it_has_given_it(interval_ms: int) -> None:
    """It waits for the native's beat, and is told by a description when that has come."""
    moments = range(0, interval_ms, interval_ms // 10)
    assert max(idle_when_one_joins_a_native(interval_ms, moment_ms) for moment_ms in moments) < 1_500


def idle_when_one_joins_a_native(interval_ms: int, moment_ms: int) -> int:
    story = Story(foo=6, settings=GroupSettings(heartbeat_interval_ms=interval_ms))
    story.native("nina").joins()
    story.passes(2 * interval_ms + moment_ms)
    idle_ms(story)
    story.legacy("alice").joins().syncs()
    story.settles()
    return idle_ms(story)


def ms_until_a_newcomer_has_something(moment_ms: int) -> int:
    story = at_rest("alice", "bob", "carol", foo=24)
    for name in ("nina", "nora", "nell"):
        story.native(name).joins()
    story.settles()
    story.passes(3_000 + moment_ms)
    story.native("nick").joins()
    story.passes(700)
    began = story.world.now
    assert story.legacy("dave").joins().syncs().who.partitions
    return story.world.now - began


def test_a_quiet_group_costs_one_heartbeat_per_member_and_interval() -> None:
    story = at_rest(*(f"m{number}" for number in range(8)), foo=8)
    story.passes(10_000)
    asked = story.world.upstream.requests
    story.passes(60_000)
    commits = 8 * 60_000 // 5_000
    assert story.world.upstream.requests - asked - commits <= 8 * 60_000 // INTERVAL_MS + 8


def test_a_large_group_in_motion_is_watched_by_descriptions_instead_of_heartbeats() -> None:
    """One question for all of them, five times a second, for a few seconds after each sign of motion."""
    asked: dict[int, int] = {}
    for describe_from in (4, 1_000):
        story = at_rest(*(f"m{number}" for number in range(20)), foo=20, pacing=Pacing(describe_from=describe_from))
        before = story.world.upstream.requests
        story.legacy("newcomer").joins()
        story.settles()
        story.passes(10_000)
        asked[describe_from] = story.world.upstream.requests - before
    assert 3 * asked[4] < asked[1_000]
