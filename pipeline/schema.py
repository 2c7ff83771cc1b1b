"""What a transition looks like as a span's attributes and as columns: both derived from the proxy's own record."""

from __future__ import annotations

import types
import typing
from enum import Enum

import msgspec

from translation.group_heartbeat import TopicPartition
from translation.transition import Transition

PREFIX = "kip848."
TRANSITION = "transition"
# What the exporter adds to the record: name and SQL type.
BESIDE: dict[str, str] = {
    "topic_ids": "array<string>",
    "client_address": "string",
    "client_software": "string",
    "client_software_version": "string",
    "node": "bigint",
}
# Attributes of request spans that are not the record's.
OF_REQUESTS: dict[str, str] = {"error_code": "bigint", "partitions": "array<string>"}


def sql_type(annotation: object) -> str:
    """Of a field of the record. Enums go by value; partitions as `topic:number`."""
    if isinstance(annotation, types.UnionType):
        (annotation,) = (each for each in typing.get_args(annotation) if each is not types.NoneType)
    if annotation == tuple[TopicPartition, ...]:
        return "array<string>"
    if annotation is int:
        return "bigint"
    if annotation is str or (isinstance(annotation, type) and issubclass(annotation, Enum)):
        return "string"
    raise TypeError(f"no column for {annotation}")


RECORD: dict[str, str] = {field.name: sql_type(field.type) for field in msgspec.structs.fields(Transition)}
# Present in every transition. The lists are left out when they are empty, as protobuf leaves out what is.
REQUIRED: tuple[str, ...] = tuple(
    field.name
    for field in msgspec.structs.fields(Transition)
    if not isinstance(field.type, types.UnionType) and RECORD[field.name] != "array<string>"
)
ENUMS: dict[str, frozenset[str]] = {
    field.name: frozenset(each.value for each in field.type)
    for field in msgspec.structs.fields(Transition)
    if isinstance(field.type, type) and issubclass(field.type, Enum)
}
ATTRIBUTES: dict[str, str] = RECORD | BESIDE | OF_REQUESTS

IDENTITY: dict[str, str] = {
    "trace_id": "string",
    "span_id": "string",
    "name": "string",
    "proxy": "string",
    "start_ns": "bigint",
    "end_ns": "bigint",
    "status": "string",
}
SPANS: dict[str, str] = IDENTITY | ATTRIBUTES | {"reject": "string"}
TRANSITIONS: dict[str, str] = (
    {"trace_id": "string", "span_id": "string", "proxy": "string", "at_ns": "bigint", "at_time": "timestamp"}
    | RECORD
    | BESIDE
)


def ddl(columns: dict[str, str]) -> str:
    return ", ".join(f"`{name}` {kind}" for name, kind in columns.items())


# OTLP's JSON (protobuf's mapping): 64-bit numbers are strings. Declared as numbers they would silently be null.
_VALUE = "STRUCT<stringValue: STRING, intValue: STRING, arrayValue: STRUCT<values: ARRAY<STRUCT<stringValue: STRING>>>>"
_ATTRIBUTES = f"ARRAY<STRUCT<key: STRING, value: {_VALUE}>>"
_SPAN = (
    "STRUCT<traceId: STRING, spanId: STRING, name: STRING, startTimeUnixNano: STRING, endTimeUnixNano: STRING,"
    f" attributes: {_ATTRIBUTES}, status: STRUCT<message: STRING, code: STRING>>"
)
REQUEST = (
    f"resourceSpans ARRAY<STRUCT<resource: STRUCT<attributes: {_ATTRIBUTES}>,"
    f" scopeSpans: ARRAY<STRUCT<spans: ARRAY<{_SPAN}>>>>>, _corrupt STRING"
)
