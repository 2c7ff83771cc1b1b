"""What is asked of a coordinator in a member's name, and what it answers: KIP-848's messages on the wire.

An `Ask` is a body at a version; the line gives it a correlation id and the client's own client id. `read` makes the body
of an answer out of its frame, or ends the connection that it came on (a `Disconnect`); the other readers make records of
the translation, or of this module, out of a body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from kafka_protocol import CodecError, decode_response, encode_request, encode_response
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.causes import Cause, Disconnect
from translation import errors as e
from translation.events import JournalEntry, MemberAdopted
from translation.group_heartbeat import LEAVE_EPOCH, GroupHeartbeat, GroupHeartbeatAnswer, TopicPartition

# The first version that knows topics by id and means it.
METADATA_BY_ID = 12
METADATA_BY_NAME = 4
UNKNOWN_TOPIC_ID = 100
# What a description calls a member by the protocol that it speaks to the broker (`member_type`, from version 1 on).
CLASSIC, CONSUMER = 0, 1

Versions = Mapping[int, tuple[int, int]]


class Ask(NamedTuple):
    key: int
    version: int
    body: Any


def written(ask: Ask, correlation_id: int, client_id: str | None) -> bytes:
    return encode_request(ask.key, ask.version, correlation_id, client_id, ask.body)


def read(ask: Ask, frame: bytes) -> Any:
    """The body of an answer. What cannot be read ends the connection it came on."""
    try:
        return decode_response(ask.key, ask.version, frame)[1]
    except CodecError as error:
        raise Disconnect(Cause.MALFORMED_ANSWER, str(error)) from error


# --- who may do what here ------------------------------------------------------------------------------------------


def ask_versions() -> Ask:
    return Ask(keys.API_VERSIONS, 0, m.ApiVersionsRequest())


def versions_of(answer: Any) -> Versions:
    return {offered.api_key: (offered.min_version, offered.max_version) for offered in answer.api_keys}


def ask_leave_to_read(group_id: str) -> Ask:
    """A classic heartbeat of nobody: it changes nothing, and the broker says whether this principal may READ the group."""
    return Ask(keys.HEARTBEAT, 0, m.HeartbeatRequest(group_id=group_id, generation_id=0, member_id="nobody"))


# --- what a cluster can do -----------------------------------------------------------------------------------------

FEATURES_VERSION = 3
GROUP_VERSION = "group.version"
# By API: a version that the translation speaks, and that a broker must therefore take.
SPOKEN = {
    keys.METADATA: 12,
    keys.OFFSET_COMMIT: 9,
    keys.HEARTBEAT: 0,
    keys.LEAVE_GROUP: 3,
    keys.CONSUMER_GROUP_HEARTBEAT: 0,
    keys.CONSUMER_GROUP_DESCRIBE: 0,
}
CHECK = "kip848-proxy-check"
# What `DescribeConfigs` calls a broker, and what brokers call the bounds of a classic member's session.
BROKER = 4
SESSION_BOUNDS = ("group.min.session.timeout.ms", "group.max.session.timeout.ms")


def ask_features() -> Ask:
    """ApiVersions that brokers since 2.4 answer with the cluster's features. They refuse who does not say what it is."""
    body = m.ApiVersionsRequest(client_software_name=CHECK, client_software_version="1")
    return Ask(keys.API_VERSIONS, FEATURES_VERSION, body)


def group_version(answer: Any) -> int:
    """The level that is in force; 0 where the cluster knows no such feature, or has it switched off."""
    return max((f.max_version_level for f in answer.finalized_features if f.name == GROUP_VERSION), default=0)


def ask_for_translation() -> Ask:
    """Nobody leaves a group that does not exist: it changes nothing, and shows whether the broker takes heartbeats."""
    return ask_leave(CHECK, CHECK, None)


def ask_session_bounds(node: int) -> Ask:
    """A broker answers for itself only, and only whoever may DESCRIBE_CONFIGS of the cluster."""
    broker = m.DescribeConfigsRequestDescribeConfigsResource(
        resource_type=BROKER, resource_name=str(node), configuration_keys=[*SESSION_BOUNDS]
    )
    return Ask(keys.DESCRIBE_CONFIGS, 1, m.DescribeConfigsRequest(resources=[broker]))


def session_bounds_of(answer: Any) -> tuple[int, int] | None:
    """None where it does not say."""
    said = {config.name: config.value for result in answer.results for config in result.configs}
    least, most = (said.get(name) for name in SESSION_BOUNDS)
    return (int(least), int(most)) if least and most else None


def unspoken(versions: Versions) -> list[tuple[int, int]]:
    """APIs and versions that the translation speaks and this broker does not take."""
    none = (0, -1)
    return [(key, wanted) for key, wanted in SPOKEN.items() if not _within(wanted, versions.get(key, none))]


def _within(version: int, offered: tuple[int, int]) -> bool:
    return offered[0] <= version <= offered[1]


# --- heartbeats ----------------------------------------------------------------------------------------------------


