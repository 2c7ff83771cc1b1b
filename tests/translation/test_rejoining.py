"""When a client is asked to rejoin: not before its partitions can change hands, and in silence if nothing is left to tell."""

from __future__ import annotations

import msgspec
import pytest

from tests.translation.playbook import (
    NOW,
    RULES,
    Is,
    Playbook,
    after,
    beat,
    beats,
    generation_told,
    granted,
    stable,
    synced,
    syncs,
    target,
    wait,
)
from tests.translation.test_happy_path import remembered
from translation import errors as e
from translation.actions import AnswerHeartbeat, DescribeGroup
from translation.events import (
    BeatWanted,
    CoordinatorLost,
    HandOverPlanned,
    HoldInterrupted,
)
from translation.member import Rejoin

PLANNING = msgspec.structs.replace(RULES, plan_ms=300, company_ms=1_000)


def changed(*assigned: int, epoch: int = 2) -> Playbook:
    play = Playbook(stable(rules=PLANNING), NOW)
    return after(play, wait(10_000), granted(epoch, assigned))


def test_new_partitions_wait_for_company_and_are_told_together() -> None:
    play = changed(0, 1, 2, epoch=3) << Is("stable/reconciling E3 g2")
    play >> BeatWanted() << beat(3)
    play >> granted(3, [0, 1, 2, 3])
    assert play >> wait(999) << Is("stable/reconciling E3 g2")
    assert play >> wait(1) << Is("prepare-rebalance/reconciling E3 g2")


def test_new_partitions_wait_for_no_more_company_when_the_assignment_is_whole() -> None:
    play = Playbook(stable(rules=PLANNING), NOW) >> wait(10_000) << beat(2)
    play >> granted(3, [0, 1, 2]) << DescribeGroup() << Is("stable/reconciling E3 g2")
    play >> target(3, [0, 1, 2, 3]) << Is("stable/reconciling E3 g2")
    play >> target(3, [0, 1, 2], group=4, computed=3) << Is("stable/reconciling E3 g2")
    assert play >> target(3, [0, 1, 2]) << Is("prepare-rebalance/reconciling E3 g2")


def test_a_whole_assignment_is_no_reason_to_give_up_sooner() -> None:
    play = changed(0, epoch=3) >> target(3, [0]) << Is("stable/reconciling E3 g2")
    assert play >> wait(300) << Is("prepare-rebalance/reconciling E3 g2")


def test_new_partitions_that_are_taken_back_before_they_were_told_are_let_go_in_silence() -> None:
    play = changed(0, 1, 2, epoch=3) >> BeatWanted() << beat(3)
    play >> granted(3, [0, 1]) << Is("stable/acknowledging E3 g2")
    play >> beats() << AnswerHeartbeat(3) << beat(3, owned=[0, 1])
    play >> granted(4, [0, 1]) << Is("stable/stable E4 g2")
    assert play.member.rejoin is None


def test_a_revocation_waits_a_moment_for_the_group_to_say_when_the_receiver_can_take() -> None:
    play = Playbook(stable(rules=PLANNING), NOW) >> wait(10_000) << beat(2)
    play >> granted(2, [0]) << DescribeGroup() << Is("stable/reconciling E2 g2")
    assert play >> wait(299)
    assert play >> wait(1) << Is("prepare-rebalance/reconciling E2 g2")


def test_a_revocation_is_told_when_the_receiver_can_take() -> None:
    play = changed(0) >> HandOverPlanned(at=32_500)
    play >> wait(2_499) << Is("stable/reconciling E2 g2")
    assert play >> wait(1) << Is("prepare-rebalance/reconciling E2 g2")


def asked_at_31_500(held: bool) -> Playbook:
    """A client that beats every 3 s was last heard at 30 s, and is to give up something at 31.5 s."""
    rules = msgspec.structs.replace(PLANNING, hold_beat_part=0.8 if held else 0.0)
    play = after(Playbook(stable(rules=rules), NOW), wait(10_000), granted(2, [0]))
    return play >> HandOverPlanned(at=play.now + 1_500)


def test_who_would_hear_far_too_late_of_a_hand_over_hears_of_it_with_the_answer_that_something_else_forces() -> None:
    play = asked_at_31_500(held=True) >> beats(5) >> wait(1_000) << Is("stable/reconciling E2 g2")
    play >> HoldInterrupted(request=5) << AnswerHeartbeat(5, e.REBALANCE_IN_PROGRESS)
    assert play << Is("prepare-rebalance/reconciling E2 g2")


def test_a_client_that_is_never_held_hears_of_a_late_hand_over_with_its_next_answer() -> None:
    play = asked_at_31_500(held=False) >> beats(5) << AnswerHeartbeat(5, e.REBALANCE_IN_PROGRESS)
    assert play << Is("prepare-rebalance/reconciling E2 g2")


