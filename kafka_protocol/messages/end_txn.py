# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""EndTxn."""

from __future__ import annotations

from msgspec import Struct

from kafka_protocol.schema import Field, Layout, Schema


class EndTxnRequest(Struct, gc=False):
    transactional_id: str = ''
    producer_id: int = 0
    producer_epoch: int = 0
    committed: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class EndTxnResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'EndTxnRequest': Schema(
        'EndTxnRequest', 26, 3,
        (
            Layout((0, 5), (
                Field('transactional_id', 'string', default=''),
                Field('producer_id', 'int64', default=0),
                Field('producer_epoch', 'int16', default=0),
                Field('committed', 'bool', default=False),
            )),
        ),
    ),
    'EndTxnResponse': Schema(
        'EndTxnResponse', 26, 3,
        (
            Layout((0, 5), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('producer_id', 'int64', versions=(5, 32767), default=-1),
                Field('producer_epoch', 'int16', versions=(5, 32767), default=-1),
            )),
        ),
    ),
}
