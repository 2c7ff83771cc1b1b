"""Committed offsets, and who may commit: the epoch rules of OffsetCommit and OffsetFetch for native members."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from simulation.brokers import BrokerLine
from simulation.errors import Error, Refused
from simulation.group import Group, GroupMember
from translation.group_heartbeat import TopicPartition

FIRST_VERSION_FOR_NATIVES = 9
ANYBODY = -1


class Commit(msgspec.Struct, frozen=True, kw_only=True):
    group_id: str
    member_id: str
    epoch: int
    offsets: Mapping[TopicPartition, int]
    version: int = FIRST_VERSION_FOR_NATIVES


def check_commit(group: Group, commit: Commit, line: BrokerLine) -> None:
    if commit.epoch == ANYBODY and not group.members:
        return
    member = group.members.get(commit.member_id)
    if member is None:
        raise Refused(Error.UNKNOWN_MEMBER_ID, commit.member_id)
    if commit.version < FIRST_VERSION_FOR_NATIVES:
        raise Refused(Error.UNSUPPORTED_VERSION, "members of the consumer protocol commit with version 9 or later")
    if commit.epoch == member.epoch:
        return
    if commit.epoch > member.epoch or not line.commits_at_older_epochs or not _held_by_then(member, commit):
        raise Refused(Error.STALE_MEMBER_EPOCH, f"{commit.epoch}, not {member.epoch}")


def _held_by_then(member: GroupMember, commit: Commit) -> bool:
    """KIP-1251: every partition was granted at or before the epoch the commit speaks of."""
    granted = {**member.holding.assigned, **member.holding.to_revoke}
    return all(granted.get(partition, commit.epoch + 1) <= commit.epoch for partition in commit.offsets)
