# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ListConfigResources."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ListConfigResourcesRequest(Struct, gc=False):
    resource_types: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListConfigResourcesResponseConfigResource(Struct, gc=False):
    resource_name: str = ''
    resource_type: int = 16
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListConfigResourcesResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    config_resources: list[ListConfigResourcesResponseConfigResource] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ListConfigResourcesRequest': Schema(
        'ListConfigResourcesRequest', 74, 0,
        (
            Layout((0, 1), (
                Field('resource_types', '[]int8', versions=(1, 32767), default=[]),
            )),
        ),
    ),
    'ListConfigResourcesResponse': Schema(
        'ListConfigResourcesResponse', 74, 0,
        (
            Layout((0, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('config_resources', '[]ListConfigResourcesResponseConfigResource', default=[], fields=(
                    Field('resource_name', 'string', default=''),
                    Field('resource_type', 'int8', versions=(1, 32767), default=16),
                )),
            )),
        ),
    ),
}
