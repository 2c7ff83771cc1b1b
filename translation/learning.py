"""What a member learns besides the coordinator's answers: names, targets, motion, and who has its instance id."""

from __future__ import annotations

import msgspec

from translation.events import (
    AssignorAgreed,
    HandOverPlanned,
    MotionSeen,
    RegisteredMemberFound,
    TargetLearned,
    TopicsAllowed,
    TopicsLearned,
)
from translation.farewell import hear_of_oneself
from translation.group_heartbeat import STATIC_LEAVE_EPOCH
from translation.member import LONG_AGO, Member, Rejoin, Unseat
from translation.sending import hurry
from translation.states import Phase, Standing
from translation.turn import Turn


def topics_learned(turn: Turn, event: TopicsLearned) -> None:
    """A topic that is no more has no name, and is never told; the coordinator takes it back in its own time."""
    member = turn.member
    wanted = {tp.topic_id for tp in member.assigned | member.owned}
    known = {topic: name for topic, name in member.names.items() if topic in wanted or member.is_stranger}
    news = {topic: name for topic, name in event.names.items() if topic in wanted}
    turn.becomes(names=known | news)


def topics_allowed(turn: Turn, event: TopicsAllowed) -> None:
    """JoinGroup never needed DESCRIBE on a topic, ConsumerGroupHeartbeat does: subscribe to those we may have. The others are
    looked at again once in a while (sending.py): access is granted while clients run."""
    contract = turn.member.contract
    denied = tuple(topic for topic in contract.topics if topic in event.asked and topic not in event.names)
    if denied != contract.denied:
        turn.becomes(contract=msgspec.structs.replace(contract, denied=denied), must_say_all=True)
        hurry(turn)


def registered_member_found(turn: Turn, event: RegisteredMemberFound) -> None:
    """The classic contract of static membership: the newcomer wins. A temporary leave of the old one keeps the epoch."""
    if turn.member.standing is not Standing.JOINING:
        return
    if event.member_id is not None:
        turn.becomes(unseat=Unseat(event.member_id, STATIC_LEAVE_EPOCH))
    hurry(turn)


def target_learned(turn: Turn, event: TargetLearned) -> None:
    """Whole means: the group's epoch has been computed, is this member's, and its target is what is assigned. New partitions
    then wait for no more company. Where the group's next epoch is yet to be computed, what is idle need not wait for it."""
    member = turn.member
    has_target = event.assignment_epoch == event.member_epoch == member.epoch and set(event.target) == member.assigned
    is_last = event.group_epoch == event.assignment_epoch
    company_by = _company_by(member, event)
    turn.becomes(settled=has_target and (is_last or member.is_idle) and turn.now >= company_by, blind=False)
    if turn.member.settled and member.rejoin and not member.losses:
        turn.becomes(rejoin=Rejoin(turn.now))
    _await_rest(turn, event, company_by)
    hear_of_oneself(turn, event)


def _company_by(member: Member, event: TargetLearned) -> int:
    """Who come together (threads of one application, a deployment) begin each with its own share. The first of them could
    have all at once; but then the others would wait for as long as it takes to deal with its first batch. Not so where
    there were members before: what they give up would lie idle, and is no more than a share."""
    if member.generation >= 0:
        return LONG_AGO
    if event.begins:
        return member.changed_at + member.rules.next_target_ms
    return member.changed_at + member.rules.company_ms if event.alone else LONG_AGO


def _await_rest(turn: Turn, event: TargetLearned, company_by: int) -> None:
    """Is it worth waiting for what is coming? What is there for a parked client lies idle while it waits; what comes after
    its answer lies idle until its next beat."""
    member = turn.member
    if member.parked is None:
        return
    parked = msgspec.structs.replace(member.parked, rest_from=event.rest_from, look_ms=event.look_ms)
    if turn.now < company_by:
        parked = msgspec.structs.replace(parked, rest_at=company_by)
    elif event.coming:
        is_worth_it = len(member.grantable) * (event.comes_at - turn.now) < event.coming * member.rhythm_ms
        parked = msgspec.structs.replace(parked, rest_at=event.comes_at if is_worth_it else 0)
    turn.becomes(parked=parked)


def motion_seen(turn: Turn, event: MotionSeen) -> None:
    member = turn.member
    if member.phase is Phase.ABSENT:
        return
    turn.becomes(moving_until=max(member.moving_until, event.until), quiet_until=0, settled=False)
    soon = turn.now + member.rules.poll_ms
    if member.heartbeat_at is not None and member.heartbeat_at > soon and member.is_heard:
        turn.becomes(heartbeat_at=soon)


def assignor_agreed(turn: Turn, event: AssignorAgreed) -> None:
    """Whoever may not choose (the coordinator knows no such assignor, or a rule says so) has no vote."""
    contract = turn.member.contract
    if contract.assignor not in (None, event.assignor) and event.assignor not in contract.refused:
        turn.becomes(contract=msgspec.structs.replace(contract, assignor=event.assignor))
        hurry(turn)


def beat_wanted(turn: Turn) -> None:
    if turn.member.phase is not Phase.ABSENT and turn.member.is_heard:
        turn.becomes(quiet_until=0)
        hurry(turn)


def hand_over_planned(turn: Turn, event: HandOverPlanned) -> None:
    """Only while the client has not been asked yet, and never so late that it could miss its rebalance timeout."""
    member = turn.member
    if member.phase is Phase.STABLE and member.losses and member.rejoin:
        latest = member.changed_at + int(member.contract.rebalance_timeout_ms * member.rules.plan_part)
        turn.becomes(rejoin=Rejoin(event.at, event.beat_at) if event.at <= latest else Rejoin(latest))
