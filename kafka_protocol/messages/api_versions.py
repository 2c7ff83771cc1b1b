# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ApiVersions."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ApiVersionsRequest(Struct, gc=False):
    client_software_name: str = ''
    client_software_version: str = ''
    cluster_id: str | None = None
    node_id: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ApiVersionsResponseApiVersion(Struct, gc=False):
    api_key: int = 0
    min_version: int = 0
    max_version: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ApiVersionsResponseSupportedFeatureKey(Struct, gc=False):
    name: str = ''
    min_version: int = 0
    max_version: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ApiVersionsResponseFinalizedFeatureKey(Struct, gc=False):
    name: str = ''
    max_version_level: int = 0
    min_version_level: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ApiVersionsResponse(Struct, gc=False):
    error_code: int = 0
    api_keys: list[ApiVersionsResponseApiVersion] = field(default_factory=list)
    throttle_time_ms: int = 0
    supported_features: list[ApiVersionsResponseSupportedFeatureKey] = field(default_factory=list)
    finalized_features_epoch: int = -1
    finalized_features: list[ApiVersionsResponseFinalizedFeatureKey] = field(default_factory=list)
    zk_migration_ready: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ApiVersionsRequest': Schema(
        'ApiVersionsRequest', 18, 3,
        (
            Layout((0, 5), (
                Field('client_software_name', 'string', versions=(3, 32767), default=''),
                Field('client_software_version', 'string', versions=(3, 32767), default=''),
                Field('cluster_id', 'string', versions=(5, 32767), nullable=(5, 32767)),
                Field('node_id', 'int32', versions=(5, 32767), default=-1),
            )),
        ),
    ),
    'ApiVersionsResponse': Schema(
        'ApiVersionsResponse', 18, 3,
        (
            Layout((0, 5), (
                Field('error_code', 'int16', default=0),
                Field('api_keys', '[]ApiVersionsResponseApiVersion', default=[], fields=(
                    Field('api_key', 'int16', default=0),
                    Field('min_version', 'int16', default=0),
                    Field('max_version', 'int16', default=0),
                )),
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
                Field('supported_features', '[]ApiVersionsResponseSupportedFeatureKey', versions=(3, 32767), default=[], tagged=(3, 32767), tag=0, fields=(
                    Field('name', 'string', versions=(3, 32767), default=''),
                    Field('min_version', 'int16', versions=(3, 32767), default=0),
                    Field('max_version', 'int16', versions=(3, 32767), default=0),
                )),
                Field('finalized_features_epoch', 'int64', versions=(3, 32767), default=-1, tagged=(3, 32767), tag=1),
                Field('finalized_features', '[]ApiVersionsResponseFinalizedFeatureKey', versions=(3, 32767), default=[], tagged=(3, 32767), tag=2, fields=(
                    Field('name', 'string', versions=(3, 32767), default=''),
                    Field('max_version_level', 'int16', versions=(3, 32767), default=0),
                    Field('min_version_level', 'int16', versions=(3, 32767), default=0),
                )),
                Field('zk_migration_ready', 'bool', versions=(3, 32767), default=False, tagged=(3, 32767), tag=3),
            )),
        ),
    ),
}
