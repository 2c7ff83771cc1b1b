"""otlp_proto, as the collector's Kafka exporter writes it: protobuf to the same rows that JSON lines become.

There is no Spark reader of protobuf that fits Spark 4.2 (no such jar), so tasks do it in Python, with OpenTelemetry's own
classes; measured, that is as quick as Spark is with JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span
from pyspark.sql import DataFrame

from pipeline import schema
from pipeline.spans import LAST_NS, SHOWN, judged

ARROW = {"string": pa.string(), "bigint": pa.int64(), "array<string>": pa.list_(pa.string())}
PARSED = {name: kind for name, kind in schema.SPANS.items() if name != "reject"} | {
    "bad": "string",
    "line": "string",
    "origin": "string",
}
COLUMNS = pa.schema([(name, ARROW[kind]) for name, kind in PARSED.items()])


def spans(records: DataFrame) -> DataFrame:
    """(value, origin), the value in bytes -> spans, as `pipeline.spans.spans` makes them of lines."""
    parsed = records.select("value", "origin").mapInArrow(_batches, schema.ddl(PARSED))
    return parsed.transform(judged)


def _batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [row for record in batch.to_pylist() for row in rows_of(record["value"], record["origin"])]
        yield pa.RecordBatch.from_pylist(rows, schema=COLUMNS)


def rows_of(value: bytes | None, origin: str) -> Iterator[dict[str, Any]]:
    shown = {"line": bytes(value or b"")[: SHOWN // 2].hex(), "origin": origin}
    try:
        request = ExportTraceServiceRequest.FromString(value or b"")
    except DecodeError:
        request = ExportTraceServiceRequest()
    if not request.resource_spans:
        yield shown | {"bad": "not an OTLP request"}
    for resource in request.resource_spans:
        for row in _of_resource(resource):
            yield row | shown


def _of_resource(resource: ResourceSpans) -> Iterator[dict[str, Any]]:
    proxy = _said(resource.resource.attributes).get("service.instance.id")
    for scope in resource.scope_spans:
        for span in scope.spans:
            yield _row(span) | {"proxy": None if proxy is None else proxy.string_value}


def _row(span: Span) -> dict[str, Any]:
    said = _said(span.attributes)
    row: dict[str, Any] = {
        "trace_id": span.trace_id.hex(),
        "span_id": span.span_id.hex(),
        "name": span.name,
        "start_ns": _time(span.start_time_unix_nano),
        "end_ns": _time(span.end_time_unix_nano),
        "status": span.status.message or None,
    }
    return row | {name: _typed(said.get(schema.PREFIX + name), kind) for name, kind in schema.ATTRIBUTES.items()}


def _time(ns: int) -> int | None:
    """OTLP's times have no sign, so there are some that no `bigint` holds."""
    return ns if ns <= LAST_NS else None


def _said(attributes: Any) -> dict[str, AnyValue]:
    return {each.key: each.value for each in attributes}


def _typed(value: AnyValue | None, kind: str) -> object:
    if value is None:
        return None
    if kind == "array<string>":
        return [each.string_value for each in value.array_value.values] if value.HasField("array_value") else None
    if kind == "bigint":
        return value.int_value if value.HasField("int_value") else None
    return value.string_value if value.HasField("string_value") else None
