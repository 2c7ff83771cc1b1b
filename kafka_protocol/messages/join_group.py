# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""JoinGroup."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class JoinGroupRequestProtocol(Struct, gc=False):
    name: str = ''
    metadata: bytes = b''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class JoinGroupRequest(Struct, gc=False):
    group_id: str = ''
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = -1
    member_id: str = ''
    group_instance_id: str | None = None
    protocol_type: str = ''
    protocols: list[JoinGroupRequestProtocol] = field(default_factory=list)
    reason: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class JoinGroupResponseMember(Struct, gc=False):
    member_id: str = ''
    group_instance_id: str | None = None
    metadata: bytes = b''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class JoinGroupResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    generation_id: int = -1
    protocol_type: str | None = None
    protocol_name: str | None = ''
    leader: str = ''
    skip_assignment: bool = False
    member_id: str = ''
    members: list[JoinGroupResponseMember] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'JoinGroupRequest': Schema(
        'JoinGroupRequest', 11, 6,
        (
            Layout((0, 9), (
                Field('group_id', 'string', default=''),
                Field('session_timeout_ms', 'int32', default=0),
                Field('rebalance_timeout_ms', 'int32', versions=(1, 32767), default=-1),
                Field('member_id', 'string', default=''),
                Field('group_instance_id', 'string', versions=(5, 32767), nullable=(5, 32767)),
                Field('protocol_type', 'string', default=''),
                Field('protocols', '[]JoinGroupRequestProtocol', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('metadata', 'bytes', default=b''),
                )),
                Field('reason', 'string', versions=(8, 32767), nullable=(8, 32767)),
            )),
        ),
    ),
    'JoinGroupResponse': Schema(
        'JoinGroupResponse', 11, 6,
        (
            Layout((0, 9), (
                Field('throttle_time_ms', 'int32', versions=(2, 32767), default=0),
                Field('error_code', 'int16', default=0),
                Field('generation_id', 'int32', default=-1),
                Field('protocol_type', 'string', versions=(7, 32767), nullable=(7, 32767)),
                Field('protocol_name', 'string', default='', nullable=(7, 32767)),
                Field('leader', 'string', default=''),
                Field('skip_assignment', 'bool', versions=(9, 32767), default=False),
                Field('member_id', 'string', default=''),
                Field('members', '[]JoinGroupResponseMember', default=[], fields=(
                    Field('member_id', 'string', default=''),
                    Field('group_instance_id', 'string', versions=(5, 32767), nullable=(5, 32767)),
                    Field('metadata', 'bytes', default=b''),
                )),
            )),
        ),
    ),
}
