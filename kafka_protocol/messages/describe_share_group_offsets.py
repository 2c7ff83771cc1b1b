# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeShareGroupOffsets."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeShareGroupOffsetsRequestTopic(Struct, gc=False):
    topic_name: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeShareGroupOffsetsRequestGroup(Struct, gc=False):
    group_id: str = ''
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeShareGroupOffsetsRequest(Struct, gc=False):
    groups: list[DescribeShareGroupOffsetsRequestGroup] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeShareGroupOffsetsResponsePartition(Struct, gc=False):
    partition_index: int = 0
    start_offset: int = 0
    leader_epoch: int = 0
    lag: int = -1
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeShareGroupOffsetsResponseTopic(Struct, gc=False):
    topic_name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[DescribeShareGroupOffsetsResponsePartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeShareGroupOffsetsResponseGroup(Struct, gc=False):
    group_id: str = ''
    topics: list[DescribeShareGroupOffsetsResponseTopic] = field(default_factory=list)
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeShareGroupOffsetsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    groups: list[DescribeShareGroupOffsetsResponseGroup] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeShareGroupOffsetsRequest': Schema(
        'DescribeShareGroupOffsetsRequest', 90, 0,
        (
            Layout((0, 1), (
                Field('groups', '[]DescribeShareGroupOffsetsRequestGroup', default=[], fields=(
                    Field('group_id', 'string', default=''),
                    Field('topics', '[]DescribeShareGroupOffsetsRequestTopic', default=[], nullable=(0, 32767), fields=(
                        Field('topic_name', 'string', default=''),
                        Field('partitions', '[]int32', default=[]),
                    )),
                )),
            )),
        ),
    ),
    'DescribeShareGroupOffsetsResponse': Schema(
        'DescribeShareGroupOffsetsResponse', 90, 0,
        (
            Layout((0, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('groups', '[]DescribeShareGroupOffsetsResponseGroup', default=[], fields=(
                    Field('group_id', 'string', default=''),
                    Field('topics', '[]DescribeShareGroupOffsetsResponseTopic', default=[], fields=(
                        Field('topic_name', 'string', default=''),
                        Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                        Field('partitions', '[]DescribeShareGroupOffsetsResponsePartition', default=[], fields=(
                            Field('partition_index', 'int32', default=0),
                            Field('start_offset', 'int64', default=0),
                            Field('leader_epoch', 'int32', default=0),
                            Field('lag', 'int64', versions=(1, 32767), default=-1),
                            Field('error_code', 'int16', default=0),
                            Field('error_message', 'string', nullable=(0, 32767)),
                        )),
                    )),
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', nullable=(0, 32767)),
                )),
            )),
        ),
    ),
}
