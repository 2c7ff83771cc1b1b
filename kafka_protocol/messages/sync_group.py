# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""SyncGroup."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class SyncGroupRequestAssignment(Struct, gc=False):
    member_id: str = ''
    assignment: bytes = b''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class SyncGroupRequest(Struct, gc=False):
    group_id: str = ''
    generation_id: int = 0
    member_id: str = ''
    group_instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignments: list[SyncGroupRequestAssignment] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class SyncGroupResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    protocol_type: str | None = None
    protocol_name: str | None = None
    assignment: bytes = b''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'SyncGroupRequest': Schema(
        'SyncGroupRequest', 14, 4,
        (
            Layout((0, 5), (
                Field('group_id', 'string', default=''),
                Field('generation_id', 'int32', default=0),
                Field('member_id', 'string', default=''),
                Field('group_instance_id', 'string', versions=(3, 32767), nullable=(3, 32767)),
                Field('protocol_type', 'string', versions=(5, 32767), nullable=(5, 32767)),
                Field('protocol_name', 'string', versions=(5, 32767), nullable=(5, 32767)),
                Field('assignments', '[]SyncGroupRequestAssignment', default=[], fields=(
                    Field('member_id', 'string', default=''),
                    Field('assignment', 'bytes', default=b''),
                )),
            )),
        ),
    ),
    'SyncGroupResponse': Schema(
        'SyncGroupResponse', 14, 4,
        (
            Layout((0, 5), (
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
                Field('error_code', 'int16', default=0),
                Field('protocol_type', 'string', versions=(5, 32767), nullable=(5, 32767)),
                Field('protocol_name', 'string', versions=(5, 32767), nullable=(5, 32767)),
                Field('assignment', 'bytes', default=b''),
            )),
        ),
    ),
}
