"""How a client's Heartbeat is answered: at once, or held until there is news.

A legacy client hears of a rebalance in the answer to a Heartbeat and nowhere else, so in Stable the answer is held:
then the news travels in a round trip instead of waiting for the next beat. How long follows the client's own rhythm
(the libraries' default until it is learnt) and is a part of its session.

Not every client stands being held. Most beat by a timer of their own; some (kafkajs) beat between two batches and do
nothing while they wait. The latter give themselves away: their next beat comes later by as long as the last was held. Where
the rhythm is not known that may be a slow timer, so the second hold is a shorter one: a timer does not care.
Others (sarama) ask a broker for one thing at a time: everything else waits behind the beat. Where they fetch on that
connection too the host sees it beforehand, and no beat is held; else it sees what waited come right after the answer.
It also sees where so much is asked that something would end each hold soon: none is begun, lest beats come later for it.
And some (kafka_ex) wait for an answer no longer than until their next beat, then hang up and begin anew.
Whoever is caught twice is answered at once from then on; but for one whose first beat without a hold comes as late: that
has a timer, slower than was thought. And a newcomer is taken to be as most of its kind are in its group.
"""

from __future__ import annotations

from translation import errors as e
from translation.actions import AnswerHeartbeat
from translation.events import ClientLeft, HeartbeatRequested, HoldInterrupted
from translation.member import HeldHeartbeat, Member, Rejoin
from translation.sending import hurry
from translation.states import Phase
from translation.turn import Turn
from translation.waiting import answer_held

# One odd beat changes the rhythm by no more than this, either way; two that differ by no more are the rhythm.
SHORTEST_STEP, LONGEST_STEP = 0.8, 1.25
# Who is caught so often in a row stands no holds. Once may be for reasons of its own.
STRIKES = 2
# The second hold is this part of the first, if that was what the rhythm is known from.
SHORTER_PART = 0.6
# A beat that comes so soon was ready, and waited for the answer: its timer is faster than the hold.
SOON_MS = 150
# A hold that was shorter than this part of the rhythm (something interrupted it) proves nothing.
PROVING_PART = 0.4
# By a timer a beat comes one rhythm after the last; from who waits for the answer, one rhythm after the hold.
LATE_PART = 0.6
# A beat that was not held and came at least this part as late as those that were: the timer is slow, no hold was to blame.
AS_LATE_PART = 0.8
# No timer beats so soon after something was answered.
AT_ONCE_MS = 25
# What is given up early lies idle. This part of an interval is better than a receiver's beat missed: that costs a whole one.
MISSED_PART = 0.45


def heartbeat_requested(turn: Turn, beat: HeartbeatRequested) -> None:
    answer_held(turn, e.NONE)
    member = turn.member
    if beat.generation != member.generation and (member.generation != -1 or member.is_forsaken):
        return turn.order(AnswerHeartbeat(beat.request, e.ILLEGAL_GENERATION))
    if member.phase is Phase.PREPARE_REBALANCE:
        turn.becomes(asked_at=turn.now if member.asked_at is None else member.asked_at)
        return turn.order(AnswerHeartbeat(beat.request, e.REBALANCE_IN_PROGRESS))
    if member.cut:
        return _hold(turn, beat, member.rules.retry_ms)
    _learn(turn)
    is_held = member.phase is Phase.STABLE and not beat.others_wait and not _is_at_once(member, turn.now)
    hold_ms = _hold_ms(turn.member) if is_held else 0
    _hold(turn, beat, hold_ms)
    if not hold_ms:
        _answer_without_news(turn)
    return None


def _is_at_once(member: Member, now: int) -> bool:
    """No timer beats the moment something is answered. Right after a held beat this one was waiting, and so may be other
    requests: holding it too would let them wait for hold after hold. Right after the SyncGroup it goes before the request
    for the offsets, which may have to wait for it. (Both: sarama.) And who was told by another, or before a restart, has been
    without an answer for nobody knows how long: some of its session has passed."""
    if member.beat_seen_at is None:
        return member.told_at is None or now <= member.told_at + AT_ONCE_MS
    return member.held_ms > 0 and now <= member.beat_seen_at + member.held_ms + AT_ONCE_MS


def _hold(turn: Turn, beat: HeartbeatRequested, hold_ms: int) -> None:
    turn.becomes(held=HeldHeartbeat(beat.request, turn.now + hold_ms))


