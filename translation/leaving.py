"""How a LeaveGroup is answered: when the coordinator has let the member go, so that its partitions are free by then."""

from __future__ import annotations

from translation import errors as e
from translation.actions import AnswerLeave
from translation.ending import depart
from translation.events import LeaveRequested
from translation.states import Phase, Standing
from translation.turn import Turn


def leave_requested(turn: Turn, leave: LeaveRequested) -> None:
    member = turn.member
    turn.reason = leave.reason
    if leave.instance_id is not None and leave.instance_id != member.instance_id:
        return turn.order(
            AnswerLeave(leave.request, e.FENCED_INSTANCE_ID if member.instance_id else e.UNKNOWN_MEMBER_ID)
        )
    if member.phase is not Phase.ABSENT:
        depart(turn, heartbeat_error=e.NONE)
    elif member.standing is not Standing.LEAVING:
        # Its instance is another process' by now; who does not name it is nobody.
        is_taken = leave.instance_id is not None and member.standing is Standing.FATAL
        return turn.order(AnswerLeave(leave.request, member.verdict if is_taken else e.UNKNOWN_MEMBER_ID))
    return turn.becomes(leaves=(*turn.member.leaves, leave.request))
