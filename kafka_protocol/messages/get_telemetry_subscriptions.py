# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""GetTelemetrySubscriptions."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class GetTelemetrySubscriptionsRequest(Struct, gc=False):
    client_instance_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class GetTelemetrySubscriptionsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    client_instance_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    subscription_id: int = 0
    accepted_compression_types: list[int] = field(default_factory=list)
    push_interval_ms: int = 0
    telemetry_max_bytes: int = 0
    delta_temporality: bool = False
    requested_metrics: list[str] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'GetTelemetrySubscriptionsRequest': Schema(
        'GetTelemetrySubscriptionsRequest', 71, 0,
        (
            Layout((0, 0), (
                Field('client_instance_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
            )),
        ),
    ),
    'GetTelemetrySubscriptionsResponse': Schema(
        'GetTelemetrySubscriptionsResponse', 71, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('client_instance_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                Field('subscription_id', 'int32', default=0),
                Field('accepted_compression_types', '[]int8', default=[]),
                Field('push_interval_ms', 'int32', default=0),
                Field('telemetry_max_bytes', 'int32', default=0),
                Field('delta_temporality', 'bool', default=False),
                Field('requested_metrics', '[]string', default=[]),
            )),
        ),
    ),
}
