"""What a member does when its proxy stops: nobody is left waiting, and the member stays for the next proxy to adopt.

But for one whose client has not heard its id yet: that client will come as somebody else.
"""

from __future__ import annotations

from translation import errors as e
from translation.actions import Remember
from translation.ending import depart
from translation.events import ProxyStopping
from translation.group_heartbeat import LEAVE_EPOCH, STATIC_LEAVE_EPOCH
from translation.states import Phase
from translation.turn import Turn
from translation.waiting import answer_held, refuse_commits, refuse_parked


def proxy_stopping(turn: Turn, event: ProxyStopping) -> None:
    if turn.member.phase is Phase.ABSENT:
        return None
    if event.leaving:
        return depart(turn, STATIC_LEAVE_EPOCH if turn.member.instance_id else LEAVE_EPOCH)
    is_nameless = turn.member.is_nameless
    refuse_parked(turn, e.NOT_COORDINATOR)
    if is_nameless:
        return depart(turn)
    answer_held(turn, e.NONE)
    refuse_commits(turn, e.NOT_COORDINATOR)
    return turn.order(Remember(turn.member.journal_entry))
