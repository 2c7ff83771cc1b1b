"""SyncGroup, and the Heartbeats of a client: what is told, refused, held."""

from __future__ import annotations

import msgspec
import pytest

from tests.translation.playbook import (
    LEARNED,
    NOW,
    RULES,
    Is,
    Playbook,
    after,
    beat,
    beats,
    commits,
    granted,
    joined,
    joining,
    joins,
    number,
    stable,
    subscription,
    synced,
    syncs,
    target,
    text,
    wait,
)
from tests.translation.test_happy_path import remembered
from translation import errors as e
from translation.actions import AnswerHeartbeat, AnswerSync, DescribeGroup
from translation.events import (
    BeatPlaced,
    BeatWanted,
    ClientLeft,
    CoordinatorLost,
    DeadlinePassed,
    HandOverPlanned,
    HeartbeatRequested,
    HoldHurt,
    HoldInterrupted,
    MotionSeen,
    Protocol,
    SyncRequested,
    TopicsLearned,
)
from translation.group_heartbeat import TopicPartition
from translation.member import LONG_AGO, Rejoin

HOLDING = msgspec.structs.replace(RULES, hold_beat_part=0.8, hold_session_part=0.1)
PLANNING = msgspec.structs.replace(RULES, plan_ms=300, company_ms=1_000)


def generation_told() -> Playbook:
    return after(Playbook(joining()), granted(2, [0, 1]), LEARNED, target(2, [0, 1]))


@pytest.mark.parametrize(
    ("sync", "code"),
    [
        (syncs(2, 1), e.ILLEGAL_GENERATION),
        (syncs(2, 3), e.ILLEGAL_GENERATION),
        (syncs(2, protocol_type="connect"), e.INCONSISTENT_GROUP_PROTOCOL),
        (syncs(2, protocol_name="sticky"), e.INCONSISTENT_GROUP_PROTOCOL),
        (syncs(2, instance_id="other"), e.FENCED_INSTANCE_ID),
    ],
)
def test_a_wrong_sync_gets_the_code_a_classic_broker_gives(sync: SyncRequested, code: int) -> None:
    play = generation_told() >> sync << AnswerSync(2, code)
    assert play << Is("completing-rebalance/stable E2 g2")


def test_a_sync_with_the_right_protocol_is_answered() -> None:
    play = generation_told() >> syncs(2, protocol_type="consumer", protocol_name="range") << synced(2) << remembered()
    assert play


@pytest.mark.parametrize("version", [0, 1, 2, 3, 7])
def test_the_assignment_is_written_at_the_members_own_version_and_never_above_3(version: int) -> None:
    protocol = Protocol("range", subscription(version=version))
    play = after(Playbook(joining(protocols=(protocol,))), granted(2, [0, 1]), LEARNED, target(2, [0, 1]))
    after_sync = play >> syncs()
    after_sync << synced(2, [0, 1], version=min(version, 3))
    play.pending.clear()
    assert play


def test_an_empty_assignment_is_well_formed_too() -> None:
    play = after(Playbook(joining()), granted(2, []), target(2, []))
    play >> syncs() << synced(2, []) << remembered(())
    assert play << Is("stable/stable E2 g2")


def test_a_repeated_sync_gets_the_same_answer() -> None:
    play = Playbook(stable(), NOW) >> syncs(6) << synced(6) << remembered(session_ms=100_000)
    assert play << Is("stable/stable E2 g2")


def test_a_sync_during_prepare_rebalance_or_before_the_join_is_answered_asks_for_a_rejoin() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000), granted(2, [0]))
    assert play >> syncs(6) << AnswerSync(6, e.REBALANCE_IN_PROGRESS)
    assert Playbook(joining()) >> syncs(6, -1) << AnswerSync(6, e.REBALANCE_IN_PROGRESS)


def test_a_sync_by_nobody_is_unknown() -> None:
    assert Playbook() >> syncs() << AnswerSync(2, e.UNKNOWN_MEMBER_ID)


def test_partitions_of_a_topic_without_a_name_are_told_when_it_has_one() -> None:
    play = after(Playbook(joining()), granted(2, [0]), wait(12_000), granted(2))
    assert play << Is("completing-rebalance/stable E2 g2")
    play >> syncs() << synced(2, []) << remembered(())
    assert play << Is("stable/stable E2 g2")
    assert play >> LEARNED << Is("prepare-rebalance/reconciling E2 g2")


