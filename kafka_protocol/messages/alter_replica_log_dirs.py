# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""AlterReplicaLogDirs."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class AlterReplicaLogDirsRequestAlterReplicaLogDirTopic(Struct, gc=False):
    name: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterReplicaLogDirsRequestAlterReplicaLogDir(Struct, gc=False):
    path: str = ''
    topics: list[AlterReplicaLogDirsRequestAlterReplicaLogDirTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterReplicaLogDirsRequest(Struct, gc=False):
    dirs: list[AlterReplicaLogDirsRequestAlterReplicaLogDir] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterReplicaLogDirsResponseAlterReplicaLogDirPartitionResult(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterReplicaLogDirsResponseAlterReplicaLogDirTopicResult(Struct, gc=False):
    topic_name: str = ''
    partitions: list[AlterReplicaLogDirsResponseAlterReplicaLogDirPartitionResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterReplicaLogDirsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    results: list[AlterReplicaLogDirsResponseAlterReplicaLogDirTopicResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'AlterReplicaLogDirsRequest': Schema(
        'AlterReplicaLogDirsRequest', 34, 2,
        (
            Layout((0, 0), (
                Field('dirs', '[]AlterReplicaLogDirsRequestAlterReplicaLogDir', default=[], fields=(
                    Field('path', 'string', default=''),
                    Field('topics', '[]AlterReplicaLogDirsRequestAlterReplicaLogDirTopic', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('partitions', '[]int32', default=[]),
                    )),
                )),
            )),
            Layout((1, 2), (
                Field('dirs', '[]AlterReplicaLogDirsRequestAlterReplicaLogDir', default=[], fields=(
                    Field('path', 'string', default=''),
                    Field('topics', '[]AlterReplicaLogDirsRequestAlterReplicaLogDirTopic', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('partitions', '[]int32', default=[]),
                    )),
                )),
            )),
        ),
    ),
    'AlterReplicaLogDirsResponse': Schema(
        'AlterReplicaLogDirsResponse', 34, 2,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('results', '[]AlterReplicaLogDirsResponseAlterReplicaLogDirTopicResult', default=[], fields=(
                    Field('topic_name', 'string', default=''),
                    Field('partitions', '[]AlterReplicaLogDirsResponseAlterReplicaLogDirPartitionResult', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                    )),
                )),
            )),
            Layout((1, 2), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('results', '[]AlterReplicaLogDirsResponseAlterReplicaLogDirTopicResult', default=[], fields=(
                    Field('topic_name', 'string', default=''),
                    Field('partitions', '[]AlterReplicaLogDirsResponseAlterReplicaLogDirPartitionResult', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                    )),
                )),
            )),
        ),
    ),
}
