"""Losing things: the proxy, the coordinator, answers, clients. What each loss may cost, and what it must not."""

from __future__ import annotations

from typing import Any

import pytest

from simulation.brokers import V4_0, V4_4, BrokerLine
from simulation.errors import Error
from simulation.invariants import Broken
from simulation.story import Legacy, Story
from simulation.world import GROUP
from tests.simulation.stories.by_hand import ByHand

COOPERATIVE: dict[str, Any] = {"cooperative": True, "assignor": "cooperative-sticky"}
STATIC: dict[str, Any] = {"instance_id": "i"}
STYLES = pytest.mark.parametrize("style", [{}, COOPERATIVE, STATIC])
LINES = pytest.mark.parametrize("line", [V4_0, V4_4], ids=lambda line: line.name)


def two_at_rest(line: BrokerLine = V4_4, **style: Any) -> tuple[Story, Legacy, Legacy]:
    story = Story(line, foo=4)
    alice, bob = story.legacy("alice", **style).joins(), story.legacy("bob").joins()
    story.settles()
    story.passes(9_000)
    return story, alice, bob


def undisturbed(story: Story, *members: Legacy, ms: int = 30_000) -> bool:
    """Whether nothing was revoked, refused or rejoined in that time."""
    before = [(each.who.joins, each.who.partitions) for each in members]
    story.passes(ms)
    story.settles()
    return before == [(each.who.joins, each.who.partitions) for each in members]


# --- the proxy -----------------------------------------------------------------------------------------------------


@LINES
@STYLES
def test_a_proxy_that_is_killed_and_has_its_journal_goes_on_where_it_was(
    line: BrokerLine, style: dict[str, Any]
) -> None:
    story, alice, bob = two_at_rest(line, **style)
    epoch = story.world.group.epoch
    story.world.proxy_restarts()
    assert undisturbed(story, alice, bob)
    story.group_is("Stable", epoch)
    for member in (alice, bob):
        member.was_refused()


@LINES
@STYLES
def test_without_its_journal_each_client_rejoins_once_and_nothing_moves(
    line: BrokerLine, style: dict[str, Any]
) -> None:
    story, alice, bob = two_at_rest(line, **style)
    before, joins = story.shares(), alice.who.joins
    story.proxy_restarts(with_journal=False)
    story.passes(30_000)
    story.settles()
    assert story.shares() == before
    alice.has_joined_times(joins + 1).was_refused()
    bob.was_refused()


@LINES
@STYLES
@pytest.mark.parametrize("seconds", [8, 12, 25])
def test_a_proxy_that_stood_still_takes_nobody_for_silent_who_spoke_meanwhile(
    line: BrokerLine, style: dict[str, Any], seconds: int
) -> None:
    """What its clients said meanwhile is in its sockets; and so are the coordinator's answers, which may be read first."""
    story, alice, bob = two_at_rest(line, **style)
    epoch = story.world.group.epoch
    story.until(
        lambda: any(each.in_flight for each in story.world.proxies["proxy"].members.values()), "a beat is under way"
    )
    story.proxy_stands_still(seconds * 1_000)
    assert undisturbed(story, alice, bob)
    story.group_is("Stable", epoch)
    for member in (alice, bob):
        member.was_refused()


def test_a_proxy_that_is_away_for_long_costs_the_members_their_sessions_and_no_more() -> None:
    story, alice, bob = two_at_rest()
    story.proxy_restarts(gap_ms=60_000)
    story.calms_down()
    assert {error for _, error in alice.who.refusals + bob.who.refusals} == {Error.UNKNOWN_MEMBER_ID}
    assert [len(share) for share in story.shares().values()] == [2, 2]


def test_faults_that_overlap_hinder_once() -> None:
    story = Story(foo=4)
    story.world.hindrances = [(30, 40), (5, 20), (0, 10)]
    assert story.world.hindered_ms(2, 35) == 18 + 5


