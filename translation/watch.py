"""Whose turn is it to look? At rest each member here beats once in an interval, and they take turns.

A coordinator tells of a change in answers to heartbeats and nowhere else. So a direct native member that comes or goes is
seen by the first here who beats, and the others hear of it from the group (motion.py). After motion all would beat
together, and all would look away together for a whole interval. Evenly spread they see it so many times sooner, with as
many requests.
"""

from __future__ import annotations

from translation.group import Group


def free_seat(group: Group) -> int:
    """The lowest that no member here has: whoever comes sits between two others, and nobody moves."""
    taken = {group.members[name].seat for name in group.locals}
    return next(seat for seat in range(len(taken) + 1) if seat not in taken)


def part_of(seat: int) -> float:
    """Of the interval: 0, 1/2, 1/4, 3/4, 1/8 and so on, even for however many (van der Corput's sequence)."""
    part, step = 0.0, 0.5
    while seat:
        part += step * (seat & 1)
        seat, step = seat >> 1, step / 2
    return part


def looked_at(group: Group, looker: str | None, now: int) -> int:
    """When somebody here last beat before this one, and saw nothing. While the group moves that is not long ago: between
    two looks lies a poll, and at times the grace after a leave."""
    interval_ms = group.heartbeat_ms
    others = [group.members[name].seat for name in group.locals if name != looker]
    ago = min(((now - int(interval_ms * part_of(seat))) % interval_ms for seat in others), default=interval_ms)
    return now - (min(ago, group.pacing.poll_ms + group.grace_ms) if group.is_moving(now) else ago)
