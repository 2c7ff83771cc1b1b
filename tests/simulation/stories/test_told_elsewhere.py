"""A client's generation says what it was told. More may be granted at the same epoch: who had told it less must notice."""

from __future__ import annotations

from typing import Any

import pytest

from simulation import assignors
from simulation.assignors import Candidate, Partitions, Target
from simulation.brokers import BrokerLine
from simulation.errors import Error
from simulation.story import Story
from tests.simulation.stories.by_hand import ByHand
from tests.simulation.stories.test_losing_things import COOPERATIVE, LINES
from translation.rules import Rules

EAGER: dict[str, Any] = {}
STYLES = pytest.mark.parametrize("style", [EAGER, COOPERATIVE], ids=["eager", "cooperative"])


@LINES
@STYLES
@pytest.mark.parametrize("stays_ms", [500, 1_000, 4_000])
def test_a_client_that_comes_back_with_more_is_asked_before_any_of_it_is_given_away(
    line: BrokerLine, style: dict[str, Any], stays_ms: int
) -> None:
    """Its second partition is freed only when it has gone to the second proxy, and its epoch stays the same for that."""
    story = Story(line, foo=6)
    story.another_proxy("second")
    for name, revoke_ms in (("bob", 0), ("carol", 33_000)):
        story.native(name, revoke_ms=revoke_ms).joins()
        story.settles()
    alice = story.legacy("alice", session_timeout_ms=45_000, **style)
    alice.joins().syncs()
    story.until(lambda: len(alice.who.partitions) == 1 and alice.who.stable, "alice has a part of it")
    before = alice.who.generation
    story.passes(20_000)
    alice.moves_to("second")
    story.until(lambda: len(alice.who.partitions) == 2 and alice.who.stable, "alice has all of it")
    assert alice.who.generation > before
    story.passes(stays_ms)
    alice.moves_to("proxy")
    for name in ("dave", "erin", "frank"):
        story.native(name).who.starts()
    # Whoever is given what another one holds breaks the story.
    story.passes(40_000)
    story.settles()


@LINES
def test_an_entry_of_the_journal_that_says_less_than_the_member_has_is_not_believed(line: BrokerLine) -> None:
    """The disk was full when the client was told more at the same generation."""
    story = Story(line, foo=4)
    story.native("aaron", revoke_ms=5_000).joins()
    alice = ByHand(story, "alice", session_timeout_ms=45_000).enters()
    kept = dict(story.world.proxies["proxy"].journal)
    generation = alice.generation
    while len(alice.partitions) < 2:
        if alice.beats() is Error.REBALANCE_IN_PROGRESS:
            alice.joins(number for _, number in alice.partitions)
            alice.syncs()
        story.passes(500)
    assert alice.generation == generation
    journal = story.world.proxies["proxy"].journal
    journal.clear()
    journal.update(kept)
    story.passes(3_000)
    story.native("nina").joins()
    story.proxy_restarts("proxy")
    for _ in range(10):
        assert alice.beats() is Error.REBALANCE_IN_PROGRESS
        story.passes(1_000)
    alice.joins(number for _, number in alice.partitions)
    alice.syncs()
    story.passes(10_000)


@LINES
@STYLES
@pytest.mark.parametrize("has_journal", [True, False], ids=["journal", "no journal"])
def test_a_static_member_that_left_with_its_proxy_joins_with_empty_hands(
    line: BrokerLine, style: dict[str, Any], has_journal: bool
) -> None:
    """Somebody else has joined meanwhile: what the coordinator means for that one is free as soon as alice's member joins."""
    story = Story(line, foo=4, rules=Rules(hold_beat_part=0.0))
    alice = story.legacy("alice", instance_id="i", session_timeout_ms=45_000, revoke_ms=3_000, **style).joins().syncs()
    story.settles()
    story.passes(7_500)
    proxy = story.world.proxies["proxy"]
    journal = dict(proxy.journal) if has_journal else {}
    proxy.stops(leaving=True)
    alice.loses_its_sockets()
    story.passes(50)
    proxy.dies()
    story.native("dave").who.starts()
    story.passes(2_000)
    story.world.proxy("proxy", journal)
    story.passes(20_000)
    story.settles()
    assert [len(owned) for owned in story.shares().values()] == [2, 2]


@LINES
@pytest.mark.parametrize("is_told", [True, False], ids=["stopped", "killed"])
def test_a_restart_within_a_revoke_callback_gives_away_nothing_that_its_client_still_holds(
    line: BrokerLine, is_told: bool
) -> None:
    """SyncGroup has told it less, it beats while it lets go, and brokers before 4.3 do not describe what it must give up."""
    story = Story(line, foo=4)
    alice = ByHand(story, "alice", session_timeout_ms=45_000).enters()
    story.settles()
    story.native("nina").joins()
    while alice.beats() is not Error.REBALANCE_IN_PROGRESS:
        story.passes(300)
    alice.joins(number for _, number in alice.partitions)
    alice.syncs()
    if is_told:
        story.world.proxies["proxy"].stops()
    story.proxy_restarts()
    for _ in range(20):
        assert alice.beats() in (Error.NONE, Error.REBALANCE_IN_PROGRESS)
        story.passes(1_000)


