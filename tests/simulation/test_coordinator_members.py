"""Who is let in, fenced, taken back: epochs, instances, deadlines, lost answers, failover."""

from __future__ import annotations

from typing import Any

import pytest

from simulation.errors import Error
from tests.simulation.conftest import Bench
from tests.simulation.native import GROUP, Native
from translation.group_heartbeat import GroupHeartbeat


def two_settled(bench: Bench) -> tuple[Native, Native]:
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins()
    bench.settle(a, b)
    return a, b


def test_a_member_ahead_of_its_epoch_is_fenced(bench: Bench) -> None:
    bench.member("A").joins().reports(epoch=9).is_refused(Error.FENCED_MEMBER_EPOCH)


def test_a_member_nobody_knows_is_told_so(bench: Bench) -> None:
    bench.member("A").joins()
    bench.member("B").reports(epoch=2).is_refused(Error.UNKNOWN_MEMBER_ID)
    bench.member("B").leaves().is_refused(Error.UNKNOWN_MEMBER_ID)


def test_after_a_lost_answer_the_epoch_before_is_believed_if_owned_partitions_are_reported(bench: Bench) -> None:
    a, b = two_settled(bench)
    b.leaves()
    a.beats().is_at(4, 0, 1, 2, 3, 4, 5)
    a.reports(*bench.topics.at("foo", 0, 1, 2), epoch=3).is_at(4, 0, 1, 2, 3, 4, 5)


def test_after_a_lost_answer_the_epoch_before_is_fenced_if_none_are_reported_or_more_than_it_has(bench: Bench) -> None:
    a, _ = two_settled(bench)
    a.epoch = 2
    a.beats().is_refused(Error.FENCED_MEMBER_EPOCH)
    a.reports(*bench.topics.of(["foo"]), epoch=2).is_refused(Error.FENCED_MEMBER_EPOCH)
    a.reports(*bench.topics.at("foo", 0), epoch=2).is_at(3, 0, 1, 2)


def test_epoch_0_again_is_answered_with_everything_since_4_2(bench: Bench) -> None:
    a = bench.member("A").joins()
    assert a.joins().is_at(2, *range(6)).answer.assignment == bench.topics.of(["foo"])


def test_epoch_0_again_lets_go_of_what_is_wanted_back(bench: Bench) -> None:
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins().is_at(3)
    a.beats().is_at(2, 0, 1, 2)
    a.joins().is_at(3, 0, 1, 2)
    b.beats().is_at(3, 3, 4, 5)


def test_epoch_0_again_while_it_waits_for_others_changes_nothing(bench: Bench) -> None:
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins().is_at(3)
    a.beats()
    stand = bench.stand()
    b.joins().is_at(3)
    assert bench.stand() == stand
    a.acknowledges()
    b.joins().is_at(3, 3, 4, 5)


def test_a_silent_member_is_removed_after_the_session_timeout(bench: Bench) -> None:
    a, b = two_settled(bench)
    bench.passes(40_000)
    a.beats()
    bench.passes(6_000)
    assert [member.member_id for member in bench.coordinator.describe(GROUP).members] == ["A"]
    b.beats().is_refused(Error.UNKNOWN_MEMBER_ID)
    a.beats().is_at(4, *range(6))


def test_a_refused_heartbeat_does_not_keep_a_member_alive(bench: Bench) -> None:
    a = bench.member("A").joins()
    bench.passes(30_000)
    a.reports(epoch=9).is_refused(Error.FENCED_MEMBER_EPOCH)
    bench.passes(18_000)
    a.beats().is_refused(Error.UNKNOWN_MEMBER_ID)


def test_a_member_that_keeps_what_it_must_give_up_is_removed_after_its_rebalance_timeout(bench: Bench) -> None:
    a, b = bench.members("A", "B")
    a.joins()
    bench.passes(1_000)
    b.joins()
    a.beats()
    for _ in range(2):
        bench.passes(28_000)
        a.beats().is_at(2, 0, 1, 2)
        b.beats()
    bench.passes(8_000)
    a.beats().is_refused(Error.UNKNOWN_MEMBER_ID)
    b.beats().is_at(4, *range(6))


def test_a_full_group_takes_nobody_else(bench: Bench) -> None:
    for member in bench.members("A", "B", "C"):
        member.joins()
    bench.member("D").joins().is_refused(Error.GROUP_MAX_SIZE_REACHED)
    bench.member("A").joins().is_at(2, *range(6))


def one_steps_out_of_a_full_group(bench: Bench) -> None:
    one = bench.member("A", "one").joins()
    for member in bench.members("B", "C"):
        member.joins()
    one.leaves(-2)


def test_a_static_member_that_steps_out_moves_no_epoch_and_its_successor_inherits(bench: Bench) -> None:
    a, b = bench.member("A", "one"), bench.member("B", "two")
    a.joins()
    bench.passes(1_000)
    b.joins()
    bench.settle(a, b)
    held = sorted(each.partition for each in a.assigned)
    stand = bench.stand()
    assert a.leaves(-2).answer.member_epoch == -2
    assert bench.coordinator.describe(GROUP).members[0].epoch == -2
    bench.member("A2", "one").joins().is_at(3, *held)
    assert bench.stand() == stand
    a.beats().is_refused(Error.FENCED_INSTANCE_ID)


def test_a_member_that_names_another_instance_has_that_one_alone(bench: Bench) -> None:
    one = bench.member("A", "one").joins()
    stand = bench.stand()
    bench.member("A", "two").joins().is_at(2, *range(6))
    assert bench.stand() == stand
    one.beats().is_refused(Error.UNKNOWN_MEMBER_ID)


def test_an_instance_still_held_is_not_released_even_to_the_same_member_id(bench: Bench) -> None:
    a = bench.member("A", "one").joins()
    bench.member("A2", "one").joins().is_refused(Error.UNRELEASED_INSTANCE_ID)
    a.joins().is_refused(Error.UNRELEASED_INSTANCE_ID)


def test_a_static_member_that_stays_away_is_removed_in_the_end(bench: Bench) -> None:
    bench.member("A", "one").joins().leaves(-2)
    bench.passes(48_000)
    assert bench.stand() == ("Empty", 3, 3)


def test_leaving_for_another_instance_is_refused(bench: Bench) -> None:
    bench.member("A", "one").joins()
    bench.member("B", "one").leaves().is_refused(Error.FENCED_INSTANCE_ID)
    bench.member("A", "two").leaves().is_refused(Error.UNKNOWN_MEMBER_ID)


def test_a_static_member_may_beat_without_naming_its_instance(bench: Bench) -> None:
    bench.member("A", "one").joins()
    nameless = bench.member("A")
    nameless.epoch = 2
    assert nameless.beats().answer.error_code == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"member_id": ""},
        {"group_id": ""},
        {"instance_id": ""},
        {"rack_id": ""},
        {"rebalance_timeout_ms": -1},
        {"owned": None},
        {"subscribed_topic_names": None},
        {"member_epoch": -2},
        {"member_epoch": -3},
    ],
)
def test_requests_that_make_no_sense_are_invalid(bench: Bench, fields: dict[str, Any]) -> None:
    join: dict[str, Any] = {
        "group_id": GROUP,
        "member_id": "A",
        "member_epoch": 0,
        "rebalance_timeout_ms": 1_000,
        "subscribed_topic_names": ("foo",),
        "owned": (),
    }
    assert bench.coordinator.heartbeat(GroupHeartbeat(**join), 0).error_code == Error.NONE
    answer = bench.coordinator.heartbeat(GroupHeartbeat(**{**join, **fields}), 0)
    assert answer.error_code == Error.INVALID_REQUEST
