"""How spans get out: to a file, to a collector, to both; and what becomes of those that do not.

Each exporter has a queue and a thread of its own (the SDK's BatchSpanProcessor), so the event loop only ever appends to a
list. The bound of the queue is kept here, for the SDK drops in silence: a span that finds no room is dropped and
counted, and so is one whose batch the exporter gave up. Nobody waits for a collector.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
import time
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from urllib.parse import urlsplit

from opentelemetry.context import Context
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import Decision, ParentBased, Sampler, SamplingResult
from opentelemetry.trace import Link, SpanKind, Tracer, TraceState
from opentelemetry.util.types import Attributes

from proxy.logs import Log
from proxy.settings import Traces
from proxy.tracing.otlp_file import OtlpFile

SCOPE = "kip848-proxy"
MEMBER = ("kip848.group_id", "kip848.member_id")
ALL = 2**64
BATCH_SPANS = 512
# When the proxy stops, no further batch is begun after this.
CLOSE_MS = 5_000
# OpenTelemetry's exporters say no more.
NOT_TAKEN = "the collector takes none, or does not answer in time"


def own_name() -> str:
    """Of this life of the proxy. In a container the process is number 1 in each, and its host keeps its name; but what a
    life that was killed has said of its members must be told from what the next one says."""
    return f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"


class CannotExport(Exception):
    """At the start, with the setting that is wrong and what would mend it."""


class Export(SpanProcessor):
    """One exporter. `accepted` and `dropped` are written by the event loop alone, the others by the exporter's thread."""

    def __init__(
        self,
        name: str,
        exporter: SpanExporter,
        log: Log,
        queue_spans: int,
        interval_ms: int,
        close_ms: int = CLOSE_MS,
        to: str = "",
    ) -> None:
        self.name = name
        self.hurry_at: float | None = None
        self._close_ms = close_ms
        self.accepted = 0
        self.dropped = 0
        self.exported = 0
        self.failed = 0
        self._log = log
        self._to = to
        self._fails = False
        self._taken = 0
        self._queue_spans = queue_spans
        self._batches = BatchSpanProcessor(
            _Counted(self, exporter),
            max_queue_size=queue_spans,
            max_export_batch_size=min(BATCH_SPANS, queue_spans),
            schedule_delay_millis=interval_ms,
        )

    def __repr__(self) -> str:
        return f"<Export {self.name}: {self.waiting} wait, {self.exported} out, {self.dropped} dropped, {self.failed} failed>"

    @property
    def waiting(self) -> int:
        return self.accepted - self._taken

    def on_end(self, span: ReadableSpan) -> None:
        if self.waiting >= self._queue_spans:
            self.dropped += 1
        else:
            self.accepted += 1
            self._batches.on_end(span)

    def taken(self, spans: int) -> None:
        self._taken += spans

    def told(self, spans: int, failure: str | None) -> None:
        """What became of a batch; said where it differs from the one before it."""
        if failure is None:
            self.exported += spans
            if self._fails:
                self._log.info("traces are exported again", exporter=self.name, to=self._to, failed=self.failed)
        else:
            self.failed += spans
            if not self._fails:
                self._log.warning("traces cannot be exported", exporter=self.name, to=self._to, reason=failure)
        self._fails = failure is not None

    def given_up(self, spans: int) -> None:
        """The proxy stops, and this batch was not tried any more."""
        self.failed += spans

    def shutdown(self) -> None:
        self.hurry_at = time.monotonic() + self._close_ms / 1000
        self._batches.shutdown()  # type: ignore[no-untyped-call]

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        return self._batches.force_flush(timeout_millis)


class _Counted(SpanExporter):
    def __init__(self, export: Export, exporter: SpanExporter) -> None:
        self._export = export
        self._exporter = exporter

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self._export.taken(len(spans))
        hurry_at = self._export.hurry_at
        if hurry_at is not None and time.monotonic() >= hurry_at:
            self._export.given_up(len(spans))
            return SpanExportResult.FAILURE
        try:
            result = self._exporter.export(spans)
            failure = None if result is SpanExportResult.SUCCESS else NOT_TAKEN
        except Exception as error:
            # The SDK would only say it to its own log, and go on.
            result, failure = SpanExportResult.FAILURE, str(error)
        self._export.told(len(spans), failure)
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()


