# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""AddPartitionsToTxn."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class AddPartitionsToTxnRequestAddPartitionsToTxnTopic(Struct, gc=False):
    name: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AddPartitionsToTxnRequestAddPartitionsToTxnTransaction(Struct, gc=False):
    transactional_id: str = ''
    producer_id: int = 0
    producer_epoch: int = 0
    verify_only: bool = False
    topics: list[AddPartitionsToTxnRequestAddPartitionsToTxnTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AddPartitionsToTxnRequest(Struct, gc=False):
    transactions: list[AddPartitionsToTxnRequestAddPartitionsToTxnTransaction] = field(default_factory=list)
    v3_and_below_transactional_id: str = ''
    v3_and_below_producer_id: int = 0
    v3_and_below_producer_epoch: int = 0
    v3_and_below_topics: list[AddPartitionsToTxnRequestAddPartitionsToTxnTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AddPartitionsToTxnResponseAddPartitionsToTxnPartitionResult(Struct, gc=False):
    partition_index: int = 0
    partition_error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AddPartitionsToTxnResponseAddPartitionsToTxnTopicResult(Struct, gc=False):
    name: str = ''
    results_by_partition: list[AddPartitionsToTxnResponseAddPartitionsToTxnPartitionResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AddPartitionsToTxnResponseAddPartitionsToTxnResult(Struct, gc=False):
    transactional_id: str = ''
    topic_results: list[AddPartitionsToTxnResponseAddPartitionsToTxnTopicResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AddPartitionsToTxnResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    results_by_transaction: list[AddPartitionsToTxnResponseAddPartitionsToTxnResult] = field(default_factory=list)
    results_by_topic_v3_and_below: list[AddPartitionsToTxnResponseAddPartitionsToTxnTopicResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'AddPartitionsToTxnRequest': Schema(
        'AddPartitionsToTxnRequest', 24, 3,
        (
            Layout((0, 5), (
                Field('transactions', '[]AddPartitionsToTxnRequestAddPartitionsToTxnTransaction', versions=(4, 32767), default=[], fields=(
                    Field('transactional_id', 'string', versions=(4, 32767), default=''),
                    Field('producer_id', 'int64', versions=(4, 32767), default=0),
                    Field('producer_epoch', 'int16', versions=(4, 32767), default=0),
                    Field('verify_only', 'bool', versions=(4, 32767), default=False),
                    Field('topics', '[]AddPartitionsToTxnRequestAddPartitionsToTxnTopic', versions=(4, 32767), default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('partitions', '[]int32', default=[]),
                    )),
                )),
                Field('v3_and_below_transactional_id', 'string', versions=(0, 3), default=''),
                Field('v3_and_below_producer_id', 'int64', versions=(0, 3), default=0),
                Field('v3_and_below_producer_epoch', 'int16', versions=(0, 3), default=0),
                Field('v3_and_below_topics', '[]AddPartitionsToTxnRequestAddPartitionsToTxnTopic', versions=(0, 3), default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('partitions', '[]int32', default=[]),
                )),
            )),
        ),
    ),
    'AddPartitionsToTxnResponse': Schema(
        'AddPartitionsToTxnResponse', 24, 3,
        (
            Layout((0, 5), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', versions=(4, 32767), default=0),
                Field('results_by_transaction', '[]AddPartitionsToTxnResponseAddPartitionsToTxnResult', versions=(4, 32767), default=[], fields=(
                    Field('transactional_id', 'string', versions=(4, 32767), default=''),
                    Field('topic_results', '[]AddPartitionsToTxnResponseAddPartitionsToTxnTopicResult', versions=(4, 32767), default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('results_by_partition', '[]AddPartitionsToTxnResponseAddPartitionsToTxnPartitionResult', default=[], fields=(
                            Field('partition_index', 'int32', default=0),
                            Field('partition_error_code', 'int16', default=0),
                        )),
                    )),
                )),
                Field('results_by_topic_v3_and_below', '[]AddPartitionsToTxnResponseAddPartitionsToTxnTopicResult', versions=(0, 3), default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('results_by_partition', '[]AddPartitionsToTxnResponseAddPartitionsToTxnPartitionResult', default=[], fields=(
                        Field('partition_index', 'int32', default=0),
                        Field('partition_error_code', 'int16', default=0),
                    )),
                )),
            )),
        ),
    ),
}
