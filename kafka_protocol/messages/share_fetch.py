# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ShareFetch."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ShareFetchRequestAcknowledgementBatch(Struct, gc=False):
    first_offset: int = 0
    last_offset: int = 0
    acknowledge_types: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareFetchRequestFetchPartition(Struct, gc=False):
    partition_index: int = 0
    acknowledgement_batches: list[ShareFetchRequestAcknowledgementBatch] = field(default_factory=list)
    partition_max_bytes: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareFetchRequestFetchTopic(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[ShareFetchRequestFetchPartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareFetchRequestForgottenTopic(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareFetchRequest(Struct, gc=False):
    group_id: str | None = None
    member_id: str | None = ''
    share_session_epoch: int = 0
    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = 2147483647
    max_records: int = 0
    batch_size: int = 0
    share_acquire_mode: int = 0
    is_renew_ack: bool = False
    topics: list[ShareFetchRequestFetchTopic] = field(default_factory=list)
    forgotten_topics_data: list[ShareFetchRequestForgottenTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareFetchResponseLeaderIdAndEpoch(Struct, gc=False):
    leader_id: int = 0
    leader_epoch: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareFetchResponseAcquiredRecords(Struct, gc=False):
    first_offset: int = 0
    last_offset: int = 0
    delivery_count: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareFetchResponsePartitionData(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = None
    acknowledge_error_code: int = 0
    acknowledge_error_message: str | None = None
    current_leader: ShareFetchResponseLeaderIdAndEpoch | None = None
    records: bytes | None = b''
    acquired_records: list[ShareFetchResponseAcquiredRecords] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareFetchResponseShareFetchableTopicResponse(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[ShareFetchResponsePartitionData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareFetchResponseNodeEndpoint(Struct, gc=False):
    node_id: int = 0
    host: str = ''
    port: int = 0
    rack: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareFetchResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    acquisition_lock_timeout_ms: int = 0
    responses: list[ShareFetchResponseShareFetchableTopicResponse] = field(default_factory=list)
    node_endpoints: list[ShareFetchResponseNodeEndpoint] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ShareFetchRequest': Schema(
        'ShareFetchRequest', 78, 0,
        (
            Layout((0, 0), (
                Field('group_id', 'string', nullable=(0, 32767)),
                Field('member_id', 'string', default='', nullable=(0, 32767)),
                Field('share_session_epoch', 'int32', default=0),
                Field('max_wait_ms', 'int32', default=0),
                Field('min_bytes', 'int32', default=0),
                Field('max_bytes', 'int32', default=2147483647),
                Field('topics', '[]ShareFetchRequestFetchTopic', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ShareFetchRequestFetchPartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('partition_max_bytes', 'int32', default=0),
                        Field('acknowledgement_batches', '[]ShareFetchRequestAcknowledgementBatch', default=[], fields=(
                            Field('first_offset', 'int64', default=0),
                            Field('last_offset', 'int64', default=0),
                            Field('acknowledge_types', '[]int8', default=[]),
                        )),
                    )),
                )),
                Field('forgotten_topics_data', '[]ShareFetchRequestForgottenTopic', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]int32', default=[]),
                )),
            )),
            Layout((1, 2), (
                Field('group_id', 'string', nullable=(0, 32767)),
                Field('member_id', 'string', default='', nullable=(0, 32767)),
                Field('share_session_epoch', 'int32', default=0),
                Field('max_wait_ms', 'int32', default=0),
                Field('min_bytes', 'int32', default=0),
                Field('max_bytes', 'int32', default=2147483647),
                Field('max_records', 'int32', versions=(1, 32767), default=0),
                Field('batch_size', 'int32', versions=(1, 32767), default=0),
                Field('share_acquire_mode', 'int8', versions=(2, 32767), default=0),
                Field('is_renew_ack', 'bool', versions=(2, 32767), default=False),
                Field('topics', '[]ShareFetchRequestFetchTopic', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ShareFetchRequestFetchPartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('acknowledgement_batches', '[]ShareFetchRequestAcknowledgementBatch', default=[], fields=(
                            Field('first_offset', 'int64', default=0),
                            Field('last_offset', 'int64', default=0),
                            Field('acknowledge_types', '[]int8', default=[]),
                        )),
                    )),
                )),
                Field('forgotten_topics_data', '[]ShareFetchRequestForgottenTopic', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]int32', default=[]),
                )),
            )),
        ),
    ),
    'ShareFetchResponse': Schema(
        'ShareFetchResponse', 78, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', nullable=(0, 32767)),
                Field('responses', '[]ShareFetchResponseShareFetchableTopicResponse', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ShareFetchResponsePartitionData', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', nullable=(0, 32767)),
                        Field('acknowledge_error_code', 'int16', default=0),
                        Field('acknowledge_error_message', 'string', nullable=(0, 32767)),
                        Field('current_leader', 'ShareFetchResponseLeaderIdAndEpoch', fields=(
                            Field('leader_id', 'int32', default=0),
                            Field('leader_epoch', 'int32', default=0),
                        )),
                        Field('records', 'records', default=b'', nullable=(0, 32767)),
                        Field('acquired_records', '[]ShareFetchResponseAcquiredRecords', default=[], fields=(
                            Field('first_offset', 'int64', default=0),
                            Field('last_offset', 'int64', default=0),
                            Field('delivery_count', 'int16', default=0),
                        )),
                    )),
                )),
                Field('node_endpoints', '[]ShareFetchResponseNodeEndpoint', default=[], fields=(
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
                Field('acquisition_lock_timeout_ms', 'int32', versions=(1, 32767), default=0),
                Field('responses', '[]ShareFetchResponseShareFetchableTopicResponse', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ShareFetchResponsePartitionData', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', nullable=(0, 32767)),
                        Field('acknowledge_error_code', 'int16', default=0),
                        Field('acknowledge_error_message', 'string', nullable=(0, 32767)),
                        Field('current_leader', 'ShareFetchResponseLeaderIdAndEpoch', fields=(
                            Field('leader_id', 'int32', default=0),
                            Field('leader_epoch', 'int32', default=0),
                        )),
                        Field('records', 'records', default=b'', nullable=(0, 0)),
                        Field('acquired_records', '[]ShareFetchResponseAcquiredRecords', default=[], fields=(
                            Field('first_offset', 'int64', default=0),
                            Field('last_offset', 'int64', default=0),
                            Field('delivery_count', 'int16', default=0),
                        )),
                    )),
                )),
                Field('node_endpoints', '[]ShareFetchResponseNodeEndpoint', default=[], fields=(
                    Field('node_id', 'int32', default=0),
                    Field('host', 'string', default=''),
                    Field('port', 'int32', default=0),
                    Field('rack', 'string', nullable=(0, 32767)),
                )),
            )),
        ),
    ),
}