def _learn(turn: Turn) -> None:
    """From the time since the last beat of this generation: the rhythm, or whether the client stands being held."""
    member = turn.member
    rhythm_ms, held_ms = member.rhythm_ms, member.held_ms
    if held_ms:
        turn.becomes(hung_up=0)
    if member.beat_seen_at is not None:
        gap_ms = turn.now - member.beat_seen_at
        is_proving = held_ms >= PROVING_PART * rhythm_ms
        if _has_the_hold_in_it(member, gap_ms):
            half_way_ms = member.late_gap_ms - member.doubtful_hold_ms // 2
            turn.becomes(late_after_hold=STRIKES, late_gap_ms=half_way_ms, beat_ms=None)
        elif is_proving:
            is_late = gap_ms >= held_ms + LATE_PART * rhythm_ms
            turn.becomes(late_after_hold=member.late_after_hold + 1 if is_late else 0, late_gap_ms=gap_ms)
        elif held_ms == 0 and not member.beat_ms and gap_ms >= AS_LATE_PART * member.late_gap_ms:
            turn.becomes(late_after_hold=0)
        is_doubtful = is_proving and not member.beat_ms and gap_ms > held_ms + SOON_MS
        turn.becomes(doubtful_hold_ms=held_ms if is_doubtful else 0)
        if held_ms == 0 or not (turn.member.late_after_hold or _is_hurt(member)):
            is_sure = not member.beat_ms or _near(gap_ms, member.gap_ms) == gap_ms
            turn.becomes(beat_ms=gap_ms if is_sure else _near(gap_ms, rhythm_ms), gap_ms=gap_ms)
    turn.becomes(beat_seen_at=turn.now, held_ms=0)


def _has_the_hold_in_it(member: Member, gap_ms: int) -> bool:
    """The beat comes earlier than the last by as much as the hold was shorter: so it waits for answers."""
    shorter_ms = member.doubtful_hold_ms - member.held_ms
    return abs(gap_ms - (member.late_gap_ms - shorter_ms)) < shorter_ms / 2


def _near(gap_ms: int, rhythm_ms: int) -> int:
    return int(min(max(gap_ms, rhythm_ms * SHORTEST_STEP), rhythm_ms * LONGEST_STEP))


def _hold_ms(member: Member) -> int:
    rules = member.rules
    by_session_ms = member.contract.session_timeout_ms * rules.hold_session_part
    if stands_no_holds(member):
        return 0
    hold_ms = min(member.rhythm_ms * rules.hold_beat_part, by_session_ms)
    return int(min(hold_ms, member.doubtful_hold_ms * SHORTER_PART or hold_ms))


def hold_hurt(turn: Turn) -> None:
    """What was taken for the rhythm of a client that waits for each answer had our holds in it."""
    turn.becomes(hurt_by_holds=turn.member.hurt_by_holds + 1)
    if _is_hurt(turn.member):
        turn.becomes(beat_ms=None)


def stands_no_holds(member: Member) -> bool:
    return member.late_after_hold >= STRIKES or member.hung_up >= STRIKES or _is_hurt(member)


def has_shown_it(member: Member) -> bool:
    """It has beaten since without being held: what stands no holds by then is no slow timer."""
    return stands_no_holds(member) and member.beat_ms is not None


def _is_hurt(member: Member) -> bool:
    return member.hurt_by_holds >= STRIKES


def hold_interrupted(turn: Turn, event: HoldInterrupted) -> None:
    if turn.member.held and turn.member.held.request == event.request:
        _answer_without_news(turn)


def hold_abandoned(turn: Turn, left: ClientLeft) -> None:
    """Nobody hears the answer: the client was last heard when it beat, and its session counts from then, as with a broker."""
    member = turn.member
    if member.held and member.held.request == left.request:
        answer_held(turn, e.NETWORK_EXCEPTION)
        turn.becomes(held_ms=0, hung_up=member.hung_up + left.hung_up, heard_at=member.heard_at)


def release_held(turn: Turn) -> None:
    """No news in time. While the coordinator is out of reach the news is that it must be looked for."""
    held = turn.member.held
    if held and turn.now >= held.until:
        if turn.member.cut:
            answer_held(turn, e.NOT_COORDINATOR)
        else:
            _answer_without_news(turn)


def _answer_without_news(turn: Turn) -> None:
    """Nothing has to be told yet. But who is to rejoin sooner after this answer than before its next beat is asked with it:
    a little early its partitions lie idle, later the others wait for it."""
    member = turn.member
    plan = member.rejoin
    if member.phase is Phase.STABLE and plan and plan.at - turn.now <= _lateness_ms(member, plan):
        ask_to_rejoin(turn)
    else:
        answer_held(turn, e.NONE)


def _lateness_ms(member: Member, plan: Rejoin) -> int:
    """From then to the client's next beat. A receiver whose beat is missed by that waits for another interval."""
    late_ms = member.beats_at - plan.at
    is_missed = plan.beat_at is not None and member.beats_at > plan.beat_at
    return max(late_ms, int(MISSED_PART * member.pace_ms)) if is_missed else late_ms


def ask_to_rejoin(turn: Turn) -> None:
    """PrepareRebalance: a held Heartbeat says so at once, the next one otherwise."""
    turn.because("partitions to give up" if turn.member.losses else "new partitions to take")
    turn.becomes(
        phase=Phase.PREPARE_REBALANCE,
        asked_at=None if turn.member.held is None else turn.now,
        rejoin=None,
        rebalance_by=turn.now + turn.member.contract.rebalance_timeout_ms,
    )
    answer_held(turn, e.REBALANCE_IN_PROGRESS)


def look_again(turn: Turn) -> None:
    """A client speaks while the coordinator is out of reach, or would not listen: its connection may be the way."""
    if not turn.member.is_heard:
        hurry(turn)