def test_a_deleted_topic_is_never_told_and_nobody_waits_for_its_name() -> None:
    play = after(Playbook(joining()), granted(2, [0]))
    play >> target(2, [0])
    play >> TopicsLearned(names={"a": None, "z": "not ours"}) << joined()
    play >> syncs() << synced(2, []) << remembered(())
    assert play << Is("stable/stable E2 g2")
    assert play.member.names == {"a": None}


def test_two_topics_are_told_in_one_assignment() -> None:
    play = after(Playbook(joining()), granted(2, [0]), LEARNED)
    both = msgspec.structs.replace(play.member, assigned=play.member.assigned | {TopicPartition("b", 7)})
    play.member = msgspec.structs.replace(both, names={"a": "apples", "b": "bananas"})
    play >> target(2, [0])
    after(play, wait(12_000), granted(2))
    body = number(2) + text("apples") + number(1) + number(0) + text("bananas") + number(1) + number(7)
    play >> syncs() << AnswerSync(2, assignment=b"\0\1" + body + number(-1), protocol_name="range")
    play.pending.clear()
    assert play


# --- Heartbeats ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("beat_sent", "code"),
    [
        (beats(3, 1), e.ILLEGAL_GENERATION),
        (beats(3, 3), e.ILLEGAL_GENERATION),
        (beats(3, 2, instance_id="other"), e.FENCED_INSTANCE_ID),
        (beats(3, 2), e.NONE),
    ],
)
def test_a_heartbeat_is_judged_by_generation_and_instance(beat_sent: HeartbeatRequested, code: int) -> None:
    assert Playbook(stable(), NOW) >> beat_sent << AnswerHeartbeat(3, code)


def test_a_heartbeat_by_nobody_is_unknown() -> None:
    assert Playbook() >> beats() << AnswerHeartbeat(3, e.UNKNOWN_MEMBER_ID)


def test_a_heartbeat_while_completing_is_answered_none_even_under_the_old_generation_of_a_parked_join() -> None:
    """sarama beats on under the old generation while its handlers drain; Java beats while SyncGroup is pending."""
    play = generation_told() >> beats() << AnswerHeartbeat(3)
    assert play
    play = after(Playbook(stable(), NOW), joins(6)) >> beats() << AnswerHeartbeat(3)
    assert play


def rhythmic(rules: object = HOLDING, gap_ms: int = 3_000) -> Playbook:
    """A client whose rhythm is known."""
    play = Playbook(stable(rules=rules), NOW)  # type: ignore[arg-type]
    play.member = msgspec.structs.replace(play.member, beat_ms=gap_ms)
    return play


def test_the_first_heartbeat_is_held_by_the_rhythm_that_libraries_have_by_default() -> None:
    play = Playbook(stable(rules=HOLDING), NOW) >> beats(3)
    play >> wait(2_399)
    assert play >> wait(1) << AnswerHeartbeat(3)


def test_a_client_that_twice_beats_one_rhythm_after_the_answer_is_held_no_more() -> None:
    play = rhythmic()
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    for _ in range(2):
        after(play, beats(5), wait(2_400), wait(3_000))
    play >> beats(6) << AnswerHeartbeat(6)
    play >> wait(3_000)
    assert play >> beats(7) << AnswerHeartbeat(7)


@pytest.mark.parametrize(("waits_for_answers", "hold_ms"), [(False, 9_000), (True, 0)])
def test_a_slow_timer_is_told_from_a_client_that_waits_by_its_first_beat_without_a_hold(
    waits_for_answers: bool, hold_ms: int
) -> None:
    """Of neither is the rhythm known, and both come late after the first holds."""
    play = Playbook(stable(rules=msgspec.structs.replace(RULES, hold_beat_part=0.9)), NOW)
    for request in range(5, 12):
        play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
        after(play, beats(request))
        held_ms = play.member.held.until - play.now if play.member.held else 0
        after(play, wait(held_ms), wait(10_000 if waits_for_answers else 10_000 - held_ms))
    assert held_ms == hold_ms
    assert play.member.beat_ms == 10_000