def test_who_is_given_up_though_it_could_be_spoken_for_is_a_broken_promise() -> None:
    story, alice, _ = two_at_rest()
    for _ in range(4):
        story.proxy_restarts(gap_ms=15_000).passes(22_500)
    story.world.group.remove([story.world.group.members[alice.who.member_id]])
    with pytest.raises(Broken, match="alice was told"):
        story.calms_down()


def test_a_proxy_that_dies_while_a_join_is_parked_is_joined_again() -> None:
    story, alice, _ = two_at_rest()
    carol = story.legacy("carol").asks_to_join()
    story.passes(200)
    story.proxy_restarts()
    carol.syncs()
    story.settles()
    alice.was_refused()
    # Its first self may linger for a session: the client had never heard that id.
    story.until(lambda: len(story.world.group.members) == 3, "one carol is left")


# --- two proxies ---------------------------------------------------------------------------------------------------


def test_a_client_that_moves_to_another_proxy_is_adopted_there() -> None:
    story, alice, bob = two_at_rest()
    member_id, before = alice.who.member_id, story.shares()
    story.another_proxy("second")
    alice.moves_to("second")
    story.passes(8_000)
    assert (alice.who.member_id, story.shares()) == (member_id, before)
    alice.was_refused().is_a_member()
    bob.was_refused()


@pytest.mark.parametrize("moment_ms", range(0, 5_000, 700))
def test_the_proxy_that_lost_it_does_not_leave_in_its_name(moment_ms: int) -> None:
    """Nothing is shared between proxies: the first one must see in the group itself who speaks for the member now."""
    story, alice, _ = two_at_rest()
    story.another_proxy("second")
    story.passes(moment_ms)
    alice.moves_to("second")
    # Longer than its session of 10 s, in which the first proxy hears nothing of it.
    story.passes(40_000)
    alice.was_refused().is_a_member()


def test_a_proxy_does_not_let_go_of_what_its_client_went_to_be_told_elsewhere() -> None:
    """Its JoinGroup was answered here, its SyncGroup is answered there: only there is it known what it holds."""
    story = Story(foo=4)
    story.another_proxy("second")
    alice = ByHand(story, "alice").enters()
    assert alice.joins().error_code == Error.NONE
    alice.moves_to("second")
    assert alice.joins().error_code == Error.NONE
    alice.syncs()
    alice.owns(0, 1, 2, 3)
    bob = story.legacy("bob", at="second").asks_to_join()
    # Both proxies hear that two of the four are to be given up; only the second can ask her.
    story.passes(4_000)
    assert bob.who.partitions == frozenset()
    alice.goes_along()
    assert len(bob.who.partitions) == 2


def test_nobody_joins_in_the_name_of_a_client_that_went_to_join_elsewhere() -> None:
    """Whoever joins says that it holds nothing. The proxy that she left never heard an answer, and would say it again."""
    story = Story(foo=4)
    story.another_proxy("second")
    alice = ByHand(story, "alice")
    assert alice.joins().error_code == Error.MEMBER_ID_REQUIRED
    alice.asks_to_join()
    story.passes(3)
    story.world.upstream_is_cut(4_000)
    story.passes(3_900)
    alice.moves_to("second")
    story.passes(100)
    alice.enters().owns(0, 1, 2, 3)
    story.native("nina").joins()
    story.passes(6_000)
    alice.owns(0, 1, 2, 3)
    alice.goes_along()
    assert len(alice.partitions) == 2


def test_what_the_coordinator_said_to_the_proxy_that_its_client_has_left_is_heard_in_the_end() -> None:
    """It says an assignment once, to whoever asks. Back before it was missed, the client has told nobody that it was away."""
    story = Story(foo=4)
    story.another_proxy("second")
    story.native("slow", revoke_ms=5_000).joins()
    alice = ByHand(story, "alice").enters().owns()
    story.passes(2_500)
    for proxy in ("second", "proxy"):
        alice.moves_to(proxy)
        alice.beats()
    alice.goes_along()
    assert len(alice.partitions) == 2


