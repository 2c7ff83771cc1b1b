"""How a commit is answered. The client says a generation, the coordinator wants an epoch.

A commit is honest when its generation is the one the client was told last and the client holds what it commits. Then
it goes upstream under the newest epoch we know. Brokers before 4.3 accept that epoch and no other, and a heartbeat
under way may move it: a commit refused as stale is sent again under a newer one, as often as the rules say.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from translation import errors as e
from translation.actions import AnswerCommit, SendCommit
from translation.events import CommitAnswered, CommitLost, CommitRequested
from translation.heartbeats import hurry
from translation.member import Commit, Member
from translation.refusals import STALE, STALE_FOR_GOOD, refusal
from translation.states import Phase
from translation.syncing import named
from translation.turn import Turn


def commit_requested(turn: Turn, commit: CommitRequested) -> None:
    error = _impropriety(turn.member, commit)
    if error:
        return turn.order(AnswerCommit(commit.request, error))
    return _send(turn, Commit(commit.request, None, 0))


def _impropriety(member: Member, commit: CommitRequested) -> int:
    """An adopted member has no generation until it rejoins: what it holds is then all there is to go by."""
    if member.generation not in (-1, commit.generation):
        return e.ILLEGAL_GENERATION
    if member.parked and not member.owned:
        return e.REBALANCE_IN_PROGRESS
    if not _holds(member, commit.partitions or ()):
        revoking = member.phase is not Phase.STABLE
        return e.REBALANCE_IN_PROGRESS if revoking else e.ILLEGAL_GENERATION
    return e.NONE


def _holds(member: Member, committed: Iterable[tuple[str, int]]) -> bool:
    """While the name of an owned topic is not known, a topic that we cannot place may be that one."""
    held = named(member, member.owned)
    placed = set(member.names.values())
    has_unnamed = any(tp.topic_id not in member.names for tp in member.owned)
    return all(each in held or (has_unnamed and each[0] not in placed) for each in committed)


def _send(turn: Turn, commit: Commit) -> None:
    epoch = turn.member.epoch
    sent = msgspec.structs.replace(commit, epoch=epoch, attempts=commit.attempts + 1)
    turn.becomes(commits=(*_others(turn, commit.request), sent))
    turn.order(SendCommit(commit.request, epoch))


def _others(turn: Turn, request: int) -> tuple[Commit, ...]:
    return tuple(c for c in turn.member.commits if c.request != request)


def _under_way(turn: Turn, request: int) -> Commit | None:
    return next((c for c in turn.member.commits if c.request == request and c.epoch is not None), None)


def commit_answered(turn: Turn, answered: CommitAnswered) -> None:
    """A commit may outlive its member; then the answer is told as it is."""
    commit = _under_way(turn, answered.request)
    if commit and answered.error_code in STALE and turn.member.phase is not Phase.ABSENT:
        return _try_again(turn, commit)
    turn.becomes(commits=_others(turn, answered.request))
    return turn.order(AnswerCommit(answered.request, _told(answered.error_code)))


def _told(code: int) -> int | None:
    """Only what the table has a word for; success, and errors about topics, are the broker's to tell."""
    return STALE_FOR_GOOD if code in STALE else refusal(code).commit


def _try_again(turn: Turn, commit: Commit) -> None:
    member = turn.member
    if commit.attempts >= member.rules.commit_attempts:
        turn.becomes(commits=_others(turn, commit.request))
        return turn.order(AnswerCommit(commit.request, STALE_FOR_GOOD))
    if commit.epoch != member.epoch:
        return _send(turn, commit)
    waiting = msgspec.structs.replace(commit, epoch=None)
    turn.becomes(commits=(*_others(turn, commit.request), waiting))
    return hurry(turn)


def send_waiting(turn: Turn) -> None:
    """The coordinator has just told its epoch: those that were stale may go again."""
    for commit in turn.member.commits:
        if commit.epoch is None:
            _send(turn, commit)


def commit_lost(turn: Turn, lost: CommitLost) -> None:
    turn.becomes(commits=_others(turn, lost.request))
    turn.order(AnswerCommit(lost.request, e.NOT_COORDINATOR))
