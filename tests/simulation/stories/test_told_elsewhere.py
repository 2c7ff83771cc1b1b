"""A client's generation says what it was told. More may be granted at the same epoch: who had told it less must notice."""

from __future__ import annotations

from typing import Any

import pytest

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
