# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""WriteShareGroupState."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class WriteShareGroupStateRequestStateBatch(Struct, gc=False):
    first_offset: int = 0
    last_offset: int = 0
    delivery_state: int = 0
    delivery_count: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteShareGroupStateRequestPartitionData(Struct, gc=False):
    partition: int = 0
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = 0
    delivery_complete_count: int = -1
    state_batches: list[WriteShareGroupStateRequestStateBatch] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteShareGroupStateRequestWriteStateData(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[WriteShareGroupStateRequestPartitionData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteShareGroupStateRequest(Struct, gc=False):
    group_id: str = ''
    topics: list[WriteShareGroupStateRequestWriteStateData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteShareGroupStateResponsePartitionResult(Struct, gc=False):
    partition: int = 0
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteShareGroupStateResponseWriteStateResult(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[WriteShareGroupStateResponsePartitionResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteShareGroupStateResponse(Struct, gc=False):
    results: list[WriteShareGroupStateResponseWriteStateResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'WriteShareGroupStateRequest': Schema(
        'WriteShareGroupStateRequest', 85, 0,
        (
            Layout((0, 1), (
                Field('group_id', 'string', default=''),
                Field('topics', '[]WriteShareGroupStateRequestWriteStateData', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]WriteShareGroupStateRequestPartitionData', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('state_epoch', 'int32', default=0),
                        Field('leader_epoch', 'int32', default=0),
                        Field('start_offset', 'int64', default=0),
                        Field('delivery_complete_count', 'int32', versions=(1, 32767), default=-1),
                        Field('state_batches', '[]WriteShareGroupStateRequestStateBatch', default=[], fields=(
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
    'WriteShareGroupStateResponse': Schema(
        'WriteShareGroupStateResponse', 85, 0,
        (
            Layout((0, 1), (
                Field('results', '[]WriteShareGroupStateResponseWriteStateResult', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]WriteShareGroupStateResponsePartitionResult', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
}
