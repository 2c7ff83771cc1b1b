"""The proxy's own exporter, read back: every field of every transition is what it was."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from pyspark.sql import SparkSession

from bench.pipeline.writer import BEGAN_NS
from pipeline import jobs, schema, spans
from proxy.observations import Changed, Client
from proxy.otlp_file import OtlpFile
from proxy.traces import Traces
from tests.pipeline.telling import watched
from translation.transition import Transition

pytestmark = pytest.mark.broker
CLIENT = Client(address="10.0.0.7", client_id="app", software="librdkafka", software_version="2.16.0")


def export(file: Path, seen: list[Transition], names: dict[str, str | None]) -> None:
    provider = TracerProvider(resource=Resource({"service.name": "kip848-proxy", "service.instance.id": "proxy-7"}))
    provider.add_span_processor(SimpleSpanProcessor(OtlpFile(str(file), max_bytes=1 << 30, count=2)))
    traces = Traces(provider.get_tracer("kip848-proxy"))
    for number, transition in enumerate(seen):
        at_ns = BEGAN_NS + transition.at * 1_000_000 + number
        traces.observe(Changed(at_ns=at_ns, transition=transition, names=names, client=CLIENT, node=3))
    traces.close(at_ns)
    provider.shutdown()
    assert traces.mistakes == 0


def flat(value: Any, names: dict[str, str | None]) -> Any:
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [f"{names[each.topic_id]}:{each.partition}" for each in value]
    return value


def test_a_story_through_the_proxys_exporter_is_the_story(spark: SparkSession, tmp_path: Path) -> None:
    story, seen = watched(foo=3, bar=2)
    alice = story.legacy("alice", topics=("foo", "bar"), instance_id="i-alice").joins().syncs()
    story.legacy("bob", cooperative=True, assignor="cooperative-sticky").joins()
    story.settles()
    alice.vanishes()
    story.passes(60_000)
    names: dict[str, str | None] = dict(story.world.topics.names)
    export(tmp_path / "traces.json", seen, names)

    read = jobs.read_lines(spark, str(tmp_path)).transform(spans.spans).persist()
    assert spans.rejects(read).collect() == []
    rows = sorted(read.transform(spans.transitions).collect(), key=lambda row: row.at_ns)
    assert [tuple(row[name] for name in schema.RECORD) for row in rows] == [
        tuple(flat(getattr(each, name), names) for name in schema.RECORD) for each in seen
    ]
    assert {(row.proxy, row.node, row.client_software, row.client_address) for row in rows} == {
        ("proxy-7", 3, "librdkafka", "10.0.0.7")
    }
    roots = read.where("name = 'rebalance'").count()
    assert 0 < roots == spans.requests(read).where("name = 'rebalance'").count()
    read.unpersist()
