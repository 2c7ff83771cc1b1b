"""Group, assignment and member epochs: what moves them, and what a member is told."""

from __future__ import annotations

from simulation.errors import Error
from tests.simulation.conftest import Bench
from tests.simulation.native import GROUP


def test_a_group_nobody_joined_is_dead(bench: Bench) -> None:
    assert bench.stand() == ("Dead", 0, 0)
    bench.member("A").beats()
    bench.member("A").reports(epoch=3).is_refused(Error.GROUP_ID_NOT_FOUND)


def test_a_newcomer_waits_for_what_others_still_hold(bench: Bench) -> None:
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins().is_at(3)
    assert bench.stand() == ("Reconciling", 3, 3)
    a.beats().is_at(2, 0, 1, 2)
    b.beats().is_at(3)
    a.acknowledges().is_at(3, 0, 1, 2)
    b.beats().is_at(3, 3, 4, 5)
    assert bench.stand() == ("Stable", 3, 3)


def test_a_revocation_is_over_only_when_the_member_says_so(bench: Bench) -> None:
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins()
    a.beats()
    a.reports(*bench.topics.at("foo", 0, 1, 2, 5)).is_at(2, 0, 1, 2)
    b.beats().is_at(3)


def test_an_assignment_is_told_once_then_only_when_it_changes_or_all_is_said(bench: Bench) -> None:
    a = bench.member("A").joins()
    assert a.beats().answer.assignment is None
    assert a.acknowledges().answer.assignment is None
    assert a.says_all().answer.assignment == bench.topics.of(["foo"])


def test_a_leave_moves_the_group_epoch_and_computes_nothing(bench: Bench) -> None:
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins()
    bench.settle(a, b)
    assert b.leaves().answer.member_epoch == -1
    assert bench.stand() == ("Assigning", 4, 3)
    a.beats().is_at(4, 0, 1, 2, 3, 4, 5)


def test_a_replacement_that_is_there_before_the_next_heartbeat_inherits_at_once(bench: Bench) -> None:
    a, b, c = bench.members("A", "B", "C")
    a.joins()
    bench.passes(1_000)
    b.joins()
    bench.settle(a, b)
    b.leaves()
    c.joins().is_at(5, 3, 4, 5)


def test_the_last_leave_leaves_an_empty_group_that_goes_on_counting(bench: Bench) -> None:
    bench.member("A").joins().leaves()
    assert bench.stand() == ("Empty", 3, 3)
    bench.passes(1_000)
    bench.member("B").joins().is_at(4, 0, 1, 2, 3, 4, 5)


def test_a_grown_topic_is_noticed_by_the_next_heartbeat(bench: Bench) -> None:
    a = bench.member("A").joins()
    bench.topics.grow("foo", 7)
    assert bench.stand() == ("Stable", 2, 2)
    bench.passes(1_000)
    a.beats().is_at(3, 0, 1, 2, 3, 4, 5, 6)


def test_a_deleted_topic_shrinks_the_assignment_and_asks_for_an_acknowledgement(bench: Bench) -> None:
    a = bench.member("A").joins()
    bench.topics.delete("foo")
    bench.passes(1_000)
    a.beats().is_at(2)
    a.acknowledges().is_at(3)


def test_a_topic_that_appears_later_is_picked_up(bench: Bench) -> None:
    a = bench.member("A", None, "late").joins().is_at(2)
    bench.topics.create("late", 2)
    bench.passes(1_000)
    a.beats().is_at(3, 0, 1)


def test_a_changed_subscription_moves_the_epoch_and_takes_lost_topics_at_once_since_4_2(bench: Bench) -> None:
    bench.topics.create("bar", 1)
    a = bench.member("A").joins()
    a.subscribes("bar").is_at(2)
    assert bench.stand() == ("Assigning", 3, 2)
    bench.passes(1_000)
    a.acknowledges().is_at(3, 0)


def test_two_who_report_nothing_new_do_not_disturb_each_other(bench: Bench) -> None:
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins()
    bench.settle(a, b)
    stand = bench.stand()
    bench.settle(a, b)
    assert bench.stand() == stand == ("Stable", 3, 3)


def test_the_preferred_assignor_is_the_most_common_vote(bench: Bench) -> None:
    a, b, c = bench.members("A", "B", "C")
    a.joins("range")
    assert bench.coordinator.describe(GROUP).assignor == "range"
    bench.passes(1_000)
    b.joins("uniform")
    bench.passes(1_000)
    c.joins("uniform")
    assert bench.coordinator.describe(GROUP).assignor == "uniform"


def test_an_unknown_assignor_is_refused(bench: Bench) -> None:
    bench.member("A").joins("sticky").is_refused(Error.UNSUPPORTED_ASSIGNOR)
