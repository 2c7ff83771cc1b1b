"""A real collector writes what we send it as we write it ourselves: its file exporter's lines are our lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

from proxy.settings import Traces as Settings
from proxy.tracing.exporting import Exporting
from proxy.tracing.traces import Traces
from tests.collector import BUILD_SECONDS, collector
from tests.proxy.traces.telling import QUIET, Told

# It needs no broker, but it needs the network once, and minutes to be built.
pytestmark = [pytest.mark.broker, pytest.mark.timeout(BUILD_SECONDS)]
# Batches leave when they are full and when the exporter closes, never by the clock: so they are the same for both.
NEVER_MS = 3_600_000
SEEDS = range(40)


def walk(exporting: Exporting) -> None:
    """Members of all kinds, with what fails and what is refused: errors, links, every type of attribute."""
    traces = Traces(exporting.tracer)
    for seed in SEEDS:
        walker = Told(seed, traces.observe)
        for _ in walker.walk():
            pass
    traces.close(walker.at_ns())
    assert traces.mistakes == 0


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_real_collector_writes_the_lines_that_we_write(protocol: Literal["http", "grpc"], tmp_path: Path) -> None:
    ours = tmp_path / "ours.json"
    with collector(tmp_path) as theirs:
        settings = Settings(
            file=str(ours),
            otlp_endpoint=theirs.endpoint(protocol),
            otlp_protocol=protocol,
            otlp_timeout_ms=60_000,
            export_interval_ms=NEVER_MS,
            queue_spans=100_000,
        )
        exporting = Exporting(settings, "proxy-1", "1.2.3", QUIET)
        walk(exporting)
        exporting.close()
        assert [(export.dropped, export.failed) for export in exporting.exports] == [(0, 0), (0, 0)]
    written = ours.read_bytes().splitlines()
    assert len(written) > 1
    said = written[0] + written[-1]
    assert all(name in said for name in (b'"links"', b'"error.type"', b'"arrayValue"', b'"intValue"', b'"message"'))
    for mine, its in zip(written, theirs.file.read_bytes().splitlines(), strict=True):
        assert json.loads(mine) == json.loads(its)
        assert mine == its
