"""A real broker behind the doors of our coordinator, so that the same claims can be put to both.

Time runs five times faster than in the claims: the broker's own settings are divided by PACE, and so are the waits.
Each claim has a group and topics of its own, whose names the claim does not see.
"""

from __future__ import annotations

import time
from itertools import count

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from simulation.description import GroupDescription, MemberDescription
from simulation.errors import Error
from simulation.group import GroupState
from simulation.offsets import Commit
from simulation.topics import Topics
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.simulation.conftest import ROOM
from translation.group_heartbeat import GroupHeartbeat, GroupHeartbeatAnswer, TopicPartition

HEARTBEAT, DESCRIBE = 68, 69
PACE = 5
MARGIN_SECONDS = 0.02
# A topic has leaders before the group coordinator has heard of it.
SPREAD_SECONDS = 0.3
NOT_YET = {Error.COORDINATOR_LOAD_IN_PROGRESS, Error.COORDINATOR_NOT_AVAILABLE, Error.NOT_COORDINATOR}
SETTINGS = {
    "group.consumer.max.size": str(ROOM),
    "group.consumer.session.timeout.ms": str(45_000 // PACE),
    "group.consumer.min.session.timeout.ms": str(45_000 // PACE),
    "group.consumer.heartbeat.interval.ms": str(5_000 // PACE),
    "group.consumer.min.heartbeat.interval.ms": str(5_000 // PACE),
    # Known since 4.3; brokers before overlook it.
    "group.consumer.assignment.interval.ms": str(1_000 // PACE),
}
_serial = count(1)


class RealTopics(Topics):
    def __init__(self, kafka: Cluster, **partitions: int) -> None:
        self._kafka = kafka
        self._suffix = f"-{next(_serial)}"
        super().__init__(**partitions)

    def real(self, name: str) -> str:
        return name + self._suffix

    def create(self, name: str, count: int) -> str:
        self._kafka.create_topic(self.real(name), count)
        asked = m.MetadataRequest(topics=[m.MetadataRequestTopic(name=self.real(name))])
        topic_id = self._kafka.ask_any(keys.METADATA, 10, asked).topics[0].topic_id.hex()
        time.sleep(SPREAD_SECONDS)
        self.ids[name], self.names[topic_id] = topic_id, name
        self._lay(topic_id, count)
        return topic_id

    def grow(self, name: str, count: int) -> None:
        self._kafka.grow_topic(self.real(name), count)
        super().grow(name, count)

    def delete(self, name: str) -> None:
        asked = m.DeleteTopicsRequest(topic_names=[self.real(name)], timeout_ms=10_000)
        assert self._kafka.ask_any(keys.DELETE_TOPICS, 4, asked).responses[0].error_code == 0
        super().delete(name)


class RealCoordinator:
    def __init__(self, kafka: Cluster) -> None:
        self.topics = RealTopics(kafka, foo=6)
        self._kafka = kafka
        self._group = f"group-{next(_serial)}"
        self._now = 0
        kafka.coordinator(self._group)
        until(self._serves, f"group {self._group} is loaded")

    def heartbeat(self, request: GroupHeartbeat, now: int) -> GroupHeartbeatAnswer:
        answer = self._kafka.ask_any(HEARTBEAT, 1, self._on_the_wire(request))
        if answer.error_code:
            return GroupHeartbeatAnswer(error_code=answer.error_code, error_message=answer.error_message)
        return GroupHeartbeatAnswer(
            member_id=answer.member_id,
            member_epoch=answer.member_epoch,
            heartbeat_interval_ms=answer.heartbeat_interval_ms * PACE,
            assignment=None if answer.assignment is None else _partitions(answer.assignment),
        )

    def commit(self, commit: Commit) -> Error:
        topic_names = {self.topics.names[partition.topic_id] for partition in commit.offsets}
        topics = [m.OffsetCommitRequestTopic(name=self.topics.real(name)) for name in topic_names]
        for topic in topics:
            topic.partitions = [
                m.OffsetCommitRequestPartition(partition_index=each.partition, committed_offset=offset)
                for each, offset in commit.offsets.items()
            ]
        asked = m.OffsetCommitRequest(
            group_id=self._group,
            generation_id_or_member_epoch=commit.epoch,
            member_id=commit.member_id,
            topics=topics,
        )
        answer = self._kafka.ask_any(keys.OFFSET_COMMIT, commit.version, asked)
        [error] = {each.error_code for topic in answer.topics for each in topic.partitions}
        return Error(error)

    def committed(self, group_id: str) -> dict[TopicPartition, int]:
        asked = m.OffsetFetchRequest(group_id=self._group, topics=None)
        answer = self._kafka.ask_any(9, 7, asked)
        by_real_name = {self.topics.real(name): topic_id for name, topic_id in self.topics.ids.items()}
        return {
            TopicPartition(by_real_name[topic.name], each.partition_index): each.committed_offset
            for topic in answer.topics
            for each in topic.partitions
        }

    def describe(self, group_id: str) -> GroupDescription:
        answer = self._kafka.ask_any(DESCRIBE, 1, m.ConsumerGroupDescribeRequest(group_ids=[self._group]))
        [group] = answer.groups
        if group.error_code:
            return GroupDescription(group_id, GroupState.DEAD, group.error_code)
        members = tuple(_member(member) for member in group.members)
        state = GroupState(group.group_state)
        return GroupDescription(
            group_id, state, 0, group.group_epoch, group.assignment_epoch, group.assignor_name, members
        )

    def _serves(self) -> bool:
        return self.describe("").error_code not in NOT_YET

    def expire(self, now: int) -> None:
        time.sleep((now - self._now) / 1_000 / PACE + MARGIN_SECONDS)
        self._now = now

    def _on_the_wire(self, request: GroupHeartbeat) -> m.ConsumerGroupHeartbeatRequest:
        names, timeout_ms = request.subscribed_topic_names, request.rebalance_timeout_ms
        expression, owned = request.subscribed_topic_regex, request.owned
        return m.ConsumerGroupHeartbeatRequest(
            group_id=request.group_id and self._group,
            member_id=request.member_id,
            member_epoch=request.member_epoch,
            instance_id=request.instance_id,
            rack_id=request.rack_id,
            rebalance_timeout_ms=timeout_ms if timeout_ms == -1 else timeout_ms // PACE,
            subscribed_topic_names=None if names is None else [self.topics.real(name) for name in names],
            subscribed_topic_regex=expression and f"(?:{expression}){self.topics.real('')}",
            server_assignor=request.server_assignor,
            topic_partitions=None if owned is None else [_topic_partitions(each) for each in owned],
        )


def _topic_partitions(each: TopicPartition) -> m.ConsumerGroupHeartbeatRequestTopicPartitions:
    topic_id = bytes.fromhex(each.topic_id)
    return m.ConsumerGroupHeartbeatRequestTopicPartitions(topic_id=topic_id, partitions=[each.partition])


def _partitions(assignment: object) -> tuple[TopicPartition, ...]:
    topics = assignment.topic_partitions  # type: ignore[attr-defined]
    return tuple(
        sorted(TopicPartition(topic.topic_id.hex(), number) for topic in topics for number in topic.partitions)
    )


def _member(member: m.ConsumerGroupDescribeResponseMember) -> MemberDescription:
    return MemberDescription(
        member.member_id,
        member.instance_id,
        member.client_id,
        member.member_epoch,
        tuple(member.subscribed_topic_names),
        _partitions(member.assignment),
        _partitions(member.target_assignment),
        topic_regex=member.subscribed_topic_regex or "",
    )
