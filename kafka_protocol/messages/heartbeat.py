# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""Heartbeat."""

from __future__ import annotations

from msgspec import Struct

from kafka_protocol.schema import Field, Layout, Schema


class HeartbeatRequest(Struct, gc=False):
    group_id: str = ''
    generation_id: int = 0
    member_id: str = ''
    group_instance_id: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class HeartbeatResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'HeartbeatRequest': Schema(
        'HeartbeatRequest', 12, 4,
        (
            Layout((0, 4), (
                Field('group_id', 'string', default=''),
                Field('generation_id', 'int32', default=0),
                Field('member_id', 'string', default=''),
                Field('group_instance_id', 'string', versions=(3, 32767), nullable=(3, 32767)),
            )),
        ),
    ),
    'HeartbeatResponse': Schema(
        'HeartbeatResponse', 12, 4,
        (
            Layout((0, 4), (
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
                Field('error_code', 'int16', default=0),
            )),
        ),
    ),
}
