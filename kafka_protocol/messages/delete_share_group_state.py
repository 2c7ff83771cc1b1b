# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DeleteShareGroupState."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DeleteShareGroupStateRequestPartitionData(Struct, gc=False):
    partition: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteShareGroupStateRequestDeleteStateData(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[DeleteShareGroupStateRequestPartitionData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteShareGroupStateRequest(Struct, gc=False):
    group_id: str = ''
    topics: list[DeleteShareGroupStateRequestDeleteStateData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteShareGroupStateResponsePartitionResult(Struct, gc=False):
    partition: int = 0
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteShareGroupStateResponseDeleteStateResult(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[DeleteShareGroupStateResponsePartitionResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteShareGroupStateResponse(Struct, gc=False):
    results: list[DeleteShareGroupStateResponseDeleteStateResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DeleteShareGroupStateRequest': Schema(
        'DeleteShareGroupStateRequest', 86, 0,
        (
            Layout((0, 0), (
                Field('group_id', 'string', default=''),
                Field('topics', '[]DeleteShareGroupStateRequestDeleteStateData', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]DeleteShareGroupStateRequestPartitionData', default=[], fields=(
                        Field('partition', 'int32', default=0),
                    )),
                )),
            )),
        ),
    ),
    'DeleteShareGroupStateResponse': Schema(
        'DeleteShareGroupStateResponse', 86, 0,
        (
            Layout((0, 0), (
                Field('results', '[]DeleteShareGroupStateResponseDeleteStateResult', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]DeleteShareGroupStateResponsePartitionResult', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
}