def test_who_beats_again_before_it_hears_nothing_yet() -> None:
    play = asked_at_31_500(held=True) >> HandOverPlanned(at=NOW + 14_000) >> beats(5) >> wait(1_000)
    play >> HoldInterrupted(request=5) << AnswerHeartbeat(5) << Is("stable/reconciling E2 g2")
    play >> wait(2_000) >> beats(6) >> wait(999) << Is("stable/reconciling E2 g2")
    assert play >> wait(1) << AnswerHeartbeat(6, e.REBALANCE_IN_PROGRESS) << Is("prepare-rebalance/reconciling E2 g2")


def test_nor_does_who_beats_again_only_a_little_after_it() -> None:
    play = asked_at_31_500(held=True) >> HandOverPlanned(at=NOW + 12_800) >> beats(5) >> wait(1_000)
    assert play >> HoldInterrupted(request=5) << AnswerHeartbeat(5) << Is("stable/reconciling E2 g2")


@pytest.mark.parametrize(("beat_at", "error"), [(13_000, e.NONE), (12_900, e.REBALANCE_IN_PROGRESS)])
def test_who_would_miss_the_receivers_beat_by_beating_again_hears_of_the_hand_over(beat_at: int, error: int) -> None:
    plan = HandOverPlanned(at=NOW + 12_800, beat_at=NOW + beat_at)
    play = asked_at_31_500(held=True) >> plan >> beats(5) >> wait(1_000)
    assert play >> HoldInterrupted(request=5) << AnswerHeartbeat(5, error)


def test_a_hold_that_ends_by_itself_before_a_hand_over_ends_with_the_news() -> None:
    play = asked_at_31_500(held=True) >> HandOverPlanned(at=NOW + 12_500) >> beats(5) >> wait(2_399)
    play << Is("stable/reconciling E2 g2")
    assert play >> wait(1) << AnswerHeartbeat(5, e.REBALANCE_IN_PROGRESS) << Is("prepare-rebalance/reconciling E2 g2")


def test_a_hand_over_is_never_planned_beyond_half_the_rebalance_timeout() -> None:
    play = changed(0) >> HandOverPlanned(at=99_999_999)
    assert play.member.rejoin == Rejoin(30_000 + 30_000)


def test_a_plan_for_nothing_is_ignored() -> None:
    assert Playbook(stable(), NOW) >> HandOverPlanned(at=99) << Is("stable/stable E2 g2")
    assert changed(0, 1, 2, epoch=3) >> HandOverPlanned(at=0) << Is("stable/reconciling E3 g2")


def test_a_revocation_joins_an_addition_that_was_waiting_for_company() -> None:
    play = changed(0, 1, 2, epoch=3) >> BeatWanted() << beat(3)
    play >> granted(3, [0, 2]) << DescribeGroup()
    assert play >> wait(300) << Is("prepare-rebalance/reconciling E3 g2")


def test_a_rebalance_nobody_has_heard_of_is_called_off() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000), granted(3, [0, 1, 2]))
    play >> BeatWanted() << beat(3)
    play >> granted(3, [0, 1]) << Is("stable/acknowledging E3 g2")
    play >> beats() << AnswerHeartbeat(3) << beat(3, owned=[0, 1])
    assert play >> granted(3, [0, 1]) << Is("stable/stable E3 g2")


def test_a_rebalance_the_client_has_heard_of_is_not_called_off() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000), granted(3, [0, 1, 2]), beats())
    after(play, BeatWanted(), granted(3, [0, 1]))
    play << Is("prepare-rebalance/acknowledging E3 g2")
    assert play >> beats() << AnswerHeartbeat(3, e.REBALANCE_IN_PROGRESS) << beat(3, owned=[0, 1])


def test_what_was_granted_and_taken_back_before_the_sync_is_let_go_in_silence_when_the_sync_comes() -> None:
    """What the sync will tell is said to be held already: it may be asked for while that heartbeat is in flight."""
    play = generation_told() >> BeatWanted() << beat(2)
    play >> granted(2, [0]) << Is("completing-rebalance/reconciling E2 g2")
    play >> syncs() << synced(2, [0]) << remembered((0,)) << beat(2, owned=[0])
    assert play >> granted(3, [0]) << Is("stable/stable E3 g2")


def test_what_a_client_that_does_not_sync_here_may_have_been_told_elsewhere_is_not_let_go_for_it() -> None:
    play = generation_told() >> BeatWanted() << beat(2)
    play >> granted(2, [0]) >> BeatWanted() << beat(2)
    assert play >> CoordinatorLost() >> beats() << beat(2, owned=[0, 1])
