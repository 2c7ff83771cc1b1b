"""The design that the classic protocol grew out of (the wiki's first "coordinator design"): the states of a consumer,
those of the coordinator, and how consumer ids are given. What clients have relied on since then.
"""

from __future__ import annotations

from typing import Any

import pytest

from simulation.errors import Error
from simulation.story import Story
from tests.simulation.stories.by_hand import ByHand
from tests.simulation.stories.watching import Watch
from translation.states import Phase

# --- consumer states -----------------------------------------------------------------------------------------------


def test_part_of_a_group_is_a_join_without_error_an_id_and_a_generation() -> None:
    member = ByHand(Story(foo=2), "member", version=0)
    answer = member.joins()
    assert (answer.error_code, bool(answer.member_id), answer.generation) == (Error.NONE, True, 2)


@pytest.mark.parametrize("style", [{}, {"cooperative": True, "assignor": "cooperative-sticky"}, {"sockets": 2}])
def test_rediscovering_the_coordinator_it_does_not_stop_consuming(style: dict[str, Any]) -> None:
    story = Story(foo=4)
    alice = story.legacy("alice", **style).joins()
    story.legacy("bob").joins()
    story.settles()
    before, joins = alice.who.partitions, alice.who.joins
    story.coordinator_moves(gap_ms=8_000)
    assert alice.who.partitions == before
    story.passes(20_000)
    alice.was_refused().has_joined_times(joins)
    assert alice.who.partitions == before
    story.settles()


def test_stopped_consumption_commits_before_it_joins_again() -> None:
    """Eager: it stops, commits what it has read, and joins. The commit comes while a rebalance is in progress."""
    story = Story(foo=4)
    alice = story.legacy("alice", commit_ms=1_000_000).joins().syncs()
    story.passes(9_000)
    assert story.world.ledger.acknowledged == {}
    story.native("nina").joins()
    alice.hears_of_a_rebalance().syncs()
    assert len(story.world.ledger.acknowledged) == 4
    story.settles()


# --- coordinator states --------------------------------------------------------------------------------------------


def test_while_the_new_coordinator_catches_up_its_members_are_kept() -> None:
    """The new coordinator "may reject its request, causing it to re-discover the co-ordinator, which is fine"."""
    story = Story(foo=4)
    alice = story.legacy("alice").joins().syncs()
    story.coordinator_moves(gap_ms=5_000, error=Error.COORDINATOR_LOAD_IN_PROGRESS)
    story.passes(10_000)
    alice.owns(0, 1, 2, 3).was_refused().has_joined_times(2)


def test_a_client_that_comes_too_late_is_dead_and_treated_as_new() -> None:
    """As the text has it: "the co-ordinator may have marked the consumer dead"."""
    story = Story(foo=4)
    member = ByHand(story, "member", session_timeout_ms=10_000).enters()
    story.coordinator_moves(gap_ms=12_000)
    story.until(lambda: not member.stands, "it is marked dead")
    assert member.beats() is Error.UNKNOWN_MEMBER_ID
    old = member.member_id
    member.member_id, member.partitions = "", frozenset()
    member.enters().owns(0, 1, 2, 3)
    assert member.member_id != old


def test_newcomers_of_a_coordinator_that_loads_come_in_when_it_has_loaded() -> None:
    story = Story(foo=4)
    story.legacy("alice").joins().syncs()
    story.world.coordinator_moves(6_000, Error.COORDINATOR_LOAD_IN_PROGRESS)
    bob = story.legacy("bob").joins()
    assert story.world.now >= 6_000
    story.settles()
    bob.is_a_member().was_refused()
    assert len(story.world.group.members) == 2


def test_in_the_steady_state_commits_and_heartbeats_are_accepted() -> None:
    member = ByHand(Story(foo=2), "member").enters()
    assert (member.commits(0, 1), member.beats()) == (Error.NONE, Error.NONE)


# --- consumer ids --------------------------------------------------------------------------------------------------


