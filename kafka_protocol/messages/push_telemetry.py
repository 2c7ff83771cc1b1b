# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""PushTelemetry."""

from __future__ import annotations

from msgspec import Struct

from kafka_protocol.schema import Field, Layout, Schema


class PushTelemetryRequest(Struct, gc=False):
    client_instance_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    subscription_id: int = 0
    terminating: bool = False
    compression_type: int = 0
    metrics: bytes = b''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class PushTelemetryResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'PushTelemetryRequest': Schema(
        'PushTelemetryRequest', 72, 0,
        (
            Layout((0, 0), (
                Field('client_instance_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                Field('subscription_id', 'int32', default=0),
                Field('terminating', 'bool', default=False),
                Field('compression_type', 'int8', default=0),
                Field('metrics', 'bytes', default=b''),
            )),
        ),
    ),
    'PushTelemetryResponse': Schema(
        'PushTelemetryResponse', 72, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
            )),
        ),
    ),
}
