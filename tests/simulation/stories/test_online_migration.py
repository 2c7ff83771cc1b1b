"""KIP-848's case study "Online Migration", and the classic walk-throughs, with legacy members behind the proxy.

The text begins with a classic group at generation 22. Behind the proxy there is no classic group: its members are native
already, so the same people go through the same epochs without any conversion.
"""

from __future__ import annotations

from simulation.errors import Error
from simulation.story import Story


def test_online_migration_from_epoch_22_to_24() -> None:
    story = Story(foo=6)
    a, b, c = (story.legacy(name) for name in ("a", "b", "c"))
    for member in (a, b, c):
        member.joins()
        story.settles()
    story.begins_at_epoch(21)
    # A leaves and rejoins with the new protocol enabled. It uses the new protocol; B and C still use the old one.
    a.leaves()
    a = story.native("A").joins()
    story.settles()
    story.group_is("Stable", 23)
    before = story.shares()
    # B leaves the group: epoch 24, and its partitions go to A and C.
    b.leaves()
    story.settles()
    story.group_is("Stable", 24)
    assert story.shares()["A"] > before["A"]
    assert story.shares()["c"] > before["c"]
    # C was told to rebalance: it revoked everything (Eager) and joined again, with the new epoch as its generation.
    c.is_told_generation(24)
    # B rejoins with the new protocol. C is told to rebalance to give up what B shall have.
    story.native("B").joins()
    story.settles()
    story.group_is("Stable", 25)
    c.is_told_generation(25)
    assert [len(share) for share in story.shares().values()] == [2, 2, 2]
    # C follows, and nobody speaks the old protocol any more.
    c.leaves()
    story.native("C").joins()
    story.settles()
    assert [len(share) for share in story.shares().values()] == [2, 2, 2]


def test_the_first_member_joins_an_empty_group() -> None:
    story = Story(foo=3)
    alice = story.legacy("alice").joins().syncs().owns(0, 1, 2)
    # MEMBER_ID_REQUIRED, then JoinGroup proper; the generation is the member epoch.
    alice.has_joined_times(2).is_told_generation(2)


def test_a_second_member_joins() -> None:
    story = Story(foo=4)
    alice = story.legacy("alice").joins().syncs()
    # Just now one of her Heartbeats is held, so she hears of it at once.
    story.passes(9_000)
    bob = story.legacy("bob").joins()
    story.settles()
    assert [len(share) for share in story.shares().values()] == [2, 2]
    # One rebalance for alice, and one JoinGroup (after the one for its id) for bob: parked until all is there.
    alice.has_joined_times(3)
    bob.has_joined_times(2)


def test_there_is_no_leader_whose_death_could_hurt() -> None:
    story = Story(foo=4)
    first = story.legacy("first").joins().syncs()
    second = story.legacy("second").joins()
    story.settles()
    first.vanishes()
    # Its own session timeout (10 s), a farewell, and a heartbeat or two.
    second.comes_to_own(0, 1, 2, 3, within_ms=20_000)


def test_the_coordinator_fails_over_and_clients_look_for_it_again() -> None:
    story = Story(foo=4)
    alice, bob = (story.legacy(name).joins() for name in ("alice", "bob"))
    story.settles()
    before = story.shares()
    story.coordinator_moves(gap_ms=5_000)
    story.passes(20_000)
    assert story.shares() == before
    for member in (alice, bob):
        member.was_refused()
        assert member.who.joins <= 3


def test_a_coordinator_that_loads_is_waited_for() -> None:
    story = Story(foo=4)
    alice = story.legacy("alice").joins().syncs()
    story.coordinator_moves(gap_ms=5_000, error=Error.COORDINATOR_LOAD_IN_PROGRESS)
    story.passes(10_000)
    alice.owns(0, 1, 2, 3).was_refused().has_joined_times(2)
