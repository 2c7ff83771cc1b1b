"""Requests of the classic group protocol, read into events; orders of a member, written as answers.

Every version from 0 is read, and an answer is written at the version it was asked in.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from kafka_protocol import API, CodecError, decode_request, decode_response, encode, encode_request, encode_response
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.causes import Cause, Disconnect
from proxy.groups.native import Ask, SeenGroup, SeenMember
from translation import actions as do
from translation import errors as e
from translation import events as ev
from translation.embedded import Malformed, read_subscription, write_assignment
from translation.group_heartbeat import TopicPartition, unless_blank

# Every broker with consumer groups takes these.
OLDEST_JOIN, JOIN_ASKED, SYNC_ASKED = 2, 5, 3
FIRST_JOIN_WITH_NULLABLE_PROTOCOL = 7
FIRST_SYNC_WITH_PROTOCOL = 5
FIRST_BATCH_LEAVE = 3
# Kafka's own clients say no more.
LONGEST_REASON = 255
COMMITS = frozenset({keys.OFFSET_COMMIT, keys.TXN_OFFSET_COMMIT})
FIRST_COMMIT_OF_NATIVE = {keys.OFFSET_COMMIT: 9, keys.TXN_OFFSET_COMMIT: 3}
FIRST_COMMIT_BY_TOPIC_ID = {keys.OFFSET_COMMIT: 10, keys.TXN_OFFSET_COMMIT: 6}


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request as it came."""

    key: int
    version: int
    correlation_id: int
    client_id: str
    body: Any
    frame: bytes
    # It names an instance, by no letters: to a classic coordinator a name like any other.
    is_nameless: bool = False

    @property
    def name(self) -> str:
        return API[self.key].name

    def answered(self, body: Any) -> bytes:
        return encode_response(self.key, self.version, self.correlation_id, body)


def read(frame: bytes) -> Request:
    try:
        header, body = decode_request(frame)
    except CodecError as error:
        raise Disconnect(Cause.MALFORMED_REQUEST, str(error)) from error
    instance_id = getattr(body, "group_instance_id", None)
    named = unless_blank(instance_id)
    if instance_id is not None:
        body.group_instance_id = named
    return Request(
        key=header.api_key,
        version=header.api_version,
        correlation_id=header.correlation_id,
        client_id=header.client_id or "",
        body=body,
        frame=frame,
        is_nameless=named is None and instance_id is not None,
    )


# --- events --------------------------------------------------------------------------------------------------------


def reason(body: Any) -> str | None:
    """Why a client joins or leaves, where it says so."""
    said: str | None = getattr(body, "reason", None)
    return said and said[:LONGEST_REASON]


def join_requested(
    request: Request,
    number: int = 0,
    fresh_id: str = "",
    predecessor: str | None = None,
    company_assignor: str | None = None,
    kin_hurt: bool = False,
    is_issued: bool = False,
) -> ev.JoinRequested:
    body: m.JoinGroupRequest = request.body
    has_own = request.version >= 1 and body.rebalance_timeout_ms > 0
    rebalance_timeout_ms = body.rebalance_timeout_ms if has_own else body.session_timeout_ms
    return ev.JoinRequested(
        request=number,
        version=request.version,
        member_id=body.member_id,
        protocols=tuple(ev.Protocol(offered.name, bytes(offered.metadata)) for offered in body.protocols),
        session_timeout_ms=body.session_timeout_ms,
        rebalance_timeout_ms=rebalance_timeout_ms,
        fresh_id=fresh_id,
        protocol_type=body.protocol_type,
        instance_id=body.group_instance_id,
        predecessor=predecessor,
        company_assignor=company_assignor,
        kin_hurt=kin_hurt,
        is_issued=is_issued,
        client_id=request.client_id,
        reason=reason(body),
    )


def claims_partitions(body: m.JoinGroupRequest) -> bool:
    """Whoever joins says that it holds partitions."""
    try:
        return any(read_subscription(bytes(offered.metadata)).owned for offered in body.protocols[:1])
    except Malformed:
        return False


def sync_requested(request: Request, number: int) -> ev.SyncRequested:
    """From version 5 on a client must say what it believes to sync (KIP-559): nothing is wrong then."""
    body: m.SyncGroupRequest = request.body
    unsaid = "" if request.version >= FIRST_SYNC_WITH_PROTOCOL else None
    return ev.SyncRequested(
        request=number,
        generation=body.generation_id,
        instance_id=body.group_instance_id,
        protocol_type=unsaid if body.protocol_type is None else body.protocol_type,
        protocol_name=unsaid if body.protocol_name is None else body.protocol_name,
    )


