# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""ConsumerProtocol."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class ConsumerProtocolAssignmentTopicPartition(Struct, gc=False):
    topic: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerProtocolAssignment(Struct, gc=False):
    assigned_partitions: list[ConsumerProtocolAssignmentTopicPartition] = field(default_factory=list)
    user_data: bytes | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerProtocolSubscriptionTopicPartition(Struct, gc=False):
    topic: str = ''
    partitions: list[int] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class ConsumerProtocolSubscription(Struct, gc=False):
    topics: list[str] = field(default_factory=list)
    user_data: bytes | None = None
    owned_partitions: list[ConsumerProtocolSubscriptionTopicPartition] = field(default_factory=list)
    generation_id: int = -1
    rack_id: str | None = None
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'ConsumerProtocolAssignment': Schema(
        'ConsumerProtocolAssignment', -1, 32767,
        (
            Layout((0, 3), (
                Field('assigned_partitions', '[]ConsumerProtocolAssignmentTopicPartition', default=[], fields=(
                    Field('topic', 'string', default=''),
                    Field('partitions', '[]int32', default=[]),
                )),
                Field('user_data', 'bytes', nullable=(0, 32767)),
            )),
        ),
    ),
    'ConsumerProtocolSubscription': Schema(
        'ConsumerProtocolSubscription', -1, 32767,
        (
            Layout((0, 3), (
                Field('topics', '[]string', default=[]),
                Field('user_data', 'bytes', nullable=(0, 32767)),
                Field('owned_partitions', '[]ConsumerProtocolSubscriptionTopicPartition', versions=(1, 32767), default=[], fields=(
                    Field('topic', 'string', versions=(1, 32767), default=''),
                    Field('partitions', '[]int32', versions=(1, 32767), default=[]),
                )),
                Field('generation_id', 'int32', versions=(2, 32767), default=-1),
                Field('rack_id', 'string', versions=(3, 32767), nullable=(3, 32767)),
            )),
        ),
    ),
}
