"""Who is answered when things go wrong: everybody who waits for this member, with one error each."""

from __future__ import annotations

from translation import errors as e
from translation.actions import AnswerCommit, AnswerHeartbeat, AnswerJoin, AnswerLeave
from translation.refusals import Refusal
from translation.states import Phase, Standing
from translation.turn import Turn


def refuse_parked(turn: Turn, error_code: int) -> None:
    """Refuse the parked JoinGroup, if any. A client that had an assignment must then join again to have one."""
    member = turn.member
    if member.parked is None:
        return
    # In a group that is full nobody has an id.
    member_id = "" if error_code == e.GROUP_MAX_SIZE_REACHED else member.member_id
    for request in member.parked.requests:
        turn.order(AnswerJoin(request, error_code, member_id=member_id))
    turn.becomes(parked=None, describe_at=None, heard_at=turn.now)
    if member.standing is not Standing.JOINING:
        rebalance_by = turn.now + member.contract.rebalance_timeout_ms
        turn.becomes(phase=Phase.PREPARE_REBALANCE, asked_at=turn.now, rebalance_by=rebalance_by)


def answer_held(turn: Turn, error_code: int) -> None:
    """The time we held it is ours: the client's session counts from the answer."""
    member = turn.member
    if member.held is not None:
        turn.order(AnswerHeartbeat(member.held.request, error_code))
        held_ms = turn.now - (turn.now if member.beat_seen_at is None else member.beat_seen_at)
        turn.becomes(held=None, held_ms=held_ms, heard_at=turn.now)


def answer_leaves(turn: Turn, error_code: int) -> None:
    for request in turn.member.leaves:
        turn.order(AnswerLeave(request, error_code))
    turn.becomes(leaves=())


def refuse_commits(turn: Turn, error_code: int | None) -> None:
    """Refuse the commits that wait for a newer epoch. Those under way get their own answer."""
    for commit in turn.member.commits:
        if commit.epoch is None:
            code = e.COORDINATOR_LOAD_IN_PROGRESS if error_code is None else error_code
            answer_commit(turn, commit.request, code)


def answer_commit(turn: Turn, request: int, error_code: int | None) -> None:
    """What else its client has to say may have waited for this, so its session counts from then. (Not if it was asked by one
    that has ended since.)"""
    commits = tuple(commit for commit in turn.member.commits if commit.request != request)
    if commits != turn.member.commits:
        turn.becomes(commits=commits, answered_at=turn.now)
    turn.order(AnswerCommit(request, error_code))


def refuse_all(turn: Turn, told: Refusal) -> None:
    refuse_parked(turn, told.join)
    answer_held(turn, told.heartbeat)
    refuse_commits(turn, told.commit)
