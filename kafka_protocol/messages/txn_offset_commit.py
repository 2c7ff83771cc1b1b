# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""TxnOffsetCommit."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class TxnOffsetCommitRequestPartition(Struct, gc=False):
    partition_index: int = 0
    committed_offset: int = 0
    committed_leader_epoch: int = -1
    committed_metadata: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class TxnOffsetCommitRequestTopic(Struct, gc=False):
    name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[TxnOffsetCommitRequestPartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class TxnOffsetCommitRequest(Struct, gc=False):
    transactional_id: str = ''
    group_id: str = ''
    producer_id: int = 0
    producer_epoch: int = 0
    generation_id_or_member_epoch: int = -1
    member_id: str = ''
    group_instance_id: str | None = None
    topics: list[TxnOffsetCommitRequestTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class TxnOffsetCommitResponsePartition(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class TxnOffsetCommitResponseTopic(Struct, gc=False):
    name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[TxnOffsetCommitResponsePartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class TxnOffsetCommitResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    topics: list[TxnOffsetCommitResponseTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'TxnOffsetCommitRequest': Schema(
        'TxnOffsetCommitRequest', 28, 3,
        (
            Layout((0, 6), (
                Field('transactional_id', 'string', default=''),
                Field('group_id', 'string', default=''),
                Field('producer_id', 'int64', default=0),
                Field('producer_epoch', 'int16', default=0),
                Field('generation_id_or_member_epoch', 'int32', versions=(3, 32767), default=-1),
                Field('member_id', 'string', versions=(3, 32767), default=''),
                Field('group_instance_id', 'string', versions=(3, 32767), nullable=(3, 32767)),
                Field('topics', '[]TxnOffsetCommitRequestTopic', default=[], fields=(
                    Field('name', 'string', versions=(0, 5), default=''),
                    Field('topic_id', 'uuid', versions=(6, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]TxnOffsetCommitRequestPartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('committed_offset', 'int64', default=0),
                        Field('committed_leader_epoch', 'int32', versions=(2, 32767), default=-1),
                        Field('committed_metadata', 'string', default='', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
    'TxnOffsetCommitResponse': Schema(
        'TxnOffsetCommitResponse', 28, 3,
        (
            Layout((0, 6), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('topics', '[]TxnOffsetCommitResponseTopic', default=[], fields=(
                    Field('name', 'string', versions=(0, 5), default=''),
                    Field('topic_id', 'uuid', versions=(6, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]TxnOffsetCommitResponsePartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                    )),
                )),
            )),
        ),
    ),
}