# --- the coordinator, and answers ----------------------------------------------------------------------------------


@LINES
@STYLES
@pytest.mark.parametrize("error", [Error.NOT_COORDINATOR, Error.COORDINATOR_LOAD_IN_PROGRESS], ids=lambda e: e.name)
def test_a_coordinator_that_moves_is_found_again(line: BrokerLine, style: dict[str, Any], error: Error) -> None:
    story, alice, bob = two_at_rest(line, **style)
    before, joins = story.shares(), (alice.who.joins, bob.who.joins)
    story.coordinator_moves(5_000, error)
    story.passes(20_000)
    assert (story.shares(), (alice.who.joins, bob.who.joins)) == (before, joins)


@LINES
@pytest.mark.parametrize("is_there", [True, False], ids=["who is there", "who is silent"])
def test_what_a_coordinator_has_written_and_refuses_because_it_goes_is_said_again(
    line: BrokerLine, is_there: bool
) -> None:
    """Its successor has that. So nobody else has spoken for the member: who is there goes on with it, and who is silent
    leaves when its own session ends, and not the coordinator's."""
    story, alice, bob = two_at_rest(line)
    joins, causes = alice.who.joins, list[str]()
    story.world.proxies["proxy"].on_transition = lambda transition: causes.append(transition.cause)
    if not is_there:
        alice.vanishes()
    story.native("nina", topics=("bar",)).joins()
    members, epoch = story.world.group.members, story.world.group.epoch
    story.weather_is(upstream_delay_ms=(200, 200))
    story.until(lambda: members[alice.who.member_id].epoch == epoch, "alice's heartbeat is heard")
    story.coordinator_moves(1_000)
    story.weather_is(upstream_delay_ms=(1, 1))
    if is_there:
        assert undisturbed(story, alice, bob)
        assert alice.who.joins == joins
    else:
        bob.comes_to_own(0, 1, 2, 3, within_ms=15_000)
    assert "seen elsewhere" not in causes
    assert "refused: FENCED_MEMBER_EPOCH" not in causes


@LINES
def test_topics_that_grow_while_nobody_is_the_coordinator_are_seen_by_the_next_one(line: BrokerLine) -> None:
    """KIP-848, "Fail Over"."""
    story, alice, bob = two_at_rest(line)
    story.world.coordinator_moves(5_000, Error.COORDINATOR_LOAD_IN_PROGRESS)
    story.topic_grows("foo", 6)
    story.passes(5_000)
    story.until(lambda: [len(each.who.partitions) for each in (alice, bob)] == [3, 3], "both have more")
    for member in (alice, bob):
        member.was_refused()


@LINES
def test_a_target_that_the_last_coordinator_owed_is_computed_by_the_next_one(line: BrokerLine) -> None:
    """The same: "whether a new assignment is required (group epoch != assignment epoch)"."""
    story, alice, bob = two_at_rest(line)
    nina = story.native("nina").joins()
    story.settles()
    epoch = story.world.group.epoch
    nina.leaves()
    story.group_is("Assigning", epoch + 1)
    story.coordinator_moves(5_000, Error.COORDINATOR_LOAD_IN_PROGRESS)
    story.until(lambda: [len(each.who.partitions) for each in (alice, bob)] == [2, 2], "hers are theirs")
    for member in (alice, bob):
        member.was_refused()


@STYLES
def test_an_upstream_that_is_cut_for_a_while_costs_nothing(style: dict[str, Any]) -> None:
    story, alice, bob = two_at_rest(**style)
    joins = (alice.who.joins, bob.who.joins)
    story.upstream_is_cut(5_000)
    assert undisturbed(story, alice, bob)
    assert (alice.who.joins, bob.who.joins) == joins


