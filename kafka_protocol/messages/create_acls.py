# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""CreateAcls."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class CreateAclsRequestAclCreation(Struct, gc=False):
    resource_type: int = 0
    resource_name: str = ''
    resource_pattern_type: int = 3
    principal: str = ''
    host: str = ''
    operation: int = 0
    permission_type: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreateAclsRequest(Struct, gc=False):
    creations: list[CreateAclsRequestAclCreation] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreateAclsResponseAclCreationResult(Struct, gc=False):
    error_code: int = 0
    error_message: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreateAclsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    results: list[CreateAclsResponseAclCreationResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'CreateAclsRequest': Schema(
        'CreateAclsRequest', 30, 2,
        (
            Layout((0, 0), (
                Field('creations', '[]CreateAclsRequestAclCreation', default=[], fields=(
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                    Field('principal', 'string', default=''),
                    Field('host', 'string', default=''),
                    Field('operation', 'int8', default=0),
                    Field('permission_type', 'int8', default=0),
                )),
            )),
            Layout((1, 3), (
                Field('creations', '[]CreateAclsRequestAclCreation', default=[], fields=(
                    Field('resource_type', 'int8', default=0),
                    Field('resource_name', 'string', default=''),
                    Field('resource_pattern_type', 'int8', versions=(1, 32767), default=3),
                    Field('principal', 'string', default=''),
                    Field('host', 'string', default=''),
                    Field('operation', 'int8', default=0),
                    Field('permission_type', 'int8', default=0),
                )),
            )),
        ),
    ),
    'CreateAclsResponse': Schema(
        'CreateAclsResponse', 30, 2,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('results', '[]CreateAclsResponseAclCreationResult', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', default='', nullable=(0, 32767)),
                )),
            )),
            Layout((1, 3), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('results', '[]CreateAclsResponseAclCreationResult', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', default='', nullable=(0, 32767)),
                )),
            )),
        ),
    ),
}
