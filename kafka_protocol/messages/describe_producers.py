# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeProducers."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeProducersRequestTopicRequest(Struct, gc=False):
    name: str = ''
    partition_indexes: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeProducersRequest(Struct, gc=False):
    topics: list[DescribeProducersRequestTopicRequest] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeProducersResponseProducerState(Struct, gc=False):
    producer_id: int = 0
    producer_epoch: int = 0
    last_sequence: int = -1
    last_timestamp: int = -1
    coordinator_epoch: int = 0
    current_txn_start_offset: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeProducersResponsePartitionResponse(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = None
    active_producers: list[DescribeProducersResponseProducerState] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeProducersResponseTopicResponse(Struct, gc=False):
    name: str = ''
    partitions: list[DescribeProducersResponsePartitionResponse] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeProducersResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    topics: list[DescribeProducersResponseTopicResponse] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeProducersRequest': Schema(
        'DescribeProducersRequest', 61, 0,
        (
            Layout((0, 0), (
                Field('topics', '[]DescribeProducersRequestTopicRequest', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partition_indexes', '[]int32', default=[]),
                )),
            )),
        ),
    ),
    'DescribeProducersResponse': Schema(
        'DescribeProducersResponse', 61, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('topics', '[]DescribeProducersResponseTopicResponse', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]DescribeProducersResponsePartitionResponse', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', nullable=(0, 32767)),
                        Field('active_producers', '[]DescribeProducersResponseProducerState', default=[], fields=(
                            Field('producer_id', 'int64', default=0),
                            Field('producer_epoch', 'int32', default=0),
                            Field('last_sequence', 'int32', default=-1),
                            Field('last_timestamp', 'int64', default=-1),
                            Field('coordinator_epoch', 'int32', default=0),
                            Field('current_txn_start_offset', 'int64', default=-1),
                        )),
                    )),
                )),
            )),
        ),
    ),
}
