"""OffsetCommit and OffsetFetch: what a group has read, and who may say so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from demo.cluster.cluster import Cluster
from demo.cluster.codes import Code, Refused
from demo.cluster.request import Request
from kafka_protocol import messages as m
from simulation.coordinator import Coordinator
from simulation.offsets import ANYBODY, FIRST_VERSION_FOR_NATIVES, Commit
from translation.group_heartbeat import TopicPartition

FIRST_FETCH_BATCH = 8
NOTHING_COMMITTED = -1
Offsets = Mapping[TopicPartition, int]


def commit(cluster: Cluster, request: Request) -> Any:
    body = request.body
    asked = {
        (topic.name, each.partition_index): each.committed_offset for topic in body.topics for each in topic.partitions
    }
    known = {
        TopicPartition(cluster.topics.ids[name], number): offset
        for (name, number), offset in asked.items()
        if _exists(cluster, name, number)
    }
    refusal = _commit(cluster, request, known)
    return m.OffsetCommitResponse(
        topics=[
            m.OffsetCommitResponseTopic(
                name=topic.name,
                partitions=[
                    m.OffsetCommitResponsePartition(
                        partition_index=each.partition_index,
                        error_code=refusal or _unknown(cluster, topic.name, each.partition_index),
                    )
                    for each in topic.partitions
                ],
            )
            for topic in body.topics
        ]
    )


def _commit(cluster: Cluster, request: Request, offsets: Offsets) -> int:
    body = request.body
    try:
        request.admit()
        coordinator = cluster.coordinated(request.node, body.group_id)
    except Refused as refused:
        return refused.code
    said = Commit(
        group_id=body.group_id,
        member_id=body.member_id,
        epoch=body.generation_id_or_member_epoch,
        offsets=offsets,
        version=request.version,
    )
    code = int(coordinator.commit(said))
    if code == Code.GROUP_ID_NOT_FOUND and request.version < FIRST_VERSION_FOR_NATIVES:
        return Code.ILLEGAL_GENERATION
    return code


def _exists(cluster: Cluster, topic: str, number: int) -> bool:
    try:
        cluster.log(topic, number)
    except Refused:
        return False
    return True


def _unknown(cluster: Cluster, topic: str, number: int) -> int:
    return Code.NONE if _exists(cluster, topic, number) else Code.UNKNOWN_TOPIC_OR_PARTITION


# ---------------------------------------------------------------------------------------------------------------- fetch


def fetch_offsets(cluster: Cluster, request: Request) -> Any:
    body = request.body
    if request.version >= FIRST_FETCH_BATCH:
        return m.OffsetFetchResponse(groups=[_group(cluster, request, each) for each in body.groups])
    try:
        committed = _committed(cluster, request, body.group_id)
    except Refused as refused:
        return m.OffsetFetchResponse(error_code=refused.code)
    wanted = _wanted(cluster, body.topics, committed)
    return m.OffsetFetchResponse(
        topics=[
            m.OffsetFetchResponseTopic(
                name=name,
                partitions=[
                    m.OffsetFetchResponsePartition(partition_index=number, committed_offset=offset)
                    for number, offset in offsets.items()
                ],
            )
            for name, offsets in wanted.items()
        ]
    )


def _group(cluster: Cluster, request: Request, asked: Any) -> Any:
    try:
        committed = _committed(cluster, request, asked.group_id)
        _check_member(cluster.coordinator, asked)
    except Refused as refused:
        return m.OffsetFetchResponseGroup(group_id=asked.group_id, error_code=refused.code)
    wanted = _wanted(cluster, asked.topics, committed)
    return m.OffsetFetchResponseGroup(
        group_id=asked.group_id,
        topics=[
            m.OffsetFetchResponseTopics(
                name=name,
                partitions=[
                    m.OffsetFetchResponsePartitions(partition_index=number, committed_offset=offset)
                    for number, offset in offsets.items()
                ],
            )
            for name, offsets in wanted.items()
        ],
    )


def _committed(cluster: Cluster, request: Request, group_id: str) -> Offsets:
    request.admit()
    return cluster.coordinated(request.node, group_id).committed(group_id)


def _check_member(coordinator: Coordinator, asked: Any) -> None:
    """Whoever says a member epoch (version 9) must be at it."""
    if asked.member_epoch == ANYBODY and not asked.member_id:
        return
    group = coordinator.groups.get(asked.group_id)
    if group is None or not group.members:
        return
    member = group.members.get(asked.member_id)
    if member is None:
        raise Refused(Code.UNKNOWN_MEMBER_ID)
    if member.epoch != asked.member_epoch:
        raise Refused(Code.STALE_MEMBER_EPOCH)


def _wanted(cluster: Cluster, topics: list[Any] | None, committed: Offsets) -> dict[str, dict[int, int]]:
    """By topic and partition. Null asks for all that was ever committed."""
    if topics is not None:
        ids = cluster.topics.ids
        return {
            topic.name: {
                number: committed.get(TopicPartition(ids.get(topic.name, ""), number), NOTHING_COMMITTED)
                for number in topic.partition_indexes
            }
            for topic in topics
        }
    found: dict[str, dict[int, int]] = {}
    for partition, offset in committed.items():
        found.setdefault(cluster.topics.names[partition.topic_id], {})[partition.partition] = offset
    return found
