# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ReadShareGroupStateSummary."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ReadShareGroupStateSummaryRequestPartitionData(Struct, gc=False):
    partition: int = 0
    leader_epoch: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ReadShareGroupStateSummaryRequestReadStateSummaryData(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[ReadShareGroupStateSummaryRequestPartitionData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ReadShareGroupStateSummaryRequest(Struct, gc=False):
    group_id: str = ''
    topics: list[ReadShareGroupStateSummaryRequestReadStateSummaryData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ReadShareGroupStateSummaryResponsePartitionResult(Struct, gc=False):
    partition: int = 0
    error_code: int = 0
    error_message: str | None = None
    state_epoch: int = 0
    leader_epoch: int = 0
    start_offset: int = 0
    delivery_complete_count: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ReadShareGroupStateSummaryResponseReadStateSummaryResult(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[ReadShareGroupStateSummaryResponsePartitionResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ReadShareGroupStateSummaryResponse(Struct, gc=False):
    results: list[ReadShareGroupStateSummaryResponseReadStateSummaryResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ReadShareGroupStateSummaryRequest': Schema(
        'ReadShareGroupStateSummaryRequest', 87, 0,
        (
            Layout((0, 1), (
                Field('group_id', 'string', default=''),
                Field('topics', '[]ReadShareGroupStateSummaryRequestReadStateSummaryData', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ReadShareGroupStateSummaryRequestPartitionData', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('leader_epoch', 'int32', default=0),
                    )),
                )),
            )),
        ),
    ),
    'ReadShareGroupStateSummaryResponse': Schema(
        'ReadShareGroupStateSummaryResponse', 87, 0,
        (
            Layout((0, 1), (
                Field('results', '[]ReadShareGroupStateSummaryResponseReadStateSummaryResult', default=[], fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]ReadShareGroupStateSummaryResponsePartitionResult', default=[], fields=(
                        Field('partition', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', nullable=(0, 32767)),
                        Field('state_epoch', 'int32', default=0),
                        Field('leader_epoch', 'int32', default=0),
                        Field('start_offset', 'int64', default=0),
                        Field('delivery_complete_count', 'int32', versions=(1, 32767), default=-1),
                    )),
                )),
            )),
        ),
    ),
}
