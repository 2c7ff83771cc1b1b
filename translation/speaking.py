"""What the client says, and to whom: to a member, or to one that is no member any more."""

from __future__ import annotations

from translation import errors as e
from translation.actions import AnswerCommit, AnswerHeartbeat, AnswerSync
from translation.adopting import estrange
from translation.committing import commit_requested
from translation.ending import depart
from translation.events import (
    ClientEvent,
    ClientLeft,
    CommitRequested,
    HeartbeatRequested,
    JoinRequested,
    LeaveRequested,
    SyncRequested,
)
from translation.farewell import begin_anew
from translation.holding import heartbeat_requested, hold_abandoned, look_again
from translation.joining import forget_fenced, join_abandoned, join_requested
from translation.leaving import leave_requested
from translation.member import Member
from translation.sending import hurry
from translation.states import Phase, Standing
from translation.syncing import sync_requested
from translation.turn import Turn

MemberEvent = SyncRequested | HeartbeatRequested | CommitRequested


def client_spoke(turn: Turn, event: ClientEvent) -> None:
    """Whatever a client says keeps its session alive: commits too, as in classic groups (a broker's own translation
    forgets that)."""
    turn.request = event.request
    if turn.member.rebalance_by is not None and turn.now >= turn.member.rebalance_by:
        _end_if_overdue(turn)
    turn.spoken = _is_at_home(turn.member, event)
    _come_back(turn, event)
    _say_all_if_shared(turn)
    turn.becomes(heard_at=turn.now, farewell_at=None, farewell_since=None, unclaimed_since=None)
    look_again(turn)
    match event:
        case JoinRequested():
            join_requested(turn, event)
        case LeaveRequested():
            leave_requested(turn, event)
        case _:
            _member_spoke(turn, event)


def _end_if_overdue(turn: Turn) -> None:
    """Whether another proxy had it no longer matters: it is back here."""
    if turn.member.is_kept_away:
        begin_anew(turn)
    else:
        turn.because("rebalance timeout")
        depart(turn)


def _is_at_home(member: Member, event: ClientEvent) -> bool:
    """Elsewhere it would have been told another generation: no two tell the same (joining.py)."""
    return isinstance(event, JoinRequested) or (
        isinstance(event, MemberEvent) and event.generation == member.generation
    )


def client_left(turn: Turn, left: ClientLeft) -> None:
    """Nobody knows where it is until it speaks again."""
    hold_abandoned(turn, left)
    join_abandoned(turn, left.request)


def _come_back(turn: Turn, event: ClientEvent) -> None:
    """Who knows what was said in its name while it was silent: so all is said again, and all is heard."""
    member = turn.member
    was_told_more = isinstance(event, MemberEvent) and _was_told_more(member, event)
    if member.is_silent(turn.now) or (was_told_more and member.generation == -1):
        if not (turn.spoken and isinstance(event, MemberEvent) and member.is_on_time(turn.now)):
            turn.becomes(came_at=turn.now)
        if isinstance(event, MemberEvent) and was_told_more:
            estrange(turn, event.generation)
        hurry(turn)
    elif member.phase is not Phase.ABSENT and member.in_flight is None:
        has_waited = member.standing is Standing.ACKNOWLEDGING or (
            member.must_say_all and member.beaten_at > member.heard_at
        )
        if member.heartbeat_at is None or (turn.spoken and has_waited):
            hurry(turn)


def _was_told_more(member: Member, event: MemberEvent) -> bool:
    """Elsewhere, and be it its first generation, if it did not wait here for that. Who joins anew here has nothing to go on
    from: it hears that its generation is none, and joins."""
    waits_for_none = member.generation >= 0 or member.is_to_sync
    return event.generation > member.generation and waits_for_none and member.standing is not Standing.JOINING


def _say_all_if_shared(turn: Turn) -> None:
    """With each word of the client, for it is here then; the other proxy has not heard it, and says nothing for it."""
    if turn.member.is_shared(turn.now):
        turn.becomes(must_say_all=True)


def _member_spoke(turn: Turn, event: MemberEvent) -> None:
    member = turn.member
    if member.phase is Phase.ABSENT:
        _refuse(turn, event, member.verdict or e.UNKNOWN_MEMBER_ID)
        return forget_fenced(turn)
    if event.instance_id not in (None, member.instance_id):
        return _refuse(turn, event, e.FENCED_INSTANCE_ID)
    match event:
        case SyncRequested():
            sync_requested(turn, event)
        case HeartbeatRequested():
            heartbeat_requested(turn, event)
        case CommitRequested():  # pragma: no branch
            commit_requested(turn, event)


def _refuse(turn: Turn, event: MemberEvent, code: int) -> None:
    match event:
        case SyncRequested():
            turn.order(AnswerSync(event.request, code))
        case HeartbeatRequested():
            turn.order(AnswerHeartbeat(event.request, code))
        case CommitRequested():  # pragma: no branch
            turn.order(AnswerCommit(event.request, code))
