# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""LeaveGroup."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class LeaveGroupRequestMemberIdentity(Struct, gc=False):
    member_id: str = ''
    group_instance_id: str | None = None
    reason: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class LeaveGroupRequest(Struct, gc=False):
    group_id: str = ''
    member_id: str = ''
    members: list[LeaveGroupRequestMemberIdentity] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class LeaveGroupResponseMemberResponse(Struct, gc=False):
    member_id: str = ''
    group_instance_id: str | None = ''
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class LeaveGroupResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    members: list[LeaveGroupResponseMemberResponse] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'LeaveGroupRequest': Schema(
        'LeaveGroupRequest', 13, 4,
        (
            Layout((0, 5), (
                Field('group_id', 'string', default=''),
                Field('member_id', 'string', versions=(0, 2), default=''),
                Field('members', '[]LeaveGroupRequestMemberIdentity', versions=(3, 32767), default=[], fields=(
                    Field('member_id', 'string', versions=(3, 32767), default=''),
                    Field('group_instance_id', 'string', versions=(3, 32767), nullable=(3, 32767)),
                    Field('reason', 'string', versions=(5, 32767), nullable=(5, 32767)),
                )),
            )),
        ),
    ),
    'LeaveGroupResponse': Schema(
        'LeaveGroupResponse', 13, 4,
        (
            Layout((0, 5), (
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
                Field('error_code', 'int16', default=0),
                Field('members', '[]LeaveGroupResponseMemberResponse', versions=(3, 32767), default=[], fields=(
                    Field('member_id', 'string', versions=(3, 32767), default=''),
                    Field('group_instance_id', 'string', versions=(3, 32767), default='', nullable=(3, 32767)),
                    Field('error_code', 'int16', versions=(3, 32767), default=0),
                )),
            )),
        ),
    ),
}
