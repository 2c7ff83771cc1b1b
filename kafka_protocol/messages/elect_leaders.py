# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ElectLeaders."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ElectLeadersRequestTopicPartitions(Struct, gc=False):
    topic: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ElectLeadersRequest(Struct, gc=False):
    election_type: int = 0
    topic_partitions: list[ElectLeadersRequestTopicPartitions] | None = field(default_factory=list)
    timeout_ms: int = 60000
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ElectLeadersResponsePartitionResult(Struct, gc=False):
    partition_id: int = 0
    error_code: int = 0
    error_message: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ElectLeadersResponseReplicaElectionResult(Struct, gc=False):
    topic: str = ''
    partition_result: list[ElectLeadersResponsePartitionResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ElectLeadersResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    replica_election_results: list[ElectLeadersResponseReplicaElectionResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ElectLeadersRequest': Schema(
        'ElectLeadersRequest', 43, 2,
        (
            Layout((0, 2), (
                Field('election_type', 'int8', versions=(1, 32767), default=0),
                Field('topic_partitions', '[]ElectLeadersRequestTopicPartitions', default=[], nullable=(0, 32767), fields=(
                    Field('topic', 'string', default=''),
                    Field('partitions', '[]int32', default=[]),
                )),
                Field('timeout_ms', 'int32', default=60000),
            )),
        ),
    ),
    'ElectLeadersResponse': Schema(
        'ElectLeadersResponse', 43, 2,
        (
            Layout((0, 2), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', versions=(1, 32767), default=0),
                Field('replica_election_results', '[]ElectLeadersResponseReplicaElectionResult', default=[], fields=(
                    Field('topic', 'string', default=''),
                    Field('partition_result', '[]ElectLeadersResponsePartitionResult', default=[], fields=(
                        Field('partition_id', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', default='', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
}
