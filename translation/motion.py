"""When do we look closely? After any sign of motion, for a short while, in the cheapest way; and not right after a leave.

The coordinator computes a target when somebody heartbeats. After a leave that would be wasted on a group which its
replacement is about to join: it gets nothing in its first answer, and waits for its next beat (measured: 83
partition-seconds idle in a rolling upgrade against 2). So nobody is hurried for a short grace, unless somebody joins.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from translation.events import (
    AssignorAgreed,
    BeatPlaced,
    BeatWanted,
    LullWanted,
    MotionSeen,
    TargetLearned,
    TargetUnknown,
)
from translation.group import (
    SLOWEST_MS,
    AnyGroupFact,
    Describe,
    Described,
    DescribedMember,
    DescriptionFailed,
    DescriptionWanted,
    Group,
    GroupOrder,
    Known,
    MemberChanged,
    NativeBeat,
    NativePutOff,
    Tell,
    TimePassed,
)
from translation.group_heartbeat import JOIN_EPOCH, STATIC_LEAVE_EPOCH, TopicPartition
from translation.handover import TRUST_MS, held, on_its_way, plans, rest_from
from translation.replacing import someone_came, someone_is_new, someone_left
from translation.states import Phase, Standing
from translation.watch import free_seat, looked_at, part_of

# A description that has not come after so long is asked for again.
DESCRIPTION_PATIENCE_MS = 2000
# As long as the session of a native member is by default, and some beats more.
FADED_MS = 60_000
# How often they are forgotten: it takes a look at all who are there.
FORGET_MS = 5_000
# Who beats seldom may still have to give or to take: a group moves for a beat of theirs, and so long.
BEYOND_A_BEAT_MS = 1_000
UNKNOWN = Known()
# Up to this many members may each look for themselves where their group cannot be described. The heartbeats of more, every
# tenth of a second from when a coordinator moves, would be a storm.
FEW = 4
OUTSIDE = frozenset({Standing.LEAVING, Standing.FENCED, Standing.ABSENT, Standing.FATAL})


def group_step(group: Group, fact: AnyGroupFact, now: int) -> tuple[Group, list[GroupOrder]]:
    orders: list[GroupOrder] = []
    match fact:
        case MemberChanged():
            before, group = group, _member_changed(group, fact, now)
            _place(before, group, fact.transition.member_id, orders)
            if _has_new_ballots(before, group, fact.transition.member_id):
                group = _agree(group, orders)
        case NativeBeat():
            group = _native_beat(group, fact, now)
        case NativePutOff():
            since = group.members[fact.member_id].put_off_at
            members = _know(group, fact.member_id, beat_at=now, put_off_at=now if since is None else since)
            group = _with(group, members=members)
        case DescriptionWanted():
            group = _with(group, wishers=group.wishers | {fact.member_id}, describe_at=_next_description(group, now))
        case Described():
            group = _epoch_rose(group, fact.group_epoch, None, now)
            if someone_is_new(group, fact):
                group = _stir(someone_came(group, now), now)
            ids = frozenset(each.member_id for each in fact.members)
            group = _with(group, members=_seen(group, fact, now), described_ids=ids, described_topics=fact.topics)
            orders += _tell_described(group, fact, now)
            group = _described(group, now)
        case DescriptionFailed():
            orders += [Tell(name, TargetUnknown()) for name in sorted(group.wishers) if fact.for_good]
            if group.is_watched and _is_small(group) and _may_hurry(group, now):
                orders += _look_themselves(group)
            group = _description_failed(group, fact, now)
        case TimePassed():  # pragma: no branch
            pass
    group = _attend(group, orders, now)
    if any(isinstance(order, Tell) and isinstance(order.event, MotionSeen | BeatWanted) for order in orders):
        # It ends the lull for whom it is told.
        group = _with(group, hushed_until=min(group.hushed_until, group.quiet_until))
    return group, orders


def _with(group: Group, **changes: object) -> Group:
    return msgspec.structs.replace(group, **changes)


def _know(group: Group, member_id: str, **changes: object) -> dict[str, Known]:
    known = group.members.get(member_id, Known())
    return group.members | {member_id: msgspec.structs.replace(known, **changes)}


def _without(group: Group, member_id: str) -> Group:
    members = {name: known for name, known in group.members.items() if name != member_id}
    locals_ = tuple(name for name in group.locals if name != member_id)
    return _with(group, members=members, locals=locals_, wishers=group.wishers - {member_id})


# --- signs of motion -----------------------------------------------------------------------------------------------


def _member_changed(group: Group, changed: MemberChanged, now: int) -> Group:
    transition, name = changed.transition, changed.transition.member_id
    before = group.members.get(name)
    if transition.standing in OUTSIDE:
        group = _without(group, name)
        # Who was refused has not been in the group, and leaves nothing; and a leave is told of twice, as it is said and as it
        # is answered: between the two a description may still have named the leaver.
        if before is None or not before.local or before.epoch <= 0:
            return group
        # Whose session has ended is not being replaced just now.
        return _stir(group, now) if transition.request is None else _may_be_replaced(group, now)
    owned, assigned = frozenset(transition.owned), frozenset(transition.assigned)
    losses = owned - assigned
    group = _with(group, interval_ms=changed.interval_ms or group.interval_ms)
    group = _epoch_rose(group, transition.epoch, name, now)
    members = _know(
        group,
        name,
        epoch=transition.epoch,
        local=True,
        passing=False,
        seat=before.seat if before is not None and before.local else free_seat(group),
        asked=transition.phase is not Phase.STABLE,
        losses=losses,
        gains=assigned - owned,
        offers=changed.contract.ballot,
        vote=changed.contract.assignor,
        refused=changed.contract.refused,
    )
    locals_ = group.locals if name in group.locals else tuple(sorted((*group.locals, name)))
    group = _with(group, members=members, locals=locals_)
    if transition.epoch > 0 and (before is None or before.epoch <= 0):
        group = someone_came(group, now)
    is_news = transition.epoch != transition.epoch_before or transition.phase_before is Phase.ABSENT
    has_to_give = before is not None and not losses <= before.losses
    if has_to_give and transition.request is None and transition.epoch == group.epoch:
        # It hears of the next epoch once it has given.
        group = _sign_of_rise(group, name, now)
    if transition.epoch <= 0 and now < group.quiet_until:
        # It has yet to be heard, and somebody who is hurried now may be heard before it.
        return group
    return _stir(group, now) if is_news or has_to_give else group


def _epoch_rose(group: Group, epoch: int, looker: str | None, now: int) -> Group:
    return _with(_sign_of_rise(group, looker, now), epoch=epoch, rises=False) if epoch > group.epoch else group


def _sign_of_rise(group: Group, looker: str | None, now: int) -> Group:
    """What makes the group's epoch rise came to pass after somebody here last looked, before the first sign of it."""
    if group.rises:
        return group
    rose_at = looked_at(group, looker, now)
    return _with(group, rises=True, rose_at=rose_at, rose_within_ms=now - rose_at)


