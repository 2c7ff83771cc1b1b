"""Where broker lines differ, as far as a member of a group can tell.

Each line is its newest release that was to be had when this was written: 4.0.1 (4.0.2 differs by KAFKA-19449 alone, and is
with 4.1 there), 4.1.2, 4.2.2, 4.3.1, 4.4.0. A flag says since when it is so, and by what ticket;
tests/simulation/test_broker_lines.py puts each to the lines, and to real brokers of them.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace


class BrokerLine(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    epoch_before_anyone: int
    """Group epoch that the first join bumps: the first member is at 1, or at 2 since KAFKA-20268 (4.3)."""
    assignment_interval_ms: int
    """Least time between two computations of the target (KIP-1263, 4.3); 0: at every bump."""
    rejoin_at_epoch_0: bool
    """A member that is known may say epoch 0 again (KAFKA-19233, 4.2); before, it is fenced."""
    commits_at_older_epochs: bool
    """A commit at an older epoch holds for partitions that were the member's by then (KIP-1251, 4.3)."""
    vote_bumps_epoch: bool
    """Another preferred assignor is a reason for a new epoch (KAFKA-20434, 4.4)."""
    strips_unsubscribed: bool
    """Partitions of topics no longer subscribed are taken before the next target exists (KAFKA-19431, 4.2)."""
    known_instance_fits_full_group: bool
    """Who comes back under it takes no new place (KAFKA-20601, 4.4)."""
    empty_group_is_assigned: bool
    """When the last member goes, the target of nobody is at once that of the new epoch (KAFKA-20442, 4.4)."""
    own_revocation_is_free: bool
    """What a member gives back, and shall have after all, it is given at once (KAFKA-19449, 4.1); before, a heartbeat
    later."""
    letting_go_moves_epoch: bool
    """A member that has let go, and must let go of more, is one epoch further meanwhile; no more since KAFKA-19974 (4.2)."""
    describes_pending_revocation: bool
    """Partitions a member is asked to revoke are still in its described assignment (KAFKA-20431, 4.3)."""


V4_0 = BrokerLine(
    name="4.0",
    epoch_before_anyone=0,
    assignment_interval_ms=0,
    rejoin_at_epoch_0=False,
    commits_at_older_epochs=False,
    vote_bumps_epoch=False,
    strips_unsubscribed=False,
    known_instance_fits_full_group=False,
    empty_group_is_assigned=False,
    own_revocation_is_free=False,
    letting_go_moves_epoch=True,
    describes_pending_revocation=False,
)
V4_1 = replace(V4_0, name="4.1", own_revocation_is_free=True)
V4_2 = replace(V4_1, name="4.2", rejoin_at_epoch_0=True, strips_unsubscribed=True, letting_go_moves_epoch=False)
V4_3 = replace(
    V4_2,
    name="4.3",
    epoch_before_anyone=1,
    assignment_interval_ms=1000,
    commits_at_older_epochs=True,
    describes_pending_revocation=True,
)
V4_4 = replace(
    V4_3,
    name="4.4",
    vote_bumps_epoch=True,
    known_instance_fits_full_group=True,
    empty_group_is_assigned=True,
)
LINES = {line.name: line for line in (V4_0, V4_1, V4_2, V4_3, V4_4)}


class GroupSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The broker's `group.consumer.*`, with Kafka's defaults."""

    heartbeat_interval_ms: int = 5_000
    session_timeout_ms: int = 45_000
    max_size: int = 2**31 - 1