class ByMember(Sampler):
    """A member's traces are all kept or all left out, by its name alone, so that its history has no holes."""

    def __init__(self, ratio: float) -> None:
        self._below = round(ratio * ALL)

    def should_sample(
        self,
        parent_context: Context | None,
        trace_id: int,
        name: str,
        kind: SpanKind | None = None,
        attributes: Attributes = None,
        links: Sequence[Link] | None = None,
        trace_state: TraceState | None = None,
    ) -> SamplingResult:
        is_kept = self._below == ALL or _number(attributes or {}) < self._below
        return SamplingResult(Decision.RECORD_AND_SAMPLE if is_kept else Decision.DROP, attributes if is_kept else None)

    def get_description(self) -> str:
        return f"ByMember({self._below / ALL})"


def _number(attributes: Mapping[str, object]) -> int:
    """One of ALL, the same wherever the member is."""
    member = "\0".join(str(attributes.get(key, "")) for key in MEMBER)
    return int.from_bytes(blake2b(member.encode(), digest_size=8).digest(), "big")


class Exporting:
    """What the settings ask for. `close` waits for what is queued, CLOSE_MS and one batch at most: call it in a thread, and
    leave that behind if it takes too long."""

    def __init__(self, settings: Traces, instance_id: str, version: str, log: Log) -> None:
        # What the SDK has to say about a dead collector, we say once; it would go past our log to standard error.
        logging.getLogger("opentelemetry").addHandler(logging.NullHandler())
        logging.getLogger("opentelemetry").propagate = False
        self.exports = [
            Export(name, exporter, log, settings.queue_spans, settings.export_interval_ms, to=to)
            for name, to, exporter in _exporters(settings)
        ]
        who = {"service.name": SCOPE, "service.instance.id": instance_id, "service.version": version}
        self._provider = TracerProvider(
            sampler=ParentBased(ByMember(settings.sampling_ratio)),
            resource=Resource.create(who),
            shutdown_on_exit=False,
        )
        for export in self.exports:
            self._provider.add_span_processor(export)
        self.tracer: Tracer = self._provider.get_tracer(SCOPE, version)

    def flush(self) -> None:
        self._provider.force_flush()

    def close(self) -> None:
        self._provider.shutdown()


def _exporters(settings: Traces) -> list[tuple[str, str, SpanExporter]]:
    found: list[tuple[str, str, SpanExporter]] = []
    if settings.file is not None:
        try:
            to_file = OtlpFile(settings.file, settings.file_max_bytes, settings.file_count)
            found.append(("file", settings.file, to_file))
        except OSError as error:
            raise CannotExport(f"traces.file: {settings.file} cannot be written: {error.strerror}") from error
    if settings.otlp_endpoint is not None:
        collector = to_collector(settings, settings.otlp_endpoint)
        found.append((f"otlp-{settings.otlp_protocol}", settings.otlp_endpoint, collector))
    return found


def to_collector(settings: Traces, endpoint: str) -> SpanExporter:
    """Imported where it is asked for: gRPC alone costs 20 MB of memory."""
    url = urlsplit(endpoint)
    timeout_seconds = settings.otlp_timeout_ms / 1000
    try:
        if settings.otlp_protocol == "http":
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

            whole = endpoint if url.path not in ("", "/") else endpoint.rstrip("/") + "/v1/traces"
            return OTLPSpanExporter(endpoint=whole, timeout=timeout_seconds)
        from opentelemetry.exporter.otlp.proto.grpc import trace_exporter as over_grpc

        return over_grpc.OTLPSpanExporter(endpoint, insecure=url.scheme == "http", timeout=timeout_seconds)
    except ImportError as error:
        raise CannotExport("traces.otlp_endpoint: needs the extra `otlp`: install kip848-proxy[otlp]") from error
    except Exception as error:
        # They read variables of their own.
        raise CannotExport(f"traces.otlp_endpoint: {error}; correct OTEL_EXPORTER_OTLP_… in the environment") from error
