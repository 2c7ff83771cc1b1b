"""The classic rebalance as a well known article tells it ("What happens when a new consumer joins the group in Kafka?"),
with the same clients: what they see is the same, what they wait for is not.
"""

from __future__ import annotations

from simulation.errors import Error
from simulation.story import Story
from simulation.world import GROUP
from tests.simulation.stories.watching import Watch
from translation import actions as do
from translation.states import Phase


def test_the_states_of_a_group_from_empty_to_empty() -> None:
    story = Story(foo=4)
    # Before anybody came there is no group.
    assert story.world.coordinator.describe(GROUP).state.value == "Dead"
    first = story.legacy("first").joins().syncs()
    story.group_is("Stable", 2)
    story.passes(9_000)
    second = story.legacy("second").asks_to_join()
    story.until(lambda: story.world.coordinator.describe(GROUP).state.value == "Reconciling", "it is rebalancing")
    story.settles()
    story.group_is("Stable", 3)
    first.leaves()
    second.leaves()
    assert story.world.coordinator.describe(GROUP).state.value == "Empty"
    # "If all consumers have left the group, then it is again in the Empty state"; and may begin again.
    story.legacy("third").joins().syncs().owns(0, 1, 2, 3)


def test_the_first_member_waits_a_moment_for_others() -> None:
    """Not for the three seconds of `group.initial.rebalance.delay.ms`."""
    story = Story(foo=3)
    alice = story.legacy("alice").joins().syncs().owns(0, 1, 2)
    assert story.world.now < 500
    # MEMBER_ID_REQUIRED, then JoinGroup proper; the generation is the member epoch.
    alice.has_joined_times(2).is_told_generation(2)


def test_a_second_member_costs_the_first_one_rebalance_and_itself_one_join() -> None:
    story = Story(foo=4)
    watch = Watch(story)
    alice = story.legacy("alice").joins().syncs()
    story.passes(9_000)
    watch.forgets()
    bob = story.legacy("bob").joins().syncs()
    story.settles()
    assert [len(share) for share in story.shares().values()] == [2, 2]
    rebalance = [Phase.PREPARE_REBALANCE, Phase.COMPLETING_REBALANCE, Phase.STABLE]
    assert watch.phases(alice.who.member_id) == rebalance
    alice.has_joined_times(3)
    # Parked until all is there, after the one JoinGroup for its id.
    bob.has_joined_times(2)


def test_nobody_waits_for_the_slowest_member_of_the_group() -> None:
    """Where "the broker has to wait for the max(rebalance_timeout)", each member is reconciled by itself here."""
    story = Story(foo=6)
    slow = story.legacy("slow", revoke_ms=30_000, session_timeout_ms=45_000).joins()
    quick = story.legacy("quick").joins()
    story.settles()
    story.passes(9_000)
    began = story.world.now
    newcomer = story.legacy("newcomer").joins().syncs()
    story.until(lambda: quick.who.stable and len(quick.who.partitions) == 2, "quick is through with it")
    story.until(lambda: len(newcomer.who.partitions) >= 1, "the newcomer works")
    assert story.world.now - began < 15_000
    assert not slow.who.stable
    story.settles()
    slow.was_refused()


def test_a_member_that_does_not_rejoin_in_its_rebalance_timeout_is_out() -> None:
    story = Story(foo=4)
    stuck = story.legacy("stuck", revoke_ms=90_000, rebalance_timeout_ms=20_000, session_timeout_ms=45_000).joins()
    story.settles()
    watch = Watch(story)
    other = story.legacy("other").joins()
    stuck.hears_of_a_rebalance()
    asked_at = next(each.at for each in watch.transitions if each.cause == "partitions to give up")
    other.comes_to_own(0, 1, 2, 3, within_ms=30_000)
    out_at = next(each.at for each in watch.transitions if each.cause == "rebalance timeout")
    assert out_at - asked_at == 20_000
    # And it comes back as somebody new.
    story.settles()
    stuck.is_a_member()


def test_there_is_no_leader_whose_death_could_hurt() -> None:
    story = Story(foo=4)
    first = story.legacy("first").joins().syncs()
    second = story.legacy("second").joins()
    story.settles()
    first.vanishes()
    # Its own session timeout (10 s), a farewell, and a heartbeat or two.
    second.comes_to_own(0, 1, 2, 3, within_ms=20_000)


def test_no_answer_has_room_for_a_leader_or_a_list_of_members() -> None:
    """Nobody is "chosen to be a leader": the shell writes leader "" and no members, which every library accepts."""
    assert {"leader", "members"}.isdisjoint(do.AnswerJoin.__struct_fields__)


def test_dying_while_everybody_waits_for_the_rebalance_hurts_nobody_else() -> None:
    """In the classic protocol a leader that dies between JoinGroup and SyncGroup leaves all of them waiting."""
    story = Story(foo=6)
    first = story.legacy("first").joins()
    second = story.legacy("second").joins()
    story.settles()
    story.passes(9_000)
    third = story.legacy("third").asks_to_join()
    first.hears_of_a_rebalance().vanishes()
    story.until(lambda: third.who.stable and second.who.stable, "the others go on", within_ms=15_000)
    story.settles()
    assert [len(share) for share in story.shares().values()] == [3, 3]


def test_a_leaver_frees_its_partitions_at_once_and_a_vanished_one_after_its_session() -> None:
    took: dict[str, int] = {}
    for way in ("leaves", "vanishes"):
        story = Story(foo=4)
        goes = story.legacy("goes").joins()
        stays = story.legacy("stays").joins()
        story.settles()
        story.passes(9_000)
        began = story.world.now
        getattr(goes, way)()
        stays.comes_to_own(0, 1, 2, 3)
        took[way] = story.world.now - began
    assert took["leaves"] < 5_000
    # The session counts from the last Heartbeat, up to 3 s before.
    assert 7_000 < took["vanishes"] < 20_000


def test_a_group_of_ten_who_start_together_comes_to_rest_with_few_rebalances() -> None:
    story = Story(foo=20)
    members = [story.legacy(f"m{number}").asks_to_join() for number in range(10)]
    story.settles()
    assert [len(share) for share in story.shares().values()] == [2] * 10
    for member in members:
        member.was_refused()
        assert member.who.joins <= 5


def test_refusals_of_a_rebalance_never_reach_a_join() -> None:
    """REBALANCE_IN_PROGRESS in JoinGroup is raised to the user by aiokafka."""
    story = Story(foo=6)
    for name in ("a", "b", "c", "d"):
        story.legacy(name).asks_to_join()
        story.passes(700)
    story.settles()
    for member in story.world.legacy.values():
        assert ("JoinGroup", Error.REBALANCE_IN_PROGRESS) not in member.refusals
