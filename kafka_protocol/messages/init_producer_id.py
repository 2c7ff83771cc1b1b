# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""InitProducerId."""

from __future__ import annotations

from msgspec import Struct

from kafka_protocol.schema import Field, Layout, Schema


class InitProducerIdRequest(Struct, gc=False):
    transactional_id: str | None = ''
    transaction_timeout_ms: int = 0
    producer_id: int = -1
    producer_epoch: int = -1
    enable2_pc: bool = False
    keep_prepared_txn: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class InitProducerIdResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    producer_id: int = -1
    producer_epoch: int = 0
    ongoing_txn_producer_id: int = -1
    ongoing_txn_producer_epoch: int = -1
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'InitProducerIdRequest': Schema(
        'InitProducerIdRequest', 22, 2,
        (
            Layout((0, 6), (
                Field('transactional_id', 'string', default='', nullable=(0, 32767)),
                Field('transaction_timeout_ms', 'int32', default=0),
                Field('producer_id', 'int64', versions=(3, 32767), default=-1),
                Field('producer_epoch', 'int16', versions=(3, 32767), default=-1),
                Field('enable2_pc', 'bool', versions=(6, 32767), default=False),
                Field('keep_prepared_txn', 'bool', versions=(6, 32767), default=False),
            )),
        ),
    ),
    'InitProducerIdResponse': Schema(
        'InitProducerIdResponse', 22, 2,
        (
            Layout((0, 6), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('producer_id', 'int64', default=-1),
                Field('producer_epoch', 'int16', default=0),
                Field('ongoing_txn_producer_id', 'int64', versions=(6, 32767), default=-1),
                Field('ongoing_txn_producer_epoch', 'int16', versions=(6, 32767), default=-1),
            )),
        ),
    ),
}
