# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeTransactions."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeTransactionsRequest(Struct, gc=False):
    transactional_ids: list[str] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeTransactionsResponseTopicData(Struct, gc=False):
    topic: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeTransactionsResponseTransactionState(Struct, gc=False):
    error_code: int = 0
    transactional_id: str = ''
    transaction_state: str = ''
    transaction_timeout_ms: int = 0
    transaction_start_time_ms: int = 0
    producer_id: int = 0
    producer_epoch: int = 0
    topics: list[DescribeTransactionsResponseTopicData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeTransactionsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    transaction_states: list[DescribeTransactionsResponseTransactionState] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeTransactionsRequest': Schema(
        'DescribeTransactionsRequest', 65, 0,
        (
            Layout((0, 0), (
                Field('transactional_ids', '[]string', default=[]),
            )),
        ),
    ),
    'DescribeTransactionsResponse': Schema(
        'DescribeTransactionsResponse', 65, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('transaction_states', '[]DescribeTransactionsResponseTransactionState', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('transactional_id', 'string', default=''),
                    Field('transaction_state', 'string', default=''),
                    Field('transaction_timeout_ms', 'int32', default=0),
                    Field('transaction_start_time_ms', 'int64', default=0),
                    Field('producer_id', 'int64', default=0),
                    Field('producer_epoch', 'int16', default=0),
                    Field('topics', '[]DescribeTransactionsResponseTopicData', default=[], fields=(
                        Field('topic', 'string', default=''),
                        Field('partitions', '[]int32', default=[]),
                    )),
                )),
            )),
        ),
    ),
}