def _place(before: Group, group: Group, name: str, orders: list[GroupOrder]) -> None:
    if name in group.locals and name not in before.locals:
        orders.append(Tell(name, BeatPlaced(part=part_of(group.members[name].seat))))


def _has_new_ballots(before: Group, group: Group, member_id: str) -> bool:
    was, known = before.members.get(member_id, UNKNOWN), group.members.get(member_id, UNKNOWN)
    return (was.offers, was.vote, was.refused) != (known.offers, known.vote, known.refused)


def _agree(group: Group, orders: list[GroupOrder]) -> Group:
    """One vote for all: see assignors.py."""
    assignor = group.assignor
    if assignor is None:
        return group
    others = [name for name in group.locals if group.members[name].vote not in (None, assignor)]
    orders += [Tell(name, AssignorAgreed(assignor=assignor)) for name in others]
    members = group.members | {name: msgspec.structs.replace(group.members[name], vote=assignor) for name in others}
    return _with(group, members=members)


def _native_beat(group: Group, beat: NativeBeat, now: int) -> Group:
    if beat.answered_after_ms >= group.slowest_ms or now >= group.slowest_until:
        group = _with(group, slowest_ms=beat.answered_after_ms, slowest_until=now + SLOWEST_MS)
    if beat.epoch_sent < JOIN_EPOCH:
        return _native_left(group, beat, now)
    if beat.epoch_sent == JOIN_EPOCH:
        group = someone_came(group, now)
    if now - group.forgot_at > FORGET_MS:
        group = _with(group, members=_there(group, now), forgot_at=now)
    members = _know(
        group,
        beat.member_id,
        epoch=beat.epoch_answered,
        passing=True,
        beat_at=now,
        put_off_at=None,
    )
    group = _with(group, members=members, interval_ms=beat.interval_ms or group.interval_ms)
    return _stir(group, now) if beat.epoch_answered != beat.epoch_sent else group


