# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeQuorum."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeQuorumRequestPartitionData(Struct, gc=False):
    partition_index: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeQuorumRequestTopicData(Struct, gc=False):
    topic_name: str = ''
    partitions: list[DescribeQuorumRequestPartitionData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeQuorumRequest(Struct, gc=False):
    topics: list[DescribeQuorumRequestTopicData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeQuorumResponseReplicaState(Struct, gc=False):
    replica_id: int = 0
    replica_directory_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    log_end_offset: int = 0
    last_fetch_timestamp: int = -1
    last_caught_up_timestamp: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeQuorumResponsePartitionData(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    error_message: str | None = ''
    leader_id: int = 0
    leader_epoch: int = 0
    high_watermark: int = 0
    current_voters: list[DescribeQuorumResponseReplicaState] = field(default_factory=list)
    observers: list[DescribeQuorumResponseReplicaState] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeQuorumResponseTopicData(Struct, gc=False):
    topic_name: str = ''
    partitions: list[DescribeQuorumResponsePartitionData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeQuorumResponseListener(Struct, gc=False):
    name: str = ''
    host: str = ''
    port: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeQuorumResponseNode(Struct, gc=False):
    node_id: int = 0
    listeners: list[DescribeQuorumResponseListener] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeQuorumResponse(Struct, gc=False):
    error_code: int = 0
    error_message: str | None = ''
    topics: list[DescribeQuorumResponseTopicData] = field(default_factory=list)
    nodes: list[DescribeQuorumResponseNode] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeQuorumRequest': Schema(
        'DescribeQuorumRequest', 55, 0,
        (
            Layout((0, 2), (
                Field('topics', '[]DescribeQuorumRequestTopicData', default=[], fields=(
                    Field('topic_name', 'string', default=''),
                    Field('partitions', '[]DescribeQuorumRequestPartitionData', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                    )),
                )),
            )),
        ),
    ),
    'DescribeQuorumResponse': Schema(
        'DescribeQuorumResponse', 55, 0,
        (
            Layout((0, 2), (
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', versions=(2, 32767), default='', nullable=(2, 32767)),
                Field('topics', '[]DescribeQuorumResponseTopicData', default=[], fields=(
                    Field('topic_name', 'string', default=''),
                    Field('partitions', '[]DescribeQuorumResponsePartitionData', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('error_code', 'int16', default=0),
                        Field('error_message', 'string', versions=(2, 32767), default='', nullable=(2, 32767)),
                        Field('leader_id', 'int32', default=0),
                        Field('leader_epoch', 'int32', default=0),
                        Field('high_watermark', 'int64', default=0),
                        Field('current_voters', '[]DescribeQuorumResponseReplicaState', default=[], fields=(
                            Field('replica_id', 'int32', default=0),
                            Field('replica_directory_id', 'uuid', versions=(2, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                            Field('log_end_offset', 'int64', default=0),
                            Field('last_fetch_timestamp', 'int64', versions=(1, 32767), default=-1),
                            Field('last_caught_up_timestamp', 'int64', versions=(1, 32767), default=-1),
                        )),
                        Field('observers', '[]DescribeQuorumResponseReplicaState', default=[], fields=(
                            Field('replica_id', 'int32', default=0),
                            Field('replica_directory_id', 'uuid', versions=(2, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                            Field('log_end_offset', 'int64', default=0),
                            Field('last_fetch_timestamp', 'int64', versions=(1, 32767), default=-1),
                            Field('last_caught_up_timestamp', 'int64', versions=(1, 32767), default=-1),
                        )),
                    )),
                )),
                Field('nodes', '[]DescribeQuorumResponseNode', versions=(2, 32767), default=[], fields=(
                    Field('node_id', 'int32', versions=(2, 32767), default=0),
                    Field('listeners', '[]DescribeQuorumResponseListener', versions=(2, 32767), default=[], fields=(
                        Field('name', 'string', versions=(2, 32767), default=''),
                        Field('host', 'string', versions=(2, 32767), default=''),
                        Field('port', 'uint16', versions=(2, 32767), default=0),
                    )),
                )),
            )),
        ),
    ),
}
