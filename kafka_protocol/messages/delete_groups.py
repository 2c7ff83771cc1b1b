# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DeleteGroups."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DeleteGroupsRequest(Struct, gc=False):
    groups_names: list[str] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteGroupsResponseDeletableGroupResult(Struct, gc=False):
    group_id: str = ''
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteGroupsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    results: list[DeleteGroupsResponseDeletableGroupResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DeleteGroupsRequest': Schema(
        'DeleteGroupsRequest', 42, 2,
        (
            Layout((0, 3), (
                Field('groups_names', '[]string', default=[]),
            )),
        ),
    ),
    'DeleteGroupsResponse': Schema(
        'DeleteGroupsResponse', 42, 2,
        (
            Layout((0, 3), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('results', '[]DeleteGroupsResponseDeletableGroupResult', default=[], fields=(
                    Field('group_id', 'string', default=''),
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', versions=(3, 32767), nullable=(3, 32767)),
                )),
            )),
        ),
    ),
}
