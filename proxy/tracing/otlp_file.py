"""Spans as lines of OTLP-JSON in a file that does not grow for ever: what the collector's file exporter writes.

One ExportTraceServiceRequest a line, in protobuf's JSON mapping as OTLP has it: ids in hexadecimal digits, 64-bit
numbers as strings, enums as numbers, names in camelCase, nothing for what is empty
(https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). A full file is renamed once, to a name with its time
in it, so that whoever follows the folder meets every name once. It is one process' own for as long as that lives, and so is
locked: two would rename each other's. Who moves it away all the same, as logrotate does, finds another in its place.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import time
from calendar import timegm
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from io import SEEK_END
from pathlib import Path
from typing import IO, Any

import msgspec
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Link

# Span.flags and Link.flags of OTLP: it is known whether the parent is remote, and it is not.
PARENT_IS_LOCAL = 0x100
# Most of what a span says, others say too: its member's name and software, a phase, a partition. So attributes are kept as
# they are written, but for numbers, long lists and long texts: a few megabytes at most.
REMEMBERED = 8_192
FEW = 8
SHORT = 256
SECOND = "%Y-%m-%dT%H-%M-%S"
WHEN = re.compile(r"(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)\.(\d{9})", re.ASCII)


class OtlpFile(SpanExporter):
    """Opens the file at once, so that a path that cannot be written is refused at the start, by OSError."""

    def __init__(self, path: str, max_bytes: int, count: int) -> None:
        # A link to it is followed once: what is renamed when full is the file, and not the link.
        self._path = Path(os.path.realpath(path))
        self._max_bytes = max_bytes
        self._count = count
        self._torn = b""
        self._file = self._open()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        line = request_line(spans)
        try:
            if not self._is_in_place():
                self._file.close()
                self._file = self._open()
            if self._file.tell() and self._file.tell() + len(line) > self._max_bytes:
                self._rotate()
            self._file.write(self._torn + line)
            self._file.flush()
        except (OSError, ValueError):
            # A full disk, or a rename that failed half way: these spans are lost, the next may fare better.
            with suppress(OSError):
                self._file.close()
            self._file = self._open()
            raise
        self._torn = b""
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        self._file.close()

    def _open(self) -> IO[bytes]:
        """What a full disk or a kill -9 left of a line is one by itself: no reader loses the next one with it."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = self._path.open("ab")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise OSError(errno.EBUSY, "another proxy that is running writes it: give each its own") from None
        self._torn = b"" if self._ends_whole() else b"\n"
        return file

    def _is_in_place(self) -> bool:
        """What was moved or removed under its name can still be written, but nobody would read it."""
        try:
            return not self._file.closed and os.path.samestat(self._path.stat(), os.fstat(self._file.fileno()))
        except FileNotFoundError:
            return False

    def _ends_whole(self) -> bool:
        with self._path.open("rb") as written:
            if not written.seek(0, SEEK_END):
                return True
            written.seek(-1, SEEK_END)
            return written.read() == b"\n"

    def _rotate(self) -> None:
        """Never to an earlier name than the last: when the clock was set back, what is new would be deleted as the oldest."""
        self._file.close()
        full = sorted(
            (at_ns, each) for each in self._path.parent.iterdir() if (at_ns := self._full_at(each)) is not None
        )
        newest_ns = full[-1][0] if full else 0
        self._path.rename(self._full(max(time.time_ns(), newest_ns + 1)))
        # Of those that are left the one just renamed is one, and the one to be written the other.
        for _, file in full[: max(0, len(full) + 2 - self._count)]:
            file.unlink(missing_ok=True)
        self._file = self._open()

    def _full(self, at_ns: int) -> Path:
        when = time.strftime(SECOND, time.gmtime(at_ns // 1_000_000_000))
        return self._path.with_name(f"{self._path.stem}-{when}.{at_ns % 1_000_000_000:09d}{self._path.suffix}")

    def _full_at(self, file: Path) -> int | None:
        """By its name; None for any other file."""
        found = WHEN.fullmatch(file.name.removeprefix(f"{self._path.stem}-").removesuffix(self._path.suffix))
        if found is None:
            return None
        try:
            at_ns = timegm(time.strptime(found[1], SECOND)) * 1_000_000_000 + int(found[2])
        except ValueError:
            return None
        return at_ns if file == self._full(at_ns) else None


def request_line(spans: Sequence[ReadableSpan]) -> bytes:
    """All of one provider, and so of one resource and one scope."""
    resource = {"attributes": _attributes(_of(spans[0].resource))}
    scope = spans[0].instrumentation_scope
    named = {"name": scope.name, "version": scope.version} if scope is not None else {}
    scope_spans = {"scope": _present(named), "spans": [_span(span) for span in spans]}
    request = {"resourceSpans": [{"resource": resource, "scopeSpans": [scope_spans]}]}
    return msgspec.json.encode(request) + b"\n"


def _of(resource: Resource) -> Mapping[str, Any]:
    return resource.attributes


class _Status(msgspec.Struct, omit_defaults=True):
    """`{}` where there is no error, as the collector writes it."""

    message: str = ""
    code: int = 0


class _Span(msgspec.Struct, rename="camel", omit_defaults=True, kw_only=True):
    trace_id: str
    span_id: str
    parent_span_id: str | None = None
    flags: int
    name: str
    kind: int
    start_time_unix_nano: str
    end_time_unix_nano: str
    attributes: list[msgspec.Raw] = []
    links: list[dict[str, Any]] = []
    status: _Status


def _span(span: ReadableSpan) -> _Span:
    context, parent, status = span.get_span_context(), span.parent, span.status
    assert context is not None, "a span that was recorded has a context"
    return _Span(
        trace_id=f"{context.trace_id:032x}",
        span_id=f"{context.span_id:016x}",
        parent_span_id=f"{parent.span_id:016x}" if parent is not None else None,
        flags=PARENT_IS_LOCAL,
        name=span.name,
        # OTLP counts kinds from 1 (INTERNAL), OpenTelemetry's Python from 0.
        kind=span.kind.value + 1,
        start_time_unix_nano=str(span.start_time),
        end_time_unix_nano=str(span.end_time),
        attributes=_attributes(span.attributes or {}),
        links=[_link(link) for link in span.links],
        status=_Status(status.description or "", status.status_code.value),
    )


def _link(link: Link) -> dict[str, Any]:
    ids = {"traceId": f"{link.context.trace_id:032x}", "spanId": f"{link.context.span_id:016x}"}
    return _present({**ids, "attributes": _attributes(link.attributes or {}), "flags": PARENT_IS_LOCAL})


def _attributes(given: Mapping[str, Any]) -> list[msgspec.Raw]:
    return [
        msgspec.Raw(b'%s%d"}}' % (_before_number(key), value)) if type(value) is int else _text_or_list(key, value)
        for key, value in given.items()
    ]


@cache
def _before_number(key: str) -> bytes:
    """Of an attribute, as it is written. Times are not said twice: remembered, they would push out what is."""
    return bytes(_attribute(key, 0)).removesuffix(b'0"}}')


def _text_or_list(key: str, value: object) -> msgspec.Raw:
    """All that is kept of one is a topic's name eight times, at most: those that clients choose may be 32 KB long."""
    texts = value if isinstance(value, tuple) else (value,)
    is_small = len(texts) <= FEW and all(not isinstance(each, str) or len(each) <= SHORT for each in texts)
    return _remembered(key, value) if is_small else _attribute(key, value)


def _attribute(key: str, value: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode({"key": key, "value": _value(value)}))


# Typed, for to a cache True is 1.
_remembered = lru_cache(REMEMBERED, typed=True)(_attribute)


def _value(value: object) -> dict[str, Any]:
    match value:  # bool before int
        case str():
            return {"stringValue": value}
        case bool():
            return {"boolValue": value}
        case int():
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case tuple():
            return {"arrayValue": {"values": [_value(each) for each in value]}}
        case _:
            raise TypeError(f"no OTLP value for {value!r}")


def _present(fields: dict[str, Any]) -> dict[str, Any]:
    """Without what is empty; but `status: {}` is written, as the collector does."""
    return {name: value for name, value in fields.items() if value or value == {}}
