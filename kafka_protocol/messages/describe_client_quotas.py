# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""DescribeClientQuotas."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class DescribeClientQuotasRequestComponentData(Struct, gc=False):
    entity_type: str = ''
    match_type: int = 0
    match: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeClientQuotasRequest(Struct, gc=False):
    components: list[DescribeClientQuotasRequestComponentData] = field(default_factory=list)
    strict: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeClientQuotasResponseEntityData(Struct, gc=False):
    entity_type: str = ''
    entity_name: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeClientQuotasResponseValueData(Struct, gc=False):
    key: str = ''
    value: float = 0.0
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeClientQuotasResponseEntryData(Struct, gc=False):
    entity: list[DescribeClientQuotasResponseEntityData] = field(default_factory=list)
    values: list[DescribeClientQuotasResponseValueData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class DescribeClientQuotasResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    error_code: int = 0
    error_message: str | None = ''
    entries: list[DescribeClientQuotasResponseEntryData] | None = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'DescribeClientQuotasRequest': Schema(
        'DescribeClientQuotasRequest', 48, 1,
        (
            Layout((0, 1), (
                Field('components', '[]DescribeClientQuotasRequestComponentData', default=[], fields=(
                    Field('entity_type', 'string', default=''),
                    Field('match_type', 'int8', default=0),
                    Field('match', 'string', default='', nullable=(0, 32767)),
                )),
                Field('strict', 'bool', default=False),
            )),
        ),
    ),
    'DescribeClientQuotasResponse': Schema(
        'DescribeClientQuotasResponse', 48, 1,
        (
            Layout((0, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('error_code', 'int16', default=0),
                Field('error_message', 'string', default='', nullable=(0, 32767)),
                Field('entries', '[]DescribeClientQuotasResponseEntryData', default=[], nullable=(0, 32767), fields=(
                    Field('entity', '[]DescribeClientQuotasResponseEntityData', default=[], fields=(
                        Field('entity_type', 'string', default=''),
                        Field('entity_name', 'string', default='', nullable=(0, 32767)),
                    )),
                    Field('values', '[]DescribeClientQuotasResponseValueData', default=[], fields=(
                        Field('key', 'string', default=''),
                        Field('value', 'float64', default=0.0),
                    )),
                )),
            )),
        ),
    ),
}
