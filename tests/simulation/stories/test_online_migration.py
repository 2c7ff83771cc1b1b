"""KIP-848's case study "Online Migration", step by step and epoch by epoch, with legacy members behind the proxy.

The text converts a classic group: "the current generation becomes the group epoch". Behind the proxy there is nothing
to convert, for everybody is native already; from there on the epochs are those of the text. Which partitions the
assignor picks is its own affair; how many, and who keeps what, is not.
"""

from __future__ import annotations

from typing import Any

import pytest

from simulation.brokers import V4_0
from simulation.errors import Error
from simulation.group import GroupState
from simulation.legacy import LegacyClient
from simulation.story import Legacy, Native, Story
from simulation.world import GROUP
from tests.simulation.native import Native as NativeByHand
from tests.simulation.stories.by_hand import ByHand
from tests.simulation.stories.watching import Watch
from translation.states import Phase

A_WHILE_MS = 8_000


def a_group_at_22() -> tuple[Story, Watch, Native, Legacy, Legacy]:
    """A (upgraded), B and C, at epoch 22, two partitions each."""
    story, watch, old_a, b, c = a_generic_group()
    a = in_the_place_of(old_a)
    watch.forgets()
    return story, watch, a, b, c


def a_generic_group() -> tuple[Story, Watch, Legacy, Legacy, Legacy]:
    """A, B and C, who know nothing but the old protocol. All has been quiet for a while."""
    story = Story(foo=6)
    watch = Watch(story)
    a, b, c = (story.legacy(name) for name in ("a", "B", "C"))
    for member in (b, c, a):
        member.joins()
        story.settles()
    story.passes(A_WHILE_MS)
    watch.forgets()
    return story, watch, a, b, c


def in_the_place_of(old_a: Legacy) -> Native:
    """With the new protocol. What is an epoch for the leave and one for the join here is none in the text."""
    story = old_a.leaves().story
    story.begins_at_epoch(21)
    a = story.native("A").joins()
    story.settles()
    story.group_is("Stable", 22)
    return a


def shares(story: Story) -> dict[str, int]:
    return {name: len(share) for name, share in story.shares().items()}


def test_a_leaves_and_rejoins_with_the_new_protocol() -> None:
    story, watch, old_a, b, c = a_generic_group()
    joins = (b.who.joins, c.who.joins)
    before = story.shares()
    a = in_the_place_of(old_a)
    # "The target assignment and the member assignments are created based on the current assignment."
    assert story.shares() == {"A": before["a"], "B": before["B"], "C": before["C"]}
    assert shares(story) == {"A": 2, "B": 2, "C": 2}
    for member in (a, b, c):
        member.is_at_epoch(22)
    # B and C use the old protocol, and have heard nothing of all this.
    story.passes(A_WHILE_MS)
    assert [phase for each in (b, c) for phase in watch.phases(each.who.member_id)] == []
    assert (b.who.joins, c.who.joins) == joins


def test_b_leaves_and_c_is_told_to_rebalance() -> None:
    story, watch, a, b, c = a_group_at_22()
    old = story.shares()
    # "B leaves the group. The group coordinator removes it and bumps the group epoch."
    b.leaves()
    story.group_is("Assigning", 23)
    # "It also triggers a rebalance for C." C heartbeats and is notified.
    c.hears_of_a_rebalance()
    assert watch.phases(c.who.member_id) == [Phase.PREPARE_REBALANCE]
    # It revokes all (Eager), sends JoinGroup, and the new epoch is the generation it is told.
    c.syncs().is_told_generation(23).is_at_epoch(23)
    # "All partitions are given because they are all free." A is not there yet: it heartbeats in its own time.
    assert watch.phases(c.who.member_id)[1:] == [Phase.COMPLETING_REBALANCE, Phase.STABLE]
    assert shares(story) == {"A": 2, "C": 3}
    a.is_at_epoch(22).reaches_epoch(23)
    story.settles()
    story.group_is("Stable", 23)
    now = story.shares()
    assert shares(story) == {"A": 3, "C": 3}
    assert (now["A"] > old["A"], now["C"] > old["C"]) == (True, True)


