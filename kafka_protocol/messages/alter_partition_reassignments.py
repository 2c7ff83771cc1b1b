# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""AlterPartitionReassignments."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class AlterPartitionReassignmentsRequestReassignablePartition(Struct, gc=False):
    partition_index: int = 0
    replicas: list[int] | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterPartitionReassignmentsRequestReassignableTopic(Struct, gc=False):
    name: str = ''
    partitions: list[AlterPartitionReassignmentsRequestReassignablePartition] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterPartitionReassignmentsRequest(Struct, gc=False):
    timeout_ms: int = 60000
    allow_replication_factor_change: bool = True
    topics: list[AlterPartitionReassignmentsRequestReassignableTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterPartitionReassignmentsResponseReassignablePartitionResponse(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterPartitionReassignmentsResponseReassignableTopicResponse(Struct, gc=False):
    name: str = ''
    partitions: list[AlterPartitionReassignmentsResponseReassignablePartitionResponse] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterPartitionReassignmentsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    allow_replication_factor_change: bool = True
    error_code: int = 0
    error_message: str | None = ''
    responses: list[AlterPartitionReassignmentsResponseReassignableTopicResponse] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'AlterPartitionReassignmentsRequest': Schema(
        'AlterPartitionReassignmentsRequest', 45, 0,
        (
            Layout((0, 1), (
                Field('timeout_ms', 'int32', default=60000),
                Field('allow_replication_factor_change', 'bool', versions=(1, 32767), default=True),
                Field('topics', '[]AlterPartitionReassignmentsRequestReassignableTopic', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]AlterPartitionReassignmentsRequestReassignablePartition', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('replicas', '[]int32', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
    'AlterPartitionReassignmentsResponse': Schema(
        'AlterPartitionReassignmentsResponse', 45, 0,
        (
            Layout((0, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('allow_replication_factor_change', 'bool', versions=(1, 32767), default=True),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
                Field('responses', '[]AlterPartitionReassignmentsResponseReassignableTopicResponse', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]AlterPartitionReassignmentsResponseReassignablePartitionResponse', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', default='', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
}
