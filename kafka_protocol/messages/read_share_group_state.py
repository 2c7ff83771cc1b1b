# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ReadShareGroupState."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ReadShareGroupStateRequestPartitionData(Struct, gc=False):
    partition: int = 0
    leader_epoch: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ReadShareGroupStateRequestReadStateData(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[ReadShareGroupStateRequestPartitionData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ReadShareGroupStateRequest(Struct, gc=False):
    group_id: str = ''
    topics: list[ReadShareGroupStateRequestReadStateData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ReadShareGroupStateResponseStateBatch(Struct, gc=False):
    first_offset: int = 0
    last_offset: int = 0
    delivery_state: int = 0
    delivery_count: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ReadShareGroupStateResponsePartitionResult(Struct, gc=False):
    partition: int = 0
    error_code: int = 0
    error_message: str | None = None
    state_epoch: int = 0
    start_offset: int = 0
    state_batches: list[ReadShareGroupStateResponseStateBatch] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ReadShareGroupStateResponseReadStateResult(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[ReadShareGroupStateResponsePartitionResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ReadShareGroupStateResponse(Struct, gc=False):
    results: list[ReadShareGroupStateResponseReadStateResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ReadShareGroupStateRequest': Schema(
        'ReadShareGroupStateRequest', 84, 0,
        (
            Layout((0, 0), (
                Field('group_id', 'string', default=''),
                Field('topics', '[]ReadShareGroupStateRequestReadStateData', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ReadShareGroupStateRequestPartitionData', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('leader_epoch', 'int32', default=0),
                    )),
                )),
            )),
        ),
    ),
    'ReadShareGroupStateResponse': Schema(
        'ReadShareGroupStateResponse', 84, 0,
        (
            Layout((0, 0), (
                Field('results', '[]ReadShareGroupStateResponseReadStateResult', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ReadShareGroupStateResponsePartitionResult', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', nullable=(0, 32767)),
                        Field('state_epoch', 'int32', default=0),
                        Field('start_offset', 'int64', default=0),
                        Field('state_batches', '[]ReadShareGroupStateResponseStateBatch', default=[], fields=(
                            Field('first_offset', 'int64', default=0),
                            Field('last_offset', 'int64', default=0),
                            Field('delivery_state', 'int8', default=0),
                            Field('delivery_count', 'int16', default=0),
                        )),
                    )),
                )),
            )),
        ),
    ),
}