def test_a_beat_that_was_waiting_for_the_answer_to_another_is_not_held_and_lets_others_pass() -> None:
    play = after(rhythmic(), beats(5), wait(2_400))
    assert play >> beats(6) << AnswerHeartbeat(6)
    play = after(rhythmic(), beats(5), wait(2_400), wait(600))
    assert play >> beats(6) << Is("stable/stable E2 g2")


@pytest.mark.parametrize(("ago_ms", "answers"), [(25, [AnswerHeartbeat(5)]), (26, [])])
def test_a_beat_right_after_the_sync_group_is_not_held_for_the_request_for_offsets_may_wait_behind_it(
    ago_ms: int, answers: list[AnswerHeartbeat]
) -> None:
    play = rhythmic()
    play.member = msgspec.structs.replace(play.member, told_at=NOW - ago_ms)
    play >> beats(5)
    for answer in answers:
        play << answer
    assert play


def test_one_that_was_late_once_is_still_held() -> None:
    play = after(rhythmic(), beats(5), wait(2_400), wait(3_000), beats(6), wait(2_400), wait(600), beats(7))
    assert play.member.held
    assert play.member.late_after_hold == 0


def test_a_client_that_lets_other_things_wait_behind_a_held_beat_is_held_no_more() -> None:
    play = after(rhythmic(), HoldHurt(), beats(5), wait(2_400))
    play >> HoldHurt()
    assert play >> beats(6) << AnswerHeartbeat(6)


def test_the_rhythm_of_a_client_that_is_held_no_more_is_learnt_anew() -> None:
    play = after(rhythmic(), HoldHurt(), beats(5), wait(2_400), wait(1_000), beats(6))
    assert play.member.beat_ms == 3_400
    play = after(play, wait(2_720), HoldHurt(), wait(1_000), beats(7))
    assert play.member.beat_ms is None
    assert after(play, wait(1_000), beats(8)).member.beat_ms == 1_000


def test_a_hold_that_was_interrupted_proves_nothing() -> None:
    play = rhythmic()
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    for _ in range(4):
        after(play, beats(5), wait(10), HoldInterrupted(request=5), wait(2_990))
    assert play.member.late_after_hold == 0


def test_a_held_heartbeat_is_answered_well_before_the_next_one_is_due() -> None:
    play = rhythmic() >> beats(5)
    play >> wait(2_399)
    assert play >> wait(1) << AnswerHeartbeat(5)


def test_holding_takes_a_small_part_of_the_session_only() -> None:
    play = rhythmic()
    contract = msgspec.structs.replace(play.member.contract, session_timeout_ms=10_000)
    play.member = msgspec.structs.replace(play.member, contract=contract)
    play >> beats(5)
    play >> wait(999)
    assert play >> wait(1) << AnswerHeartbeat(5)


def test_one_odd_beat_changes_the_rhythm_only_a_little() -> None:
    play = Playbook(stable(), NOW)
    play.member = msgspec.structs.replace(play.member, beat_ms=3_000)
    after(play, beats(5), wait(100), beats(6))
    assert play.member.beat_ms == 2_400
    after(play, wait(9_000), beats(7))
    assert play.member.beat_ms == 3_000


def test_two_gaps_that_are_alike_are_the_rhythm() -> None:
    """sarama's first beat after a long hold comes at once, for its timer had it ready."""
    play = Playbook(stable(), NOW)
    play.member = msgspec.structs.replace(play.member, beat_ms=150, gap_ms=150)
    assert after(play, beats(5), wait(1_000), beats(6)).member.beat_ms == 187
    assert after(play, wait(1_050), beats(7)).member.beat_ms == 1_050


def test_a_held_heartbeat_brings_the_news_at_once() -> None:
    play = rhythmic() >> beats(5)
    play >> BeatWanted() << beat(2)
    play >> granted(2, [0]) << AnswerHeartbeat(5, e.REBALANCE_IN_PROGRESS)
    assert play << Is("prepare-rebalance/reconciling E2 g2")


def test_who_waits_for_the_answer_to_a_heartbeat_is_here_and_what_it_was_never_told_is_free() -> None:
    slow = msgspec.structs.replace(HOLDING, company_ms=60_000)
    play = after(Playbook(stable(rules=slow), NOW), BeatWanted(), granted(3, [0, 1, 2]), beats(5))
    play >> BeatWanted() << beat(3)
    assert play >> granted(3, [0, 1]) << beat(3, owned=[0, 1])


