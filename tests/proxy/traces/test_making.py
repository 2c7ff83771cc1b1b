"""Spans are made here without the SDK's `Span`; whoever gets them cannot tell."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk import trace as sdk
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.id_generator import IdGenerator
from opentelemetry.trace import NonRecordingSpan, SpanKind, set_span_in_context

from proxy.settings import Traces as Settings
from proxy.tracing.exporting import Exporting
from proxy.tracing.otlp_file import request_line
from proxy.tracing.rebalance_trace import MOST_LINKS
from proxy.tracing.traces import Traces
from tests.proxy.traces.telling import APIS, QUIET, Told
from tests.unit.observing import changed
from translation.states import Phase

SEEDS = range(40)


class Collected:
    """Traces as the proxy sets them up, and the spans that leave."""

    def __init__(self, sampling_ratio: float = 1.0) -> None:
        self.tracer = Exporting(Settings(sampling_ratio=sampling_ratio), "proxy-1", "1.2.3", QUIET).tracer
        self.traces = Traces(self.tracer)
        self._out = InMemorySpanExporter()
        if isinstance(self.tracer, sdk.Tracer):
            self.tracer.span_processor.add_span_processor(SimpleSpanProcessor(self._out))

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        return self._out.get_finished_spans()

    def walks(self, seed: int) -> None:
        walker = Told(seed, self.traces.observe)
        for _ in walker.walk():
            pass
        self.traces.close(walker.at_ns())
        assert self.traces.mistakes == 0


class Again(IdGenerator):
    """The ids of a span that there is already."""

    def __init__(self, span: ReadableSpan) -> None:
        assert span.context is not None
        self._context = span.context

    def generate_trace_id(self) -> int:
        return self._context.trace_id

    def generate_span_id(self) -> int:
        return self._context.span_id

    def is_trace_id_random(self) -> bool:
        return True


def by_the_sdk(spans: Sequence[ReadableSpan]) -> Sequence[ReadableSpan]:
    """The same, told to a tracer."""
    told = Collected()
    assert isinstance(told.tracer, sdk.Tracer)
    for span in spans:
        told.tracer.id_generator = Again(span)
        above = set_span_in_context(NonRecordingSpan(span.parent)) if span.parent is not None else Context()
        begun = told.tracer.start_span(span.name, above, span.kind, span.attributes, start_time=span.start_time)
        for link in span.links:
            begun.add_link(link.context, link.attributes)
        begun.set_status(span.status)
        begun.end(span.end_time)
    return told.spans


def test_what_is_made_here_is_byte_by_byte_what_the_sdk_makes() -> None:
    ours = Collected()
    for seed in SEEDS:
        ours.walks(seed)
    theirs = by_the_sdk(ours.spans)
    assert {span.name for span in theirs} >= {"rebalance", "transition", "JoinGroup", "ConsumerGroupHeartbeat"}
    assert any(span.links for span in theirs)
    assert any(not span.status.is_ok and span.status.description for span in theirs)
    assert [span.to_json() for span in ours.spans] == [span.to_json() for span in theirs]
    assert request_line(ours.spans) == request_line(theirs)
    assert encode_spans(ours.spans).SerializeToString() == encode_spans(theirs).SerializeToString()
    assert [span.context for span in ours.spans] == [span.context for span in theirs]


def test_the_proxy_serves_its_clients_and_is_the_coordinators_client() -> None:
    ours = Collected()
    for seed in SEEDS:
        ours.walks(seed)
    kinds = {span.name: span.kind for span in ours.spans}
    assert {name for name, kind in kinds.items() if kind is SpanKind.CLIENT} == {"ConsumerGroupHeartbeat"}
    assert {name for name, kind in kinds.items() if kind is SpanKind.SERVER} == set(APIS.values())


RESTLESS = Phase.PREPARE_REBALANCE
MEMBERS = [f"m{number}" for number in range(200)]


def rebalances(told: Collected, members: Sequence[str] = MEMBERS) -> None:
    for member in members:
        told.traces.observe(changed(10, group_id="g", member_id=member, phase=RESTLESS, epoch=8))
        told.traces.observe(changed(20, group_id="g", member_id=member, phase_before=RESTLESS))


def members_of(spans: Sequence[ReadableSpan]) -> list[object]:
    return [(span.attributes or {})["kip848.member_id"] for span in spans]


def test_the_members_that_are_traced_are_those_whom_the_tracer_itself_would_sample() -> None:
    told = Collected(sampling_ratio=0.5)
    rebalances(told)
    whole = ["transition", "PrepareRebalance", "rebalance", "transition"]
    sampled = []
    for member in MEMBERS:
        who = {"kip848.group_id": "g", "kip848.member_id": member}
        if told.tracer.start_span("rebalance", Context(), attributes=who).is_recording():
            sampled.append(member)
    assert 60 < len(sampled) < 140
    assert members_of(told.spans) == [member for member in sampled for _ in whole]


def test_no_link_leads_to_a_rebalance_that_is_not_sampled() -> None:
    told = Collected(sampling_ratio=0.5)
    rebalances(told)
    first, *others = [span for span in told.spans if span.name == "rebalance"]
    assert members_of([first]) != [MEMBERS[0]], "the first to move is one that is not sampled"
    assert not first.links
    assert all([link.context for link in span.links] == [first.context] for span in others)


def test_a_member_that_finds_no_rest_links_to_the_last_epochs_alone() -> None:
    told = Collected()
    epochs = range(8, 8 + 2 * MOST_LINKS)
    for epoch in epochs:
        before = Phase.STABLE if epoch == epochs[0] else RESTLESS
        for member in ("a", "b"):
            told.traces.observe(
                changed(epoch, member_id=member, phase_before=before, phase=RESTLESS, epoch_before=0, epoch=epoch)
            )
    told.traces.close(1_000)
    linked = [(link.attributes or {})["kip848.epoch"] for link in told.spans[-1].links]
    assert linked == list(epochs)[-MOST_LINKS:]


def test_no_limit_of_the_sdk_cuts_a_record_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", "3")
    monkeypatch.setenv("OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", "2")
    told = Collected()
    told.traces.observe(changed(10, member_id="alice"))
    (span,) = told.spans
    assert (span.attributes or {})["kip848.member_id"] == "alice"
    assert len(span.attributes or {}) > 3


def test_who_turns_the_sdk_off_gets_no_spans_and_no_mistakes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SDK_DISABLED", "true")
    told = Collected()
    told.walks(7)
    assert told.spans == ()
