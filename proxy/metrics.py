"""/metrics: the counters of the byte path, and what others count, as Prometheus reads them, collected when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import CollectorRegistry, PlatformCollector, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily
from prometheus_client.registry import Collector

from proxy.counts import Counts

PREFIX = "kip848_proxy_"
METRICS = {
    "build": "info: the version that runs",
    "ready": "1 when /readyz says so",
    "brokers_away": "brokers that take no connections, though the cluster named them within a minute",
    "journal_behind": "1 while the journal lacks what could not be written",
    "connections_open": "connections of clients now",
    "connections_opened": "connections of clients since the start",
    "disconnects": "connections that ended, by cause",
    "upstream_connect_failures": "failed attempts to reach a broker",
    "requests": "requests of clients, by api",
    "answers_rewritten": "answers that left changed, by api",
    "bytes_from_clients": "bytes received from clients",
    "bytes_from_brokers": "bytes received from brokers",
    "mistakes": "faults of the proxy, each with its trace in the log",
    "stood_still_seconds": "for how long the process got no time to run, at least",
}

PLAIN = (
    "connections_opened",
    "upstream_connect_failures",
    "bytes_from_clients",
    "bytes_from_brokers",
    "mistakes",
    "stood_still_seconds",
)

# What is so now: of how many, or 1 when it is.
Gauges = Mapping[str, Callable[[], int]]


class _Reader(Collector):
    def __init__(self, counts: Counts, version: str, gauges: Gauges, api_name: Callable[[int], str]) -> None:
        self._counts = counts
        self._version = version
        self._gauges = gauges
        self._api_name = api_name

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily | InfoMetricFamily]:
        counts = self._counts
        yield InfoMetricFamily(PREFIX + "build", METRICS["build"], {"version": self._version})
        for name, value in self._gauges.items():
            yield _gauge(name, int(value()))
        yield _gauge("connections_open", counts.connections_open)
        for name in PLAIN:
            yield CounterMetricFamily(PREFIX + name, METRICS[name], value=getattr(counts, name))
        yield _counters("disconnects", "cause", counts.disconnects)
        yield _counters("requests", "api", self._by_name(counts.requests))
        yield _counters("answers_rewritten", "api", self._by_name(dict(counts.rewritten)))

    def _by_name(self, by_key: dict[int, int]) -> dict[str, int]:
        named: dict[str, int] = {}
        for key, count in by_key.items():
            name = self._api_name(key)
            named[name] = named.get(name, 0) + count
        return named


def _gauge(name: str, value: int) -> GaugeMetricFamily:
    return GaugeMetricFamily(PREFIX + name, METRICS[name], value=value)


def _counters(name: str, label: str, values: dict[str, int]) -> CounterMetricFamily:
    family = CounterMetricFamily(PREFIX + name, METRICS[name], labels=[label])
    for value, count in values.items():
        family.add_metric([value], count)
    return family


class Metrics:
    def __init__(
        self,
        counts: Counts,
        version: str,
        gauges: Gauges,
        api_name: Callable[[int], str],
        *others: Collector,
    ) -> None:
        self._registry = CollectorRegistry()
        for collector in (_Reader(counts, version, gauges, api_name), *others):
            self._registry.register(collector)
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)

    def text(self) -> bytes:
        return generate_latest(self._registry)