def ask_heartbeat(heartbeat: GroupHeartbeat, versions: Versions) -> Ask:
    names = heartbeat.subscribed_topic_names
    version = min(versions[keys.CONSUMER_GROUP_HEARTBEAT][1], 1)
    body = m.ConsumerGroupHeartbeatRequest(
        group_id=heartbeat.group_id,
        member_id=heartbeat.member_id,
        member_epoch=heartbeat.member_epoch,
        instance_id=heartbeat.instance_id,
        rack_id=heartbeat.rack_id,
        rebalance_timeout_ms=heartbeat.rebalance_timeout_ms,
        subscribed_topic_names=None if names is None else list(names),
        subscribed_topic_regex=heartbeat.subscribed_topic_regex if version > 0 else None,
        server_assignor=heartbeat.server_assignor,
        topic_partitions=None if heartbeat.owned is None else _by_topic(heartbeat.owned),
    )
    return Ask(keys.CONSUMER_GROUP_HEARTBEAT, version, body)


def _by_topic(partitions: Iterable[TopicPartition]) -> list[m.ConsumerGroupHeartbeatRequestTopicPartitions]:
    by_topic: dict[str, list[int]] = {}
    for tp in partitions:
        by_topic.setdefault(tp.topic_id, []).append(tp.partition)
    return [
        m.ConsumerGroupHeartbeatRequestTopicPartitions(topic_id=bytes.fromhex(topic_id), partitions=numbers)
        for topic_id, numbers in by_topic.items()
    ]


def heartbeat_answer(answer: Any) -> GroupHeartbeatAnswer:
    return GroupHeartbeatAnswer(
        error_code=answer.error_code,
        error_message=answer.error_message,
        member_id=answer.member_id,
        member_epoch=answer.member_epoch,
        heartbeat_interval_ms=answer.heartbeat_interval_ms,
        assignment=None if answer.assignment is None else _partitions(answer.assignment),
    )


def _partitions(assignment: Any) -> tuple[TopicPartition, ...]:
    if assignment is None:
        return ()
    return tuple(
        TopicPartition(topic.topic_id.hex(), number)
        for topic in assignment.topic_partitions
        for number in topic.partitions
    )


def says_nothing(body: m.ConsumerGroupHeartbeatRequest) -> bool:
    """It only keeps its member alive."""
    return body == m.ConsumerGroupHeartbeatRequest(
        group_id=body.group_id,
        member_id=body.member_id,
        member_epoch=body.member_epoch,
        instance_id=body.instance_id,
    )


def put_off(body: m.ConsumerGroupHeartbeatRequest, interval_ms: int) -> m.ConsumerGroupHeartbeatResponse:
    """Nothing is new; come again."""
    return m.ConsumerGroupHeartbeatResponse(
        member_id=body.member_id, member_epoch=body.member_epoch, heartbeat_interval_ms=interval_ms
    )


class NativeHeartbeat(NamedTuple):
    """A native member's heartbeat that passed, and the broker's answer to it."""

    correlation_id: int
    version: int
    answer: Any

    def paced(self, interval_ms: int) -> bytes:
        self.answer.heartbeat_interval_ms = interval_ms
        return encode_response(keys.CONSUMER_GROUP_HEARTBEAT, self.version, self.correlation_id, self.answer)


def passed(version: int, frame: bytes) -> NativeHeartbeat:
    try:
        correlation_id, answer = decode_response(keys.CONSUMER_GROUP_HEARTBEAT, version, frame)
    except CodecError as error:
        raise Disconnect(Cause.MALFORMED_ANSWER, str(error)) from error
    return NativeHeartbeat(correlation_id, version, answer)


# --- leaving -------------------------------------------------------------------------------------------------------

# Brokers since 2.4: members in a batch, each with its own code.
BATCH_LEAVE_VERSION = 3


def ask_leave(group_id: str, member_id: str, instance_id: str | None) -> Ask:
    """A native member goes for good."""
    body = m.ConsumerGroupHeartbeatRequest(
        group_id=group_id, member_id=member_id, member_epoch=LEAVE_EPOCH, instance_id=instance_id
    )
    return Ask(keys.CONSUMER_GROUP_HEARTBEAT, 0, body)


def ask_leave_of(group_id: str, leavers: Iterable[tuple[str, str | None]]) -> Ask:
    """The classic LeaveGroup, for members that are not ours."""
    members = [
        m.LeaveGroupRequestMemberIdentity(member_id=each, group_instance_id=instance) for each, instance in leavers
    ]
    return Ask(keys.LEAVE_GROUP, BATCH_LEAVE_VERSION, m.LeaveGroupRequest(group_id=group_id, members=members))


# --- lists and descriptions ----------------------------------------------------------------------------------------

LIST_WITH_TYPES = 5


class SeenMember(msgspec.Struct, frozen=True, kw_only=True):
    """One member in a description. `classic`: it speaks the classic protocol to the broker itself."""

    member_id: str
    epoch: int
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    topics: tuple[str, ...]
    assigned: tuple[TopicPartition, ...]
    target: tuple[TopicPartition, ...]
    names: Mapping[str, str]
    classic: bool

    def found(self, journal: JournalEntry | None, generation: int = -1) -> MemberAdopted:
        """As a member of ours that this proxy, in this life, has not known yet."""
        return MemberAdopted(
            member_id=self.member_id,
            member_epoch=self.epoch,
            assigned=self.assigned,
            subscribed_topics=self.topics,
            names=dict(self.names),
            instance_id=self.instance_id,
            rack_id=self.rack_id,
            client_id=self.client_id,
            generation=generation,
            journal=journal,
        )


