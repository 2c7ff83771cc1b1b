# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeLogDirs."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeLogDirsRequestDescribableLogDirTopic(Struct, gc=False):
    topic: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeLogDirsRequest(Struct, gc=False):
    topics: list[DescribeLogDirsRequestDescribableLogDirTopic] | None = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeLogDirsResponseDescribeLogDirsPartition(Struct, gc=False):
    partition_index: int = 0
    partition_size: int = 0
    offset_lag: int = 0
    is_future_key: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeLogDirsResponseDescribeLogDirsTopic(Struct, gc=False):
    name: str = ''
    partitions: list[DescribeLogDirsResponseDescribeLogDirsPartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeLogDirsResponseDescribeLogDirsResult(Struct, gc=False):
    error_code: int = 0
    log_dir: str = ''
    topics: list[DescribeLogDirsResponseDescribeLogDirsTopic] = field(default_factory=list)
    total_bytes: int = -1
    usable_bytes: int = -1
    is_cordoned: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeLogDirsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    results: list[DescribeLogDirsResponseDescribeLogDirsResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeLogDirsRequest': Schema(
        'DescribeLogDirsRequest', 35, 2,
        (
            Layout((0, 0), (
                Field('topics', '[]DescribeLogDirsRequestDescribableLogDirTopic', default=[], nullable=(0, 32767), fields=(
                    Field('topic', 'string', default=''),
                    Field('partitions', '[]int32', default=[]),
                )),
            )),
            Layout((1, 5), (
                Field('topics', '[]DescribeLogDirsRequestDescribableLogDirTopic', default=[], nullable=(0, 32767), fields=(
                    Field('topic', 'string', default=''),
                    Field('partitions', '[]int32', default=[]),
                )),
            )),
        ),
    ),
    'DescribeLogDirsResponse': Schema(
        'DescribeLogDirsResponse', 35, 2,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('results', '[]DescribeLogDirsResponseDescribeLogDirsResult', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('log_dir', 'string', default=''),
                    Field('topics', '[]DescribeLogDirsResponseDescribeLogDirsTopic', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('partitions', '[]DescribeLogDirsResponseDescribeLogDirsPartition', default=[], fields=(
                            Field('partition_index', 'int32', default=0),
                            Field('partition_size', 'int64', default=0),
                            Field('offset_lag', 'int64', default=0),
                            Field('is_future_key', 'bool', default=False),
                        )),
                    )),
                )),
            )),
            Layout((1, 5), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', versions=(3, 32767), default=0),
                Field('results', '[]DescribeLogDirsResponseDescribeLogDirsResult', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('log_dir', 'string', default=''),
                    Field('topics', '[]DescribeLogDirsResponseDescribeLogDirsTopic', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('partitions', '[]DescribeLogDirsResponseDescribeLogDirsPartition', default=[], fields=(
                            Field('partition_index', 'int32', default=0),
                            Field('partition_size', 'int64', default=0),
                            Field('offset_lag', 'int64', default=0),
                            Field('is_future_key', 'bool', default=False),
                        )),
                    )),
                    Field('total_bytes', 'int64', versions=(4, 32767), default=-1),
                    Field('usable_bytes', 'int64', versions=(4, 32767), default=-1),
                    Field('is_cordoned', 'bool', versions=(5, 32767), default=False),
                )),
            )),
        ),
    ),
}
