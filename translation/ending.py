"""How a member ends: by leaving, by being fenced, by the sentence that it shall never come back, or by fading away."""

from __future__ import annotations

from translation import errors as e
from translation.actions import Forget
from translation.group_heartbeat import LEAVE_EPOCH
from translation.member import LONG_AGO, NOTHING, Unseat
from translation.refusals import LOST, Refusal, refusal
from translation.states import Phase, Standing
from translation.turn import Turn
from translation.waiting import answer_held, answer_leaves, refuse_all, refuse_commits, refuse_parked


def depart(turn: Turn, epoch: int = LEAVE_EPOCH, heartbeat_error: int = e.UNKNOWN_MEMBER_ID) -> None:
    """Leave the group upstream. The client has let go, or will be told that it is unknown."""
    refuse_parked(turn, e.UNKNOWN_MEMBER_ID)
    answer_held(turn, heartbeat_error)
    refuse_commits(turn, e.UNKNOWN_MEMBER_ID)
    _end(turn, Standing.LEAVING)
    leave_by = turn.now + turn.member.contract.session_timeout_ms
    turn.becomes(unseat=Unseat(turn.member.member_id, epoch), heartbeat_at=turn.now, leave_by=leave_by)


def fence(turn: Turn, code: int) -> None:
    """The coordinator has forgotten the member. The client must hear it: its partitions may be elsewhere already."""
    told = refusal(code)
    refuse_all(turn, told)
    _end(turn, Standing.FENCED)
    turn.becomes(verdict=told.heartbeat)


def taken_over(turn: Turn) -> None:
    """Another process has the instance id. Who is no member any more has nothing to lose."""
    if turn.member.phase is not Phase.ABSENT:
        condemn(turn, e.FENCED_INSTANCE_ID)


def condemn(turn: Turn, code: int) -> None:
    """Never again. The member is kept, to tell whoever still speaks in its name."""
    refuse_all(turn, refusal(code))
    _end(turn, Standing.FATAL)
    turn.becomes(verdict=code)


def vanish(turn: Turn, told: Refusal = LOST) -> None:
    """Be no more, without a word to the coordinator."""
    refuse_all(turn, told)
    answer_leaves(turn, e.NONE)
    _end(turn, Standing.ABSENT)
    turn.order(Forget())


def _end(turn: Turn, standing: Standing) -> None:
    """No client any more: nothing is owned, told or awaited."""
    turn.becomes(
        phase=Phase.ABSENT,
        standing=standing,
        generation=-1,
        told=NOTHING,
        owned=NOTHING,
        spared=NOTHING,
        assigned=NOTHING,
        asked_at=None,
        unseat=None,
        must_say_all=False,
        heartbeat_at=None,
        describe_at=None,
        rejoin=None,
        rebalance_by=None,
        farewell_at=None,
        farewell_since=None,
        unclaimed_since=None,
        leave_by=None,
        came_at=LONG_AGO,
        beat_seen_at=None,
    )
