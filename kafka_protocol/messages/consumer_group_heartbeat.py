# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ConsumerGroupHeartbeat."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ConsumerGroupHeartbeatRequestTopicPartitions(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerGroupHeartbeatRequest(Struct, gc=False):
    group_id: str = ''
    member_id: str = ''
    member_epoch: int = 0
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    subscribed_topic_names: list[str] | None = None
    subscribed_topic_regex: str | None = None
    server_assignor: str | None = None
    topic_partitions: list[ConsumerGroupHeartbeatRequestTopicPartitions] | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerGroupHeartbeatResponseTopicPartitions(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerGroupHeartbeatResponseAssignment(Struct, gc=False):
    topic_partitions: list[ConsumerGroupHeartbeatResponseTopicPartitions] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerGroupHeartbeatResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: ConsumerGroupHeartbeatResponseAssignment | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ConsumerGroupHeartbeatRequest': Schema(
        'ConsumerGroupHeartbeatRequest', 68, 0,
        (
            Layout((0, 1), (
                Field('group_id', 'string', default=''),
                Field('member_id', 'string', default=''),
                Field('member_epoch', 'int32', default=0),
                Field('instance_id', 'string', nullable=(0, 32767)),
                Field('rack_id', 'string', nullable=(0, 32767)),
                Field('rebalance_timeout_ms', 'int32', default=-1),
                Field('subscribed_topic_names', '[]string', nullable=(0, 32767)),
                Field('subscribed_topic_regex', 'string', versions=(1, 32767), nullable=(1, 32767)),
                Field('server_assignor', 'string', nullable=(0, 32767)),
                Field('topic_partitions', '[]ConsumerGroupHeartbeatRequestTopicPartitions', nullable=(0, 32767), fields=(
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('partitions', '[]int32', default=[]),
                )),
            )),
        ),
    ),
    'ConsumerGroupHeartbeatResponse': Schema(
        'ConsumerGroupHeartbeatResponse', 68, 0,
        (
            Layout((0, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', nullable=(0, 32767)),
                Field('member_id', 'string', nullable=(0, 32767)),
                Field('member_epoch', 'int32', default=0),
                Field('heartbeat_interval_ms', 'int32', default=0),
                Field('assignment', 'ConsumerGroupHeartbeatResponseAssignment', nullable=(0, 32767), fields=(
                    Field('topic_partitions', '[]ConsumerGroupHeartbeatResponseTopicPartitions', default=[], fields=(
                        Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                        Field('partitions', '[]int32', default=[]),
                    )),
                )),
            )),
        ),
    ),
}
