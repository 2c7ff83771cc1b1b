"""What /metrics says of the spans."""

from __future__ import annotations

import json
from pathlib import Path

from prometheus_client import CollectorRegistry

from proxy.observations import Changed
from proxy.settings import Traces as Settings
from proxy.tracing.exporting import Exporting
from proxy.tracing.metrics import TRACE_METRICS, TraceMetrics
from proxy.tracing.traces import Traces
from tests.proxy.traces.telling import CLIENT, QUIET, Told


def test_spans_are_counted_by_exporter_and_outcome(tmp_path: Path) -> None:
    exporting = Exporting(Settings(file=str(tmp_path / "traces.json")), "proxy-1", "1.2.3", QUIET)
    traces = Traces(exporting.tracer)
    walker = Told(7, traces.observe)
    for _ in walker.walk():
        pass
    exporting.close()
    registry = CollectorRegistry()
    registry.register(TraceMetrics(traces, exporting.exports))

    def counted(outcome: str) -> float | None:
        labels = {"exporter": "file", "outcome": outcome}
        return registry.get_sample_value("kip848_proxy_trace_spans_total", labels)

    lines = [json.loads(line) for line in (tmp_path / "traces.json").read_text().splitlines()]
    scopes = [scope for line in lines for resource in line["resourceSpans"] for scope in resource["scopeSpans"]]
    assert counted("exported") == sum(len(scope["spans"]) for scope in scopes) > 0
    assert (counted("failed"), counted("dropped")) == (0, 0)
    assert registry.get_sample_value("kip848_proxy_trace_spans_waiting", {"exporter": "file"}) == 0


def test_an_observation_that_makes_no_sense_is_counted_and_hurts_nobody(tmp_path: Path) -> None:
    exporting = Exporting(Settings(file=str(tmp_path / "traces.json")), "proxy-1", "1.2.3", QUIET)
    traces = Traces(exporting.tracer)
    traces.observe(Changed(at_ns=1, transition=None, names={}, client=CLIENT))  # type: ignore[arg-type]
    exporting.close()
    registry = CollectorRegistry()
    registry.register(TraceMetrics(traces, exporting.exports))
    assert registry.get_sample_value("kip848_proxy_trace_mistakes_total") == 1
    assert len(TRACE_METRICS) == len(list(registry.collect()))
