"""Where broker lines differ, as far as a member of a group can tell."""

from __future__ import annotations

import msgspec


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
    """KAFKA-20601 (4.3)."""
    empty_group_is_assigned: bool
    """When the last member goes, the target of nobody is at once that of the new epoch (4.3)."""
    own_revocation_is_free: bool
    """What a member gives back, and shall have after all, it is given at once (KAFKA-19449); before, a heartbeat later."""
    letting_go_moves_epoch: bool
    """A member that has let go, and must let go of more, is one epoch further meanwhile (4.0; not in 4.4)."""
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
V4_4 = BrokerLine(
    name="4.4",
    epoch_before_anyone=1,
    assignment_interval_ms=1000,
    rejoin_at_epoch_0=True,
    commits_at_older_epochs=True,
    vote_bumps_epoch=True,
    strips_unsubscribed=True,
    known_instance_fits_full_group=True,
    empty_group_is_assigned=True,
    own_revocation_is_free=True,
    letting_go_moves_epoch=False,
    describes_pending_revocation=True,
)
LINES = {line.name: line for line in (V4_0, V4_4)}


class GroupSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The broker's `group.consumer.*`, with Kafka's defaults."""

    heartbeat_interval_ms: int = 5_000
    session_timeout_ms: int = 45_000
    max_size: int = 2**31 - 1
