"""When can partitions change hands? Nothing is gained when a member lets go before the receiver can take.

Who will receive is in the targets of a description. A receiver behind this proxy is there at once, and so is a native
one that passes through and is paced. A direct native member takes at its next beat: so the client is asked to give up
just before one of the receivers' beats, whichever leaves the partitions with nobody for the least time in all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from translation.events import HandOverPlanned
from translation.group import Described, Group, Known
from translation.heartbeat import TopicPartition


def plans(group: Group, described: Described, now: int) -> Iterator[tuple[str, HandOverPlanned]]:
    """When to ask the clients here that must give up something: all at one time, for what one gives up another waits to
    take, and until then each has its own.

    What a member has been told to give up is no longer assigned to it, though its client has it still: we know that of
    our own (losses). What another has not been told yet is in the description: assigned, and not in its target.
    """
    receivers = {tp: member.member_id for member in described.members for tp in member.target}
    waits = [group.members.get(receivers.get(tp, "")) for tp in sorted(_given(group, described))]
    at = best_time(group, waits, len(_idle(group, described)), now)
    return ((name, HandOverPlanned(at=at)) for name in group.locals if group.members[name].losses)


def _given(group: Group, described: Described) -> set[TopicPartition]:
    """All that the clients here have or will have to give up."""
    here = [member for member in described.members if member.member_id in group.locals]
    return _losses(group).union(*(set(member.assigned) - set(member.target) for member in here))


def _losses(group: Group) -> set[TopicPartition]:
    return set().union(*(group.members[name].losses for name in group.locals))


def _idle(group: Group, described: Described) -> set[TopicPartition]:
    """Partitions that nobody consumes until those clients rejoin: granted and not told, or meant for them and held by
    nobody."""
    held = _losses(group).union(*(member.assigned for member in described.members))
    asked = {name for name in group.locals if group.members[name].losses}
    free = [set(member.target) - held for member in described.members if member.member_id in asked]
    return set[TopicPartition]().union(*free, *(group.members[name].gains for name in asked))


def best_time(group: Group, receivers: Iterable[Known | None], idle: int, now: int) -> int:
    """Nobody to wait for: now. Else now, or a margin before some receiver's beat, whichever costs least: what is given up
    lies idle until its receiver's beat, and what lies idle already does so until then."""
    slow = [r.beat_at for r in receivers if r is not None and not r.local and not r.passing and r.beat_at is not None]
    margin_ms = group.pacing.margin_ms

    def cost(at: int) -> int:
        return sum(_next_beat(group, beat_at, at + margin_ms) - at for beat_at in slow) + idle * (at - now)

    moments = {now, *(_next_beat(group, beat_at, now + margin_ms) - margin_ms for beat_at in slow)}
    return min(moments, key=lambda at: (cost(at), at))


def _next_beat(group: Group, beat_at: int, from_: int) -> int:
    """The first beat at or after `from_` of one that was seen to beat at `beat_at`."""
    interval_ms = group.pacing.heartbeat_ms
    return beat_at + -(-max(from_ - beat_at, 0) // interval_ms) * interval_ms
