# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ShareGroupHeartbeat."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ShareGroupHeartbeatRequest(Struct, gc=False):
    group_id: str = ''
    member_id: str = ''
    member_epoch: int = 0
    rack_id: str | None = None
    subscribed_topic_names: list[str] | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareGroupHeartbeatResponseTopicPartitions(Struct, gc=False):
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareGroupHeartbeatResponseAssignment(Struct, gc=False):
    topic_partitions: list[ShareGroupHeartbeatResponseTopicPartitions] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ShareGroupHeartbeatResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: int = 0
    heartbeat_interval_ms: int = 0
    assignment: ShareGroupHeartbeatResponseAssignment | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ShareGroupHeartbeatRequest': Schema(
        'ShareGroupHeartbeatRequest', 76, 0,
        (
            Layout((0, 0), (
                Field('group_id', 'string', default=''),
                Field('member_id', 'string', default=''),
                Field('member_epoch', 'int32', default=0),
                Field('rack_id', 'string', nullable=(0, 32767)),
                Field('subscribed_topic_names', '[]string', nullable=(0, 32767)),
            )),
            Layout((1, 1), (
                Field('group_id', 'string', default=''),
                Field('member_id', 'string', default=''),
                Field('member_epoch', 'int32', default=0),
                Field('rack_id', 'string', nullable=(0, 32767)),
                Field('subscribed_topic_names', '[]string', nullable=(0, 32767)),
            )),
        ),
    ),
    'ShareGroupHeartbeatResponse': Schema(
        'ShareGroupHeartbeatResponse', 76, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', nullable=(0, 32767)),
                Field('member_id', 'string', nullable=(0, 32767)),
                Field('member_epoch', 'int32', default=0),
                Field('heartbeat_interval_ms', 'int32', default=0),
                Field('assignment', 'ShareGroupHeartbeatResponseAssignment', nullable=(0, 32767), fields=(
                    Field('topic_partitions', '[]ShareGroupHeartbeatResponseTopicPartitions', default=[], fields=(
                        Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                        Field('partitions', '[]int32', default=[]),
                    )),
                )),
            )),
            Layout((1, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', nullable=(0, 32767)),
                Field('member_id', 'string', nullable=(0, 32767)),
                Field('member_epoch', 'int32', default=0),
                Field('heartbeat_interval_ms', 'int32', default=0),
                Field('assignment', 'ShareGroupHeartbeatResponseAssignment', nullable=(0, 32767), fields=(
                    Field('topic_partitions', '[]ShareGroupHeartbeatResponseTopicPartitions', default=[], fields=(
                        Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                        Field('partitions', '[]int32', default=[]),
                    )),
                )),
            )),
        ),
    ),
}
