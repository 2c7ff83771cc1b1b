# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""OffsetForLeaderEpoch."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class OffsetForLeaderEpochRequestOffsetForLeaderPartition(Struct, gc=False):
    partition: int = 0
    current_leader_epoch: int = -1
    leader_epoch: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetForLeaderEpochRequestOffsetForLeaderTopic(Struct, gc=False):
    topic: str = ''
    partitions: list[OffsetForLeaderEpochRequestOffsetForLeaderPartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetForLeaderEpochRequest(Struct, gc=False):
    replica_id: int = -2
    topics: list[OffsetForLeaderEpochRequestOffsetForLeaderTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetForLeaderEpochResponseEpochEndOffset(Struct, gc=False):
    error_code: int = 0
    partition: int = 0
    leader_epoch: int = -1
    end_offset: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetForLeaderEpochResponseOffsetForLeaderTopicResult(Struct, gc=False):
    topic: str = ''
    partitions: list[OffsetForLeaderEpochResponseEpochEndOffset] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class OffsetForLeaderEpochResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    topics: list[OffsetForLeaderEpochResponseOffsetForLeaderTopicResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'OffsetForLeaderEpochRequest': Schema(
        'OffsetForLeaderEpochRequest', 23, 4,
        (
            Layout((0, 1), (
                Field('topics', '[]OffsetForLeaderEpochRequestOffsetForLeaderTopic', default=[], fields=(
                    Field('topic', 'string', default=''),
                    Field('partitions', '[]OffsetForLeaderEpochRequestOffsetForLeaderPartition', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('leader_epoch', 'int32', default=0),
                    )),
                )),
            )),
            Layout((2, 4), (
                Field('replica_id', 'int32', versions=(3, 32767), default=-2),
                Field('topics', '[]OffsetForLeaderEpochRequestOffsetForLeaderTopic', default=[], fields=(
                    Field('topic', 'string', default=''),
                    Field('partitions', '[]OffsetForLeaderEpochRequestOffsetForLeaderPartition', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('current_leader_epoch', 'int32', versions=(2, 32767), default=-1),
                        Field('leader_epoch', 'int32', default=0),
                    )),
                )),
            )),
        ),
    ),
    'OffsetForLeaderEpochResponse': Schema(
        'OffsetForLeaderEpochResponse', 23, 4,
        (
            Layout((0, 1), (
                Field('topics', '[]OffsetForLeaderEpochResponseOffsetForLeaderTopicResult', default=[], fields=(
                    Field('topic', 'string', default=''),
                    Field('partitions', '[]OffsetForLeaderEpochResponseEpochEndOffset', default=[], fields=(
                        Field('error_code', 'int16', default=0),
                        Field('partition', 'int32', default=0),
                        Field('leader_epoch', 'int32', versions=(1, 32767), default=-1),
                        Field('end_offset', 'int64', default=-1),
                    )),
                )),
            )),
            Layout((2, 4), (
                Field('throttle_time_ms', 'int32', versions=(2, 32767), default=0),
                Field('topics', '[]OffsetForLeaderEpochResponseOffsetForLeaderTopicResult', default=[], fields=(
                    Field('topic', 'string', default=''),
                    Field('partitions', '[]OffsetForLeaderEpochResponseEpochEndOffset', default=[], fields=(
                        Field('error_code', 'int16', default=0),
                        Field('partition', 'int32', default=0),
                        Field('leader_epoch', 'int32', versions=(1, 32767), default=-1),
                        Field('end_offset', 'int64', default=-1),
                    )),
                )),
            )),
        ),
    ),
}
