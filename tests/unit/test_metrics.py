"""What /metrics shows, and that docs/metrics.md says the same."""

from __future__ import annotations

import re
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from proxy.causes import Cause
from proxy.counts import Counts
from proxy.metrics import METRICS, PREFIX, Metrics

DOCUMENT = Path(__file__).parents[2] / "docs/metrics.md"
GAUGES = {"ready": lambda: True, "brokers_away": lambda: 0, "journal_behind": lambda: False}


def shown(counts: Counts) -> dict[str, dict[tuple[tuple[str, str], ...], float]]:
    text = Metrics(counts, "1.2.3", GAUGES, lambda key: {0: "Produce", 1: "Fetch"}.get(key, "unknown")).text().decode()
    found: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(sorted(sample.labels.items()))] = sample.value
    return found


def test_every_cause_is_there_from_the_start() -> None:
    assert shown(Counts())[PREFIX + "disconnects_total"] == {(("cause", cause.value),): 0 for cause in Cause}


def test_requests_are_counted_by_api_whatever_their_version() -> None:
    counts = Counts()
    counts.requests_by_version[1 << 16 | 4] += 2
    counts.requests_by_version[1 << 16 | 11] += 3
    counts.requests_by_version[900 << 16] += 1
    assert shown(counts)[PREFIX + "requests_total"] == {(("api", "Fetch"),): 5, (("api", "unknown"),): 1}


def test_the_metrics_in_the_document_are_those_that_are_shown() -> None:
    byte_path, _, _ = DOCUMENT.read_text().partition("\n## Groups\n")
    documented = set(re.findall(r"^\| `(kip848_proxy_\w+)", byte_path, re.MULTILINE))
    counts = Counts()
    counts.requests_by_version[0] = counts.rewritten[0] = 1
    assert documented == {name for name in shown(counts) if name.startswith(PREFIX)}
    assert len(documented) == len(METRICS)
