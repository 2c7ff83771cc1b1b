# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""IncrementalAlterConfigs."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class IncrementalAlterConfigsRequestAlterableConfig(Struct, gc=False):
    name: str = ''
    config_operation: int = 0
    value: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class IncrementalAlterConfigsRequestAlterConfigsResource(Struct, gc=False):
    resource_type: int = 0
    resource_name: str = ''
    configs: list[IncrementalAlterConfigsRequestAlterableConfig] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class IncrementalAlterConfigsRequest(Struct, gc=False):
    resources: list[IncrementalAlterConfigsRequestAlterConfigsResource] = field(default_factory=list)
    validate_only: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class IncrementalAlterConfigsResponseAlterConfigsResourceResponse(Struct, gc=False):
    error_code: int = 0
    error_message: str | None = ''
    resource_type: int = 0
    resource_name: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class IncrementalAlterConfigsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    responses: list[IncrementalAlterConfigsResponseAlterConfigsResourceResponse] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'IncrementalAlterConfigsRequest': Schema(
        'IncrementalAlterConfigsRequest', 44, 1,
        (
            Layout((0, 1), (
                Field('resources', '[]IncrementalAlterConfigsRequestAlterConfigsResource', default=[], fields=(
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                    Field('configs', '[]IncrementalAlterConfigsRequestAlterableConfig', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('config_operation', 'int8', default=0),
                        Field('value', 'string', default='', nullable=(0, 32767)),
                    )),
                )),
                Field('validate_only', 'bool', default=False),
            )),
        ),
    ),
    'IncrementalAlterConfigsResponse': Schema(
        'IncrementalAlterConfigsResponse', 44, 1,
        (
            Layout((0, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('responses', '[]IncrementalAlterConfigsResponseAlterConfigsResourceResponse', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', default='', nullable=(0, 32767)),
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                )),
            )),
        ),
    ),
}
