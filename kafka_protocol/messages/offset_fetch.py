# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""OffsetFetch."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class OffsetFetchRequestTopic(Struct, gc=False):
    name: str = ''
    partition_indexes: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetFetchRequestTopics(Struct, gc=False):
    name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partition_indexes: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetFetchRequestGroup(Struct, gc=False):
    group_id: str = ''
    member_id: str | None = None
    member_epoch: int = -1
    topics: list[OffsetFetchRequestTopics] | None = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetFetchRequest(Struct, gc=False):
    group_id: str = ''
    topics: list[OffsetFetchRequestTopic] | None = field(default_factory=list)
    groups: list[OffsetFetchRequestGroup] = field(default_factory=list)
    require_stable: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetFetchResponsePartition(Struct, gc=False):
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    metadata: str | None = ''
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetFetchResponseTopic(Struct, gc=False):
    name: str = ''
    partitions: list[OffsetFetchResponsePartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetFetchResponsePartitions(Struct, gc=False):
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    metadata: str | None = ''
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetFetchResponseTopics(Struct, gc=False):
    name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[OffsetFetchResponsePartitions] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetFetchResponseGroup(Struct, gc=False):
    group_id: str = ''
    topics: list[OffsetFetchResponseTopics] = field(default_factory=list)
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetFetchResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    topics: list[OffsetFetchResponseTopic] = field(default_factory=list)
    error_code: int = 0
    groups: list[OffsetFetchResponseGroup] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'OffsetFetchRequest': Schema(
        'OffsetFetchRequest', 9, 6,
        (
            Layout((0, 0), (
                Field('group_id', 'string', versions=(0, 7), default=''),
                Field('topics', '[]OffsetFetchRequestTopic', versions=(0, 7), default=[], nullable=(2, 7), fields=(
                    Field('name', 'string', versions=(0, 7), default=''),
                    Field('partition_indexes', '[]int32', versions=(0, 7), default=[]),
                )),
            )),
            Layout((1, 10), (
                Field('group_id', 'string', versions=(0, 7), default=''),
                Field('topics', '[]OffsetFetchRequestTopic', versions=(0, 7), default=[], nullable=(2, 7), fields=(
                    Field('name', 'string', versions=(0, 7), default=''),
                    Field('partition_indexes', '[]int32', versions=(0, 7), default=[]),
                )),
                Field('groups', '[]OffsetFetchRequestGroup', versions=(8, 32767), default=[], fields=(
                    Field('group_id', 'string', versions=(8, 32767), default=''),
                    Field('member_id', 'string', versions=(9, 32767), nullable=(9, 32767)),
                    Field('member_epoch', 'int32', versions=(9, 32767), default=-1),
                    Field('topics', '[]OffsetFetchRequestTopics', versions=(8, 32767), default=[], nullable=(8, 32767), fields=(
                        Field('name', 'string', versions=(8, 9), default=''),
                        Field('topic_id', 'uuid', versions=(10, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                        Field('partition_indexes', '[]int32', versions=(8, 32767), default=[]),
                    )),
                )),
                Field('require_stable', 'bool', versions=(7, 32767), default=False),
            )),
        ),
    ),
    'OffsetFetchResponse': Schema(
        'OffsetFetchResponse', 9, 6,
        (
            Layout((0, 0), (
                Field('topics', '[]OffsetFetchResponseTopic', versions=(0, 7), default=[], fields=(
                    Field('name', 'string', versions=(0, 7), default=''),
                    Field('partitions', '[]OffsetFetchResponsePartition', versions=(0, 7), default=[], fields=(
                        Field('partition_index', 'int32', versions=(0, 7), default=0),
                        Field('committed_offset', 'int64', versions=(0, 7), default=0),
                        Field('metadata', 'string', versions=(0, 7), default='', nullable=(0, 7)),
                        Field('error_code', 'int16', versions=(0, 7), default=0),
                    )),
                )),
            )),
            Layout((1, 10), (
                Field('throttle_time_ms', 'int32', versions=(3, 32767), default=0),
                Field('topics', '[]OffsetFetchResponseTopic', versions=(0, 7), default=[], fields=(
                    Field('name', 'string', versions=(0, 7), default=''),
                    Field('partitions', '[]OffsetFetchResponsePartition', versions=(0, 7), default=[], fields=(
                        Field('partition_index', 'int32', versions=(0, 7), default=0),
                        Field('committed_offset', 'int64', versions=(0, 7), default=0),
                        Field('committed_leader_epoch', 'int32', versions=(5, 7), default=-1),
                        Field('metadata', 'string', versions=(0, 7), default='', nullable=(0, 7)),
                        Field('error_code', 'int16', versions=(0, 7), default=0),
                    )),
                )),
                Field('error_code', 'int16', versions=(2, 7), default=0),
                Field('groups', '[]OffsetFetchResponseGroup', versions=(8, 32767), default=[], fields=(
                    Field('group_id', 'string', versions=(8, 32767), default=''),
                    Field('topics', '[]OffsetFetchResponseTopics', versions=(8, 32767), default=[], fields=(
                        Field('name', 'string', versions=(8, 9), default=''),
                        Field('topic_id', 'uuid', versions=(10, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                        Field('partitions', '[]OffsetFetchResponsePartitions', versions=(8, 32767), default=[], fields=(
                            Field('partition_index', 'int32', versions=(8, 32767), default=0),
                            Field('committed_offset', 'int64', versions=(8, 32767), default=0),
                            Field('committed_leader_epoch', 'int32', versions=(8, 32767), default=-1),
                            Field('metadata', 'string', versions=(8, 32767), default='', nullable=(8, 32767)),
                            Field('error_code', 'int16', versions=(8, 32767), default=0),
                        )),
                    )),
                    Field('error_code', 'int16', versions=(8, 32767), default=0),
                )),
            )),
        ),
    ),
}
