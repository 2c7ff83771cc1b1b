# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ListOffsets."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ListOffsetsRequestListOffsetsPartition(Struct, gc=False):
    partition_index: int = 0
    current_leader_epoch: int = -1
    timestamp: int = 0
    max_num_offsets: int = 1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListOffsetsRequestListOffsetsTopic(Struct, gc=False):
    name: str = ''
    partitions: list[ListOffsetsRequestListOffsetsPartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListOffsetsRequest(Struct, gc=False):
    replica_id: int = 0
    isolation_level: int = 0
    topics: list[ListOffsetsRequestListOffsetsTopic] = field(default_factory=list)
    timeout_ms: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListOffsetsResponseListOffsetsPartitionResponse(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    timestamp: int = -1
    offset: int = -1
    leader_epoch: int = -1
    old_style_offsets: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListOffsetsResponseListOffsetsTopicResponse(Struct, gc=False):
    name: str = ''
    partitions: list[ListOffsetsResponseListOffsetsPartitionResponse] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListOffsetsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    topics: list[ListOffsetsResponseListOffsetsTopicResponse] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ListOffsetsRequest': Schema(
        'ListOffsetsRequest', 2, 6,
        (
            Layout((0, 0), (
                Field('replica_id', 'int32', default=0),
                Field('topics', '[]ListOffsetsRequestListOffsetsTopic', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]ListOffsetsRequestListOffsetsPartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('timestamp', 'int64', default=0),
                        Field('max_num_offsets', 'int32', versions=(0, 0), default=1),
                    )),
                )),
            )),
            Layout((1, 11), (
                Field('replica_id', 'int32', default=0),
                Field('isolation_level', 'int8', versions=(2, 32767), default=0),
                Field('topics', '[]ListOffsetsRequestListOffsetsTopic', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]ListOffsetsRequestListOffsetsPartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('current_leader_epoch', 'int32', versions=(4, 32767), default=-1),
                        Field('timestamp', 'int64', default=0),
                    )),
                )),
                Field('timeout_ms', 'int32', versions=(10, 32767), default=0),
            )),
        ),
    ),
    'ListOffsetsResponse': Schema(
        'ListOffsetsResponse', 2, 6,
        (
            Layout((0, 0), (
                Field('topics', '[]ListOffsetsResponseListOffsetsTopicResponse', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]ListOffsetsResponseListOffsetsPartitionResponse', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('old_style_offsets', '[]int64', versions=(0, 0), default=[]),
                    )),
                )),
            )),
            Layout((1, 11), (
                Field('throttle_time_ms', 'int32', versions=(2, 32767), default=0),
                Field('topics', '[]ListOffsetsResponseListOffsetsTopicResponse', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]ListOffsetsResponseListOffsetsPartitionResponse', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('timestamp', 'int64', versions=(1, 32767), default=-1),
                        Field('offset', 'int64', versions=(1, 32767), default=-1),
                        Field('leader_epoch', 'int32', versions=(4, 32767), default=-1),
                    )),
                )),
            )),
        ),
    ),
}
