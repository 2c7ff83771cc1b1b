# Generated from Kafka's message definitions by `make codec`. Do not edit.
"""AlterClientQuotas."""

from __future__ import annotations

from msgspec import Struct, field

from kafka_protocol.schema import Field, Layout, Schema


class AlterClientQuotasRequestEntityData(Struct, gc=False):
    entity_type: str = ''
    entity_name: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterClientQuotasRequestOpData(Struct, gc=False):
    key: str = ''
    value: float = 0.0
    remove: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterClientQuotasRequestEntryData(Struct, gc=False):
    entity: list[AlterClientQuotasRequestEntityData] = field(default_factory=list)
    ops: list[AlterClientQuotasRequestOpData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterClientQuotasRequest(Struct, gc=False):
    entries: list[AlterClientQuotasRequestEntryData] = field(default_factory=list)
    validate_only: bool = False
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterClientQuotasResponseEntityData(Struct, gc=False):
    entity_type: str = ''
    entity_name: str | None = ''
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterClientQuotasResponseEntryData(Struct, gc=False):
    error_code: int = 0
    error_message: str | None = ''
    entity: list[AlterClientQuotasResponseEntityData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()


class AlterClientQuotasResponse(Struct, gc=False):
    throttle_time_ms: int = 0
    entries: list[AlterClientQuotasResponseEntryData] = field(default_factory=list)
    unknown_tags: tuple[tuple[int, bytes], ...] = ()

SCHEMAS = {
    'AlterClientQuotasRequest': Schema(
        'AlterClientQuotasRequest', 49, 1,
        (
            Layout((0, 1), (
                Field('entries', '[]AlterClientQuotasRequestEntryData', default=[], fields=(
                    Field('entity', '[]AlterClientQuotasRequestEntityData', default=[], fields=(
                        Field('entity_type', 'string', default=''),
                        Field('entity_name', 'string', default='', nullable=(0, 32767)),
                    )),
                    Field('ops', '[]AlterClientQuotasRequestOpData', default=[], fields=(
                        Field('key', 'string', default=''),
                        Field('value', 'float64', default=0.0),
                        Field('remove', 'bool', default=False),
                    )),
                )),
                Field('validate_only', 'bool', default=False),
            )),
        ),
    ),
    'AlterClientQuotasResponse': Schema(
        'AlterClientQuotasResponse', 49, 1,
        (
            Layout((0, 1), (
                Field('throttle_time_ms', 'int32', default=0),
                Field('entries', '[]AlterClientQuotasResponseEntryData', default=[], fields=(
                    Field('error_code', 'int16', default=0),
                    Field('error_message', 'string', default='', nullable=(0, 32767)),
                    Field('entity', '[]AlterClientQuotasResponseEntityData', default=[], fields=(
                        Field('entity_type', 'string', default=''),
                        Field('entity_name', 'string', default='', nullable=(0, 32767)),
                    )),
                )),
            )),
        ),
    ),
}
