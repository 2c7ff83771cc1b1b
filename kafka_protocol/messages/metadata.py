# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""Metadata."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class MetadataRequestTopic(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    name: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class MetadataRequest(Struct, gc=False):
    topics: list[MetadataRequestTopic] | None = field(default_factory=list)
    allow_auto_topic_creation: bool = True
    include_cluster_authorized_operations: bool = False
    include_topic_authorized_operations: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class MetadataResponseBroker(Struct, gc=False):
    node_id: int = 0
    host: str = ''
    port: int = 0
    rack: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class MetadataResponsePartition(Struct, gc=False):
    error_code: int = 0
    partition_index: int = 0
    leader_id: int = 0
    leader_epoch: int = -1
    replica_nodes: list[int] = field(default_factory=list)
    isr_nodes: list[int] = field(default_factory=list)
    offline_replicas: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class MetadataResponseTopic(Struct, gc=False):
    error_code: int = 0
    name: str | None = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    is_internal: bool = False
    partitions: list[MetadataResponsePartition] = field(default_factory=list)
    topic_authorized_operations: int = -2147483648
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class MetadataResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    brokers: list[MetadataResponseBroker] = field(default_factory=list)
    cluster_id: str | None = None
    controller_id: int = -1
    topics: list[MetadataResponseTopic] = field(default_factory=list)
    cluster_authorized_operations: int = -2147483648
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'MetadataRequest': Schema(
        'MetadataRequest', 3, 9,
        (
            Layout((0, 13), (
                Field('topics', '[]MetadataRequestTopic', default=[], nullable=(1, 32767), fields=(
                    Field('topic_id', 'uuid', versions=(10, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('name', 'string', default='', nullable=(10, 32767)),
                )),
                Field('allow_auto_topic_creation', 'bool', versions=(4, 32767), default=True),
                Field('include_cluster_authorized_operations', 'bool', versions=(8, 10), default=False),
                Field('include_topic_authorized_operations', 'bool', versions=(8, 32767), default=False),
            )),
        ),
    ),
    'MetadataResponse': Schema(
        'MetadataResponse', 3, 9,
        (
            Layout((0, 13), (
                Field('throttle_time_ms', 'int32', versions=(3, 32767), default=0),
                Field('brokers', '[]MetadataResponseBroker', default=[], fields=(
                    Field('node_id', 'int32', default=0),
                    Field('host', 'string', default=''),
                    Field('port', 'int32', default=0),
                    Field('rack', 'string', versions=(1, 32767), nullable=(1, 32767)),
                )),
                Field('cluster_id', 'string', versions=(2, 32767), nullable=(2, 32767)),
                Field('controller_id', 'int32', versions=(1, 32767), default=-1),
                Field('topics', '[]MetadataResponseTopic', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('name', 'string', default='', nullable=(12, 32767)),
                    Field('topic_id', 'uuid', versions=(10, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('is_internal', 'bool', versions=(1, 32767), default=False),
                    Field('partitions', '[]MetadataResponsePartition', default=[], fields=(
                        Field('error_code', 'int16', default=0),
                        Field('partition_index', 'int32', default=0),
                        Field('leader_id', 'int32', default=0),
                        Field('leader_epoch', 'int32', versions=(7, 32767), default=-1),
                        Field('replica_nodes', '[]int32', default=[]),
                        Field('isr_nodes', '[]int32', default=[]),
                        Field('offline_replicas', '[]int32', versions=(5, 32767), default=[]),
                    )),
                    Field('topic_authorized_operations', 'int32', versions=(8, 32767), default=-2147483648),
                )),
                Field('cluster_authorized_operations', 'int32', versions=(8, 10), default=-2147483648),
                Field('error_code', 'int16', versions=(13, 32767), default=0),
            )),
        ),
    ),
}
