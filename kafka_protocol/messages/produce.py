# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""Produce."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ProduceRequestPartitionProduceData(Struct, gc=False):
    index: int = 0
    records: bytes | None = b''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ProduceRequestTopicProduceData(Struct, gc=False):
    name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partition_data: list[ProduceRequestPartitionProduceData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ProduceRequest(Struct, gc=False):
    transactional_id: str | None = None
    acks: int = 0
    timeout_ms: int = 0
    topic_data: list[ProduceRequestTopicProduceData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ProduceResponseBatchIndexAndErrorMessage(Struct, gc=False):
    batch_index: int = 0
    batch_index_error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ProduceResponseLeaderIdAndEpoch(Struct, gc=False):
    leader_id: int = -1
    leader_epoch: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ProduceResponsePartitionProduceResponse(Struct, gc=False):
    index: int = 0
    error_code: int = 0
    base_offset: int = 0
    log_append_time_ms: int = -1
    log_start_offset: int = -1
    record_errors: list[ProduceResponseBatchIndexAndErrorMessage] = field(default_factory=list)
    error_message: str | None = None
    current_leader: ProduceResponseLeaderIdAndEpoch | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ProduceResponseTopicProduceResponse(Struct, gc=False):
    name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partition_responses: list[ProduceResponsePartitionProduceResponse] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ProduceResponseNodeEndpoint(Struct, gc=False):
    node_id: int = 0
    host: str = ''
    port: int = 0
    rack: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ProduceResponse(Struct, gc=False):
    responses: list[ProduceResponseTopicProduceResponse] = field(default_factory=list)
    throttle_time_ms: int = 0
    node_endpoints: list[ProduceResponseNodeEndpoint] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ProduceRequest': Schema(
        'ProduceRequest', 0, 9,
        (
            Layout((0, 2), (
                Field('acks', 'int16', default=0),
                Field('timeout_ms', 'int32', default=0),
                Field('topic_data', '[]ProduceRequestTopicProduceData', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partition_data', '[]ProduceRequestPartitionProduceData', default=[], fields=(
                        Field('index', 'int32', default=0),
                        Field('records', 'records', default=b'', nullable=(0, 32767)),
                    )),
                )),
            )),
            Layout((3, 13), (
                Field('transactional_id', 'string', versions=(3, 32767), nullable=(3, 32767)),
                Field('acks', 'int16', default=0),
                Field('timeout_ms', 'int32', default=0),
                Field('topic_data', '[]ProduceRequestTopicProduceData', default=[], fields=(
                    Field('name', 'string', versions=(0, 12), default=''),
                    Field('topic_id', 'uuid', versions=(13, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partition_data', '[]ProduceRequestPartitionProduceData', default=[], fields=(
                        Field('index', 'int32', default=0),
                        Field('records', 'records', default=b'', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
    'ProduceResponse': Schema(
        'ProduceResponse', 0, 9,
        (
            Layout((0, 2), (
                Field('responses', '[]ProduceResponseTopicProduceResponse', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partition_responses', '[]ProduceResponsePartitionProduceResponse', default=[], fields=(
                        Field('index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('base_offset', 'int64', default=0),
                        Field('log_append_time_ms', 'int64', versions=(2, 32767), default=-1),
                    )),
                )),
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
            )),
            Layout((3, 13), (
                Field('responses', '[]ProduceResponseTopicProduceResponse', default=[], fields=(
                    Field('name', 'string', versions=(0, 12), default=''),
                    Field('topic_id', 'uuid', versions=(13, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partition_responses', '[]ProduceResponsePartitionProduceResponse', default=[], fields=(
                        Field('index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('base_offset', 'int64', default=0),
                        Field('log_append_time_ms', 'int64', versions=(2, 32767), default=-1),
                        Field('log_start_offset', 'int64', versions=(5, 32767), default=-1),
                        Field('record_errors', '[]ProduceResponseBatchIndexAndErrorMessage', versions=(8, 32767), default=[], fields=(
                            Field('batch_index', 'int32', versions=(8, 32767), default=0),
                            Field('batch_index_error_message', 'string', versions=(8, 32767), nullable=(8, 32767)),
                        )),
                        Field('error_message', 'string', versions=(8, 32767), nullable=(8, 32767)),
                        Field('current_leader', 'ProduceResponseLeaderIdAndEpoch', versions=(10, 32767), tagged=(10, 32767), tag=0, fields=(
                            Field('leader_id', 'int32', versions=(10, 32767), default=-1),
                            Field('leader_epoch', 'int32', versions=(10, 32767), default=-1),
                        )),
                    )),
                )),
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
                Field('node_endpoints', '[]ProduceResponseNodeEndpoint', versions=(10, 32767), default=[], tagged=(10, 32767), tag=0, fields=(
                    Field('node_id', 'int32', versions=(10, 32767), default=0),
                    Field('host', 'string', versions=(10, 32767), default=''),
                    Field('port', 'int32', versions=(10, 32767), default=0),
                    Field('rack', 'string', versions=(10, 32767), nullable=(10, 32767)),
                )),
            )),
        ),
    ),
}
