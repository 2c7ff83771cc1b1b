# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""OffsetDelete."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class OffsetDeleteRequestPartition(Struct, gc=False):
    partition_index: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetDeleteRequestTopic(Struct, gc=False):
    name: str = ''
    partitions: list[OffsetDeleteRequestPartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetDeleteRequest(Struct, gc=False):
    group_id: str = ''
    topics: list[OffsetDeleteRequestTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetDeleteResponsePartition(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetDeleteResponseTopic(Struct, gc=False):
    name: str = ''
    partitions: list[OffsetDeleteResponsePartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetDeleteResponse(Struct, gc=False):
    error_code: int = 0
    throttle_time_ms: int = 0
    topics: list[OffsetDeleteResponseTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'OffsetDeleteRequest': Schema(
        'OffsetDeleteRequest', 47, 32767,
        (
            Layout((0, 0), (
                Field('group_id', 'string', default=''),
                Field('topics', '[]OffsetDeleteRequestTopic', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]OffsetDeleteRequestPartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                    )),
                )),
            )),
        ),
    ),
    'OffsetDeleteResponse': Schema(
        'OffsetDeleteResponse', 47, 32767,
        (
            Layout((0, 0), (
                Field('error_code', 'int16', default=0),
                Field('throttle_time_ms', 'int32', default=0),
                Field('topics', '[]OffsetDeleteResponseTopic', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]OffsetDeleteResponsePartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                    )),
                )),
            )),
        ),
    ),
}