def _native_left(group: Group, beat: NativeBeat, now: int) -> Group:
    """A static one mostly for a while: it keeps what it has, and no target is computed for its leaving. But what it had yet
    to give up, if it was behind, is free at once."""
    left, group = group.members.get(beat.member_id, UNKNOWN), _without(group, beat.member_id)
    if beat.epoch_sent != STATIC_LEAVE_EPOCH:
        return _may_be_replaced(group, now)
    return _stir(group, now) if 0 < left.epoch < group.epoch else group


def has_faded(known: Known, now: int) -> bool:
    """A native member that passes and has said nothing for so long has ended without a word, or passes elsewhere."""
    is_native = known.passing and not known.local
    return is_native and known.beat_at is not None and now - known.beat_at > FADED_MS


def _there(group: Group, now: int) -> dict[str, Known]:
    return {name: known for name, known in group.members.items() if not has_faded(known, now)}


def is_deserted(group: Group, now: int) -> bool:
    """Nobody of it lives here or passes. Who else was seen in it may be there for years: nothing says when they end."""
    return not any(known.local or (known.passing and not has_faded(known, now)) for known in group.members.values())


def _may_be_replaced(group: Group, now: int) -> Group:
    group = someone_left(group, now)
    group = _stir(group, now, group.grace_ms)
    return _with(group, describe_at=_next_description(group, now)) if group.is_watched else group


def _stir(group: Group, now: int, grace_ms: int = 0) -> Group:
    """Motion. A leave begins a grace; anything else ends it, for then the coordinator has computed already."""
    quiet_until = now + grace_ms
    motion_ms = max(group.pacing.motion_ms, group.heartbeat_ms + BEYOND_A_BEAT_MS)
    return _with(group, quiet_until=quiet_until, moving_until=quiet_until + motion_ms, stirred=True)


def _attend(group: Group, orders: list[GroupOrder], now: int) -> Group:
    if group.hushed_until < group.quiet_until and now >= group.hush_at:
        if now < group.quiet_until:
            orders += [Tell(name, LullWanted(until=group.quiet_until)) for name in group.locals]
        group = _with(group, hushed_until=group.quiet_until)
    if now >= group.quiet_until and group.told_until < group.moving_until:
        group = _tell_motion(group, orders, now)
    if group.describe_at is not None and now >= group.describe_at:
        orders.append(Describe())
        group = _with(group, describe_at=now + DESCRIPTION_PATIENCE_MS, asked_at=now, stirred=False)
    return group


def _tell_motion(group: Group, orders: list[GroupOrder], now: int) -> Group:
    """A few members look for themselves; for many, one description says who of them should."""
    if group.is_watched:
        group = _with(group, describe_at=_next_description(group, now))
    else:
        orders += _look_themselves(group)
    return _with(group, told_until=group.moving_until)


def _look_themselves(group: Group) -> list[GroupOrder]:
    return [Tell(name, MotionSeen(until=group.moving_until)) for name in group.locals]


def _is_small(group: Group) -> bool:
    return len(group.locals) <= FEW


def _may_hurry(group: Group, now: int) -> bool:
    """It moves, and a leave is not so fresh that nobody may be hurried."""
    return group.is_moving(now) and now >= group.quiet_until


def _next_description(group: Group, now: int) -> int:
    """Now, or when the last has paid for itself. If one is on its way its answer serves, or its absence will be noticed."""
    if group.asked_at is not None and group.describe_at is not None:
        return group.describe_at
    return now if group.described_at is None else max(now, group.described_at + group.describe_apart_ms)


# --- descriptions --------------------------------------------------------------------------------------------------


