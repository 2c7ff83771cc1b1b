"""Whatever a client, a coordinator and the world say: the traces are whole, and times nest."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import ReadableSpan

from proxy.tracing.rebalance_trace import SLOW_NS
from tests.proxy.traces.telling import walked
from translation.states import Phase, Standing

SEEDS = st.integers(0, 2**32)
RESTS = {(Phase.STABLE, Standing.STABLE), (Phase.ABSENT, Standing.ABSENT)}


def by_trace(spans: tuple[ReadableSpan, ...]) -> list[dict[int, ReadableSpan]]:
    traces: defaultdict[int, dict[int, ReadableSpan]] = defaultdict(dict)
    for span in spans:
        assert span.context is not None
        traces[span.context.trace_id][span.context.span_id] = span
    return list(traces.values())


def lasted(span: ReadableSpan) -> int:
    assert span.start_time is not None
    assert span.end_time is not None
    return span.end_time - span.start_time


@settings(max_examples=150)
@given(SEEDS)
def test_every_span_has_its_parent_in_its_trace_and_lies_within_it(seed: int) -> None:
    _, traced = walked(seed)
    assert traced.traces.mistakes == 0
    for trace in by_trace(tuple(traced.spans)):
        roots = [span for span in trace.values() if span.parent is None]
        assert len(roots) == 1
        for span in trace.values():
            assert span.start_time <= span.end_time, span.name
            if span.parent is not None:
                parent = trace[span.parent.span_id]
                assert parent.start_time <= span.start_time, (parent.name, span.name)
                assert span.end_time <= parent.end_time, (parent.name, span.name)


@settings(max_examples=50)
@given(SEEDS)
def test_every_transition_is_a_span_and_every_way_from_rest_to_rest_a_rebalance(seed: int) -> None:
    walker, traced = walked(seed)
    told = [span.attributes["kip848.at_ns"] for span in traced.spans if span.name == "transition"]
    assert told == [changed.at_ns for changed in walker.changes]
    left_rest = [
        it
        for it in (changed.transition for changed in walker.changes)
        if (it.phase_before, it.standing_before) in RESTS and (it.phase, it.standing) not in RESTS
    ]
    assert sum(span.name == "rebalance" for span in traced.spans) == len(left_rest)


@settings(max_examples=50)
@given(SEEDS)
def test_a_heartbeat_that_finds_its_member_at_rest_is_traced_only_for_news_failure_or_slowness(seed: int) -> None:
    _, traced = walked(seed)
    for trace in by_trace(tuple(traced.spans)):
        names = {span.name for span in trace.values()}
        if "rebalance" not in names and "ConsumerGroupHeartbeat" in names:
            failed = any("error.type" in span.attributes for span in trace.values())
            slow = any(lasted(span) > SLOW_NS for span in trace.values())
            assert failed or slow or "transition" in names
