# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ListPartitionReassignments."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ListPartitionReassignmentsRequestListPartitionReassignmentsTopics(Struct, gc=False):
    name: str = ''
    partition_indexes: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListPartitionReassignmentsRequest(Struct, gc=False):
    timeout_ms: int = 60000
    topics: list[ListPartitionReassignmentsRequestListPartitionReassignmentsTopics] | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListPartitionReassignmentsResponseOngoingPartitionReassignment(Struct, gc=False):
    partition_index: int = 0
    replicas: list[int] = field(default_factory=list)
    adding_replicas: list[int] = field(default_factory=list)
    removing_replicas: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListPartitionReassignmentsResponseOngoingTopicReassignment(Struct, gc=False):
    name: str = ''
    partitions: list[ListPartitionReassignmentsResponseOngoingPartitionReassignment] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListPartitionReassignmentsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    topics: list[ListPartitionReassignmentsResponseOngoingTopicReassignment] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ListPartitionReassignmentsRequest': Schema(
        'ListPartitionReassignmentsRequest', 46, 0,
        (
            Layout((0, 0), (
                Field('timeout_ms', 'int32', default=60000),
                Field('topics', '[]ListPartitionReassignmentsRequestListPartitionReassignmentsTopics', nullable=(0, 32767), fields=(
                    Field('name', 'string', default=''),
                    Field('partition_indexes', '[]int32', default=[]),
                )),
            )),
        ),
    ),
    'ListPartitionReassignmentsResponse': Schema(
        'ListPartitionReassignmentsResponse', 46, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
                Field('topics', '[]ListPartitionReassignmentsResponseOngoingTopicReassignment', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]ListPartitionReassignmentsResponseOngoingPartitionReassignment', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('replicas', '[]int32', default=[]),
                        Field('adding_replicas', '[]int32', default=[]),
                        Field('removing_replicas', '[]int32', default=[]),
                    )),
                )),
            )),
        ),
    ),
}
