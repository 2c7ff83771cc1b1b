# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DeleteTopics."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DeleteTopicsRequestDeleteTopicState(Struct, gc=False):
    name: str | None = None
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteTopicsRequest(Struct, gc=False):
    topics: list[DeleteTopicsRequestDeleteTopicState] = field(default_factory=list)
    topic_names: list[str] = field(default_factory=list)
    timeout_ms: int = 0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteTopicsResponseDeletableTopicResult(Struct, gc=False):
    name: str | None = ''
    topic_id: bytes = b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'
    error_code: int = 0
    error_message: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DeleteTopicsResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    responses: list[DeleteTopicsResponseDeletableTopicResult] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DeleteTopicsRequest': Schema(
        'DeleteTopicsRequest', 20, 4,
        (
            Layout((0, 0), (
                Field('topic_names', '[]string', versions=(0, 5), default=[]),
                Field('timeout_ms', 'int32', default=0),
            )),
            Layout((1, 6), (
                Field('topics', '[]DeleteTopicsRequestDeleteTopicState', versions=(6, 32767), default=[], fields=(
                    Field('name', 'string', versions=(6, 32767), nullable=(6, 32767)),
                    Field('topic_id', 'uuid', versions=(6, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                )),
                Field('topic_names', '[]string', versions=(0, 5), default=[]),
                Field('timeout_ms', 'int32', default=0),
            )),
        ),
    ),
    'DeleteTopicsResponse': Schema(
        'DeleteTopicsResponse', 20, 4,
        (
            Layout((0, 0), (
                Field('responses', '[]DeleteTopicsResponseDeletableTopicResult', default=[], fields=(
                    Field('name', 'string', default='', nullable=(6, 32767)),
                    Field('error_code', 'int16', default=0),
                )),
            )),
            Layout((1, 6), (
                Field('throttle_time_ms', 'int32', versions=(1, 32767), default=0),
                Field('responses', '[]DeleteTopicsResponseDeletableTopicResult', default=[], fields=(
                    Field('name', 'string', default='', nullable=(6, 32767)),
                    Field('topic_id', 'uuid', versions=(6, 32767), default=b'\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00'),
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', versions=(5, 32767), nullable=(5, 32767)),
                )),
            )),
        ),
    ),
}