def heartbeat_requested(request: Request, number: int, others_wait: bool) -> ev.HeartbeatRequested:
    body: m.HeartbeatRequest = request.body
    return ev.HeartbeatRequested(
        request=number, generation=body.generation_id, instance_id=body.group_instance_id, others_wait=others_wait
    )


def commit_requested(request: Request, number: int) -> ev.CommitRequested:
    body: m.OffsetCommitRequest | m.TxnOffsetCommitRequest = request.body
    return ev.CommitRequested(
        request=number,
        generation=body.generation_id_or_member_epoch,
        instance_id=body.group_instance_id,
        partitions=committed(request),
    )


def may_come_from_native(request: Request) -> bool:
    """A native member speaks of offsets only, and from these versions on."""
    return request.version >= FIRST_COMMIT_OF_NATIVE.get(request.key, request.version + 1)


def committed(request: Request) -> tuple[tuple[str, int], ...] | None:
    """What is committed, by name; a commit by topic id is the coordinator's to judge."""
    if request.version >= FIRST_COMMIT_BY_TOPIC_ID[request.key]:
        return None
    return tuple((topic.name, each.partition_index) for topic in request.body.topics for each in topic.partitions)


Leaver = m.LeaveGroupRequestMemberIdentity


def leavers(request: Request) -> list[Leaver]:
    """Who leaves; before version 3 it is one, and by member id."""
    if request.version >= FIRST_BATCH_LEAVE:
        return list(request.body.members)
    return [Leaver(member_id=request.body.member_id)]


# --- answers -------------------------------------------------------------------------------------------------------


def join_answer(request: Request, order: do.AnswerJoin) -> bytes:
    """No leader and no members. Versions before 7 have no null: a refused client reads an empty protocol there."""
    nullable = request.version >= FIRST_JOIN_WITH_NULLABLE_PROTOCOL
    refused = order.error_code != e.NONE
    nothing = None if nullable else ""
    return request.answered(
        m.JoinGroupResponse(
            error_code=order.error_code,
            generation_id=order.generation,
            protocol_type=None if refused else "consumer",
            protocol_name=nothing if refused else order.protocol_name,
            member_id=order.member_id,
        )
    )


def sync_answer(request: Request, order: do.AnswerSync) -> bytes:
    refused = order.error_code != e.NONE
    return request.answered(
        m.SyncGroupResponse(
            error_code=order.error_code,
            protocol_type=None if refused else "consumer",
            protocol_name=None if refused else order.protocol_name,
            assignment=order.assignment,
        )
    )


def heartbeat_answer(request: Request, error_code: int) -> bytes:
    return request.answered(m.HeartbeatResponse(error_code=error_code))


def leave_answer(request: Request, codes: Iterable[int]) -> bytes:
    """One code for each leaver, in the order they were named."""
    told = list(codes)
    if request.version < FIRST_BATCH_LEAVE:
        return request.answered(m.LeaveGroupResponse(error_code=told[0] if told else e.NONE))
    members = [
        m.LeaveGroupResponseMemberResponse(
            member_id=leaver.member_id, group_instance_id=leaver.group_instance_id, error_code=code
        )
        for leaver, code in zip(leavers(request), told, strict=True)
    ]
    return request.answered(m.LeaveGroupResponse(members=members))


def commit_answer(request: Request, error_code: int) -> bytes:
    """The same word for every partition."""
    of_topic, of_partition, whole = _COMMIT_ANSWERS[request.key]
    topics = [
        of_topic(
            name=topic.name,
            topic_id=topic.topic_id,
            partitions=[
                of_partition(partition_index=each.partition_index, error_code=error_code) for each in topic.partitions
            ],
        )
        for topic in request.body.topics
    ]
    return request.answered(whole(topics=topics))


_COMMIT_ANSWERS: dict[int, tuple[Any, Any, Any]] = {
    keys.OFFSET_COMMIT: (m.OffsetCommitResponseTopic, m.OffsetCommitResponsePartition, m.OffsetCommitResponse),
    keys.TXN_OFFSET_COMMIT: (
        m.TxnOffsetCommitResponseTopic,
        m.TxnOffsetCommitResponsePartition,
        m.TxnOffsetCommitResponse,
    ),
}


