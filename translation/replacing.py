"""How long is a replacement waited for? Twice as long as the last one took to come.

The grace after a leave is a bet that somebody comes in its place (motion.py). Processes that are restarted one by one are
away for about the same time: the first of them says how long, and for the others the bet is won. When nobody has come in
time it is as short again as it was. And who is away for long is better replaced by others meanwhile, as it was.
"""

from __future__ import annotations

import msgspec

from translation.group import Described, Group


def someone_left(group: Group, now: int) -> Group:
    """It was the last whose replacement may be awaited: of many that leave together the first newcomer replaces all."""
    is_lost = group.left_at is not None and now - group.left_at > group.grace_ms
    return msgspec.structs.replace(group, left_at=now, away_ms=0 if is_lost else group.away_ms)


def someone_came(group: Group, now: int) -> Group:
    if group.left_at is None:
        return group
    away_ms = now - group.left_at
    is_replacement = away_ms <= group.pacing.longest_away_ms
    return msgspec.structs.replace(group, left_at=None, away_ms=away_ms if is_replacement else 0)


def someone_is_new(group: Group, described: Described) -> bool:
    """A native member past us. Who is in the first description of a group may have been there for years."""
    return group.described_at is not None and any(each.member_id not in group.members for each in described.members)
