"""How a client's Heartbeat is answered: at once, or held until there is news.

A legacy client hears of a rebalance in the answer to a Heartbeat and nowhere else, so in Stable the answer is held:
then the news travels in a round trip instead of waiting for the next beat. How long follows the client's own rhythm
and is a small part of its session. Some clients space their beats from the last answer, so a gap between two beats
may contain our own holding: the rhythm is therefore only ever learnt downwards, from the first gap on, which had none.
"""

from __future__ import annotations

from translation import errors as e
from translation.actions import AnswerHeartbeat
from translation.events import HeartbeatRequested, HoldInterrupted
from translation.heartbeats import hurry
from translation.member import HeldHeartbeat, Member
from translation.states import Phase
from translation.turn import Turn
from translation.waiting import answer_held

# One beat that comes early for a reason of its own shortens the rhythm by no more than this.
SHORTEST_STEP = 0.8


def heartbeat_requested(turn: Turn, beat: HeartbeatRequested) -> None:
    answer_held(turn, e.NONE)
    member = turn.member
    if member.generation != -1 and beat.generation != member.generation:
        return turn.order(AnswerHeartbeat(beat.request, e.ILLEGAL_GENERATION))
    if member.phase is Phase.PREPARE_REBALANCE:
        turn.becomes(asked=True)
        return turn.order(AnswerHeartbeat(beat.request, e.REBALANCE_IN_PROGRESS))
    if member.cut:
        return _hold(turn, beat, member.rules.retry_ms)
    hold_ms = _hold_ms(member) if member.phase is Phase.STABLE else 0
    turn.becomes(beat_ms=_rhythm(member, turn.now), beat_seen_at=turn.now)
    if hold_ms:
        return _hold(turn, beat, hold_ms)
    return turn.order(AnswerHeartbeat(beat.request))


def _hold(turn: Turn, beat: HeartbeatRequested, hold_ms: int) -> None:
    turn.becomes(held=HeldHeartbeat(beat.request, turn.now + hold_ms))


def _rhythm(member: Member, now: int) -> int | None:
    if member.beat_seen_at is None:
        return member.beat_ms
    gap_ms = now - member.beat_seen_at
    if member.beat_ms is None:
        return gap_ms
    return min(member.beat_ms, max(gap_ms, int(member.beat_ms * SHORTEST_STEP)))


def _hold_ms(member: Member) -> int:
    rules = member.rules
    by_session_ms = member.contract.session_timeout_ms * rules.hold_session_part
    return int(min((member.beat_ms or 0) * rules.hold_beat_part, by_session_ms))


def hold_interrupted(turn: Turn, event: HoldInterrupted) -> None:
    if turn.member.held and turn.member.held.request == event.request:
        answer_held(turn, e.NONE)


def release_held(turn: Turn) -> None:
    """No news in time. While the coordinator is out of reach the news is that it must be looked for."""
    held = turn.member.held
    if held and turn.now >= held.until:
        answer_held(turn, e.NOT_COORDINATOR if turn.member.cut else e.NONE)


def ask_to_rejoin(turn: Turn) -> None:
    """PrepareRebalance: a held Heartbeat says so at once, the next one otherwise."""
    turn.becomes(
        phase=Phase.PREPARE_REBALANCE,
        asked=turn.member.held is not None,
        rejoin_at=None,
        rebalance_by=turn.now + turn.member.contract.rebalance_timeout_ms,
    )
    answer_held(turn, e.REBALANCE_IN_PROGRESS)


def look_again(turn: Turn) -> None:
    """A client speaks while the coordinator is out of reach: its connection may be the way."""
    if turn.member.cut:
        hurry(turn)
