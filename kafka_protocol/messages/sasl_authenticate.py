# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""SaslAuthenticate."""

from __future__ import annotations

from msgspec import Struct

from kafka_protocol.schema import Field, Layout, Schema


class SaslAuthenticateRequest(Struct, gc=False):
    auth_bytes: bytes = b''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class SaslAuthenticateResponse(Struct, gc=False):
    error_code: int = 0
    error_message: str | None = ''
    auth_bytes: bytes = b''
    session_lifetime_ms: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'SaslAuthenticateRequest': Schema(
        'SaslAuthenticateRequest', 36, 2,
        (
            Layout((0, 2), (
                Field('auth_bytes', 'bytes', default=b''),
            )),
        ),
    ),
    'SaslAuthenticateResponse': Schema(
        'SaslAuthenticateResponse', 36, 2,
        (
            Layout((0, 2), (
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
                Field('auth_bytes', 'bytes', default=b''),
                Field('session_lifetime_ms', 'int64', versions=(1, 32767), default=0),
            )),
        ),
    ),
}
