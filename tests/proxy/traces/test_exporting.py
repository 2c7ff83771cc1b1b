"""Spans leave by file and by wire, as OTLP has it; what cannot leave is counted, and nobody waits for it."""

from __future__ import annotations

import base64
import io
import json
import resource
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from google.protobuf import json_format
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import SpanContext

from proxy.logs import Log
from proxy.settings import Traces as Settings
from proxy.tracing import otlp_file
from proxy.tracing.exporting import NOT_TAKEN, CannotExport, Export, Exporting, own_name
from proxy.tracing.otlp_file import OtlpFile, request_line
from proxy.tracing.traces import Traces
from tests.proxy.traces.receivers import grpc_receiver, http_receiver, spans_of
from tests.proxy.traces.telling import QUIET, Told
from translation.transition import Transition


def walked(exporting: Exporting, seed: int = 7) -> Told:
    traces = Traces(exporting.tracer)
    walker = Told(seed, traces.observe)
    for _ in walker.walk():
        pass
    traces.close(walker.at_ns())
    assert traces.mistakes == 0
    return walker


def exported(settings: Settings, seed: int = 7) -> Told:
    exporting = Exporting(settings, "proxy-1", "1.2.3", QUIET)
    walker = walked(exporting, seed)
    exporting.close()
    return walker


def parsed(line: str) -> ExportTraceServiceRequest:
    """By protobuf itself: OTLP differs from its mapping in the ids alone, which are hexadecimal there and base64 here."""

    def as_protobuf(value: object) -> object:
        if isinstance(value, dict):
            return {
                key: base64.b64encode(bytes.fromhex(each)).decode() if key in IDS else as_protobuf(each)
                for key, each in value.items()
            }
        return [as_protobuf(each) for each in value] if isinstance(value, list) else value

    return json_format.ParseDict(as_protobuf(json.loads(line)), ExportTraceServiceRequest())


CONTEXT = SpanContext(1, 2, is_remote=False)
IDS = {"traceId", "spanId", "parentSpanId"}


# --- the file ------------------------------------------------------------------------------------------------------


def test_each_life_of_a_proxy_has_a_name_of_its_own() -> None:
    """In a container that restarts, the host's name and the process' number are those of before."""
    one, other = own_name(), own_name()
    assert one != other
    assert one.startswith(f"{socket.gethostname()}-")


def test_each_line_of_the_file_is_one_request_as_the_collector_writes_it(tmp_path: Path) -> None:
    walker = exported(Settings(file=str(tmp_path / "traces.json")))
    requests = [parsed(line) for line in (tmp_path / "traces.json").read_text().splitlines()]
    told = [span for span in spans_of(requests) if span.name == "transition"]
    assert [span.start_time_unix_nano for span in told] == [changed.at_ns for changed in walker.changes]
    resource = {each.key: each.value.string_value for each in requests[0].resource_spans[0].resource.attributes}
    assert resource["service.name"] == "kip848-proxy"
    assert resource["service.instance.id"] == "proxy-1"


def test_the_file_says_what_the_wire_says(tmp_path: Path) -> None:
    with http_receiver() as (endpoint, received):
        exported(Settings(file=str(tmp_path / "traces.json"), otlp_endpoint=endpoint))
    written = spans_of([parsed(line) for line in (tmp_path / "traces.json").read_text().splitlines()])
    assert written == spans_of(received)


def test_a_value_is_written_by_its_type_whatever_was_written_before_it() -> None:
    """What has been written once is not written anew; and 1 equals True, and 1.0."""
    fifty = tuple(f"apples:{number}" for number in range(50))
    values: list[Any] = [True, 1, 1.0, "1", False, 0, 0.5, "", '"\n\u00e9', (), ("a",), fifty, True]
    spans = [ReadableSpan("x", CONTEXT, attributes={"same": value}, start_time=1, end_time=2) for value in values]
    assert parsed(request_line(spans).decode()) == encode_spans(spans)


@pytest.mark.parametrize("value", ["x" * 257, ("x" * 257,), tuple("x" * 9), 7])
def test_what_is_long_or_a_number_is_not_remembered(value: str | int | tuple[str, ...]) -> None:
    """A client may give 32 KB as its reason, another one each time."""
    known = otlp_file._remembered.cache_info().currsize
    otlp_file._attributes({"kip848.reason": value})
    assert otlp_file._remembered.cache_info().currsize == known
    otlp_file._attributes({"kip848.reason": f"as short as {value!r:.10} is"})
    assert otlp_file._remembered.cache_info().currsize == known + 1