def _tell_described(group: Group, described: Described, now: int) -> Iterable[GroupOrder]:
    planned = dict(plans(group, described, now))
    coming = on_its_way(group, described, planned, now)
    rests = rest_from(group, described, planned, now)
    have_something = sum(bool(each.target or each.assigned) for each in described.members)
    begins = described.group_epoch > described.assignment_epoch and have_something == 1 < len(described.members)
    for member in described.members:
        if member.member_id in group.wishers:
            times = coming.get(member.member_id, ())
            learned = TargetLearned(
                group_epoch=described.group_epoch,
                assignment_epoch=described.assignment_epoch,
                member_epoch=member.epoch,
                target=member.target,
                alone=len(described.members) == 1,
                begins=begins,
                coming=len(times),
                comes_at=max(times, default=0),
                rest_from=rests.get(member.member_id, now),
                look_ms=group.look_ms(now),
            )
            yield Tell(member.member_id, learned)
    yield from (Tell(name, plan) for name, plan in planned.items() if not group.members[name].asked)
    if _may_hurry(group, now):
        yield from (Tell(name, BeatWanted()) for name in _awaited(group, described))


def _awaited(group: Group, described: Described) -> Iterable[str]:
    """Members here for whom a heartbeat would bring something. And one of them, whichever, where a target has yet to be
    computed: that takes somebody's heartbeat."""
    if described.group_epoch > described.assignment_epoch:
        yield from group.locals[:1]
    here = frozenset(group.locals)
    taken = held(group, described)
    for member in described.members:
        if member.member_id in here and _would_hear_news(group, described, member, taken):
            yield member.member_id


def _would_hear_news(group: Group, described: Described, member: DescribedMember, taken: set[TopicPartition]) -> bool:
    """It must give up something that it has not heard of, or partitions have become free for it. An epoch that moves nothing
    can wait for its own beat, but where its client waits for it."""
    known = group.members[member.member_id]
    is_behind = known.epoch < described.assignment_epoch
    if is_behind and member.member_id in group.wishers:
        return True
    if member.target == member.assigned:
        return False
    target, assigned = set(member.target), set(member.assigned)
    return bool((is_behind and assigned - target - known.losses) or target - assigned - taken)


def _described(group: Group, now: int) -> Group:
    pause_ms = max(group.pacing.poll_ms, group.describe_apart_ms)
    again = now + pause_ms if group.is_watched and group.is_moving(now) else None
    return _with(group, wishers=frozenset(), asked_at=None, described_at=now, describe_at=again)


def _seen(group: Group, described: Described, now: int) -> dict[str, Known]:
    """A direct native member has beaten when its epoch has moved, or it is new: since the last description, if that was
    just before. If not, one that is new came when the epoch rose, and another keeps the rhythm it was seen to have.
    """
    described_at = group.described_at
    lately = described_at if described_at is not None and now - described_at <= TRUST_MS else None
    there = _there(group, now)
    members = {name: known for name, known in there.items() if known.local or known.passing}
    for member in described.members:
        known = there.get(member.member_id)
        if known is not None and (known.local or known.passing or known.epoch == member.epoch):
            times = {"hears_at": member.hears_at, "gives_at": member.gives_at}
            members[member.member_id] = msgspec.structs.replace(known, **times)
        elif lately is not None:
            members[member.member_id] = Known(epoch=member.epoch, beat_at=lately, beat_within_ms=now - lately)
        else:
            members[member.member_id] = _rhythm(group, known, member.epoch)
    return members


def _rhythm(group: Group, known: Known | None, epoch: int) -> Known:
    if known is not None:
        return msgspec.structs.replace(known, epoch=epoch)
    if epoch < group.epoch:
        return Known(epoch=epoch)
    return Known(epoch=epoch, beat_at=group.rose_at, beat_within_ms=group.rose_within_ms)


def _description_failed(group: Group, failed: DescriptionFailed, now: int) -> Group:
    is_wanted = bool(group.wishers) or (group.is_watched and group.is_moving(now) and not _is_small(group))
    again = now + group.pacing.poll_ms if is_wanted and not failed.for_good else None
    wishers = frozenset[str]() if failed.for_good else group.wishers
    return _with(group, wishers=wishers, asked_at=None, describe_at=again)
