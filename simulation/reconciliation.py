"""What may this member own now? KIP-848's reconciliation, member by member (Kafka: CurrentAssignmentBuilder).

assigned ∩ target                  stays
assigned − target                  must be revoked first, and while the member still reports it, its epoch stands still
target − assigned, and free        is given at once, at the epoch of the target
target − assigned, held elsewhere  is waited for
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

import msgspec

from simulation.brokers import BrokerLine
from translation.group_heartbeat import TopicPartition

Epochs = Mapping[TopicPartition, int]


class MemberState(Enum):
    STABLE = "stable"
    UNREVOKED_PARTITIONS = "unrevoked"
    UNRELEASED_PARTITIONS = "unreleased"


class Holding(msgspec.Struct, frozen=True):
    """What the coordinator grants a member: partitions with the epoch they were granted at, and those it wants back."""

    state: MemberState = MemberState.STABLE
    epoch: int = 0
    assigned: Epochs = {}
    to_revoke: Epochs = {}


class Goal(msgspec.Struct, frozen=True):
    """Where the member is to go: its share of the target (topics it subscribes to) and the target's epoch."""

    epoch: int
    share: frozenset[TopicPartition]


def reconcile(
    now: Holding,
    goal: Goal,
    owned: frozenset[TopicPartition] | None,
    taken: frozenset[TopicPartition],
    line: BrokerLine,
) -> Holding:
    """One step towards the goal. `owned` is the member's own report (None: not said), `taken` is not to be had now."""
    if now.state is MemberState.STABLE and now.epoch == goal.epoch:
        return now
    if now.state is MemberState.UNREVOKED_PARTITIONS and _still_owns(owned, now.to_revoke):
        return now
    has_let_go = now.state is MemberState.UNREVOKED_PARTITIONS
    kept = {partition: epoch for partition, epoch in now.assigned.items() if partition in goal.share}
    surplus = {partition: epoch for partition, epoch in now.assigned.items() if partition not in goal.share}
    if surplus and _still_owns(owned, surplus):
        epoch = now.epoch + (has_let_go and line.letting_go_moves_epoch)
        return Holding(MemberState.UNREVOKED_PARTITIONS, epoch, kept, surplus)
    missing = goal.share - kept.keys()
    given = missing - taken
    state = MemberState.STABLE if given == missing else MemberState.UNRELEASED_PARTITIONS
    return Holding(state, goal.epoch, {**kept, **dict.fromkeys(given, goal.epoch)}, {})


def strip(now: Holding, topic_ids: frozenset[str], owned: frozenset[TopicPartition] | None) -> Holding:
    """Partitions of topics the member no longer subscribes to go at once, whatever the target still says."""
    lost = {partition: epoch for partition, epoch in now.assigned.items() if partition.topic_id not in topic_ids}
    if not lost:
        return now
    kept = {partition: epoch for partition, epoch in now.assigned.items() if partition not in lost}
    to_revoke = {**now.to_revoke, **lost}
    if _still_owns(owned, to_revoke):
        return Holding(MemberState.UNREVOKED_PARTITIONS, now.epoch, kept, to_revoke)
    return Holding(now.state, now.epoch, kept, now.to_revoke)


def _still_owns(owned: frozenset[TopicPartition] | None, partitions: Epochs) -> bool:
    return owned is None or not owned.isdisjoint(partitions)
