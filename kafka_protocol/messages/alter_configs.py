# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""AlterConfigs."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class AlterConfigsRequestAlterableConfig(Struct, gc=False):
    name: str = ''
    value: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterConfigsRequestAlterConfigsResource(Struct, gc=False):
    resource_type: int = 0
    resource_name: str = ''
    configs: list[AlterConfigsRequestAlterableConfig] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterConfigsRequest(Struct, gc=False):
    resources: list[AlterConfigsRequestAlterConfigsResource] = field(default_factory=list)
    validate_only: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterConfigsResponseAlterConfigsResourceResponse(Struct, gc=False):
    error_code: int = 0
    error_message: str | None = ''
    resource_type: int = 0
    resource_name: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterConfigsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    responses: list[AlterConfigsResponseAlterConfigsResourceResponse] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'AlterConfigsRequest': Schema(
        'AlterConfigsRequest', 33, 2,
        (
            Layout((0, 2), (
                Field('resources', '[]AlterConfigsRequestAlterConfigsResource', default=[], fields=(
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                    Field('configs', '[]AlterConfigsRequestAlterableConfig', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('value', 'string', default='', nullable=(0, 32767)),
                    )),
                )),
                Field('validate_only', 'bool', default=False),
            )),
        ),
    ),
    'AlterConfigsResponse': Schema(
        'AlterConfigsResponse', 33, 2,
        (
            Layout((0, 2), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('responses', '[]AlterConfigsResponseAlterConfigsResourceResponse', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', default='', nullable=(0, 32767)),
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                )),
            )),
        ),
    ),
}
