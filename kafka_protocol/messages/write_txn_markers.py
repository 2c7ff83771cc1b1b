# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""WriteTxnMarkers."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class WriteTxnMarkersRequestWritableTxnMarkerTopic(Struct, gc=False):
    name: str = ''
    partition_indexes: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteTxnMarkersRequestWritableTxnMarker(Struct, gc=False):
    producer_id: int = 0
    producer_epoch: int = 0
    transaction_result: bool = False
    topics: list[WriteTxnMarkersRequestWritableTxnMarkerTopic] = field(default_factory=list)
    coordinator_epoch: int = 0
    transaction_version: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteTxnMarkersRequest(Struct, gc=False):
    markers: list[WriteTxnMarkersRequestWritableTxnMarker] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteTxnMarkersResponseWritableTxnMarkerPartitionResult(Struct, gc=False):
    partition_index: int = 0
    error_code: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteTxnMarkersResponseWritableTxnMarkerTopicResult(Struct, gc=False):
    name: str = ''
    partitions: list[WriteTxnMarkersResponseWritableTxnMarkerPartitionResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteTxnMarkersResponseWritableTxnMarkerResult(Struct, gc=False):
    producer_id: int = 0
    topics: list[WriteTxnMarkersResponseWritableTxnMarkerTopicResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class WriteTxnMarkersResponse(Struct, gc=False):
    markers: list[WriteTxnMarkersResponseWritableTxnMarkerResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'WriteTxnMarkersRequest': Schema(
        'WriteTxnMarkersRequest', 27, 1,
        (
            Layout((0, 0), (
                Field('markers', '[]WriteTxnMarkersRequestWritableTxnMarker', default=[], fields=(
                    Field('producer_id', 'int64', default=0),
                    Field('producer_epoch', 'int16', default=0),
                    Field('transaction_result', 'bool', default=False),
                    Field('topics', '[]WriteTxnMarkersRequestWritableTxnMarkerTopic', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('partition_indexes', '[]int32', default=[]),
                    )),
                    Field('coordinator_epoch', 'int32', default=0),
                )),
            )),
            Layout((1, 2), (
                Field('markers', '[]WriteTxnMarkersRequestWritableTxnMarker', default=[], fields=(
                    Field('producer_id', 'int64', default=0),
                    Field('producer_epoch', 'int16', default=0),
                    Field('transaction_result', 'bool', default=False),
                    Field('topics', '[]WriteTxnMarkersRequestWritableTxnMarkerTopic', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('partition_indexes', '[]int32', default=[]),
                    )),
                    Field('coordinator_epoch', 'int32', default=0),
                    Field('transaction_version', 'int8', versions=(2, 32767), default=0),
                )),
            )),
        ),
    ),
    'WriteTxnMarkersResponse': Schema(
        'WriteTxnMarkersResponse', 27, 1,
        (
            Layout((0, 0), (
                Field('markers', '[]WriteTxnMarkersResponseWritableTxnMarkerResult', default=[], fields=(
                    Field('producer_id', 'int64', default=0),
                    Field('topics', '[]WriteTxnMarkersResponseWritableTxnMarkerTopicResult', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('partitions', '[]WriteTxnMarkersResponseWritableTxnMarkerPartitionResult', default=[], fields=(
                            Field('partition_index', 'int32', default=0),
                            Field('error_code', 'int16', default=0),
                        )),
                    )),
                )),
            )),
            Layout((1, 2), (
                Field('markers', '[]WriteTxnMarkersResponseWritableTxnMarkerResult', default=[], fields=(
                    Field('producer_id', 'int64', default=0),
                    Field('topics', '[]WriteTxnMarkersResponseWritableTxnMarkerTopicResult', default=[], fields=(
                        Field('name', 'string', default=''),
                        Field('partitions', '[]WriteTxnMarkersResponseWritableTxnMarkerPartitionResult', default=[], fields=(
                            Field('partition_index', 'int32', default=0),
                            Field('error_code', 'int16', default=0),
                        )),
                    )),
                )),
            )),
        ),
    ),
}
