"""When do we heartbeat upstream, and with what."""

from __future__ import annotations

import math

from translation.actions import LearnAllowedTopics, SendGroupHeartbeat
from translation.group_heartbeat import JOIN_EPOCH, GroupHeartbeat
from translation.member import LULLED_INTERVALS, NOTHING, SILENT_INTERVALS, SILENT_MS, Member, Partitions
from translation.states import Standing
from translation.turn import Turn

# So often a member says all though nothing has changed: once in a session of the default length, so that another proxy which
# asks for the same member is found out within one. Counted by the clock, which needs no memory; members beat at moments of
# their own anyway.
SAY_ALL_MS = 45_000


def send_when_due(turn: Turn) -> None:
    """One in flight at a time: whatever becomes due meanwhile waits for its answer."""
    member = turn.member
    if member.in_flight is not None or member.heartbeat_at is None or member.heartbeat_at > turn.now:
        return
    if member.is_forsaken or (member.fades_at is not None and turn.now >= member.fades_at):
        turn.becomes(heartbeat_at=None)
    elif (later := _not_before(member, member.heartbeat_at)) > turn.now:
        turn.becomes(heartbeat_at=later)
    else:
        is_time = turn.now // SAY_ALL_MS > member.beaten_at // SAY_ALL_MS
        is_to_say_all = _is_to_say_all(member, is_time)
        heartbeat = next_heartbeat(member, is_to_say_all and turn.is_here)
        turn.becomes(
            in_flight=heartbeat,
            heartbeat_at=None,
            beaten_at=turn.now,
            must_say_all=member.must_say_all or is_to_say_all,
        )
        turn.order(SendGroupHeartbeat(heartbeat))
        if is_time and member.contract.denied:
            # Learnt from Metadata: to be refused once more would cost the member its turn.
            turn.order(LearnAllowedTopics(member.contract.topics))


def _not_before(member: Member, due_at: int) -> int:
    """While its client is silent the member only keeps its place: whoever has the client now needs the news more."""
    if member.is_silent(due_at):
        rare_ms = _rare_ms(member)
        rounds = math.ceil((due_at - member.heard_at) / rare_ms)
        return member.heard_at + rounds * rare_ms
    return max(due_at, min(member.quiet_until, _latest(member)) if _can_wait(member) else 0)


def _rare_ms(member: Member) -> int:
    """Once at the least before it fades, be the session ever so short: whether its client had a coordinator to speak to is
    seen by that heartbeat, and by nothing else. If it has beaten since, no more than it must: the coordinator shows whose
    heartbeat came last, and who has the client now may not beat again before this one gives it up."""
    rare_ms = max(member.pace_ms, min(SILENT_INTERVALS * member.pace_ms, SILENT_MS))
    if member.fades_at is None or member.beaten_at > member.heard_at:
        return rare_ms
    return min(rare_ms, member.fades_at - member.heard_at - 1)


def _latest(member: Member) -> int:
    """Where somebody leaves all the time, one lull follows the other, and whoever waited for the end of each lost its
    session: one client that a full group refused again and again cost all others their membership."""
    return member.beaten_at + LULLED_INTERVALS * member.pace_ms


def _can_wait(member: Member) -> bool:
    return member.standing in (Standing.STABLE, Standing.RECONCILING) and not member.parked and not member.commits


def next_heartbeat(member: Member, says_all: bool) -> GroupHeartbeat:
    if member.unseat is not None:
        return _heartbeat(member, member.unseat.member_id, member.unseat.epoch)
    if member.standing is Standing.JOINING:
        return _full(member, JOIN_EPOCH, owned=NOTHING)
    if says_all:
        return _full(member, member.epoch, reported(member))
    return _heartbeat(member, member.member_id, member.epoch, _unheard_vote(member))


def _is_to_say_all(member: Member, is_time: bool) -> bool:
    """To acknowledge; after a lost answer; and once in a while, for an assignment is told once, to whoever asks. If another
    proxy still asks for this member, or did until a moment ago, we would never hear of it.

    Said while the client is here (`Turn.is_here`), and not before: all that is left out of what it holds is free, and a
    client that went to another proxy may have been told of it there.
    """
    return member.standing is Standing.ACKNOWLEDGING or ((member.must_say_all or is_time) and not member.is_stranger)


def reported(member: Member) -> Partitions:
    """What the coordinator is told that the client holds: what it says in the JoinGroup that waits here. Without one, what a
    SyncGroup would tell it counts as held too: a SyncGroup may be answered while the heartbeat is in flight."""
    is_joining = member.parked is not None and member.standing is Standing.ACKNOWLEDGING
    return member.owned if is_joining else member.owned | member.assigned


def _heartbeat(member: Member, member_id: str, epoch: int, vote: str | None = None) -> GroupHeartbeat:
    return GroupHeartbeat(
        group_id=member.group_id,
        member_id=member_id,
        member_epoch=epoch,
        instance_id=member.instance_id,
        server_assignor=vote,
    )


def _unheard_vote(member: Member) -> str | None:
    return member.contract.assignor if member.contract.assignor != member.voted else None


def _full(member: Member, epoch: int, owned: Partitions) -> GroupHeartbeat:
    """Everything said anew. The coordinator answers it with the whole assignment, and forgives a stale epoch if what is
    owned was granted (the lost-response rule): so this is also how a heartbeat is repeated whose answer was lost.

    Whoever joins in the place of a static member would inherit its regular expression: no expression says that there is none.
    """
    contract = member.contract
    return GroupHeartbeat(
        group_id=member.group_id,
        member_id=member.member_id,
        member_epoch=epoch,
        instance_id=member.instance_id,
        rack_id=contract.rack_id,
        rebalance_timeout_ms=contract.rebalance_timeout_ms,
        subscribed_topic_names=contract.subscription,
        subscribed_topic_regex="" if epoch == JOIN_EPOCH else None,
        server_assignor=contract.assignor,
        owned=tuple(sorted(owned)),
    )


def restates(member: Member, sent: GroupHeartbeat) -> bool:
    """What was sent is what the member would say today (a JoinGroup may have come while it was in flight)."""
    return _full(member, sent.member_epoch, reported(member) if sent.member_epoch > JOIN_EPOCH else NOTHING) == sent


def next_beat(member: Member, now: int) -> int:
    """Soon while somebody is parked or the group moves. Else within the interval that the coordinator wishes, in turn."""
    if member.parked is not None or now < member.moving_until:
        return now + min(_look_ms(member, now), member.pace_ms)
    since_turn_ms = 0 if member.beat_part is None else (now - int(member.pace_ms * member.beat_part)) % member.pace_ms
    return now + member.pace_ms - since_turn_ms


def _look_ms(member: Member, now: int) -> int:
    """Nobody looks for who waits where the group cannot be described. Else nothing is there to be seen before `rest_from`:
    whatever comes sooner all the same, the next description asks for."""
    if member.parked is None or member.blind:
        return member.rules.poll_ms
    return max(member.rules.poll_ms, member.parked.look_ms, member.parked.rest_from - now)


def hurry(turn: Turn) -> None:
    """A heartbeat is wanted now (or as soon as the one in flight is answered)."""
    turn.becomes(heartbeat_at=turn.now)
