# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DeleteRecords."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DeleteRecordsRequestDeleteRecordsPartition(Struct, gc=False):
    partition_index: int = 0
    offset: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteRecordsRequestDeleteRecordsTopic(Struct, gc=False):
    name: str = ''
    partitions: list[DeleteRecordsRequestDeleteRecordsPartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteRecordsRequest(Struct, gc=False):
    topics: list[DeleteRecordsRequestDeleteRecordsTopic] = field(default_factory=list)
    timeout_ms: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteRecordsResponseDeleteRecordsPartitionResult(Struct, gc=False):
    partition_index: int = 0
    low_watermark: int = 0
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteRecordsResponseDeleteRecordsTopicResult(Struct, gc=False):
    name: str = ''
    partitions: list[DeleteRecordsResponseDeleteRecordsPartitionResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteRecordsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    topics: list[DeleteRecordsResponseDeleteRecordsTopicResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DeleteRecordsRequest': Schema(
        'DeleteRecordsRequest', 21, 2,
        (
            Layout((0, 2), (
                Field('topics', '[]DeleteRecordsRequestDeleteRecordsTopic', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]DeleteRecordsRequestDeleteRecordsPartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('offset', 'int64', default=0),
                    )),
                )),
                Field('timeout_ms', 'int32', default=0),
            )),
        ),
    ),
    'DeleteRecordsResponse': Schema(
        'DeleteRecordsResponse', 21, 2,
        (
            Layout((0, 2), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('topics', '[]DeleteRecordsResponseDeleteRecordsTopicResult', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]DeleteRecordsResponseDeleteRecordsPartitionResult', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('low_watermark', 'int64', default=0),
                        Field('error_code', 'int16', default=0),
                    )),
                )),
            )),
        ),
    ),
}
