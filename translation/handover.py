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
    """For each member here whose client must give up something: when to ask it."""
    receivers = {tp: member.member_id for member in described.members for tp in member.target}
    for member_id in group.locals:
        losses = group.members[member_id].losses
        if losses:
            waits = [_receiver(group, receivers, tp) for tp in sorted(losses)]
            yield member_id, HandOverPlanned(at=best_time(group, waits, now))


def _receiver(group: Group, receivers: dict[TopicPartition, str], tp: TopicPartition) -> Known | None:
    return group.members.get(receivers.get(tp, ""))


def best_time(group: Group, receivers: Iterable[Known | None], now: int) -> int:
    """Nobody to wait for: now. Else the moment, a margin before some receiver's beat, that costs the least."""
    slow = [r.beat_at for r in receivers if r is not None and not r.local and not r.passing and r.beat_at is not None]
    if not slow:
        return now
    margin_ms = group.pacing.margin_ms
    moments = {_next_beat(group, beat_at, now + margin_ms) - margin_ms for beat_at in slow}
    return min(moments, key=lambda at: (sum(_next_beat(group, b, at + margin_ms) - at for b in slow), at))


def _next_beat(group: Group, beat_at: int, from_: int) -> int:
    """The first beat at or after `from_` of one that was seen to beat at `beat_at`."""
    interval_ms = group.pacing.heartbeat_ms
    return beat_at + -(-max(from_ - beat_at, 0) // interval_ms) * interval_ms