def test_b_rejoins_with_the_new_protocol_and_c_gives_up_what_is_to_be_its() -> None:
    story, watch, a, old_b, c = a_group_at_22()
    old_b.leaves()
    story.settles()
    # The coordinator computes a target at most once a second.
    story.passes(1_000)
    watch.forgets()
    before = story.shares()
    # "B rejoins the group with the new protocol", is at epoch 24, "but does not get any partitions yet".
    b = story.native("B2").joins().is_at_epoch(24).owns()
    a.is_at_epoch(23)
    c.is_at_epoch(23)
    # "C heartbeats and he is told to rebalance", joins, syncs, and is stable; what it had too much is released.
    c.hears_of_a_rebalance().syncs().is_told_generation(24).is_at_epoch(24)
    assert len(c.who.partitions) == 2
    # "A heartbeats. He confirms the revocation." Then "B heartbeats and gets its assignment".
    story.settles()
    story.group_is("Stable", 24)
    now = story.shares()
    assert shares(story) == {"A": 2, "B2": 2, "C": 2}
    assert (now["A"] < before["A"], now["C"] < before["C"]) == (True, True)
    assert b.who.partitions == (before["A"] - now["A"]) | (before["C"] - now["C"])
    # One round for C, from Stable to Stable.
    assert watch.phases(c.who.member_id) == [Phase.PREPARE_REBALANCE, Phase.COMPLETING_REBALANCE, Phase.STABLE]


def test_the_text_request_by_request() -> None:
    """With what it writes beside each step, also between a JoinGroup and its SyncGroup. A and B beat when it says so, and
    C asks when it says so. (Before 4.3, like the text, no interval keeps a target from being computed.)"""
    story = Story(V4_0, foo=6)
    old_b, c = story.legacy("B").joins(), ByHand(story, "C", assignors=("roundrobin",)).enters()
    a, b = (NativeByHand(story.world.coordinator, story.world.clock, name) for name in ("A", "B"))
    story.begins_at_epoch(21)
    a.joins()
    while story.world.coordinator.describe(GROUP).state is not GroupState.STABLE:
        goes_along(c)
        a.beats().acknowledges()
    # A (upgraded), B, C: epoch 22.
    story.group_is("Stable", 22)
    old_b.syncs()
    of_a, of_b, of_c = numbers(a), {number for _, number in old_b.who.partitions}, numbers(c)
    assert [len(share) for share in (of_a, of_b, of_c)] == [2, 2, 2]

    old_b.leaves()
    story.group_is("Assigning", 23)
    # "It also triggers a rebalance for C": C (PreparingRebalance), and nobody is at the new epoch yet.
    stands(story, c, Phase.STABLE, 22)
    story.until(lambda: c.beats() is Error.REBALANCE_IN_PROGRESS, "C heartbeats and is notified")
    # Behind the proxy what is only gained is granted to its member first, and then told: it has been told 22.
    stands(story, c, Phase.PREPARE_REBALANCE, 23)
    assert (c.generation, numbers(c)) == (22, of_c)
    # "The new epoch must be given to the member in the JoinGroup response": C (CompletingRebalance).
    assert c.joins().generation == 23
    stands(story, c, Phase.COMPLETING_REBALANCE, 23)
    # "In the meantime, A heartbeats and transitions to epoch 23 as well."
    assert (a.epoch, a.beats().epoch) == (22, 23)
    assert len(numbers(a) - of_a) == 1
    assert numbers(a) - of_a < of_b
    stands(story, c, Phase.COMPLETING_REBALANCE, 23)
    # "All partitions are given because they are all free": C (Stable).
    assert c.syncs().error_code == Error.NONE
    assert numbers(c) == of_c | of_b - numbers(a)
    stands(story, c, Phase.STABLE, 23)
    story.group_is("Stable", 23)

    a_had, c_had = numbers(a), numbers(c)
    b.joins().is_at(24)
    # A is told to revoke one. B gets nothing, because nothing is free.
    assert a.beats().epoch == 23
    assert len(numbers(a)) == 2
    b.beats().is_at(24)
    story.until(lambda: c.beats() is Error.REBALANCE_IN_PROGRESS, "C heartbeats and is told to rebalance")
    stands(story, c, Phase.PREPARE_REBALANCE, 23)
    b.beats().is_at(24)
    # C has revoked all: what is not to be its own is released, before it has heard what is.
    assert c.joins().generation == 24
    stands(story, c, Phase.COMPLETING_REBALANCE, 24)
    (of_c_to_b,) = numbers(b.beats())
    assert of_c_to_b in c_had
    assert c.syncs().error_code == Error.NONE
    assert numbers(c) == c_had - {of_c_to_b}
    stands(story, c, Phase.STABLE, 24)
    # "A heartbeats. He confirms the revocation." Not before is B given what A had, though it asks.
    b.beats().is_at(24, of_c_to_b)
    a.acknowledges().is_at(24, *numbers(a))
    b.beats().is_at(24, of_c_to_b, *(a_had - numbers(a)))
    story.group_is("Stable", 24)
    # And so it stays: C hears of nothing else.
    for _ in range(3):
        assert c.beats() is Error.NONE
    c.is_over()


def numbers(member: NativeByHand | ByHand) -> set[int]:
    if isinstance(member, ByHand):
        return {number for _, number in member.partitions}
    return {each.partition for each in member.assigned}


def goes_along(c: ByHand) -> None:
    if c.beats() is Error.REBALANCE_IN_PROGRESS:
        c.joins()
        c.syncs()


