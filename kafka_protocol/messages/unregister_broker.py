# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""UnregisterBroker."""

from __future__ import annotations

from msgspec import Struct

from kafka_protocol.schema import Field, Layout, Schema


class UnregisterBrokerRequest(Struct, gc=False):
    broker_id: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class UnregisterBrokerResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'UnregisterBrokerRequest': Schema(
        'UnregisterBrokerRequest', 64, 0,
        (
            Layout((0, 0), (
                Field('broker_id', 'int32', default=0),
            )),
        ),
    ),
    'UnregisterBrokerResponse': Schema(
        'UnregisterBrokerResponse', 64, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
            )),
        ),
    ),
}
