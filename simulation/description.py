"""ConsumerGroupDescribe: the group as the coordinator shows it to anybody who asks."""

from __future__ import annotations

import msgspec

from simulation.assignors import NOTHING
from simulation.brokers import BrokerLine
from simulation.errors import Error
from simulation.group import Group, GroupMember, GroupState
from translation.group_heartbeat import TopicPartition


class MemberDescription(msgspec.Struct, frozen=True):
    member_id: str
    instance_id: str | None
    client_id: str
    epoch: int
    topic_names: tuple[str, ...]
    assignment: tuple[TopicPartition, ...]
    target: tuple[TopicPartition, ...]
    client_host: str = ""
    topic_regex: str = ""


class GroupDescription(msgspec.Struct, frozen=True):
    group_id: str
    state: GroupState
    error_code: int = 0
    epoch: int = 0
    assignment_epoch: int = 0
    assignor: str = ""
    members: tuple[MemberDescription, ...] = ()


def describe(group_id: str, group: Group | None, line: BrokerLine) -> GroupDescription:
    if group is None:
        return GroupDescription(group_id, GroupState.DEAD, Error.GROUP_ID_NOT_FOUND)
    members = tuple(_member(group, member, line) for member in group.members.values())
    return GroupDescription(
        group_id, group.state, 0, group.epoch, group.assignment_epoch, group.preferred_assignor(), members
    )


def _member(group: Group, member: GroupMember, line: BrokerLine) -> MemberDescription:
    assignment = set(member.holding.assigned)
    if line.describes_pending_revocation:
        assignment.update(member.holding.to_revoke)
    target = group.target.get(member.member_id, NOTHING)
    return MemberDescription(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.epoch,
        member.topic_names,
        tuple(sorted(assignment)),
        tuple(sorted(target)),
        member.client_host,
        member.topic_regex,
    )
