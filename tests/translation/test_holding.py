"""How Heartbeats are answered: judged, and held until there is news."""

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
    generation_told,
    granted,
    joins,
    stable,
    syncs,
    target,
    tps,
    wait,
)
from translation import errors as e
from translation.actions import AnswerHeartbeat
from translation.events import (
    BeatWanted,
    ClientLeft,
    HeartbeatRequested,
    HoldHurt,
    HoldInterrupted,
)
from translation.group import described_member
from translation.holding import has_shown_it
from translation.member import LONG_AGO, Member

HOLDING = msgspec.structs.replace(RULES, hold_beat_part=0.8, hold_session_part=0.1)


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


@pytest.mark.parametrize("rhythm_ms", [300, 500, 1_000, 1_700, 3_000])
def test_whoever_waits_for_answers_is_held_two_or_three_times_however_fast_it_beats(rhythm_ms: int) -> None:
    """kafkajs beats between two records, and reads none while it waits."""
    play = Playbook(stable(rules=msgspec.structs.replace(RULES, hold_beat_part=0.9)), NOW)
    holds = []
    for request in range(5, 15):
        play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
        after(play, beats(request))
        holds.append(play.member.held.until - play.now if play.member.held else 0)
        after(play, wait(holds[-1]), wait(rhythm_ms))
    assert sum(holds) < 6_000
    assert holds[3:] == [0] * 7
    assert play.member.beat_ms == rhythm_ms


@pytest.mark.parametrize("rhythm_ms", [500, 1_500, 3_000, 3_700, 5_000, 9_000])
@pytest.mark.parametrize("first_gap_more_ms", [0, 500, 1_080, 4_000])
def test_whoever_beats_by_a_timer_is_held_by_its_rhythm_though_its_first_beats_were_odd(
    rhythm_ms: int, first_gap_more_ms: int
) -> None:
    play = Playbook(stable(rules=msgspec.structs.replace(RULES, hold_beat_part=0.9)), NOW)
    for request in range(5, 30):
        play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
        after(play, beats(request))
        held_ms = play.member.held.until - play.now if play.member.held else 0
        gap_ms = rhythm_ms + (first_gap_more_ms if request == 5 else 0)
        after(play, wait(held_ms), wait(max(0, gap_ms - held_ms)))
    assert held_ms == min(int(rhythm_ms * 0.9), 9_000)


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


def test_a_beat_behind_which_its_client_reads_nothing_is_not_held() -> None:
    """sarama has one request in flight to a broker, a Fetch as well as this."""
    assert rhythmic() >> beats(5, others_wait=True) << AnswerHeartbeat(5)
    assert rhythmic() >> beats(5)


@pytest.mark.parametrize("kin_hurt", [True, False])
def test_a_newcomer_is_held_unless_its_kin_stands_no_holds(kin_hurt: bool) -> None:
    newcomer = joins(fresh_id="m", version=3, kin_hurt=kin_hurt)
    play = after(
        Playbook(Member(group_id="g", rules=HOLDING)), newcomer, granted(2, [0, 1]), LEARNED, target(2, [0, 1])
    )
    play = after(play, syncs(2), wait(1_000), beats(3))
    assert (play.member.held is None) == kin_hurt


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
    assert not has_shown_it(play.member)
    assert after(play, wait(1_000), beats(8)).member.beat_ms == 1_000
    assert has_shown_it(play.member)


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


@pytest.mark.parametrize("hung_up", [True, False])
def test_who_hangs_up_on_two_held_heartbeats_in_a_row_is_held_no_more_unless_its_broker_did(hung_up: bool) -> None:
    """kafka_ex waits for an answer until its next beat, and begins anew when there is none."""
    play = rhythmic()
    for request in (5, 6):
        play = after(play, beats(request), wait(1_000), ClientLeft(request=request, hung_up=hung_up))
    after(play, beats(7))
    assert (play.member.held is None) == hung_up


def test_who_hangs_up_now_and_then_is_still_held() -> None:
    play = after(rhythmic(), beats(5), wait(1_000), ClientLeft(request=5), beats(6), wait(2_400), wait(600))
    play = after(play, beats(7), wait(1_000), ClientLeft(request=7), beats(8))
    assert play.member.held


def test_another_request_on_its_connection_releases_a_held_heartbeat() -> None:
    play = rhythmic() >> beats(5)
    play >> HoldInterrupted(request=4)
    assert play >> HoldInterrupted(request=5) << AnswerHeartbeat(5)


def test_a_second_heartbeat_and_a_join_release_the_one_that_is_held() -> None:
    play = rhythmic() >> beats(5)
    play >> beats(6) << AnswerHeartbeat(5)
    assert play >> joins(7, owned=[0, 1]) << AnswerHeartbeat(6) << beat(2, owned=[0, 1])


def test_a_client_hears_of_a_rebalance_by_the_beat_that_is_held_or_by_its_next() -> None:
    play = rhythmic() >> beats(5)
    assert play.member.hears_at == LONG_AGO
    play >> HoldInterrupted(request=5)
    assert play.member.beat_seen_at is not None
    assert play.member.hears_at == play.member.beat_seen_at + play.member.rhythm_ms


def test_it_will_have_let_go_as_long_after_that_as_the_last_time() -> None:
    """From when it heard, however often it beats before it rejoins."""
    play = after(Playbook(stable(), NOW), BeatWanted(), granted(2, [0]), wait(400), beats(5))
    assert (play.member.asked_at, play.member.gives_at) == (play.now, play.now)
    after(play, wait(300), beats(6), wait(400))
    assert play.member.gives_at == play.now - 700
    after(play, joins(7, owned=[0]), granted(2, [0]), target(2, [0]), syncs())
    assert (play.member.asked_at, play.member.rejoin_ms) == (None, 700)
    assert play.member.gives_at == play.member.hears_at + 700
    here, elsewhere = (described_member("m", 2, tps(0), tps(0), local) for local in (play.member, None))
    assert (here.hears_at, here.gives_at) == (play.member.hears_at, play.member.gives_at)
    assert elsewhere.hears_at == elsewhere.gives_at == LONG_AGO


def test_right_after_it_joined_that_is_its_first_beat_whatever_else_it_says_before() -> None:
    told = generation_told() >> syncs()
    at = told.now + 3_000
    assert told.member.hears_at == at
    assert after(told, wait(1_000), commits()).member.hears_at == at