# --- gone before its first JoinGroup was answered ---------------------------------------------------------------------


@LINES
@STYLES
def test_a_client_that_no_coordinator_has_heard_of_here_is_not_put_off_for_ever_when_it_is_back_from_elsewhere(
    line: BrokerLine, style: dict[str, Any]
) -> None:
    story = Story(line, foo=4)
    story.another_proxy("second")
    story.world.upstream_is_cut(2_000)
    alice = story.legacy("alice", session_timeout_ms=45_000, **style).asks_to_join()
    story.passes(1_000)
    alice.moves_to("second").syncs().moves_to("proxy")
    # The other proxy misses her, and gives her up.
    story.passes(90_000)
    story.settles()
    alice.owns(0, 1, 2, 3)


@LINES
@STYLES
def test_what_a_client_was_told_elsewhere_while_its_first_join_here_was_forsaken_is_not_let_go_for_it(
    line: BrokerLine, style: dict[str, Any]
) -> None:
    """An answer of the coordinator's is lost, so all is said again: that the client holds nothing, for all we know."""
    story = Story(line, foo=4)
    story.another_proxy("second")
    story.native("aaron", revoke_ms=3_500).joins()
    story.settles()
    alice = story.legacy("alice", session_timeout_ms=45_000, **style).asks_to_join()
    story.passes(500)
    alice.moves_to("second")
    story.until(lambda: alice.who.stable and bool(alice.who.partitions), "alice has a part of it")
    alice.moves_to("proxy")
    for name in ("dave", "erin", "frank"):
        story.native(name).who.starts()
    story.upstream_is_cut(1_000)
    # Whoever is given what another one holds breaks the story.
    story.passes(60_000)
    story.settles()


# --- back before it was missed --------------------------------------------------------------------------------------


def takes_what_alice_got_last(candidates: list[Candidate], partitions: Partitions) -> Target:
    """Targets are the coordinator's to choose, and the newcomer's may be this one."""
    has = {each.member_id: set(each.has) for each in candidates}
    target = assignors.uniform(candidates, partitions)
    alice = next((name for name in has if name.startswith("alice")), None)
    dave = next((name for name in has if name.startswith("dave")), None)
    if alice is None or dave is None or has[dave] or len(has[alice]) < 2:
        return target
    last = max(has[alice])
    return {name: frozenset(own - {last}) for name, own in has.items()} | {dave: frozenset({last})}


@LINES
@pytest.mark.parametrize("version", [3, 1])
@pytest.mark.parametrize("revoke_ms", [500, 5_000])
def test_a_client_that_brings_its_claims_back_before_it_was_missed_keeps_them(
    line: BrokerLine, version: int, revoke_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was given a partition elsewhere, is asked there to give it up, and says here, in its JoinGroup, that it holds it.
    Subscriptions before version 2 do not say that this is of another generation."""
    monkeypatch.setitem(assignors.ASSIGNORS, "uniform", takes_what_alice_got_last)
    story = Story(line, foo=6, rules=Rules(plan_ms=0))
    story.another_proxy("second")
    for name, native_ms in (("bob", 0), ("carol", 14_000)):
        story.native(name, revoke_ms=native_ms).joins()
        story.settles()
    style = COOPERATIVE | {"revoke_ms": revoke_ms, "subscription_version": version}
    alice = story.legacy("alice", session_timeout_ms=45_000, **style).joins().syncs()
    story.until(lambda: len(alice.who.partitions) == 1 and alice.who.stable, "alice has a part of it")
    story.passes(13_500)
    alice.moves_to("second")
    story.until(lambda: len(alice.who.partitions) == 2 and alice.who.stable, "alice has all of it")
    story.native("dave").who.starts()
    alice.hears_of_a_rebalance()
    story.passes(1)
    alice.moves_to("proxy")
    # Whoever is given what another one holds breaks the story.
    story.passes(40_000)
    story.settles()


@LINES
@STYLES
@pytest.mark.parametrize("away_ms", range(6_000, 12_000, 700))
def test_who_is_back_at_its_first_proxy_is_not_let_go_by_the_other(
    line: BrokerLine, style: dict[str, Any], away_ms: int
) -> None:
    """With a session as short as this the other gives it up soon, and must first hear that it is at home."""
    story = Story(line, foo=4)
    story.another_proxy("second")
    bob = story.legacy("bob").joins().syncs()
    alice = story.legacy("alice", session_timeout_ms=10_000, **style).joins().syncs()
    story.settles()
    alice.moves_to("second")
    story.passes(away_ms)
    alice.moves_to("proxy")
    story.passes(40_000)
    story.settles()
    assert alice.was_refused() is alice
    assert len(alice.who.partitions) == len(bob.who.partitions) == 2
