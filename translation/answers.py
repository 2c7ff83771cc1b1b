"""What the coordinator's answer means: an epoch, an assignment, a refusal, or silence.

An assignment is complete: what it lacks is taken away. If the client may hold some of that, the client must let go
first (a rejoin). If not - it was granted but never told - we let go for it, and it hears nothing.
"""

from __future__ import annotations

import msgspec

from translation import errors as e
from translation.actions import DescribeGroup, FindRegisteredMember, ForwardJoin, LearnAllowedTopics, LearnTopics
from translation.assignors import another_vote
from translation.committing import send_waiting
from translation.ending import condemn, depart, fence, vanish
from translation.events import CoordinatorAnswered
from translation.farewell import begin_anew
from translation.group_heartbeat import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    GroupHeartbeat,
    GroupHeartbeatAnswer,
)
from translation.member import NOTHING, Member, ParkedJoin, Unseat
from translation.refusals import LOST, OTHER, Refusal, Then, refusal
from translation.sending import hurry, next_beat, restates
from translation.states import Phase, Standing
from translation.turn import Turn
from translation.waiting import answer_leaves, refuse_all, refuse_parked

OVER = frozenset({Standing.ABSENT, Standing.FENCED, Standing.FATAL})
JOINED = frozenset({Standing.STABLE, Standing.RECONCILING, Standing.ACKNOWLEDGING})


def coordinator_answered(turn: Turn, event: CoordinatorAnswered) -> None:
    sent = _landed(turn)
    answer = event.answer
    if turn.member.standing in OVER:
        return None
    if answer.error_code and not _is_no_surprise(turn.member, sent, answer.error_code):
        return _refused(turn, sent, answer)
    if sent.member_epoch < JOIN_EPOCH:
        return _gone(turn)
    if turn.member.unseat is not None or _is_before_join(turn.member, sent):
        return hurry(turn)
    return _granted(turn, sent, answer)


def _landed(turn: Turn) -> GroupHeartbeat:
    sent = turn.member.in_flight
    if sent is None:
        raise e.ImpossibleStory("an answer, and no heartbeat in flight")
    turn.becomes(in_flight=None)
    return sent


def _is_no_surprise(member: Member, sent: GroupHeartbeat, code: int) -> bool:
    """Whoever leaves is content with any word that it is gone, and no word to an older self matters now. But that nobody
    listens is no such word."""
    superseded = sent.member_epoch < JOIN_EPOCH or member.unseat is not None or _is_before_join(member, sent)
    return superseded and refusal(code).then not in (Then.RETRY, Then.SAY_ALL, Then.BARRED)


def _is_before_join(member: Member, sent: GroupHeartbeat) -> bool:
    return member.standing is Standing.JOINING and sent.member_epoch != JOIN_EPOCH


def _gone(turn: Turn) -> None:
    """A leave was heard. It was the member's own, or it has made room for this one to join."""
    if turn.member.standing is Standing.LEAVING:
        answer_leaves(turn, e.NONE)
        return vanish(turn)
    turn.becomes(unseat=None, cut=False)
    return hurry(turn)


# --- granted -------------------------------------------------------------------------------------------------------


def _granted(turn: Turn, sent: GroupHeartbeat, answer: GroupHeartbeatAnswer) -> None:
    before = turn.member
    if before.is_kept_away:
        begin_anew(turn)
    assigned = before.assigned if answer.assignment is None else frozenset(answer.assignment)
    if (answer.member_epoch, assigned) != (before.epoch, before.assigned):
        turn.becomes(changed_at=turn.now, settled=False, parked=_look_anew(before.parked), describe_at=None)
    turn.becomes(
        epoch=answer.member_epoch,
        assigned=assigned,
        spared=before.spared & assigned,
        interval_ms=answer.heartbeat_interval_ms,
        voted=sent.server_assignor or before.voted,
        must_say_all=before.must_say_all and sent.owned is None,
        cut=False,
        barred=False,
        standing=_standing_after(before, sent),
    )
    _let_go_unseen(turn, before, sent)
    _beat_on(turn)
    if turn.member.unnamed:
        turn.order(LearnTopics(tuple(sorted(turn.member.unnamed))))
    send_waiting(turn)


def _look_anew(parked: ParkedJoin | None) -> ParkedJoin | None:
    """What the group said of partitions that are still to come was said before this grant: others may be asked for theirs
    sooner now."""
    return parked and msgspec.structs.replace(parked, rest_at=0, rest_from=0)


