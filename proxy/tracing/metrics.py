"""What became of the spans, as Prometheus reads it: how much a collector that is down has cost shows here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from proxy.tracing.exporting import Export
from proxy.tracing.traces import Traces

PREFIX = "kip848_proxy_"
TRACE_METRICS = {
    "trace_spans": "spans by exporter and outcome: exported, failed with their batch, or dropped for want of room",
    "trace_spans_waiting": "spans that wait to be exported, by exporter",
    "trace_mistakes": "observations that tracing could not make sense of: a fault of the proxy",
}


class TraceMetrics(Collector):
    def __init__(self, traces: Traces, exports: Sequence[Export]) -> None:
        self._traces = traces
        self._exports = exports

    def collect(self) -> Iterator[Metric]:
        spans = CounterMetricFamily(
            PREFIX + "trace_spans", TRACE_METRICS["trace_spans"], labels=["exporter", "outcome"]
        )
        waiting = GaugeMetricFamily(
            PREFIX + "trace_spans_waiting", TRACE_METRICS["trace_spans_waiting"], labels=["exporter"]
        )
        for export in self._exports:
            for outcome in ("exported", "failed", "dropped"):
                spans.add_metric([export.name, outcome], getattr(export, outcome))
            waiting.add_metric([export.name], export.waiting)
        yield spans
        yield waiting
        yield CounterMetricFamily(
            PREFIX + "trace_mistakes", TRACE_METRICS["trace_mistakes"], value=self._traces.mistakes
        )
