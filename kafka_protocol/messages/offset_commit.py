# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""OffsetCommit."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class OffsetCommitRequestPartition(Struct, gc=False):
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    committed_metadata: str | None = ''
    commit_timestamp: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetCommitRequestTopic(Struct, gc=False):
    name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[OffsetCommitRequestPartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetCommitRequest(Struct, gc=False):
    group_id: str = ''
    generation_id_or_member_epoch: int = -1
    member_id: str = ''
    group_instance_id: str | None = None
    retention_time_ms: int = -1
    topics: list[OffsetCommitRequestTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetCommitResponsePartition(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetCommitResponseTopic(Struct, gc=False):
    name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[OffsetCommitResponsePartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetCommitResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    topics: list[OffsetCommitResponseTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'OffsetCommitRequest': Schema(
        'OffsetCommitRequest', 8, 8,
        (
            Layout((0, 1), (
                Field('group_id', 'string', default=''),
                Field('generation_id_or_member_epoch', 'int32', versions=(1, 32767), default=-1),
                Field('member_id', 'string', versions=(1, 32767), default=''),
                Field('topics', '[]OffsetCommitRequestTopic', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]OffsetCommitRequestPartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('committed_offset', 'int64', default=0),
                        Field('commit_timestamp', 'int64', versions=(1, 1), default=-1),
                        Field('committed_metadata', 'string', default='', nullable=(0, 32767)),
                    )),
                )),
            )),
            Layout((2, 10), (
                Field('group_id', 'string', default=''),
                Field('generation_id_or_member_epoch', 'int32', versions=(1, 32767), default=-1),
                Field('member_id', 'string', versions=(1, 32767), default=''),
                Field('group_instance_id', 'string', versions=(7, 32767), nullable=(7, 32767)),
                Field('retention_time_ms', 'int64', versions=(2, 4), default=-1),
                Field('topics', '[]OffsetCommitRequestTopic', default=[], fields=(
                    Field('name', 'string', versions=(0, 9), default=''),
                    Field('topic_id', 'uuid', versions=(10, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]OffsetCommitRequestPartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('committed_offset', 'int64', default=0),
                        Field('committed_leader_epoch', 'int32', versions=(6, 32767), default=-1),
                        Field('committed_metadata', 'string', default='', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
    'OffsetCommitResponse': Schema(
        'OffsetCommitResponse', 8, 8,
        (
            Layout((0, 1), (
                Field('topics', '[]OffsetCommitResponseTopic', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]OffsetCommitResponsePartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                    )),
                )),
            )),
            Layout((2, 10), (
                Field('throttle_time_ms', 'int32', versions=(3, 32767), default=0),
                Field('topics', '[]OffsetCommitResponseTopic', default=[], fields=(
                    Field('name', 'string', versions=(0, 9), default=''),
                    Field('topic_id', 'uuid', versions=(10, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]OffsetCommitResponsePartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                    )),
                )),
            )),
        ),
    ),
}
