# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ListGroups."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ListGroupsRequest(Struct, gc=False):
    states_filter: list[str] = field(default_factory=list)
    types_filter: list[str] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListGroupsResponseListedGroup(Struct, gc=False):
    group_id: str = ''
    protocol_type: str = ''
    group_state: str = ''
    group_type: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListGroupsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    groups: list[ListGroupsResponseListedGroup] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ListGroupsRequest': Schema(
        'ListGroupsRequest', 16, 3,
        (
            Layout((0, 5), (
                Field('states_filter', '[]string', versions=(4, 32767), default=[]),
                Field('types_filter', '[]string', versions=(5, 32767), default=[]),
            )),
        ),
    ),
    'ListGroupsResponse': Schema(
        'ListGroupsResponse', 16, 3,
        (
            Layout((0, 5), (
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
                Field('error_code', 'int16', default=0),
                Field('groups', '[]ListGroupsResponseListedGroup', default=[], fields=(
                    Field('group_id', 'string', default=''),
                    Field('protocol_type', 'string', default=''),
                    Field('group_state', 'string', versions=(4, 32767), default=''),
                    Field('group_type', 'string', versions=(5, 32767), default=''),
                )),
            )),
        ),
    ),
}