def test_a_transition_carries_every_field_of_the_record_that_says_something(tmp_path: Path) -> None:
    walker = exported(Settings(file=str(tmp_path / "traces.json")))
    spans = spans_of([parsed(line) for line in (tmp_path / "traces.json").read_text().splitlines()])
    told = [{each.key for each in span.attributes} for span in spans if span.name == "transition"]
    for changed, keys in zip(walker.changes, told, strict=True):
        said = {name: getattr(changed.transition, name) for name in fields()}
        expected = {f"kip848.{name}" for name, value in said.items() if value is not None and value != ()}
        assert {key for key in keys if key.removeprefix("kip848.") in fields()} == expected


def fields() -> set[str]:
    return {field.name for field in msgspec.structs.fields(Transition)}


@pytest.mark.parametrize("stem", ["traces", "traces[1]"])
def test_a_full_file_is_renamed_and_the_oldest_is_deleted(tmp_path: Path, stem: str) -> None:
    path = tmp_path / f"{stem}.json"
    settings = Settings(file=str(path), file_max_bytes=20_000, file_count=3, export_interval_ms=1)
    exporting = Exporting(settings, "proxy-1", "1.2.3", QUIET)
    for seed in range(12):
        walked(exporting, seed)
        exporting.flush()
    exporting.close()
    files = sorted(tmp_path.iterdir())
    assert len(files) == 3
    assert files[-1] == path
    assert all(name.startswith(f"{stem}-20") for name in (file.name for file in files[:2]))
    assert all(spans_of([parsed(line)]) for file in files for line in file.read_text().splitlines())


@pytest.mark.parametrize("follows", ["nothing", "an empty file"])
def test_where_the_file_is_moved_away_another_takes_its_place(tmp_path: Path, follows: str) -> None:
    """As logrotate does it, with `nocreate` and with `create`: the process that writes is not told."""
    path, moved = tmp_path / "traces.json", tmp_path / "traces.json.1"
    file = OtlpFile(str(path), max_bytes=1 << 30, count=2)
    file.export(spans_that_say("before"))
    path.rename(moved)
    if follows == "an empty file":
        path.touch()
    file.export(spans_that_say("after"))
    assert (said_in(moved), said_in(path)) == (["before"], ["after"])
    with pytest.raises(CannotExport, match="another proxy that is running writes it"):
        Exporting(Settings(file=str(path)), "proxy-2", "1.2.3", QUIET)
    file.shutdown()


