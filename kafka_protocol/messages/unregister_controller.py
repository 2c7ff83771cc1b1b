# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""UnregisterController."""

from __future__ import annotations

from msgspec import Struct

from kafka_protocol.schema import Field, Layout, Schema


class UnregisterControllerRequest(Struct, gc=False):
    controller_id: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class UnregisterControllerResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'UnregisterControllerRequest': Schema(
        'UnregisterControllerRequest', 94, 0,
        (
            Layout((0, 0), (
                Field('controller_id', 'int32', default=0),
            )),
        ),
    ),
    'UnregisterControllerResponse': Schema(
        'UnregisterControllerResponse', 94, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
            )),
        ),
    ),
}
