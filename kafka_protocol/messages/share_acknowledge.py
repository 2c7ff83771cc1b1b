# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ShareAcknowledge."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ShareAcknowledgeRequestAcknowledgementBatch(Struct, gc=False):
    first_offset: int = 0
    last_offset: int = 0
    acknowledge_types: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareAcknowledgeRequestAcknowledgePartition(Struct, gc=False):
    partition_index: int = 0
    acknowledgement_batches: list[ShareAcknowledgeRequestAcknowledgementBatch] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareAcknowledgeRequestAcknowledgeTopic(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[ShareAcknowledgeRequestAcknowledgePartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareAcknowledgeRequest(Struct, gc=False):
    group_id: str | None = None
    member_id: str | None = ''
    share_session_epoch: int = 0
    is_renew_ack: bool = False
    topics: list[ShareAcknowledgeRequestAcknowledgeTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareAcknowledgeResponseLeaderIdAndEpoch(Struct, gc=False):
    leader_id: int = 0
    leader_epoch: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareAcknowledgeResponsePartitionData(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = None
    current_leader: ShareAcknowledgeResponseLeaderIdAndEpoch | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareAcknowledgeResponseShareAcknowledgeTopicResponse(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[ShareAcknowledgeResponsePartitionData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareAcknowledgeResponseNodeEndpoint(Struct, gc=False):
    node_id: int = 0
    host: str = ''
    port: int = 0
    rack: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareAcknowledgeResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    acquisition_lock_timeout_ms: int = 0
    responses: list[ShareAcknowledgeResponseShareAcknowledgeTopicResponse] = field(default_factory=list)
    node_endpoints: list[ShareAcknowledgeResponseNodeEndpoint] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ShareAcknowledgeRequest': Schema(
        'ShareAcknowledgeRequest', 79, 0,
        (
            Layout((0, 0), (
                Field('group_id', 'string', nullable=(0, 32767)),
                Field('member_id', 'string', default='', nullable=(0, 32767)),
                Field('share_session_epoch', 'int32', default=0),
                Field('topics', '[]ShareAcknowledgeRequestAcknowledgeTopic', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ShareAcknowledgeRequestAcknowledgePartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('acknowledgement_batches', '[]ShareAcknowledgeRequestAcknowledgementBatch', default=[], fields=(
                            Field('first_offset', 'int64', default=0),
                            Field('last_offset', 'int64', default=0),
                            Field('acknowledge_types', '[]int8', default=[]),
                        )),
                    )),
                )),
            )),
            Layout((1, 2), (
                Field('group_id', 'string', nullable=(0, 32767)),
                Field('member_id', 'string', default='', nullable=(0, 32767)),
                Field('share_session_epoch', 'int32', default=0),
                Field('is_renew_ack', 'bool', versions=(2, 32767), default=False),
                Field('topics', '[]ShareAcknowledgeRequestAcknowledgeTopic', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ShareAcknowledgeRequestAcknowledgePartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('acknowledgement_batches', '[]ShareAcknowledgeRequestAcknowledgementBatch', default=[], fields=(
                            Field('first_offset', 'int64', default=0),
                            Field('last_offset', 'int64', default=0),
                            Field('acknowledge_types', '[]int8', default=[]),
                        )),
                    )),
                )),
            )),
        ),
    ),
    'ShareAcknowledgeResponse': Schema(
        'ShareAcknowledgeResponse', 79, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', nullable=(0, 32767)),
                Field('responses', '[]ShareAcknowledgeResponseShareAcknowledgeTopicResponse', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ShareAcknowledgeResponsePartitionData', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', nullable=(0, 32767)),
                        Field('current_leader', 'ShareAcknowledgeResponseLeaderIdAndEpoch', fields=(
                            Field('leader_id', 'int32', default=0),
                            Field('leader_epoch', 'int32', default=0),
                        )),
                    )),
                )),
                Field('node_endpoints', '[]ShareAcknowledgeResponseNodeEndpoint', default=[], fields=(
                    Field('node_id', 'int32', default=0),
                    Field('host', 'string', default=''),
                    Field('port', 'int32', default=0),
                    Field('rack', 'string', nullable=(0, 32767)),
                )),
            )),
            Layout((1, 2), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', nullable=(0, 32767)),
                Field('acquisition_lock_timeout_ms', 'int32', versions=(2, 32767), default=0),
                Field('responses', '[]ShareAcknowledgeResponseShareAcknowledgeTopicResponse', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ShareAcknowledgeResponsePartitionData', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', nullable=(0, 32767)),
                        Field('current_leader', 'ShareAcknowledgeResponseLeaderIdAndEpoch', fields=(
                            Field('leader_id', 'int32', default=0),
                            Field('leader_epoch', 'int32', default=0),
                        )),
                    )),
                )),
                Field('node_endpoints', '[]ShareAcknowledgeResponseNodeEndpoint', default=[], fields=(
                    Field('node_id', 'int32', default=0),
                    Field('host', 'string', default=''),
                    Field('port', 'int32', default=0),
                    Field('rack', 'string', nullable=(0, 32767)),
                )),
            )),
        ),
    ),
}