def stands(story: Story, c: ByHand, phase: Phase, epoch: int) -> None:
    """To the client, and to the coordinator."""
    assert Watch(story).member(c.member_id).phase is phase
    assert story.world.group.members[c.member_id].epoch == epoch


def test_a_cooperative_c_keeps_consuming_what_it_keeps() -> None:
    story = Story(foo=6)
    a = story.native("A").joins()
    c = story.legacy("C", cooperative=True, assignor="cooperative-sticky").joins()
    story.settles()
    before = c.who.partitions
    held = [before]
    story.native("B").joins()

    def settled() -> bool:
        held.append(c.who.partitions)
        return not story.world.converged()

    story.until(settled, "everybody owns its target")
    kept = c.who.partitions
    assert (len(before), len(kept)) == (3, 2)
    assert all(share >= kept for share in held)
    a.is_a_member()


def test_the_last_legacy_member_follows_and_nobody_speaks_the_old_protocol_any_more() -> None:
    story, _, _, b, c = a_group_at_22()
    for old, new in ((b, "B2"), (c, "C2")):
        old.leaves()
        story.native(new).joins()
        story.settles()
    assert shares(story) == {"A": 2, "B2": 2, "C2": 2}
    assert story.world.proxies["proxy"].members == {}


@pytest.mark.parametrize("style", [{}, {"cooperative": True, "assignor": "cooperative-sticky"}, {"instance_id": "i"}])
def test_the_way_back_is_as_easy(style: dict[str, Any]) -> None:
    """A rolling downgrade: the group never changes its type, so nobody is converted and nobody is refused."""
    story = Story(foo=6)
    natives = [story.native(name).joins() for name in ("A", "B", "C")]
    story.settles()
    for native in natives:
        native.leaves()
        name = native.who.name.lower()
        own = style | ({"instance_id": f"i-{name}"} if "instance_id" in style else {})
        story.legacy(name, **own).joins()
        story.settles()
    assert shares(story) == {"a": 2, "b": 2, "c": 2}
    assert all(isinstance(owner, LegacyClient) for owner in story.world.owners)


@pytest.mark.parametrize("gap_ms", [0, 200, 400])
def test_a_replacement_that_comes_soon_inherits_without_disturbing_anybody(gap_ms: int) -> None:
    """What a rolling upgrade is made of: one goes, the next comes within the grace, everybody else goes on."""
    story, watch, a, b, c = a_group_at_22()
    story.passes(8_000)
    nobody_beats_soon(story)
    joins, share = c.who.joins, b.who.partitions
    b.leaves()
    story.passes(gap_ms)
    b2 = story.native("B2").joins()
    story.settles()
    assert b2.who.partitions == share
    c.has_joined_times(joins)
    assert Phase.PREPARE_REBALANCE not in watch.phases(c.who.member_id)
    a.is_a_member()


def test_it_does_so_too_when_the_step_before_was_a_moment_ago() -> None:
    """A rolling restart: the group is in motion all the time."""
    story = Story(foo=6)
    members = [story.legacy(name).joins() for name in ("a", "b", "c")]
    story.settles()
    joins = [member.who.joins for member in members[1:]]
    share = members[0].who.partitions
    members[0].leaves()
    story.passes(400)
    newcomer = story.legacy("new").joins()
    story.settles()
    assert newcomer.who.partitions == share
    assert [member.who.joins for member in members[1:]] == joins


@pytest.mark.parametrize("style", [{}, {"cooperative": True, "assignor": "cooperative-sticky"}])
def test_of_those_who_restart_one_by_one_only_the_first_disturbs_anybody(style: dict[str, Any]) -> None:
    """Each is away for a second, longer than the grace. The first tells how long, and the others are waited for."""
    story = Story(foo=8)
    old = [story.legacy(f"old-{number}", **style).joins() for number in range(4)]
    story.settles()
    new: list[Legacy] = []
    for number, member in enumerate(old):
        story.passes(5_000)
        present = [*new, *old[number + 1 :]]
        joins, share = [each.who.joins for each in present], member.who.partitions
        member.leaves()
        story.passes(1_000)
        new.append(story.legacy(f"new-{number}", **style).joins())
        story.settles()
        if number > 0:
            assert new[-1].who.partitions == share
            assert [each.who.joins for each in present] == joins


def nobody_beats_soon(story: Story) -> None:
    """A heartbeat that happens to come between the two would be a reason to compute a target without the newcomer."""
    members, settings = story.world.group.members.values(), story.world.coordinator.settings
    beaten_ms = settings.session_timeout_ms - settings.heartbeat_interval_ms + 1_500
    story.until(lambda: all(each.session_deadline - story.world.now > beaten_ms for each in members), "all have beaten")
