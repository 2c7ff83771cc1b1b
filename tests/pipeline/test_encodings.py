"""zstd in both forms of the collector, and protobuf: the same spans as JSON lines."""

from __future__ import annotations

import json
import tracemalloc

import pyarrow as pa
import pytest
from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from bench.pipeline.writer import BEGAN_NS, lines
from pipeline import compressed
from pipeline.compressed import UNPACKED_AT_ONCE, UNREADABLE, unpacked
from pipeline.protobuf import _batches, rows_of
from pipeline.spans import LAST_NS
from tests.pipeline.telling import Planted

LINES = ("one", "two", "three, ümlauts and all")


def packed(said: str) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(said.encode())
    return sink.getvalue().to_pybytes()


def framed(*said: str) -> bytes:
    return b"".join(len(frame).to_bytes(4, "big") + frame for frame in map(packed, said))


def test_one_zstd_stream_of_lines() -> None:
    assert list(unpacked(packed("\n".join(LINES) + "\n"))) == list(LINES)


def test_only_a_line_feed_ends_a_line() -> None:
    """As in a text file: JSON may hold what Unicode calls the end of a line as it is."""
    said = [f"a{mark}b" for mark in "\u2028\u0085\x0b"]
    assert list(unpacked(packed("\n".join(said)))) == said


def test_lines_go_on_over_what_is_unpacked_at_once() -> None:
    said = ["ü" * UNPACKED_AT_ONCE, "short", "x" * 3 * UNPACKED_AT_ONCE]
    assert list(unpacked(packed("\n".join(said) + "\n"))) == said


def test_a_file_is_unpacked_as_its_lines_are_asked_for() -> None:
    lines = 20_000
    content = packed(f"{'x' * 999}\n" * lines)
    files = pa.RecordBatch.from_pylist([{"origin": "here", "content": content}])
    tracemalloc.start()
    read = sum(batch.num_rows for batch in compressed._batches(iter([files])))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert read == lines
    assert peak < 2_000_000


def test_several_zstd_streams_in_one_file() -> None:
    assert list(unpacked(packed("one\n") + packed("two\n"))) == ["one", "two"]


def test_a_zstd_frame_for_each_request() -> None:
    assert list(unpacked(framed(*LINES))) == list(LINES)


@pytest.mark.parametrize("cut", [1, 9])
def test_a_file_that_ends_in_the_middle_gives_what_came_before_and_says_so(cut: int) -> None:
    assert list(unpacked(framed("one", "two")[:-cut])) == ["one", UNREADABLE]


def test_what_is_no_zstd_is_one_line_that_will_be_rejected() -> None:
    assert list(unpacked(b"{}\n{}\n")) == [UNREADABLE]


def proto(line: str) -> bytes:
    """OTLP's JSON has hexadecimal ids where protobuf's own has base64."""
    request = ExportTraceServiceRequest()
    said = json_format.Parse(line.replace('"traceId"', '"trace"').replace('"spanId"', '"span"'), request, True)
    told = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
    for span, ids in zip(said.resource_spans[0].scope_spans[0].spans, told, strict=True):
        span.trace_id, span.span_id = bytes.fromhex(ids["traceId"]), bytes.fromhex(ids["spanId"])
    return bytes(request.SerializeToString())


def test_protobuf_becomes_rows() -> None:
    (line,) = lines(Planted("g", "a").joins(5, 0, 1).spans)
    rows = list(rows_of(proto(line), "here"))
    assert [(row["phase"], row["owned"], row["epoch"]) for row in rows] == [
        ("completing-rebalance", [], 0),
        ("completing-rebalance", [], 1),
        ("stable", ["t:0", "t:1"], 1),
    ]
    assert rows[0]["start_ns"] == BEGAN_NS + 5_000_000
    assert rows[0]["proxy"] == "proxy-1"
    assert len(rows[0]["trace_id"]) == 32


@pytest.mark.parametrize("value", [b"", b"\xff\xff", None])
def test_what_is_no_protobuf_is_a_row_that_says_so(value: bytes | None) -> None:
    (row,) = rows_of(value, "there")
    assert (row["bad"], row["origin"]) == ("not an OTLP request", "there")


def test_a_time_that_no_column_holds_is_none() -> None:
    """A batch that cannot be taken would come again with each start."""
    (line,) = lines(Planted("g", "a").joins(5, 0).spans)
    request = ExportTraceServiceRequest.FromString(proto(line))
    first, last, *_ = request.resource_spans[0].scope_spans[0].spans
    first.start_time_unix_nano, last.start_time_unix_nano = 2**64 - 1, LAST_NS
    records = pa.RecordBatch.from_pylist([{"value": request.SerializeToString(), "origin": "here"}])
    (batch,) = _batches(iter([records]))
    assert batch.column("start_ns").to_pylist()[:2] == [None, LAST_NS]
