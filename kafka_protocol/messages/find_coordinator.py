# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""FindCoordinator."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class FindCoordinatorRequest(Struct, gc=False):
    key: str = ''
    key_type: int = 0
    coordinator_keys: list[str] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FindCoordinatorResponseCoordinator(Struct, gc=False):
    key: str = ''
    node_id: int = 0
    host: str = ''
    port: int = 0
    error_code: int = 0
    error_message: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class FindCoordinatorResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    node_id: int = 0
    host: str = ''
    port: int = 0
    coordinators: list[FindCoordinatorResponseCoordinator] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'FindCoordinatorRequest': Schema(
        'FindCoordinatorRequest', 10, 3,
        (
            Layout((0, 6), (
                Field('key', 'string', versions=(0, 3), default=''),
                Field('key_type', 'int8', versions=(1, 32767), default=0),
                Field('coordinator_keys', '[]string', versions=(4, 32767), default=[]),
            )),
        ),
    ),
    'FindCoordinatorResponse': Schema(
        'FindCoordinatorResponse', 10, 3,
        (
            Layout((0, 6), (
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
                Field('error_code', 'int16', versions=(0, 3), default=0),
                Field('error_message', 'string', versions=(1, 3), default='', nullable=(1, 3)),
                Field('node_id', 'int32', versions=(0, 3), default=0),
                Field('host', 'string', versions=(0, 3), default=''),
                Field('port', 'int32', versions=(0, 3), default=0),
                Field('coordinators', '[]FindCoordinatorResponseCoordinator', versions=(4, 32767), default=[], fields=(
                    Field('key', 'string', versions=(4, 32767), default=''),
                    Field('node_id', 'int32', versions=(4, 32767), default=0),
                    Field('host', 'string', versions=(4, 32767), default=''),
                    Field('port', 'int32', versions=(4, 32767), default=0),
                    Field('error_code', 'int16', versions=(4, 32767), default=0),
                    Field('error_message', 'string', versions=(4, 32767), default='', nullable=(4, 32767)),
                )),
            )),
        ),
    ),
}