class SeenGroup(msgspec.Struct, frozen=True, kw_only=True):
    error_code: int
    group_id: str
    state: str
    epoch: int
    assignment_epoch: int
    assignor: str
    members: tuple[SeenMember, ...]
    authorized_operations: int

    def member(self, member_id: str) -> SeenMember | None:
        return next((member for member in self.members if member.member_id == member_id), None)

    def has_instance(self, instance_id: str | None) -> bool:
        return instance_id is not None and any(member.instance_id == instance_id for member in self.members)


def ask_description(group_ids: Iterable[str], versions: Versions, operations: bool = False) -> Ask:
    body = m.ConsumerGroupDescribeRequest(group_ids=list(group_ids), include_authorized_operations=operations)
    return Ask(keys.CONSUMER_GROUP_DESCRIBE, min(versions[keys.CONSUMER_GROUP_DESCRIBE][1], 1), body)


def descriptions(answer: Any) -> list[SeenGroup]:
    return [
        SeenGroup(
            error_code=group.error_code,
            group_id=group.group_id,
            state=group.group_state,
            epoch=group.group_epoch,
            assignment_epoch=group.assignment_epoch,
            assignor=group.assignor_name,
            members=tuple(_seen(member) for member in group.members),
            authorized_operations=group.authorized_operations,
        )
        for group in answer.groups
    ]


def described(answer: Any) -> SeenGroup | None:
    """The only group that was asked about; None where the broker says nothing, or nothing of any group."""
    return next(iter(descriptions(answer)), None) if answer is not None else None


def _seen(member: Any) -> SeenMember:
    return SeenMember(
        member_id=member.member_id,
        epoch=member.member_epoch,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topics=tuple(member.subscribed_topic_names or ()),
        assigned=_partitions(member.assignment),
        target=_partitions(member.target_assignment),
        names=_names(member.assignment) | _names(member.target_assignment),
        classic=member.member_type == CLASSIC,
    )


def _names(assignment: Any) -> dict[str, str]:
    topics = assignment.topic_partitions if assignment is not None else ()
    return {topic.topic_id.hex(): topic.topic_name for topic in topics if topic.topic_name}


def ask_list(versions: Versions) -> Ask:
    """Of groups, with their types where the broker has a word for them: before 4.0 all are classic."""
    return Ask(keys.LIST_GROUPS, min(versions[keys.LIST_GROUPS][1], LIST_WITH_TYPES), m.ListGroupsRequest())


def ask_classic_members(group_ids: Iterable[str]) -> Ask:
    return Ask(keys.DESCRIBE_GROUPS, 0, m.DescribeGroupsRequest(groups=list(group_ids)))


def classic_members(answer: Any) -> set[str]:
    return {member.member_id for group in answer.groups for member in group.members}


# --- topics --------------------------------------------------------------------------------------------------------


def ask_names(topic_ids: Iterable[str]) -> Ask:
    topics = [m.MetadataRequestTopic(topic_id=bytes.fromhex(topic_id), name=None) for topic_id in topic_ids]
    return Ask(keys.METADATA, METADATA_BY_ID, m.MetadataRequest(topics=topics, allow_auto_topic_creation=False))


def names(answer: Any) -> dict[str, str | None]:
    """None: there is no such topic. Other errors say nothing; who asked asks again."""
    known = {topic.topic_id.hex(): topic.name for topic in answer.topics if topic.error_code == e.NONE and topic.name}
    gone = {topic.topic_id.hex(): None for topic in answer.topics if topic.error_code == UNKNOWN_TOPIC_ID}
    return known | gone


def ask_ids(topics: Iterable[str]) -> Ask:
    wanted = [m.MetadataRequestTopic(name=name) for name in topics]
    return Ask(keys.METADATA, METADATA_BY_ID, m.MetadataRequest(topics=wanted, allow_auto_topic_creation=False))


def with_names(member: SeenMember, known: Mapping[str, str | None]) -> SeenMember:
    """What is known of its topics beside those it is assigned now."""
    more = {topic_id: name for topic_id, name in known.items() if name is not None}
    return msgspec.structs.replace(member, names={**more, **member.names})


def ask_allowed(topics: Iterable[str]) -> Ask:
    wanted = [m.MetadataRequestTopic(name=name) for name in topics]
    return Ask(keys.METADATA, METADATA_BY_NAME, m.MetadataRequest(topics=wanted, allow_auto_topic_creation=False))


def allowed(answer: Any) -> tuple[str, ...]:
    """A topic that does not exist may be subscribed to; one that may not be described, not."""
    return tuple(
        topic.name for topic in answer.topics if topic.error_code != e.TOPIC_AUTHORIZATION_FAILED and topic.name
    )
