# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ListTransactions."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ListTransactionsRequest(Struct, gc=False):
    state_filters: list[str] = field(default_factory=list)
    producer_id_filters: list[int] = field(default_factory=list)
    duration_filter: int = -1
    transactional_id_pattern: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListTransactionsResponseTransactionState(Struct, gc=False):
    transactional_id: str = ''
    producer_id: int = 0
    transaction_state: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ListTransactionsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    unknown_state_filters: list[str] = field(default_factory=list)
    transaction_states: list[ListTransactionsResponseTransactionState] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ListTransactionsRequest': Schema(
        'ListTransactionsRequest', 66, 0,
        (
            Layout((0, 2), (
                Field('state_filters', '[]string', default=[]),
                Field('producer_id_filters', '[]int64', default=[]),
                Field('duration_filter', 'int64', versions=(1, 32767), default=-1),
                Field('transactional_id_pattern', 'string', versions=(2, 32767), nullable=(2, 32767)),
            )),
        ),
    ),
    'ListTransactionsResponse': Schema(
        'ListTransactionsResponse', 66, 0,
        (
            Layout((0, 2), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('unknown_state_filters', '[]string', default=[]),
                Field('transaction_states', '[]ListTransactionsResponseTransactionState', default=[], fields=(
                    Field('transactional_id', 'string', default=''),
                    Field('producer_id', 'int64', default=0),
                    Field('transaction_state', 'string', default=''),
                )),
            )),
        ),
    ),
}
