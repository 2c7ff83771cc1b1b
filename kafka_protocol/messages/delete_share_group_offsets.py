# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DeleteShareGroupOffsets."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DeleteShareGroupOffsetsRequestTopic(Struct, gc=False):
    topic_name: str = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteShareGroupOffsetsRequest(Struct, gc=False):
    group_id: str = ''
    topics: list[DeleteShareGroupOffsetsRequestTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteShareGroupOffsetsResponseTopic(Struct, gc=False):
    topic_name: str = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteShareGroupOffsetsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = None
    responses: list[DeleteShareGroupOffsetsResponseTopic] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DeleteShareGroupOffsetsRequest': Schema(
        'DeleteShareGroupOffsetsRequest', 92, 0,
        (
            Layout((0, 0), (
                Field('group_id', 'string', default=''),
                Field('topics', '[]DeleteShareGroupOffsetsRequestTopic', default=[], fields=(
                    Field('topic_name', 'string', default=''),
                )),
            )),
        ),
    ),
    'DeleteShareGroupOffsetsResponse': Schema(
        'DeleteShareGroupOffsetsResponse', 92, 0,
        (
            Layout((0, 0), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', nullable=(0, 32767)),
                Field('responses', '[]DeleteShareGroupOffsetsResponseTopic', default=[], fields=(
                    Field('topic_name', 'string', default=''),
                    Field('topic_id', 'uuid', default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', nullable=(0, 32767)),
                )),
            )),
        ),
    ),
}
