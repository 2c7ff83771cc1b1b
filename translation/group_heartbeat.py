"""ConsumerGroupHeartbeat as the two sides speak of it: KIP-848's request and answer, field by field.

The simulation's coordinator takes and gives these records; the proxy writes and reads them on the wire.
"""

from __future__ import annotations

import msgspec

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2
# What Java's trim takes away. A name of nothing else is empty to coordinators of native members, and refused.
BLANKS = "".join(map(chr, range(ord(" ") + 1)))


def unless_blank(name: str | None) -> str | None:
    """Classic coordinators take any name. Of an instance or a rack it says nothing; a group of that name stays classic."""
    return name if name and name.strip(BLANKS) else None


class TopicPartition(msgspec.Struct, frozen=True, order=True):
    """A partition by its topic's id (32 hexadecimal digits): KIP-848 speaks of topics by id only."""

    topic_id: str
    partition: int


class GroupHeartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """The request. None means "unchanged since my last heartbeat", as KIP-848 has it."""

    group_id: str
    member_id: str
    member_epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: tuple[str, ...] | None = None
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    owned: tuple[TopicPartition, ...] | None = None


class GroupHeartbeatAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer. An assignment, where there is one, is all that the member may own now, never a difference."""

    error_code: int = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: tuple[TopicPartition, ...] | None = None
