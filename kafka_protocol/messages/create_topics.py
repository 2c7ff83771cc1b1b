# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""CreateTopics."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class CreateTopicsRequestCreatableReplicaAssignment(Struct, gc=False):
    partition_index: int = 0
    broker_ids: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreateTopicsRequestCreatableTopicConfig(Struct, gc=False):
    name: str = ''
    value: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreateTopicsRequestCreatableTopic(Struct, gc=False):
    name: str = ''
    num_partitions: int = 0
    replication_factor: int = 0
    assignments: list[CreateTopicsRequestCreatableReplicaAssignment] = field(default_factory=list)
    configs: list[CreateTopicsRequestCreatableTopicConfig] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreateTopicsRequest(Struct, gc=False):
    topics: list[CreateTopicsRequestCreatableTopic] = field(default_factory=list)
    timeout_ms: int = 60000
    validate_only: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreateTopicsResponseCreatableTopicConfigs(Struct, gc=False):
    name: str = ''
    value: str | None = ''
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreateTopicsResponseCreatableTopicResult(Struct, gc=False):
    name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    error_code: int = 0
    error_message: str | None = ''
    topic_config_error_code: int = 0
    num_partitions: int = -1
    replication_factor: int = -1
    configs: list[CreateTopicsResponseCreatableTopicConfigs] | None = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreateTopicsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    topics: list[CreateTopicsResponseCreatableTopicResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'CreateTopicsRequest': Schema(
        'CreateTopicsRequest', 19, 5,
        (
            Layout((0, 1), (
                Field('topics', '[]CreateTopicsRequestCreatableTopic', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('num_partitions', 'int32', default=0),
                    Field('replication_factor', 'int16', default=0),
                    Field('assignments', '[]CreateTopicsRequestCreatableReplicaAssignment', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('broker_ids', '[]int32', default=[]),
                    )),
                    Field('configs', '[]CreateTopicsRequestCreatableTopicConfig', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('value', 'string', default='', nullable=(0, 32767)),
                    )),
                )),
                Field('timeout_ms', 'int32', default=60000),
                Field('validate_only', 'bool', versions=(1, 32767), default=False),
            )),
            Layout((2, 7), (
                Field('topics', '[]CreateTopicsRequestCreatableTopic', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('num_partitions', 'int32', default=0),
                    Field('replication_factor', 'int16', default=0),
                    Field('assignments', '[]CreateTopicsRequestCreatableReplicaAssignment', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('broker_ids', '[]int32', default=[]),
                    )),
                    Field('configs', '[]CreateTopicsRequestCreatableTopicConfig', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('value', 'string', default='', nullable=(0, 32767)),
                    )),
                )),
                Field('timeout_ms', 'int32', default=60000),
                Field('validate_only', 'bool', versions=(1, 32767), default=False),
            )),
        ),
    ),
    'CreateTopicsResponse': Schema(
        'CreateTopicsResponse', 19, 5,
        (
            Layout((0, 1), (
                Field('topics', '[]CreateTopicsResponseCreatableTopicResult', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', versions=(1, 32767), default='', nullable=(0, 32767)),
                )),
            )),
            Layout((2, 7), (
                Field('throttle_time_ms', 'int32', versions=(2, 32767), default=0),
                Field('topics', '[]CreateTopicsResponseCreatableTopicResult', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('topic_id', 'uuid', versions=(7, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', versions=(1, 32767), default='', nullable=(0, 32767)),
                    Field('topic_config_error_code', 'int16', versions=(5, 32767), default=0, tagged=(5, 32767), tag=0),
                    Field('num_partitions', 'int32', versions=(5, 32767), default=-1),
                    Field('replication_factor', 'int16', versions=(5, 32767), default=-1),
                    Field('configs', '[]CreateTopicsResponseCreatableTopicConfigs', versions=(5, 32767), default=[], nullable=(5, 32767), fields=(
                        Field('name', 'string', versions=(5, 32767), default=''),
                        Field('value', 'string', versions=(5, 32767), default='', nullable=(5, 32767)),
                        Field('read_only', 'bool', versions=(5, 32767), default=False),
                        Field('config_source', 'int8', versions=(5, 32767), default=-1),
                        Field('is_sensitive', 'bool', versions=(5, 32767), default=False),
                    )),
                )),
            )),
        ),
    ),
}