@LINES
@STYLES
def test_when_every_third_answer_is_lost_a_change_still_comes_through(line: BrokerLine, style: dict[str, Any]) -> None:
    """The lost-response rule: nobody is fenced for a heartbeat that was heard and whose answer was not."""
    story, alice, bob = two_at_rest(line, **style)
    story.weather_is(answer_loss=0.33)
    carol = story.legacy("carol").joins()
    story.passes(20_000)
    story.weather_is(answer_loss=0.0)
    story.settles()
    for member in (alice, bob, carol):
        assert ("Heartbeat", Error.UNKNOWN_MEMBER_ID) not in member.who.refusals
    assert sorted(len(share) for share in story.shares().values()) == [1, 1, 2]


@LINES
def test_commits_go_on_through_all_of_it(line: BrokerLine) -> None:
    """On 4.0 the coordinator takes no epoch but its own, and epochs move without the client's knowing."""
    story, alice, _ = two_at_rest(line)
    for name in ("nina", "nora", "nick"):
        story.native(name, topics=("bar",)).joins()
        story.passes(6_000)
    story.coordinator_moves(2_000)
    story.passes(12_000)
    alice.was_refused()
    committed = story.world.coordinator.committed(GROUP)
    behind = [offset for offset in committed.values() if offset < story.world.now // 100 - 80]
    assert (len(committed), behind) == (4, [])


# --- clients -------------------------------------------------------------------------------------------------------


@LINES
def test_a_client_that_vanishes_keeps_its_partitions_for_its_own_session_and_no_longer(line: BrokerLine) -> None:
    story, alice, bob = two_at_rest(line)
    alice.vanishes()
    story.passes(6_000)
    assert len(bob.who.partitions) == 2
    bob.comes_to_own(0, 1, 2, 3, within_ms=12_000)


def test_a_client_that_vanishes_while_the_coordinator_is_away_is_given_up_too() -> None:
    """Its session ends when nobody can be told: somebody must be told later."""
    story, alice, bob = two_at_rest()
    story.world.coordinator_moves(14_000, Error.NOT_COORDINATOR)
    alice.vanishes()
    story.passes(14_000)
    bob.comes_to_own(0, 1, 2, 3, within_ms=15_000)


def test_a_socket_is_not_a_member() -> None:
    story, alice, bob = two_at_rest(sockets=2)
    for _ in range(5):
        alice.loses_its_sockets()
        story.passes(1_000)
    assert undisturbed(story, alice, bob, ms=10_000)


def test_a_slow_callback_delays_only_its_own_partitions() -> None:
    story = Story(foo=6)
    slow = story.legacy("slow", revoke_ms=20_000, session_timeout_ms=45_000).joins()
    quick = story.legacy("quick").joins()
    story.settles()
    story.passes(9_000)
    newcomer = story.legacy("newcomer").joins().syncs()
    story.until(lambda: quick.who.stable and len(quick.who.partitions) == 2, "quick is through")
    assert len(newcomer.who.partitions) <= 1
    assert slow.who.partitions
    story.settles()
    slow.was_refused()


# --- topics --------------------------------------------------------------------------------------------------------


def test_a_topic_that_is_deleted_goes_and_comes_back_as_another() -> None:
    story = Story(foo=2, bar=2)
    # Nothing is committed meanwhile: the offsets of the old topic say nothing about the new one.
    alice = story.legacy("alice", topics=("foo", "bar"), commit_ms=1_000_000).joins().syncs()
    story.passes(9_000)
    story.topic_is_deleted("bar")
    alice.comes_to_own(0, 1)
    story.settles()
    story.world.topics.create("bar", 3)
    story.until(lambda: len(alice.who.partitions) == 5, "the new topic is hers")
    story.settles()
    alice.was_refused()


def test_a_changed_subscription_needs_no_restart() -> None:
    story = Story(foo=2, bar=2)
    alice, bob = story.legacy("alice").joins(), story.legacy("bob", topics=("bar",)).joins()
    story.settles()
    alice.subscribes("bar")
    alice.syncs()
    story.settles()
    assert {topic for topic, _ in alice.who.partitions} == {"bar"}
    assert len(bob.who.partitions) == 1
