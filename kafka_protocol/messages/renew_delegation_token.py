# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""RenewDelegationToken."""

from __future__ import annotations

from msgspec import Struct

from kafka_protocol.schema import Field, Layout, Schema


class RenewDelegationTokenRequest(Struct, gc=False):
    hmac: bytes = b''
    renew_period_ms: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class RenewDelegationTokenResponse(Struct, gc=False):
    error_code: int = 0
    expiry_timestamp_ms: int = 0
    throttle_time_ms: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'RenewDelegationTokenRequest': Schema(
        'RenewDelegationTokenRequest', 39, 2,
        (
            Layout((0, 0), (
                Field('hmac', 'bytes', default=b''),
                Field('renew_period_ms', 'int64', default=0),
            )),
            Layout((1, 2), (
                Field('hmac', 'bytes', default=b''),
                Field('renew_period_ms', 'int64', default=0),
            )),
        ),
    ),
    'RenewDelegationTokenResponse': Schema(
        'RenewDelegationTokenResponse', 39, 2,
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