def _standing_after(member: Member, sent: GroupHeartbeat) -> Standing:
    """What was said may be out of date already: then it must be said again."""
    if not member.is_waited_for:
        return member.standing
    return Standing.STABLE if restates(member, sent) else Standing.ACKNOWLEDGING


def _let_go_unseen(turn: Turn, before: Member, sent: GroupHeartbeat) -> None:
    """Partitions taken back that the client never heard of here. The coordinator waits for a word that they are free.

    Between JoinGroup and SyncGroup that word is not ours: a client that went to another proxy meanwhile was told of them
    there. It holds them until it syncs here (syncing.py), or joins again.
    """
    member = turn.member
    taken = before.assigned - member.assigned
    unsaid = taken if sent.owned is None else taken & frozenset(sent.owned)
    if unsaid and member.is_to_sync:
        turn.becomes(owned=member.owned | unsaid)
    elif unsaid and not member.losses:
        turn.becomes(standing=Standing.ACKNOWLEDGING)


def _beat_on(turn: Turn) -> None:
    due_now = turn.member.is_waited_for and turn.is_here
    turn.becomes(heartbeat_at=turn.now if due_now else next_beat(turn.member, turn.now))


# --- refused -------------------------------------------------------------------------------------------------------


def _refused(turn: Turn, sent: GroupHeartbeat, answer: GroupHeartbeatAnswer) -> None:
    code = answer.error_code
    turn.because(f"refused: {e.NAMES.get(code, code)}")
    if code == e.INVALID_REQUEST:
        raise e.OurMistake(f"the coordinator calls this invalid ({answer.error_message}): {sent}")
    told = refusal(code)
    match told.then:
        case Then.RETRY if told is OTHER:
            _choked(turn, sent, told)
        case Then.RETRY:
            _try_later(turn, told)
        case Then.SAY_ALL:
            _lost(turn, sent)
        case Then.FENCED:
            _fenced(turn, sent, code)
        case Then.ELSEWHERE:
            _spoken_for(turn, sent, code)
        case Then.FATAL:
            condemn(turn, code)
        case Then.REFUSED:
            vanish(turn, told)
        case Then.BARRED:
            _bar(turn, told)
        case Then.PASS_THROUGH:
            _pass_through(turn, sent, code)
        case Then.ANOTHER_VOTE:
            _vote_otherwise(turn, sent.server_assignor or "", answer.error_message or "")
            hurry(turn)
        case Then.RELEASE:
            turn.order(FindRegisteredMember(sent.instance_id or ""))
            _wait_inside(turn)
        case Then.FILTER:  # pragma: no branch
            turn.order(LearnAllowedTopics(turn.member.contract.topics))
            _wait_inside(turn)


def _choked(turn: Turn, sent: GroupHeartbeat, told: Refusal) -> None:
    """The coordinator failed at something that has no code of its own: maybe at an old vote for an assignor that it has no
    longer. So the vote is said again, and refused as such if that is it (UNSUPPORTED_ASSIGNOR). If the coordinator fails at
    another vote too, old votes of others outweigh ours. Votes end only with their members: this one leaves, and its client
    joins anew."""
    member = turn.member
    is_new = sent.server_assignor not in (None, member.voted)
    if member.contract.refused and is_new and sent.member_epoch > JOIN_EPOCH:
        return depart(turn)
    _try_later(turn, told)
    if not member.contract.refused:
        turn.becomes(voted=None)


def _vote_otherwise(turn: Turn, unknown: str, message: str) -> None:
    """Not without a vote: that says "as before", and what a coordinator has no longer it still counts."""
    contract = turn.member.contract
    refused = (*contract.refused, unknown)
    vote = another_vote(contract.offers, refused, message)
    turn.becomes(contract=msgspec.structs.replace(contract, refused=refused, assignor=vote))


def _wait_inside(turn: Turn) -> None:
    turn.becomes(heartbeat_at=turn.now + turn.member.rules.retry_ms)


