# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""AddOffsetsToTxn."""

from __future__ import annotations

from msgspec import Struct

from kafka_protocol.schema import Field, Layout, Schema


class AddOffsetsToTxnRequest(Struct, gc=False):
    transactional_id: str = ''
    producer_id: int = 0
    producer_epoch: int = 0
    group_id: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AddOffsetsToTxnResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'AddOffsetsToTxnRequest': Schema(
        'AddOffsetsToTxnRequest', 25, 3,
        (
            Layout((0, 4), (
                Field('transactional_id', 'string', default=''),
                Field('producer_id', 'int64', default=0),
                Field('producer_epoch', 'int16', default=0),
                Field('group_id', 'string', default=''),
            )),
        ),
    ),
    'AddOffsetsToTxnResponse': Schema(
        'AddOffsetsToTxnResponse', 25, 3,
        (
            Layout((0, 4), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
            )),
        ),
    ),
}