def test_a_full_file_that_was_removed_takes_no_span_with_it(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    file = OtlpFile(str(path), max_bytes=1, count=2)
    file.export(spans_that_say("before"))
    path.unlink()
    file.export(spans_that_say("after"))
    file.shutdown()
    assert [said_in(each) for each in tmp_path.iterdir()] == [["after"]]


def test_the_oldest_is_deleted_though_the_clock_was_set_back(tmp_path: Path) -> None:
    """What an earlier life has named too; what only looks like it is somebody else's."""
    first, last = (tmp_path / f"traces-2999-12-31T23-59-59.99999999{digit}.json" for digit in "89")
    other = tmp_path / "traces-2999-99-99T23-59-59.999999999.json"
    for each in (first, last, other):
        each.touch()
    file = OtlpFile(str(tmp_path / "traces.json"), max_bytes=1, count=3)
    for number in range(3):
        file.export(spans_that_say(str(number)))
    file.shutdown()
    full = [tmp_path / f"traces-3000-01-01T00-00-00.00000000{digit}.json" for digit in "01"]
    assert sorted(tmp_path.iterdir()) == [other, *full, tmp_path / "traces.json"]
    assert [said_in(each) for each in (*full, tmp_path / "traces.json")] == [["0"], ["1"], ["2"]]


def test_a_link_stays_one_and_full_files_are_where_it_leads(tmp_path: Path) -> None:
    link, volume = tmp_path / "traces.json", tmp_path / "volume"
    volume.mkdir()
    link.symlink_to(volume / "kept.json")
    file = OtlpFile(str(link), max_bytes=1, count=2)
    for number in range(2):
        file.export(spans_that_say(str(number)))
    file.shutdown()
    assert link.is_symlink()
    [full] = set(volume.iterdir()) - {volume / "kept.json"}
    assert [said_in(each) for each in (full, link)] == [["0"], ["1"]]


def spans_that_say(word: str) -> list[ReadableSpan]:
    return [ReadableSpan(word, CONTEXT, start_time=1, end_time=2)]


def said_in(file: Path) -> list[str]:
    return [span.name for line in file.read_text().splitlines() for span in spans_of([parsed(line)])]


def test_what_a_kill_left_of_a_line_takes_no_other_with_it(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    exported(Settings(file=str(path)))
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    exported(Settings(file=str(path)))
    assert path.read_bytes().startswith(whole[:-100] + b"\n")
    *_, last = path.read_text().splitlines()
    assert spans_of([parsed(last)])


def test_what_a_full_disk_left_of_a_line_takes_no_other_with_it(tmp_path: Path) -> None:
    file = OtlpFile(str(tmp_path / "traces.json"), max_bytes=1 << 30, count=2)
    spans = [ReadableSpan("x", CONTEXT, attributes={"said": "a" * 20_000}, start_time=1, end_time=2)]
    file.export(spans)
    with no_file_larger_than(30_000), pytest.raises(OSError, match="too large"):
        file.export(spans)
    file.export(spans)
    file.shutdown()
    first, torn, last = (tmp_path / "traces.json").read_text().splitlines()
    assert first == last
    assert torn
    assert first.startswith(torn)


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """As a full disk: what fits is written, and the rest refused."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_that_cannot_be_written_is_refused_at_the_start_with_its_setting(tmp_path: Path) -> None:
    with pytest.raises(CannotExport, match=r"traces\.file: .* cannot be written"):
        Exporting(Settings(file=str(tmp_path)), "proxy-1", "1.2.3", QUIET)


def test_a_file_in_use_is_nobody_elses_after_it_was_rotated_too(tmp_path: Path) -> None:
    path = tmp_path / "traces.json"
    settings = Settings(file=str(path))
    file = OtlpFile(str(path), max_bytes=1, count=2)
    for _ in range(2):
        with pytest.raises(
            CannotExport, match=r"traces\.file: .* another proxy that is running writes it: give each its own"
        ):
            Exporting(settings, "proxy-2", "1.2.3", QUIET)
        file.export([ReadableSpan("x", CONTEXT, start_time=1, end_time=2)])
        file.export([ReadableSpan("x", CONTEXT, start_time=1, end_time=2)])
    file.shutdown()
    Exporting(settings, "proxy-2", "1.2.3", QUIET).close()


# --- the wire ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_collector_receives_every_span(protocol: str) -> None:
    receiver = http_receiver if protocol == "http" else grpc_receiver
    with receiver() as (endpoint, received):
        walker = exported(Settings(otlp_endpoint=endpoint, otlp_protocol=protocol))  # type: ignore[arg-type]
    told = [span.start_time_unix_nano for span in spans_of(received) if span.name == "transition"]
    assert told == [changed.at_ns for changed in walker.changes]


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_dead_collector_is_counted_and_costs_no_translation(protocol: str) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        endpoint = f"http://127.0.0.1:{nobody.getsockname()[1]}"
        settings = Settings(otlp_endpoint=endpoint, otlp_protocol=protocol, otlp_timeout_ms=200)  # type: ignore[arg-type]
        exporting = Exporting(settings, "proxy-1", "1.2.3", QUIET)
        walked(exporting)
        exporting.close()
    (export,) = exporting.exports
    assert export.exported == 0
    assert export.failed == export.accepted > 0


class Ill(SpanExporter):
    """What becomes of each batch, in turn."""

    def __init__(self, *outcomes: SpanExportResult | OSError) -> None:
        self.outcomes = list(outcomes)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, OSError):
            raise outcome
        return outcome


def test_it_is_said_once_that_exporting_fails_and_once_that_it_works_again() -> None:
    out = io.StringIO()
    full, taken, refused = OSError(28, "No space left on device"), SpanExportResult.SUCCESS, SpanExportResult.FAILURE
    export = Export("ill", Ill(taken, full, refused, taken, taken, refused), Log(out=out), 10, 60_000, to="there")
    exporting = Exporting(Settings(), "proxy-1", "1.2.3", QUIET)
    exporting.tracer.span_processor.add_span_processor(export)  # type: ignore[attr-defined]
    for _ in range(6):
        exporting.tracer.start_span("one").end()
        exporting.flush()
    exporting.close()
    assert [line.split(" ", 1)[1] for line in out.getvalue().splitlines()] == [
        'warning traces cannot be exported exporter=ill to=there reason="[Errno 28] No space left on device"',
        "info traces are exported again exporter=ill to=there failed=2",
        f'warning traces cannot be exported exporter=ill to=there reason="{NOT_TAKEN}"',
    ]
    assert (export.exported, export.failed) == (3, 3)


def test_a_full_disk_is_said_with_the_file_and_the_proxy_still_stops(tmp_path: Path) -> None:
    (tmp_path / "traces.json").symlink_to("/dev/full")
    out = io.StringIO()
    exporting = Exporting(Settings(file=str(tmp_path / "traces.json")), "proxy-1", "1.2.3", Log(out=out))
    walked(exporting)
    exporting.close()
    (said,) = out.getvalue().splitlines()
    assert f"traces cannot be exported exporter=file to={tmp_path}/traces.json" in said
    assert "No space left on device" in said
    assert exporting.exports[0].failed == exporting.exports[0].accepted > 0


def test_a_variable_that_the_exporter_does_not_take_is_refused_at_the_start_with_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "odd")
    settings = Settings(otlp_endpoint="http://collector:4317", otlp_protocol="grpc")
    with pytest.raises(CannotExport, match='Invalid value "odd" for compression envvar OTEL_EXPORTER_OTLP_COMPRESSION'):
        Exporting(settings, "proxy-1", "1.2.3", QUIET)


class Stuck(SpanExporter):
    """Takes one batch, and does not come back until it is let go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.let_go = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.entered.set()
        self.let_go.wait()
        return SpanExportResult.SUCCESS


def test_what_finds_no_room_is_dropped_and_counted() -> None:
    exporting = Exporting(Settings(), "proxy-1", "1.2.3", QUIET)
    stuck = Stuck()
    export = Export("stuck", stuck, QUIET, queue_spans=10, interval_ms=1)
    exporting.tracer.span_processor.add_span_processor(export)  # type: ignore[attr-defined]
    exporting.tracer.start_span("taken").end()
    stuck.entered.wait()
    for _ in range(25):
        exporting.tracer.start_span("more").end()
    assert (export.accepted, export.waiting, export.dropped) == (11, 10, 15)
    stuck.let_go.set()
    exporting.close()
    assert (export.exported, export.waiting) == (11, 0)


def test_when_the_proxy_stops_it_does_not_wait_for_a_collector_beyond_its_time() -> None:
    stuck = Stuck()
    export = Export("stuck", stuck, QUIET, queue_spans=10, interval_ms=60_000, close_ms=0)
    exporting = Exporting(Settings(), "proxy-1", "1.2.3", QUIET)
    exporting.tracer.span_processor.add_span_processor(export)  # type: ignore[attr-defined]
    for _ in range(5):
        exporting.tracer.start_span("late").end()
    exporting.close()
    assert not stuck.entered.is_set()
    assert (export.failed, export.waiting) == (5, 0)


# --- sampling ------------------------------------------------------------------------------------------------------


def kept(ratio: float, members: Sequence[str]) -> set[str]:
    with http_receiver() as (endpoint, received):
        exporting = Exporting(Settings(otlp_endpoint=endpoint, sampling_ratio=ratio), "proxy-1", "1.2.3", QUIET)
        for member in members:
            who = {"kip848.group_id": "g", "kip848.member_id": member}
            for _ in range(2):
                exporting.tracer.start_span("rebalance", attributes=who).end()
        exporting.close()
    seen = [each.value.string_value for span in spans_of(received) for each in span.attributes if each.key == who_key()]
    assert all(seen.count(member) == 2 for member in seen), "a member's history has a hole"
    return set(seen)


def who_key() -> str:
    return "kip848.member_id"


def test_a_member_is_sampled_always_or_never() -> None:
    members = [f"m{number}" for number in range(400)]
    half = kept(0.5, members)
    assert 140 < len(half) < 260
    assert half == kept(0.5, members)
    assert kept(0.0, members[:20]) == set()
    assert kept(1.0, members[:20]) == set(members[:20])