def test_a_consumer_learns_its_id_in_its_very_first_join() -> None:
    """1. Before JoinGroup 4 (KIP-394). Since then the first answer only names the id."""
    story = Story(foo=2)
    old = ByHand(story, "old", version=3)
    assert old.joins().error_code == Error.NONE
    assert old.stands
    old.syncs()
    new = ByHand(story, "new", version=4)
    assert new.joins().error_code == Error.MEMBER_ID_REQUIRED
    assert not new.stands
    assert new.member_id.startswith("new-")
    new.is_over()


def test_an_id_that_is_not_one_of_the_group_is_unknown_in_every_request() -> None:
    """1. "It sends an UnknownConsumer error code in the corresponding responses"."""
    story = Story(foo=2)
    ByHand(story, "member").enters()
    stranger = ByHand(story, "stranger")
    stranger.member_id = "somebody"
    unknown = Error.UNKNOWN_MEMBER_ID
    assert stranger.beats(generation=2) is unknown
    assert stranger.commits(0, generation=2) is unknown
    assert stranger.syncs(generation=2).error_code == unknown
    assert stranger.leaves() is unknown
    stranger.is_over()


def test_the_id_is_kept_for_every_subsequent_join() -> None:
    """2."""
    story = Story(foo=6)
    alice = story.legacy("alice").joins().syncs()
    member_id = alice.who.member_id
    for name in ("nina", "nora"):
        story.native(name).joins()
        alice.hears_of_a_rebalance().syncs()
        story.settles()
    assert alice.who.member_id == member_id


def test_two_clients_of_one_name_get_ids_of_their_own() -> None:
    """3. `<client id>-<unique>`."""
    story = Story(foo=2)
    members = [ByHand(story, name, client_id="app") for name in ("one", "two")]
    for member in members:
        member.joins()
    assert len({member.member_id for member in members}) == 2
    assert all(member.member_id.startswith("app-") for member in members)
    for member in members:
        member.is_over()


def test_a_client_that_forgets_its_id_each_time_does_not_keep_the_group_from_coming_to_rest() -> None:
    """4. "It will cause a chain of rebalance attempts": each JoinGroup is somebody new, and the old self must fade."""
    story = Story(foo=4)
    steady = story.legacy("steady").joins().syncs()
    forgetful = ByHand(story, "forgetful", session_timeout_ms=6_000)
    for _ in range(3):
        forgetful.member_id = ""
        forgetful.enters()
        story.passes(1_000)
    story.until(lambda: forgetful.beats() is not None and len(story.world.group.members) == 2, "its old selves fade")
    for _ in range(10):
        if forgetful.beats() is Error.REBALANCE_IN_PROGRESS:
            forgetful.joins()
            forgetful.syncs()
        story.passes(1_000)
    steady.is_a_member().was_refused()
    assert [len(share) for share in story.shares().values()] == [2, 2]


def test_an_unknown_id_in_a_join_is_refused_and_nobody_else_is_rebalanced() -> None:
    """5. It still claims partitions (its group has forgotten it): it must drop them, and come as somebody new."""
    story = Story(foo=4)
    watch = Watch(story)
    alice = story.legacy("alice").joins().syncs()
    story.passes(9_000)
    watch.forgets()
    stranger = ByHand(story, "stranger")
    stranger.member_id = "somebody"
    assert stranger.joins(owned=(0, 1)).error_code == Error.UNKNOWN_MEMBER_ID
    story.passes(10_000)
    assert watch.phases(alice.who.member_id) == []
    alice.owns(0, 1, 2, 3)
    stranger.is_over()


def test_an_id_that_was_given_out_long_ago_is_still_good_for_joining() -> None:
    """MEMBER_ID_REQUIRED leaves no trace: neither a restart nor another proxy makes the id it named a wrong one."""
    story = Story(foo=4)
    member = ByHand(story, "member")
    assert member.joins().error_code == Error.MEMBER_ID_REQUIRED
    story.proxy_restarts(with_journal=False)
    member.enters().owns(0, 1, 2, 3)
    assert Watch(story).member(member.member_id).phase is Phase.STABLE
