# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeAcls."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeAclsRequest(Struct, gc=False):
    resource_type_filter: int = 0
    resource_name_filter: str | None = ''
    pattern_type_filter: int = 3
    principal_filter: str | None = ''
    host_filter: str | None = ''
    operation: int = 0
    permission_type: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeAclsResponseAclDescription(Struct, gc=False):
    principal: str = ''
    host: str = ''
    operation: int = 0
    permission_type: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeAclsResponseDescribeAclsResource(Struct, gc=False):
    resource_type: int = 0
    resource_name: str = ''
    pattern_type: int = 3
    acls: list[DescribeAclsResponseAclDescription] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeAclsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    resources: list[DescribeAclsResponseDescribeAclsResource] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeAclsRequest': Schema(
        'DescribeAclsRequest', 29, 2,
        (
            Layout((0, 0), (
                Field('resource_type_filter', 'int8', default=0),
                Field('resource_name_filter', 'string', default='', nullable=(0, 32767)),
                Field('principal_filter', 'string', default='', nullable=(0, 32767)),
                Field('host_filter', 'string', default='', nullable=(0, 32767)),
                Field('operation', 'int8', default=0),
                Field('permission_type', 'int8', default=0),
            )),
            Layout((1, 3), (
                Field('resource_type_filter', 'int8', default=0),
                Field('resource_name_filter', 'string', default='', nullable=(0, 32767)),
                Field('pattern_type_filter', 'int8', versions=(1, 32767), default=3),
                Field('principal_filter', 'string', default='', nullable=(0, 32767)),
                Field('host_filter', 'string', default='', nullable=(0, 32767)),
                Field('operation', 'int8', default=0),
                Field('permission_type', 'int8', default=0),
            )),
        ),
    ),
    'DescribeAclsResponse': Schema(
        'DescribeAclsResponse', 29, 2,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
                Field('resources', '[]DescribeAclsResponseDescribeAclsResource', default=[], fields=(
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                    Field('acls', '[]DescribeAclsResponseAclDescription', default=[], fields=(
                        Field('principal', 'string', default=''),
                        Field('host', 'string', default=''),
                        Field('operation', 'int8', default=0),
                        Field('permission_type', 'int8', default=0),
                    )),
                )),
            )),
            Layout((1, 3), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
                Field('resources', '[]DescribeAclsResponseDescribeAclsResource', default=[], fields=(
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                    Field('pattern_type', 'int8', versions=(1, 32767), default=3),
                    Field('acls', '[]DescribeAclsResponseAclDescription', default=[], fields=(
                        Field('principal', 'string', default=''),
                        Field('host', 'string', default=''),
                        Field('operation', 'int8', default=0),
                        Field('permission_type', 'int8', default=0),
                    )),
                )),
            )),
        ),
    ),
}
