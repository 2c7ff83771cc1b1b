# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeGroups."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeGroupsRequest(Struct, gc=False):
    groups: list[str] = field(default_factory=list)
    include_authorized_operations: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeGroupsResponseDescribedGroupMember(Struct, gc=False):
    member_id: str = ''
    group_instance_id: str | None = None
    client_id: str = ''
    client_host: str = ''
    member_metadata: bytes = b''
    member_assignment: bytes = b''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeGroupsResponseDescribedGroup(Struct, gc=False):
    error_code: int = 0
    error_message: str | None = None
    group_id: str = ''
    group_state: str = ''
    protocol_type: str = ''
    protocol_data: str = ''
    members: list[DescribeGroupsResponseDescribedGroupMember] = field(default_factory=list)
    authorized_operations: int = -2147483648
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeGroupsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    groups: list[DescribeGroupsResponseDescribedGroup] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeGroupsRequest': Schema(
        'DescribeGroupsRequest', 15, 5,
        (
            Layout((0, 6), (
                Field('groups', '[]string', default=[]),
                Field('include_authorized_operations', 'bool', versions=(3, 32767), default=False),
            )),
        ),
    ),
    'DescribeGroupsResponse': Schema(
        'DescribeGroupsResponse', 15, 5,
        (
            Layout((0, 6), (
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
                Field('groups', '[]DescribeGroupsResponseDescribedGroup', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', versions=(6, 32767), nullable=(6, 32767)),
                    Field('group_id', 'string', default=''),
                    Field('group_state', 'string', default=''),
                    Field('protocol_type', 'string', default=''),
                    Field('protocol_data', 'string', default=''),
                    Field('members', '[]DescribeGroupsResponseDescribedGroupMember', default=[], fields=(
                        Field('member_id', 'string', default=''),
                        Field('group_instance_id', 'string', versions=(4, 32767), nullable=(4, 32767)),
                        Field('client_id', 'string', default=''),
                        Field('client_host', 'string', default=''),
                        Field('member_metadata', 'bytes', default=b''),
                        Field('member_assignment', 'bytes', default=b''),
                    )),
                    Field('authorized_operations', 'int32', versions=(3, 32767), default=-2147483648),
                )),
            )),
        ),
    ),
}