_ONLY_A_CODE: dict[int, Any] = {
    keys.HEARTBEAT: m.HeartbeatResponse,
    keys.LEAVE_GROUP: m.LeaveGroupResponse,
    keys.CONSUMER_GROUP_HEARTBEAT: m.ConsumerGroupHeartbeatResponse,
}


def refusal(request: Request, error_code: int) -> bytes:
    """Any of these, refused."""
    if request.key == keys.JOIN_GROUP:
        return join_answer(request, do.AnswerJoin(0, error_code, member_id=request.body.member_id))
    if request.key == keys.SYNC_GROUP:
        return sync_answer(request, do.AnswerSync(0, error_code))
    if request.key in _ONLY_A_CODE:
        return request.answered(_ONLY_A_CODE[request.key](error_code=error_code))
    return commit_answer(request, error_code)


# --- asked in a member's name --------------------------------------------------------------------------------------


def ask_join(request: Request) -> Ask:
    """What its client asks, in words that every broker takes."""
    return Ask(keys.JOIN_GROUP, JOIN_ASKED, _with_timeout(request))


def _with_timeout(request: Request) -> m.JoinGroupRequest:
    """Version 0 has one for all."""
    body: m.JoinGroupRequest = request.body
    return msgspec.structs.replace(body, rebalance_timeout_ms=join_requested(request).rebalance_timeout_ms)


def ask_sync(request: Request, generation: int) -> Ask:
    body = request.body
    return Ask(
        keys.SYNC_GROUP,
        SYNC_ASKED,
        m.SyncGroupRequest(
            group_id=body.group_id,
            generation_id=generation,
            member_id=body.member_id,
            group_instance_id=body.group_instance_id,
        ),
    )


# --- what passes, and what is painted ------------------------------------------------------------------------------


def changed(request: Request, **fields: object) -> Request:
    """The same request, but for these fields."""
    body = msgspec.structs.replace(request.body, **fields)
    if body == request.body:
        return request
    frame = encode_request(request.key, request.version, request.correlation_id, request.client_id, body)
    return msgspec.structs.replace(request, body=body, frame=frame)


def lifted_join(request: Request) -> Request:
    """The same JoinGroup in the oldest version that every broker takes."""
    body = _with_timeout(request)
    frame = encode_request(request.key, OLDEST_JOIN, request.correlation_id, request.client_id, body)
    return msgspec.structs.replace(request, version=OLDEST_JOIN, body=body, frame=frame)


def passed(request: Request, frame: bytes) -> Any:
    """A broker's answer to a request that passed."""
    try:
        return decode_response(request.key, request.version, frame)[1]
    except CodecError as error:
        raise Disconnect(Cause.MALFORMED_ANSWER, str(error)) from error


def painted(group: SeenGroup, states: Mapping[str, str]) -> m.DescribeGroupsResponseDescribedGroup:
    """A consumer group as DescribeGroups would show a classic one."""
    return m.DescribeGroupsResponseDescribedGroup(
        group_id=group.group_id,
        group_state=states.get(group.state, group.state),
        protocol_type="consumer",
        protocol_data=group.assignor,
        members=[_painted_member(member) for member in group.members],
        authorized_operations=group.authorized_operations,
    )


def undescribed(group_id: str, error_code: int) -> m.DescribeGroupsResponseDescribedGroup:
    """As a broker refuses one of many."""
    return m.DescribeGroupsResponseDescribedGroup(group_id=group_id, error_code=error_code)


def _painted_member(member: SeenMember) -> m.DescribeGroupsResponseDescribedGroupMember:
    assigned = _named(member, member.assigned)
    return m.DescribeGroupsResponseDescribedGroupMember(
        member_id=member.member_id,
        group_instance_id=member.instance_id,
        client_id=member.client_id,
        client_host=member.client_host,
        member_metadata=_subscription(member),
        member_assignment=write_assignment(assigned, 0),
    )


def _named(member: SeenMember, partitions: Iterable[TopicPartition]) -> frozenset[tuple[str, int]]:
    return frozenset((member.names[tp.topic_id], tp.partition) for tp in partitions if tp.topic_id in member.names)


def _subscription(member: SeenMember) -> bytes:
    """At version 0, which every tool reads. Who subscribes by a pattern names no topics: those that it has, then."""
    topics = member.topics or sorted({name for name, _ in _named(member, member.assigned)})
    return struct.pack(">h", 0) + encode(m.ConsumerProtocolSubscription(topics=[*topics], user_data=None), 0)
