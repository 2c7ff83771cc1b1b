# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeConfigs."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeConfigsRequestDescribeConfigsResource(Struct, gc=False):
    resource_type: int = 0
    resource_name: str = ''
    configuration_keys: list[str] | None = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeConfigsRequest(Struct, gc=False):
    resources: list[DescribeConfigsRequestDescribeConfigsResource] = field(default_factory=list)
    include_synonyms: bool = False
    include_documentation: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeConfigsResponseDescribeConfigsSynonym(Struct, gc=False):
    name: str = ''
    value: str | None = ''
    source: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeConfigsResponseDescribeConfigsResourceResult(Struct, gc=False):
    name: str = ''
    value: str | None = ''
    read_only: bool = False
    config_source: int = -1
    is_sensitive: bool = False
    synonyms: list[DescribeConfigsResponseDescribeConfigsSynonym] = field(default_factory=list)
    config_type: int = 0
    documentation: str | None = ''
    is_default: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeConfigsResponseDescribeConfigsResult(Struct, gc=False):
    error_code: int = 0
    error_message: str | None = ''
    resource_type: int = 0
    resource_name: str = ''
    configs: list[DescribeConfigsResponseDescribeConfigsResourceResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeConfigsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    results: list[DescribeConfigsResponseDescribeConfigsResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeConfigsRequest': Schema(
        'DescribeConfigsRequest', 32, 4,
        (
            Layout((0, 0), (
                Field('resources', '[]DescribeConfigsRequestDescribeConfigsResource', default=[], fields=(
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                    Field('configuration_keys', '[]string', default=[], nullable=(0, 32767)),
                )),
            )),
            Layout((1, 4), (
                Field('resources', '[]DescribeConfigsRequestDescribeConfigsResource', default=[], fields=(
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                    Field('configuration_keys', '[]string', default=[], nullable=(0, 32767)),
                )),
                Field('include_synonyms', 'bool', versions=(1, 32767), default=False),
                Field('include_documentation', 'bool', versions=(3, 32767), default=False),
            )),
        ),
    ),
    'DescribeConfigsResponse': Schema(
        'DescribeConfigsResponse', 32, 4,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('results', '[]DescribeConfigsResponseDescribeConfigsResult', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', default='', nullable=(0, 32767)),
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                    Field('configs', '[]DescribeConfigsResponseDescribeConfigsResourceResult', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('value', 'string', default='', nullable=(0, 32767)),
                        Field('read_only', 'bool', default=False),
                        Field('is_default', 'bool', versions=(0, 0), default=False),
                        Field('is_sensitive', 'bool', default=False),
                    )),
                )),
            )),
            Layout((1, 4), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('results', '[]DescribeConfigsResponseDescribeConfigsResult', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', default='', nullable=(0, 32767)),
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                    Field('configs', '[]DescribeConfigsResponseDescribeConfigsResourceResult', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('value', 'string', default='', nullable=(0, 32767)),
                        Field('read_only', 'bool', default=False),
                        Field('config_source', 'int8', versions=(1, 32767), default=-1),
                        Field('is_sensitive', 'bool', default=False),
                        Field('synonyms', '[]DescribeConfigsResponseDescribeConfigsSynonym', versions=(1, 32767), default=[], fields=(
                            Field('name', 'string', versions=(1, 32767), default=''),
                            Field('value', 'string', versions=(1, 32767), default='', nullable=(0, 32767)),
                            Field('source', 'int8', versions=(1, 32767), default=0),
                        )),
                        Field('config_type', 'int8', versions=(3, 32767), default=0),
                        Field('documentation', 'string', versions=(3, 32767), default='', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
}