def test_who_has_hung_up_on_a_held_heartbeat_may_have_been_told_elsewhere_until_it_beats_again() -> None:
    slow = msgspec.structs.replace(HOLDING, company_ms=60_000)
    play = after(Playbook(stable(rules=slow), NOW), BeatWanted(), granted(3, [0, 1, 2]), beats(5))
    play >> ClientLeft(request=5) << AnswerHeartbeat(5, e.NETWORK_EXCEPTION)
    play >> BeatWanted() << beat(3)
    play >> granted(3, [0, 1]) << Is("stable/acknowledging E3 g2")
    assert play >> beats(6) << beat(3, owned=[0, 1])


def test_the_session_of_who_has_hung_up_on_a_held_heartbeat_counts_from_that_beat_as_with_a_broker() -> None:
    """A client that was killed is given up no later than without the proxy. Who waits loses nothing by it."""
    killed = after(rhythmic() >> beats(5), wait(1_000), ClientLeft(request=5))
    waiting = after(rhythmic() >> beats(5), wait(1_000), HoldInterrupted(request=5))
    assert (killed.member.heard_at, waiting.member.heard_at) == (killed.now - 1_000, waiting.now)


def test_another_request_on_its_connection_releases_a_held_heartbeat() -> None:
    play = rhythmic() >> beats(5)
    play >> HoldInterrupted(request=4)
    assert play >> HoldInterrupted(request=5) << AnswerHeartbeat(5)


def test_a_second_heartbeat_and_a_join_release_the_one_that_is_held() -> None:
    play = rhythmic() >> beats(5)
    play >> beats(6) << AnswerHeartbeat(5)
    assert play >> joins(7, owned=[0, 1]) << AnswerHeartbeat(6) << beat(2, owned=[0, 1])


# --- silence, company, hand-over --------------------------------------------------------------------------------------


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


# --- watch ---------------------------------------------------------------------------------------------------------


def test_after_a_sign_of_motion_the_coordinator_is_asked_often_and_then_as_before() -> None:
    play = Playbook(stable(), NOW)
    play >> MotionSeen(until=NOW + 500)
    for _ in range(3):
        play >> wait(200) << beat(2)
        play >> granted(2)
    play >> wait(4_999)
    assert play >> wait(1) << beat(2)


def test_at_rest_a_member_beats_in_its_turn_of_each_interval() -> None:
    """Turns are at 2.5 s of each 5: soon after the motion, and then an interval apart, however late the answers are."""
    play = after(Playbook(stable(), NOW), BeatPlaced(part=0.5), wait(10_000), granted(2))
    play >> wait(2_499)
    play >> wait(1) << beat(2)
    play >> wait(40) >> granted(2) >> wait(4_959)
    play >> wait(1) << beat(2)
    play >> MotionSeen(until=play.now + 300) >> granted(2) >> wait(200) << beat(2)
    assert play >> granted(2) >> wait(200) << beat(2)


def test_motion_and_wishes_do_not_hurry_who_is_absent_or_due_anyway() -> None:
    assert Playbook() >> MotionSeen(until=99) >> BeatWanted() << Is("absent/absent E0 g-1")
    due = Playbook(stable(), 29_950) >> MotionSeen(until=40_000)
    assert due >> wait(50) << beat(2)
    in_flight = after(Playbook(stable(), NOW), wait(10_000)) >> MotionSeen(until=40_000)
    assert in_flight >> granted(2) >> wait(200) << beat(2)


def test_waking_early_does_nothing() -> None:
    play = Playbook(stable(), NOW) >> DeadlinePassed()
    assert play.member == stable()


# --- when a client can be told ---------------------------------------------------------------------------------------


def test_a_client_hears_of_a_rebalance_by_the_beat_that_is_held_or_by_its_next() -> None:
    play = rhythmic() >> beats(5)
    assert play.member.hears_at == LONG_AGO
    play >> HoldInterrupted(request=5)
    assert play.member.beat_seen_at is not None
    assert play.member.hears_at == play.member.beat_seen_at + play.member.rhythm_ms


def test_right_after_it_joined_that_is_its_first_beat_whatever_else_it_says_before() -> None:
    told = generation_told() >> syncs()
    at = told.now + 3_000
    assert told.member.hears_at == at
    assert after(told, wait(1_000), commits()).member.hears_at == at