def _try_later(turn: Turn, told: Refusal) -> None:
    """The member stands. Who waits is told to look for the coordinator, and looks for it through us."""
    member = turn.member
    turn.becomes(cut=True, heartbeat_at=_retry_at(member, turn.now))
    if member.has_farewell and not member.cut:
        turn.order(DescribeGroup())
    if member.standing is Standing.LEAVING:
        return _leave_later(turn)
    if member.standing is Standing.JOINING and member.parked and not member.parked.knows_id:
        # It cannot come back under an id it has never heard, so nobody would ever use this member.
        refuse_parked(turn, told.join)
        return depart(turn)
    return refuse_all(turn, told)


def _retry_at(member: Member, now: int) -> int:
    """A heartbeat that is to say all waits for the client to speak. Without that a coordinator that has moved on fences the
    member, so none is sent before the client counts as silent."""
    soon = now + member.rules.retry_ms
    return (
        max(soon, member.heard_at + member.patience_ms) if member.must_say_all and member.standing in JOINED else soon
    )


def _leave_later(turn: Turn) -> None:
    """The client need not wait for a coordinator that cannot be reached."""
    answer_leaves(turn, e.NONE)
    _stop_trying(turn)


def _stop_trying(turn: Turn) -> None:
    """To leave: after another session nobody need."""
    if turn.member.leave_by is not None and turn.now >= turn.member.leave_by:
        vanish(turn)


def _spoken_for(turn: Turn, sent: GroupHeartbeat, code: int) -> None:
    """FENCED_MEMBER_EPOCH means that the coordinator still has a member of this id, at another epoch: somebody else speaks
    for it. Whoever comes with it again is adopted as it stands there. Brokers before 4.2 say so to epoch 0 too
    (KAFKA-19233). That one must go first.
    """
    if sent.member_epoch == JOIN_EPOCH:
        return _fenced(turn, sent, code)
    return vanish(turn)


def _fenced(turn: Turn, sent: GroupHeartbeat, code: int) -> None:
    """Fenced, or forgotten. A client that holds nothing and is parked need not know: it joins anew."""
    member = turn.member
    if sent.member_epoch != JOIN_EPOCH and (member.parked is None or member.owned):
        return fence(turn, code)
    epoch = STATIC_LEAVE_EPOCH if member.instance_id else LEAVE_EPOCH
    unseat = Unseat(member.member_id, epoch) if code == e.FENCED_MEMBER_EPOCH else None
    turn.becomes(standing=Standing.JOINING, unseat=unseat, epoch=0, must_say_all=False)
    turn.becomes(assigned=NOTHING, told=NOTHING, spared=NOTHING)
    return hurry(turn) if unseat or sent.member_epoch != JOIN_EPOCH else _wait_inside(turn)


def _bar(turn: Turn, told: Refusal) -> None:
    """As with a broker it stays a member until its client, which is not listened to either, has been silent for a session.
    That it leaves then, somebody else must say (`Member.is_heard`)."""
    member = turn.member
    if member.standing is Standing.LEAVING:
        answer_leaves(turn, told.heartbeat)
        # The first time somebody else is asked to say it.
        turn.becomes(barred=True, heartbeat_at=turn.now + (member.pace_ms if member.barred else 0))
        return _stop_trying(turn)
    if member.standing not in JOINED:
        return vanish(turn, told)
    refuse_all(turn, told)
    return turn.becomes(barred=True, heartbeat_at=turn.now + member.pace_ms)


def _pass_through(turn: Turn, sent: GroupHeartbeat, code: int) -> None:
    """The group is a classic one, or the cluster knows no other: better no translation than no membership."""
    member = turn.member
    if sent.member_epoch != JOIN_EPOCH or member.phase is not Phase.COMPLETING_REBALANCE:
        return _fenced(turn, sent, code) if sent.member_epoch != JOIN_EPOCH else fence(turn, code)
    for request in member.parked.requests if member.parked else ():
        turn.order(ForwardJoin(request, e.NAMES[code]))
    turn.becomes(parked=None)
    return vanish(turn)


def coordinator_lost(turn: Turn) -> None:
    sent = _landed(turn)
    if turn.member.standing not in OVER:
        _lost(turn, sent)


def _lost(turn: Turn, sent: GroupHeartbeat) -> None:
    """It may have been heard: a coordinator that goes, or whose followers are slow, refuses what it has written and not yet
    answered, and written it stays. What follows must be true in both cases: say all again (the lost-response rule). And what
    was the member's own may have been taken from it in between."""
    turn.becomes(must_say_all=turn.member.must_say_all or sent.member_epoch >= JOIN_EPOCH, spared=NOTHING)
    _try_later(turn, LOST)
