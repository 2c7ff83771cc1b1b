# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""SaslHandshake."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class SaslHandshakeRequest(Struct, gc=False):
    mechanism: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class SaslHandshakeResponse(Struct, gc=False):
    error_code: int = 0
    mechanisms: list[str] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'SaslHandshakeRequest': Schema(
        'SaslHandshakeRequest', 17, 32767,
        (
            Layout((0, 1), (
                Field('mechanism', 'string', default=''),
            )),
        ),
    ),
    'SaslHandshakeResponse': Schema(
        'SaslHandshakeResponse', 17, 32767,
        (
            Layout((0, 1), (
                Field('error_code', 'int16', default=0),
                Field('mechanisms', '[]string', default=[]),
            )),
        ),
    ),
}
