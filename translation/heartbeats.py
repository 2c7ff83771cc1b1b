"""When do we heartbeat upstream, and with what."""

from __future__ import annotations

from translation.actions import SendGroupHeartbeat
from translation.heartbeat import JOIN_EPOCH, GroupHeartbeat
from translation.member import NOTHING, Member, Partitions
from translation.states import Standing
from translation.turn import Turn


def send_when_due(turn: Turn) -> None:
    """One in flight at a time: whatever becomes due meanwhile waits for its answer."""
    member = turn.member
    if member.in_flight is not None or member.heartbeat_at is None or member.heartbeat_at > turn.now:
        return
    if member.fades_at is not None and turn.now >= member.fades_at:
        turn.becomes(heartbeat_at=None)
    else:
        heartbeat = next_heartbeat(member)
        turn.becomes(in_flight=heartbeat, heartbeat_at=None)
        turn.order(SendGroupHeartbeat(heartbeat))


def next_heartbeat(member: Member) -> GroupHeartbeat:
    if member.unseat is not None:
        return _heartbeat(member, member.unseat.member_id, member.unseat.epoch)
    if member.standing is Standing.JOINING:
        return _full(member, JOIN_EPOCH, owned=NOTHING)
    if member.standing is Standing.ACKNOWLEDGING or member.lost:
        return _full(member, member.epoch, member.owned)
    return _heartbeat(member, member.member_id, member.epoch)


def _heartbeat(member: Member, member_id: str, epoch: int) -> GroupHeartbeat:
    return GroupHeartbeat(
        group_id=member.group_id, member_id=member_id, member_epoch=epoch, instance_id=member.instance_id
    )


def _full(member: Member, epoch: int, owned: Partitions) -> GroupHeartbeat:
    """Everything said anew. The coordinator answers it with the whole assignment, and forgives a stale epoch if what is
    owned was granted (the lost-response rule): so this is also how a heartbeat is repeated whose answer was lost.
    """
    contract = member.contract
    return GroupHeartbeat(
        group_id=member.group_id,
        member_id=member.member_id,
        member_epoch=epoch,
        instance_id=member.instance_id,
        rack_id=contract.rack_id,
        rebalance_timeout_ms=contract.rebalance_timeout_ms,
        subscribed_topic_names=contract.topics,
        server_assignor=contract.assignor,
        owned=tuple(sorted(owned)),
    )


def restates(member: Member, sent: GroupHeartbeat) -> bool:
    """What was sent is what the member would say today (a JoinGroup may have come while it was in flight)."""
    now = _full(member, sent.member_epoch, member.owned if sent.member_epoch > JOIN_EPOCH else NOTHING)
    return now == sent


def pace_ms(member: Member, now: int) -> int:
    """Often while somebody is parked or the group moves, else as the coordinator wishes."""
    interval_ms = member.interval_ms or member.rules.heartbeat_ms
    hurried = member.parked is not None or now < member.moving_until
    return min(member.rules.poll_ms, interval_ms) if hurried else interval_ms


def hurry(turn: Turn) -> None:
    """A heartbeat is wanted now (or as soon as the one in flight is answered)."""
    turn.becomes(heartbeat_at=turn.now)
