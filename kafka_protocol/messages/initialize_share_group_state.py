# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""InitializeShareGroupState."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class InitializeShareGroupStateRequestPartitionData(Struct, gc=False):
    partition: int = 0
    state_epoch: int = 0
    start_offset: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class InitializeShareGroupStateRequestInitializeStateData(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[InitializeShareGroupStateRequestPartitionData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class InitializeShareGroupStateRequest(Struct, gc=False):
    group_id: str = ''
    topics: list[InitializeShareGroupStateRequestInitializeStateData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class InitializeShareGroupStateResponsePartitionResult(Struct, gc=False):
    partition: int = 0
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class InitializeShareGroupStateResponseInitializeStateResult(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[InitializeShareGroupStateResponsePartitionResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class InitializeShareGroupStateResponse(Struct, gc=False):
    results: list[InitializeShareGroupStateResponseInitializeStateResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'InitializeShareGroupStateRequest': Schema(
        'InitializeShareGroupStateRequest', 83, 0,
        (
            Layout((0, 0), (
                Field('group_id', 'string', default=''),
                Field('topics', '[]InitializeShareGroupStateRequestInitializeStateData', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]InitializeShareGroupStateRequestPartitionData', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('state_epoch', 'int32', default=0),
                        Field('start_offset', 'int64', default=0),
                    )),
                )),
            )),
        ),
    ),
    'InitializeShareGroupStateResponse': Schema(
        'InitializeShareGroupStateResponse', 83, 0,
        (
            Layout((0, 0), (
                Field('results', '[]InitializeShareGroupStateResponseInitializeStateResult', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]InitializeShareGroupStateResponsePartitionResult', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
}
