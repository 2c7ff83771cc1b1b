# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""CreatePartitions."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class CreatePartitionsRequestCreatePartitionsAssignment(Struct, gc=False):
    broker_ids: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreatePartitionsRequestCreatePartitionsTopic(Struct, gc=False):
    name: str = ''
    count: int = 0
    assignments: list[CreatePartitionsRequestCreatePartitionsAssignment] | None = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreatePartitionsRequest(Struct, gc=False):
    topics: list[CreatePartitionsRequestCreatePartitionsTopic] = field(default_factory=list)
    timeout_ms: int = 0
    validate_only: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreatePartitionsResponseCreatePartitionsTopicResult(Struct, gc=False):
    name: str = ''
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class CreatePartitionsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    results: list[CreatePartitionsResponseCreatePartitionsTopicResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'CreatePartitionsRequest': Schema(
        'CreatePartitionsRequest', 37, 2,
        (
            Layout((0, 3), (
                Field('topics', '[]CreatePartitionsRequestCreatePartitionsTopic', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('count', 'int32', default=0),
                    Field('assignments', '[]CreatePartitionsRequestCreatePartitionsAssignment', default=[], nullable=(0, 32767), fields=(
                        Field('broker_ids', '[]int32', default=[]),
                    )),
                )),
                Field('timeout_ms', 'int32', default=0),
                Field('validate_only', 'bool', default=False),
            )),
        ),
    ),
    'CreatePartitionsResponse': Schema(
        'CreatePartitionsResponse', 37, 2,
        (
            Layout((0, 3), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('results', '[]CreatePartitionsResponseCreatePartitionsTopicResult', default=[], fields=(
                    Field('name', 'string', default=''),
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', nullable=(0, 32767)),
                )),
            )),
        ),
    ),
}
