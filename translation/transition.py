"""A transition record: what changed for a member, and why. Spans, metrics, tests and the pipeline all read this."""

from __future__ import annotations

import msgspec

from translation.group_heartbeat import TopicPartition
from translation.states import Phase, Standing


class Transition(msgspec.Struct, frozen=True, kw_only=True):
    """One step of one member that moved its phase, its standing, its epoch, its generation or its partitions.

    `kept`, `revoked` and `gained` are about the client: what it may hold after the step, against before.
    `request` is the host's number of the client's request that caused the step, where one did.
    """

    group_id: str
    member_id: str
    instance_id: str | None
    client_id: str
    at: int
    cause: str
    phase_before: Phase
    phase: Phase
    standing_before: Standing
    standing: Standing
    epoch_before: int
    epoch: int
    generation_before: int
    generation: int
    kept: tuple[TopicPartition, ...] = ()
    revoked: tuple[TopicPartition, ...] = ()
    gained: tuple[TopicPartition, ...] = ()
    owned: tuple[TopicPartition, ...] = ()
    assigned: tuple[TopicPartition, ...] = ()
    request: int | None = None
    reason: str | None = None
