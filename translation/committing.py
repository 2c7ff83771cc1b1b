"""How a commit is answered. The client says a generation, the coordinator wants an epoch.

A commit is honest when its generation is the one the client was told last: as by the classic protocol it may then say what
it likes, of what it does not hold too. Applications do, of all that they ever read, with each commit and in each revoke
callback; a refusal would end the callback's client, and cost any other its membership, again and again. Where the generation
says nothing, within a rebalance and after an adoption, the client commits what is its own, or what it does not read.

It goes upstream under the newest epoch we know. Brokers before 4.3 accept that epoch and no other, and a heartbeat under
way may move it: a commit refused as stale is sent again under a newer one, as often as the rules say, unless the client
has let go of something in it meanwhile, or later ones are on their way already.
"""

from __future__ import annotations

import msgspec

from translation import errors as e
from translation.actions import AnswerCommit, SendCommit
from translation.events import CommitAnswered, CommitLost, CommitRequested
from translation.member import Commit, Member, Partitions
from translation.refusals import STALE, STALE_FOR_GOOD, refusal
from translation.sending import hurry
from translation.states import Phase
from translation.syncing import named
from translation.turn import Turn
from translation.waiting import answer_commit

Named = tuple[tuple[str, int], ...]


def commit_requested(turn: Turn, commit: CommitRequested) -> None:
    error = _impropriety(turn.member, commit)
    if error:
        return turn.order(AnswerCommit(commit.request, error))
    held = _held(turn.member, commit.partitions or ())
    turn.becomes(commits=(*turn.member.commits, Commit(commit.request, None, 0, held)))
    return _send_in_order(turn)


def _impropriety(member: Member, commit: CommitRequested) -> int:
    if member.generation not in (-1, commit.generation):
        return e.ILLEGAL_GENERATION
    if member.parked and not _may_commit(member):
        return e.REBALANCE_IN_PROGRESS
    if not _tells_by_generation(member) and not _holds(member, commit.partitions or ()):
        return e.REBALANCE_IN_PROGRESS
    return e.NONE


def _tells_by_generation(member: Member) -> bool:
    """The generation that it names says whether a commit is honest. An adopted member has none until it rejoins, and between
    JoinGroup and SyncGroup a client may still name the one before."""
    return member.generation != -1 and member.phase is not Phase.COMPLETING_REBALANCE


def _may_commit(member: Member) -> Partitions:
    """An eager client lets go of all to rejoin. What stays its own meanwhile nobody else commits, and some never stop
    (@platformatic/kafka, which rejoins once more for each refusal)."""
    return member.owned | member.spared


def _holds(member: Member, committed: Named) -> bool:
    return _held(member, committed) == committed


def _held(member: Member, committed: Named) -> Named:
    """What of it the client may commit: partitions that it holds, and those of topics that it does not read. While a topic of
    its own has no name for us, any that it subscribes to may be that one."""
    its_own = _may_commit(member)
    held = named(member, its_own)
    guarded = set(member.names.values())
    if all(tp.topic_id in member.names for tp in its_own):
        guarded.update(member.contract.topics)
    return tuple(each for each in committed if each in held or each[0] not in guarded)


def _send_in_order(turn: Turn, epoch_is_fresh: bool = False) -> None:
    """Offsets must not go back: nobody overtakes a commit that may have to be sent again under a newer epoch."""
    for commit in turn.member.commits:
        if commit.epoch is None and not _holds(turn.member, commit.partitions or ()):
            _give_up(turn, commit)
        elif commit.epoch is None and (epoch_is_fresh or not commit.attempts):
            _send(turn, commit)
        elif commit.epoch != turn.member.epoch:
            return


def _send(turn: Turn, commit: Commit) -> None:
    epoch = turn.member.epoch
    _put(turn, msgspec.structs.replace(commit, epoch=epoch, attempts=commit.attempts + 1))
    turn.order(SendCommit(commit.request, epoch))


def _put(turn: Turn, commit: Commit) -> None:
    turn.becomes(commits=tuple(commit if c.request == commit.request else c for c in turn.member.commits))


def _under_way(turn: Turn, request: int) -> Commit | None:
    return next((c for c in turn.member.commits if c.request == request and c.epoch is not None), None)


def commit_answered(turn: Turn, answered: CommitAnswered) -> None:
    """A commit may outlive its member; then the answer is told as it is."""
    commit, told = _under_way(turn, answered.request), _told(answered.error_code)
    if commit and answered.error_code in STALE and turn.member.phase is not Phase.ABSENT:
        if not answered.is_final:
            return _try_again(turn, commit)
        # All clients take this for a reason to come again.
        told = e.COORDINATOR_LOAD_IN_PROGRESS
        hurry(turn)
    answer_commit(turn, answered.request, told)
    return _send_in_order(turn)


def _told(code: int) -> int | None:
    """Only what the table has a word for; success, and errors about topics, are the broker's to tell."""
    return STALE_FOR_GOOD if code in STALE else refusal(code).commit


def _try_again(turn: Turn, commit: Commit) -> None:
    member = turn.member
    if commit.attempts >= member.rules.commit_attempts or not _holds(member, commit.partitions or ()):
        _give_up(turn, commit)
        return _send_in_order(turn)
    if commit.epoch != member.epoch:
        _send(turn, commit)
        return _send_in_order(turn)
    _put(turn, msgspec.structs.replace(commit, epoch=None))
    return hurry(turn)


def _give_up(turn: Turn, commit: Commit) -> None:
    """Stale for good: or the client has let go meanwhile, and whoever has the partitions now commits for them."""
    answer_commit(turn, commit.request, STALE_FOR_GOOD)


def send_waiting(turn: Turn) -> None:
    """The coordinator has just told its epoch: those that were stale may go again."""
    _send_in_order(turn, epoch_is_fresh=True)


def commit_lost(turn: Turn, lost: CommitLost) -> None:
    answer_commit(turn, lost.request, e.NOT_COORDINATOR)
    _send_in_order(turn)
