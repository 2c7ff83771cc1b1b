# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeTopicPartitions."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeTopicPartitionsRequestTopicRequest(Struct, gc=False):
    name: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeTopicPartitionsRequestCursor(Struct, gc=False):
    topic_name: str = ''
    partition_index: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeTopicPartitionsRequest(Struct, gc=False):
    topics: list[DescribeTopicPartitionsRequestTopicRequest] = field(default_factory=list)
    response_partition_limit: int = 2000
    cursor: DescribeTopicPartitionsRequestCursor | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeTopicPartitionsResponsePartition(Struct, gc=False):
    error_code: int = 0
    partition_index: int = 0
    leader_id: int = 0
    leader_epoch: int = -1
    replica_nodes: list[int] = field(default_factory=list)
    isr_nodes: list[int] = field(default_factory=list)
    eligible_leader_replicas: list[int] | None = None
    last_known_elr: list[int] | None = None
    offline_replicas: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeTopicPartitionsResponseTopic(Struct, gc=False):
    error_code: int = 0
    name: str | None = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    is_internal: bool = False
    partitions: list[DescribeTopicPartitionsResponsePartition] = field(default_factory=list)
    topic_authorized_operations: int = -2147483648
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeTopicPartitionsResponseCursor(Struct, gc=False):
    topic_name: str = ''
    partition_index: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeTopicPartitionsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    topics: list[DescribeTopicPartitionsResponseTopic] = field(default_factory=list)
    next_cursor: DescribeTopicPartitionsResponseCursor | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeTopicPartitionsRequest': Schema(
        'DescribeTopicPartitionsRequest', 75, 0,
        (
            Layout((0, 0), (
                Field('topics', '[]DescribeTopicPartitionsRequestTopicRequest', default=[], fields=(
                    Field('name', 'string', default=''),
                )),
                Field('response_partition_limit', 'int32', default=2000),
                Field('cursor', 'DescribeTopicPartitionsRequestCursor', nullable=(0, 32767), fields=(
                    Field('topic_name', 'string', default=''),
                    Field('partition_index', 'int32', default=0),
                )),
            )),
        ),
    ),
    'DescribeTopicPartitionsResponse': Schema(
        'DescribeTopicPartitionsResponse', 75, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('topics', '[]DescribeTopicPartitionsResponseTopic', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('name', 'string', default='', nullable=(0, 32767)),
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('is_internal', 'bool', default=False),
                    Field('partitions', '[]DescribeTopicPartitionsResponsePartition', default=[], fields=(
                        Field('error_code', 'int16', default=0),
                        Field('partition_index', 'int32', default=0),
                        Field('leader_id', 'int32', default=0),
                        Field('leader_epoch', 'int32', default=-1),
                        Field('replica_nodes', '[]int32', default=[]),
                        Field('isr_nodes', '[]int32', default=[]),
                        Field('eligible_leader_replicas', '[]int32', nullable=(0, 32767)),
                        Field('last_known_elr', '[]int32', nullable=(0, 32767)),
                        Field('offline_replicas', '[]int32', default=[]),
                    )),
                    Field('topic_authorized_operations', 'int32', default=-2147483648),
                )),
                Field('next_cursor', 'DescribeTopicPartitionsResponseCursor', nullable=(0, 32767), fields=(
                    Field('topic_name', 'string', default=''),
                    Field('partition_index', 'int32', default=0),
                )),
            )),
        ),
    ),
}
