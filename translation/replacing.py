"""How long is a replacement waited for? By how it went the last time.

The grace after a leave is a bet that somebody comes in its place (motion.py). Processes that are restarted one by one are
away for about the same time: the first of them says how long, and for the others the bet is won. Who is away for longer is
better replaced by others meanwhile, at once.
"""

from __future__ import annotations

import msgspec

from translation.group import Described, Group


def someone_left(group: Group, now: int) -> Group:
    """Of many that leave together the first newcomer replaces the last. But if nobody has come since the one before, and long
    enough, that one is no example."""
    is_alone = group.left_at is not None and now - group.left_at > group.pacing.longest_away_ms
    return msgspec.structs.replace(group, left_at=now, away_ms=0 if is_alone else group.away_ms)


def someone_came(group: Group, now: int) -> Group:
    if group.left_at is None:
        return group
    return msgspec.structs.replace(group, left_at=None, away_ms=now - group.left_at)


def someone_is_new(group: Group, described: Described) -> bool:
    """A native member past us. Who is in the first description of a group may have been there for years."""
    known = group.described_ids | group.members.keys()
    return group.described_at is not None and any(each.member_id not in known for each in described.members)
