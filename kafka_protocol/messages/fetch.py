# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""Fetch."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class FetchRequestReplicaState(Struct, gc=False):
    replica_id: int = -1
    replica_epoch: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchRequestFetchPartition(Struct, gc=False):
    partition: int = 0
    current_leader_epoch: int = -1
    fetch_offset: int = 0
    last_fetched_epoch: int = -1
    log_start_offset: int = -1
    partition_max_bytes: int = 0
    replica_directory_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    high_watermark: int = 9223372036854775807
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchRequestFetchTopic(Struct, gc=False):
    topic: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[FetchRequestFetchPartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchRequestForgottenTopic(Struct, gc=False):
    topic: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchRequest(Struct, gc=False):
    cluster_id: str | None = None
    replica_id: int = -1
    replica_state: FetchRequestReplicaState | None = None
    max_wait_ms: int = 0
    min_bytes: int = 0
    max_bytes: int = 2147483647
    isolation_level: int = 0
    session_id: int = 0
    session_epoch: int = -1
    topics: list[FetchRequestFetchTopic] = field(default_factory=list)
    forgotten_topics_data: list[FetchRequestForgottenTopic] = field(default_factory=list)
    rack_id: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchResponseEpochEndOffset(Struct, gc=False):
    epoch: int = -1
    end_offset: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchResponseLeaderIdAndEpoch(Struct, gc=False):
    leader_id: int = -1
    leader_epoch: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchResponseSnapshotId(Struct, gc=False):
    end_offset: int = -1
    epoch: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchResponseAbortedTransaction(Struct, gc=False):
    producer_id: int = 0
    first_offset: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchResponsePartitionData(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    high_watermark: int = 0
    last_stable_offset: int = -1
    log_start_offset: int = -1
    diverging_epoch: FetchResponseEpochEndOffset | None = None
    current_leader: FetchResponseLeaderIdAndEpoch | None = None
    snapshot_id: FetchResponseSnapshotId | None = None
    aborted_transactions: list[FetchResponseAbortedTransaction] | None = field(default_factory=list)
    preferred_read_replica: int = -1
    records: bytes | None = b''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchResponseFetchableTopicResponse(Struct, gc=False):
    topic: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[FetchResponsePartitionData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchResponseNodeEndpoint(Struct, gc=False):
    node_id: int = 0
    host: str = ''
    port: int = 0
    rack: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FetchResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    session_id: int = 0
    responses: list[FetchResponseFetchableTopicResponse] = field(default_factory=list)
    node_endpoints: list[FetchResponseNodeEndpoint] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'FetchRequest': Schema(
        'FetchRequest', 1, 12,
        (
            Layout((0, 3), (
                Field('replica_id', 'int32', versions=(0, 14), default=-1),
                Field('max_wait_ms', 'int32', default=0),
                Field('min_bytes', 'int32', default=0),
                Field('max_bytes', 'int32', versions=(3, 32767), default=2147483647),
                Field('topics', '[]FetchRequestFetchTopic', default=[], fields=(
                    Field('topic', 'string', versions=(0, 12), default=''),
                    Field('partitions', '[]FetchRequestFetchPartition', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('fetch_offset', 'int64', default=0),
                        Field('partition_max_bytes', 'int32', default=0),
                    )),
                )),
            )),
            Layout((4, 18), (
                Field('cluster_id', 'string', versions=(12, 32767), nullable=(12, 32767), tagged=(12, 32767), tag=0),
                Field('replica_id', 'int32', versions=(0, 14), default=-1),
                Field('replica_state', 'FetchRequestReplicaState', versions=(15, 32767), tagged=(15, 32767), tag=1, fields=(
                    Field('replica_id', 'int32', versions=(15, 32767), default=-1),
                    Field('replica_epoch', 'int64', versions=(15, 32767), default=-1),
                )),
                Field('max_wait_ms', 'int32', default=0),
                Field('min_bytes', 'int32', default=0),
                Field('max_bytes', 'int32', versions=(3, 32767), default=2147483647),
                Field('isolation_level', 'int8', versions=(4, 32767), default=0),
                Field('session_id', 'int32', versions=(7, 32767), default=0),
                Field('session_epoch', 'int32', versions=(7, 32767), default=-1),
                Field('topics', '[]FetchRequestFetchTopic', default=[], fields=(
                    Field('topic', 'string', versions=(0, 12), default=''),
                    Field('topic_id', 'uuid', versions=(13, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]FetchRequestFetchPartition', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('current_leader_epoch', 'int32', versions=(9, 32767), default=-1),
                        Field('fetch_offset', 'int64', default=0),
                        Field('last_fetched_epoch', 'int32', versions=(12, 32767), default=-1),
                        Field('log_start_offset', 'int64', versions=(5, 32767), default=-1),
                        Field('partition_max_bytes', 'int32', default=0),
                        Field('replica_directory_id', 'uuid', versions=(17, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00', tagged=(17, 32767), tag=0),
                        Field('high_watermark', 'int64', versions=(18, 32767), default=9223372036854775807, tagged=(18, 32767), tag=1),
                    )),
                )),
                Field('forgotten_topics_data', '[]FetchRequestForgottenTopic', versions=(7, 32767), default=[], fields=(
                    Field('topic', 'string', versions=(7, 12), default=''),
                    Field('topic_id', 'uuid', versions=(13, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]int32', versions=(7, 32767), default=[]),
                )),
                Field('rack_id', 'string', versions=(11, 32767), default=''),
            )),
        ),
    ),
    'FetchResponse': Schema(
        'FetchResponse', 1, 12,
        (
            Layout((0, 3), (
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
                Field('responses', '[]FetchResponseFetchableTopicResponse', default=[], fields=(
                    Field('topic', 'string', versions=(0, 12), default=''),
                    Field('partitions', '[]FetchResponsePartitionData', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('high_watermark', 'int64', default=0),
                        Field('records', 'records', default=b'', nullable=(0, 32767)),
                    )),
                )),
            )),
            Layout((4, 18), (
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
                Field('error_code', 'int16', versions=(7, 32767), default=0),
                Field('session_id', 'int32', versions=(7, 32767), default=0),
                Field('responses', '[]FetchResponseFetchableTopicResponse', default=[], fields=(
                    Field('topic', 'string', versions=(0, 12), default=''),
                    Field('topic_id', 'uuid', versions=(13, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]FetchResponsePartitionData', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('high_watermark', 'int64', default=0),
                        Field('last_stable_offset', 'int64', versions=(4, 32767), default=-1),
                        Field('log_start_offset', 'int64', versions=(5, 32767), default=-1),
                        Field('diverging_epoch', 'FetchResponseEpochEndOffset', versions=(12, 32767), tagged=(12, 32767), tag=0, fields=(
                            Field('epoch', 'int32', versions=(12, 32767), default=-1),
                            Field('end_offset', 'int64', versions=(12, 32767), default=-1),
                        )),
                        Field('current_leader', 'FetchResponseLeaderIdAndEpoch', versions=(12, 32767), tagged=(12, 32767), tag=1, fields=(
                            Field('leader_id', 'int32', versions=(12, 32767), default=-1),
                            Field('leader_epoch', 'int32', versions=(12, 32767), default=-1),
                        )),
                        Field('snapshot_id', 'FetchResponseSnapshotId', versions=(12, 32767), tagged=(12, 32767), tag=2, fields=(
                            Field('end_offset', 'int64', default=-1),
                            Field('epoch', 'int32', default=-1),
                        )),
                        Field('aborted_transactions', '[]FetchResponseAbortedTransaction', versions=(4, 32767), default=[], nullable=(4, 32767), fields=(
                            Field('producer_id', 'int64', versions=(4, 32767), default=0),
                            Field('first_offset', 'int64', versions=(4, 32767), default=0),
                        )),
                        Field('preferred_read_replica', 'int32', versions=(11, 32767), default=-1),
                        Field('records', 'records', default=b'', nullable=(0, 32767)),
                    )),
                )),
                Field('node_endpoints', '[]FetchResponseNodeEndpoint', versions=(16, 32767), default=[], tagged=(16, 32767), tag=0, fields=(
                    Field('node_id', 'int32', versions=(16, 32767), default=0),
                    Field('host', 'string', versions=(16, 32767), default=''),
                    Field('port', 'int32', versions=(16, 32767), default=0),
                    Field('rack', 'string', versions=(16, 32767), nullable=(16, 32767)),
                )),
            )),
        ),
    ),
}
