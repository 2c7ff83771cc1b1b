"""KIP-568: a consumer may ask for a rebalance. "It happens immediately, it happens always, it is quick, cheap, and of low
overhead" - and in a KIP-848 group it means nothing to anybody else, so it must not cost anybody else anything.
"""

from __future__ import annotations

from typing import Any

import pytest

from simulation.errors import Error
from simulation.story import Legacy, Story
from tests.simulation.stories.by_hand import ByHand
from tests.simulation.stories.watching import Watch
from translation.states import Phase

COOPERATIVE: dict[str, Any] = {"cooperative": True, "assignor": "cooperative-sticky"}
STATIC: dict[str, Any] = {"instance_id": "i"}
STYLES = pytest.mark.parametrize("style", [{}, COOPERATIVE, STATIC, COOPERATIVE | STATIC])


def two_at_rest(style: dict[str, Any]) -> tuple[Story, Watch, Legacy, Legacy]:
    story = Story(foo=4)
    watch = Watch(story)
    alice, bob = story.legacy("alice", **style).joins(), story.legacy("bob").joins()
    story.settles()
    story.passes(9_000)
    watch.forgets()
    return story, watch, alice, bob


@STYLES
def test_an_enforced_rebalance_happens_immediately_and_is_quick(style: dict[str, Any]) -> None:
    """Assumptions 1 and 3. (A static member that unsubscribes and comes back violates the first: nothing happens.)"""
    story, _, alice, _ = two_at_rest(style)
    before, joins, began = alice.who.partitions, alice.who.joins, story.world.now
    alice.rejoins().syncs().has_joined_times(joins + 1)
    assert alice.who.partitions == before
    assert story.world.now - began < 500


@STYLES
def test_an_enforced_rebalance_happens_as_often_as_it_is_asked_for(style: dict[str, Any]) -> None:
    """Assumption 2: as often as it is asked for, and each time with a whole round of JoinGroup and SyncGroup."""
    story, watch, alice, _ = two_at_rest(style)
    for _ in range(5):
        alice.rejoins().syncs()
    assert watch.phases(alice.who.member_id) == [Phase.COMPLETING_REBALANCE, Phase.STABLE] * 5
    story.settles()


@STYLES
def test_it_is_cheap_nobody_else_hears_of_it(style: dict[str, Any]) -> None:
    story, watch, alice, bob = two_at_rest(style)
    epoch, joins = story.world.group.epoch, bob.who.joins
    alice.rejoins().syncs()
    story.passes(10_000)
    assert watch.phases(bob.who.member_id) == []
    bob.has_joined_times(joins)
    story.group_is("Stable", epoch)


def test_a_cooperative_member_revokes_nothing_for_it() -> None:
    """As the text wants: "without revoking all currently owned partitions"."""
    story, _, alice, _ = two_at_rest(COOPERATIVE)
    revocations = story.world.ledger.revocations
    alice.rejoins().syncs()
    assert story.world.ledger.revocations == revocations


def test_its_reason_is_traced() -> None:
    story = Story(foo=4)
    watch = Watch(story)
    member = ByHand(story, "member").enters()
    watch.forgets()
    member.joins(owned=(0, 1, 2, 3), reason="rebalance enforced by user")
    member.syncs()
    assert "rebalance enforced by user" in {each.reason for each in watch.transitions}


def test_while_a_rebalance_is_in_progress_it_collects_what_there_is() -> None:
    """Then "this call will be a no-op": the second JoinGroup joins the one that is parked."""
    story = Story(foo=4)
    story.native("slow", revoke_ms=2_000).joins()
    story.settles()
    member = ByHand(story, "member")
    member.joins()
    first = member.asks_to_join()
    story.passes(500)
    assert first == []
    second = member.asks_to_join()
    answers = [member.hears(first), member.hears(second)]
    assert [answer.error_code for answer in answers] == [Error.NONE, Error.NONE]
    assert answers[0].generation == answers[1].generation
    member.generation = answers[1].generation
    member.syncs()
    member.goes_along()


def test_while_it_is_being_asked_to_rejoin_anyway_one_round_serves_both() -> None:
    story, watch, alice, _ = two_at_rest({})
    story.native("nina").joins()
    alice.rejoins().syncs()
    story.settles()
    assert watch.phases(alice.who.member_id).count(Phase.STABLE) <= 2
    alice.was_refused()


def test_several_consumers_in_the_group_may_ask_at_once() -> None:
    story, watch, alice, bob = two_at_rest({})
    alice.who.rejoins()
    bob.who.rejoins()
    for member in (alice, bob):
        member.hears_of_a_rebalance()
    for member in (alice, bob):
        member.syncs()
        assert watch.phases(member.who.member_id) == [Phase.COMPLETING_REBALANCE, Phase.STABLE]
    assert [len(share) for share in story.shares().values()] == [2, 2]


def test_one_that_is_not_part_of_an_active_group_is_already_attempting_to_rejoin() -> None:
    story, _, alice, _ = two_at_rest({})
    group = story.world.group
    group.remove([group.members[alice.who.member_id]])
    alice.hears_of_a_rebalance()
    # "But if we are not in the REBALANCING state": asking again changes nothing.
    alice.who.rejoins()
    story.settles()
    alice.is_a_member()
    assert len(alice.who.partitions) == 2


def test_it_takes_whatever_has_changed_with_it() -> None:
    """That is, "whatever update caused the app to want to force a rebalance"."""
    story = Story(foo=2, bar=2)
    alice = story.legacy("alice").joins().syncs()
    alice.subscribes("foo", "bar")
    story.until(lambda: len(alice.who.partitions) == 4, "both topics are hers", within_ms=5_000)
