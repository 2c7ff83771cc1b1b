# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""AlterShareGroupOffsets."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class AlterShareGroupOffsetsRequestPartition(Struct, gc=False):
    partition_index: int = 0
    start_offset: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterShareGroupOffsetsRequestTopic(Struct, gc=False):
    topic_name: str = ''
    partitions: list[AlterShareGroupOffsetsRequestPartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterShareGroupOffsetsRequest(Struct, gc=False):
    group_id: str = ''
    topics: list[AlterShareGroupOffsetsRequestTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterShareGroupOffsetsResponsePartition(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterShareGroupOffsetsResponseTopic(Struct, gc=False):
    topic_name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[AlterShareGroupOffsetsResponsePartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterShareGroupOffsetsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    responses: list[AlterShareGroupOffsetsResponseTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'AlterShareGroupOffsetsRequest': Schema(
        'AlterShareGroupOffsetsRequest', 91, 0,
        (
            Layout((0, 0), (
                Field('group_id', 'string', default=''),
                Field('topics', '[]AlterShareGroupOffsetsRequestTopic', default=[], fields=(
                    Field('topic_name', 'string', default=''),
                    Field('partitions', '[]AlterShareGroupOffsetsRequestPartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('start_offset', 'int64', default=0),
                    )),
                )),
            )),
        ),
    ),
    'AlterShareGroupOffsetsResponse': Schema(
        'AlterShareGroupOffsetsResponse', 91, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', nullable=(0, 32767)),
                Field('responses', '[]AlterShareGroupOffsetsResponseTopic', default=[], fields=(
                    Field('topic_name', 'string', default=''),
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]AlterShareGroupOffsetsResponsePartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
}
