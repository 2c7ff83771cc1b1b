"""When the certificates end that the proxy shows, as Prometheus reads it: whoever renews them may have forgotten one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from proxy.metrics import PREFIX
from proxy.tls import ClientSide, UpstreamSide

NOT_AFTER = "when the certificate in use ends, in seconds since 1970, by setting"


class CertificateMetrics(Collector):
    def __init__(self, sides: Callable[[], Iterable[ClientSide | UpstreamSide]]) -> None:
        self._sides = sides

    def collect(self) -> Iterator[GaugeMetricFamily]:
        ends = GaugeMetricFamily(PREFIX + "certificate_not_after_seconds", NOT_AFTER, labels=["setting"])
        for side in self._sides():
            if side.not_after is not None:
                ends.add_metric([side.setting], side.not_after.timestamp())
        yield ends
