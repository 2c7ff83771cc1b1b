# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeCluster."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeClusterRequest(Struct, gc=False):
    include_cluster_authorized_operations: bool = False
    endpoint_type: int = 1
    include_fenced_brokers: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeClusterResponseDescribeClusterBroker(Struct, gc=False):
    broker_id: int = 0
    host: str = ''
    port: int = 0
    rack: str | None = None
    is_fenced: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeClusterResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    endpoint_type: int = 1
    cluster_id: str = ''
    controller_id: int = -1
    brokers: list[DescribeClusterResponseDescribeClusterBroker] = field(default_factory=list)
    cluster_authorized_operations: int = -2147483648
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeClusterRequest': Schema(
        'DescribeClusterRequest', 60, 0,
        (
            Layout((0, 2), (
                Field('include_cluster_authorized_operations', 'bool', default=False),
                Field('endpoint_type', 'int8', versions=(1, 32767), default=1),
                Field('include_fenced_brokers', 'bool', versions=(2, 32767), default=False),
            )),
        ),
    ),
    'DescribeClusterResponse': Schema(
        'DescribeClusterResponse', 60, 0,
        (
            Layout((0, 2), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', nullable=(0, 32767)),
                Field('endpoint_type', 'int8', versions=(1, 32767), default=1),
                Field('cluster_id', 'string', default=''),
                Field('controller_id', 'int32', default=-1),
                Field('brokers', '[]DescribeClusterResponseDescribeClusterBroker', default=[], fields=(
                    Field('broker_id', 'int32', default=0),
                    Field('host', 'string', default=''),
                    Field('port', 'int32', default=0),
                    Field('rack', 'string', nullable=(0, 32767)),
                    Field('is_fenced', 'bool', versions=(2, 32767), default=False),
                )),
                Field('cluster_authorized_operations', 'int32', default=-2147483648),
            )),
        ),
    ),
}
