"""ConsumerGroupHeartbeat, ConsumerGroupDescribe, ListGroups and DescribeGroups, and a plain no to the classic protocol."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from demo.cluster.cluster import Cluster
from demo.cluster.codes import Code, Refused
from demo.cluster.request import Request
from kafka_protocol import messages as m
from simulation.description import GroupDescription, MemberDescription
from translation.group_heartbeat import JOIN_EPOCH, GroupHeartbeat, TopicPartition

FIRST_WHERE_CLIENTS_NAME_THEMSELVES = 1
FIRST_DESCRIPTION_OF_THE_UNKNOWN = 6
FIRST_BATCH_LEAVE = 3
NATIVE = 1


def heartbeat(cluster: Cluster, request: Request) -> Any:
    try:
        request.admit()
        coordinator = cluster.coordinated(request.node, request.body.group_id)
    except Refused as refused:
        return m.ConsumerGroupHeartbeatResponse(error_code=refused.code)
    said = _heard(cluster, request)
    answer = coordinator.heartbeat(said, cluster.now_ms, request.client_id, request.client_host)
    return m.ConsumerGroupHeartbeatResponse(
        error_code=answer.error_code,
        error_message=answer.error_message,
        member_id=answer.member_id,
        member_epoch=answer.member_epoch,
        heartbeat_interval_ms=answer.heartbeat_interval_ms,
        assignment=None if answer.assignment is None else _assigned(answer.assignment),
    )


def _heard(cluster: Cluster, request: Request) -> GroupHeartbeat:
    body = request.body
    names = body.subscribed_topic_names
    owned = body.topic_partitions
    return GroupHeartbeat(
        group_id=body.group_id,
        member_id=_member_id(request),
        member_epoch=body.member_epoch,
        instance_id=body.instance_id,
        rack_id=body.rack_id,
        rebalance_timeout_ms=body.rebalance_timeout_ms,
        subscribed_topic_names=None if names is None else tuple(names),
        subscribed_topic_regex=body.subscribed_topic_regex,
        server_assignor=body.server_assignor,
        owned=None
        if owned is None
        else tuple(TopicPartition(each.topic_id.hex(), number) for each in owned for number in each.partitions),
    )


def _member_id(request: Request) -> str:
    """In version 0 the coordinator gives a newcomer its id (KIP-1082 took that away)."""
    newcomer = request.body.member_epoch == JOIN_EPOCH and not request.body.member_id
    if newcomer and request.version < FIRST_WHERE_CLIENTS_NAME_THEMSELVES:
        return str(uuid.uuid4())
    return str(request.body.member_id)


def _by_topic(partitions: Iterable[TopicPartition]) -> dict[str, list[int]]:
    by_topic: dict[str, list[int]] = {}
    for each in partitions:
        by_topic.setdefault(each.topic_id, []).append(each.partition)
    return by_topic


def _assigned(partitions: Iterable[TopicPartition]) -> Any:
    return m.ConsumerGroupHeartbeatResponseAssignment(
        topic_partitions=[
            m.ConsumerGroupHeartbeatResponseTopicPartitions(topic_id=bytes.fromhex(topic_id), partitions=numbers)
            for topic_id, numbers in _by_topic(partitions).items()
        ]
    )


# ---------------------------------------------------------------------------------------------------------- descriptions


def describe(cluster: Cluster, request: Request) -> Any:
    return m.ConsumerGroupDescribeResponse(
        groups=[_described(cluster, request, group_id) for group_id in request.body.group_ids]
    )


def _described(cluster: Cluster, request: Request, group_id: str) -> Any:
    try:
        request.admit()
        group: GroupDescription = cluster.coordinated(request.node, group_id).describe(group_id)
    except Refused as refused:
        return m.ConsumerGroupDescribeResponseDescribedGroup(error_code=refused.code, group_id=group_id)
    return m.ConsumerGroupDescribeResponseDescribedGroup(
        error_code=group.error_code,
        group_id=group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.assignor,
        members=[_member(cluster, member) for member in group.members],
    )


def _member(cluster: Cluster, member: MemberDescription) -> Any:
    return m.ConsumerGroupDescribeResponseMember(
        member_id=member.member_id,
        instance_id=member.instance_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=list(member.topic_names),
        subscribed_topic_regex=member.topic_regex,
        assignment=_shown(cluster, member.assignment),
        target_assignment=_shown(cluster, member.target),
        member_type=NATIVE,
    )


def _shown(cluster: Cluster, partitions: Iterable[TopicPartition]) -> Any:
    return m.ConsumerGroupDescribeResponseAssignment(
        topic_partitions=[
            m.ConsumerGroupDescribeResponseTopicPartitions(
                topic_id=bytes.fromhex(topic_id), topic_name=cluster.topics.names[topic_id], partitions=numbers
            )
            for topic_id, numbers in _by_topic(partitions).items()
        ]
    )


def list_groups(cluster: Cluster, request: Request) -> Any:
    states = {state.lower() for state in request.body.states_filter}
    types = {kind.lower() for kind in request.body.types_filter}
    here = [
        group
        for group in cluster.coordinator.groups.values()
        if cluster.coordinator_of(group.group_id).number == request.node
    ]
    listed = [
        m.ListGroupsResponseListedGroup(
            group_id=group.group_id, protocol_type="consumer", group_state=group.state.value, group_type="Consumer"
        )
        for group in here
        if (not states or group.state.value.lower() in states) and (not types or "consumer" in types)
    ]
    return m.ListGroupsResponse(error_code=request.refusal, groups=[] if request.refusal else listed)


# -------------------------------------------------------------------------------------------------- the classic protocol


def describe_classic(cluster: Cluster, request: Request) -> Any:
    """No group is a classic one: Dead, and since version 6 with an error (KIP-1043)."""
    unknown = Code.GROUP_ID_NOT_FOUND if request.version >= FIRST_DESCRIPTION_OF_THE_UNKNOWN else Code.NONE
    return m.DescribeGroupsResponse(
        groups=[
            m.DescribeGroupsResponseDescribedGroup(
                group_id=group_id, group_state="Dead", error_code=_refusal(cluster, request, group_id) or unknown
            )
            for group_id in request.body.groups
        ]
    )


def join_classic(cluster: Cluster, request: Request) -> Any:
    """What a broker says that does not translate itself (`group.consumer.migration.policy=disabled`)."""
    code = _refusal(cluster, request, request.body.group_id) or Code.INCONSISTENT_GROUP_PROTOCOL
    return m.JoinGroupResponse(error_code=code, generation_id=-1, protocol_name="", member_id="")


def sync_classic(cluster: Cluster, request: Request) -> Any:
    code = _refusal(cluster, request, request.body.group_id) or Code.UNKNOWN_MEMBER_ID
    return m.SyncGroupResponse(error_code=code, protocol_type="", protocol_name="")


def heartbeat_classic(cluster: Cluster, request: Request) -> Any:
    code = _refusal(cluster, request, request.body.group_id) or Code.UNKNOWN_MEMBER_ID
    return m.HeartbeatResponse(error_code=code)


def leave_classic(cluster: Cluster, request: Request) -> Any:
    refusal = _refusal(cluster, request, request.body.group_id)
    if refusal or request.version < FIRST_BATCH_LEAVE:
        return m.LeaveGroupResponse(error_code=refusal or Code.UNKNOWN_MEMBER_ID)
    members = [
        m.LeaveGroupResponseMemberResponse(
            member_id=each.member_id, group_instance_id=each.group_instance_id, error_code=Code.UNKNOWN_MEMBER_ID
        )
        for each in request.body.members
    ]
    return m.LeaveGroupResponse(members=members)


def _refusal(cluster: Cluster, request: Request, group_id: str) -> int:
    try:
        request.admit()
        cluster.coordinated(request.node, group_id)
    except Refused as refused:
        return refused.code
    return Code.NONE
