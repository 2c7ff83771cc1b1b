# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ExpireDelegationToken."""

from __future__ import annotations

from msgspec import Struct

from kafka_protocol.schema import Field, Layout, Schema


class ExpireDelegationTokenRequest(Struct, gc=False):
    hmac: bytes = b''
    expiry_time_period_ms: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ExpireDelegationTokenResponse(Struct, gc=False):
    error_code: int = 0
    expiry_timestamp_ms: int = 0
    throttle_time_ms: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ExpireDelegationTokenRequest': Schema(
        'ExpireDelegationTokenRequest', 40, 2,
        (
            Layout((0, 0), (
                Field('hmac', 'bytes', default=b''),
                Field('expiry_time_period_ms', 'int64', default=0),
            )),
            Layout((1, 2), (
                Field('hmac', 'bytes', default=b''),
                Field('expiry_time_period_ms', 'int64', default=0),
            )),
        ),
    ),
    'ExpireDelegationTokenResponse': Schema(
        'ExpireDelegationTokenResponse', 40, 2,
        (
            Layout((0, 0), (
                Field('error_code', 'int16', default=0),
                Field('expiry_timestamp_ms', 'int64', default=0),
                Field('throttle_time_ms', 'int32', default=0),
            )),
            Layout((1, 2), (
                Field('error_code', 'int16', default=0),
                Field('expiry_timestamp_ms', 'int64', default=0),
                Field('throttle_time_ms', 'int32', default=0),
            )),
        ),
    ),
}
