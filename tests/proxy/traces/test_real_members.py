"""A real client before a real broker: its trace is in the file, and with a real collector."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients import Client
from tests.collector import BUILD_SECONDS, collector
from tests.kafka import Cluster
from tests.proxy.running import Running

pytestmark = [pytest.mark.broker, pytest.mark.timeout(BUILD_SECONDS)]
ORDINARY_LIFE = {
    "rebalance",
    "CompletingRebalance",
    "transition",
    "JoinGroup",
    "SyncGroup",
    "LeaveGroup",
    "ConsumerGroupHeartbeat",
}
# What has no parent: a rebalance, and at rest what disturbs nobody, or fails (a coordinator that is still loading).
ROOTS = {"rebalance", "transition", "ConsumerGroupHeartbeat"}


def spans(file: Path) -> Iterator[dict[str, Any]]:
    for line in file.read_text().splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                yield from scope["spans"]


def said(span: dict[str, Any], name: str) -> object:
    """An attribute's value, whatever its type."""
    values = [each["value"] for each in span["attributes"] if each["key"] == name]
    return next(iter(values[0].values())) if values else None


async def test_a_clients_life_is_in_the_file_and_at_the_collector(kafka: Cluster, tmp_path: Path) -> None:
    topic = f"traced-{uuid.uuid4()}"
    kafka.create_topic(topic, partitions=2)
    config, file = tmp_path / "proxy.toml", tmp_path / "traces.json"
    with collector(tmp_path) as theirs:
        collected = f'otlp_endpoint = "{theirs.endpoint("grpc")}"\notlp_protocol = "grpc"\notlp_timeout_ms = 60000'
        config.write_text(f'[traces]\nfile = "{file}"\n{collected}\n')
        with Running(kafka.bootstrap, "--config", str(config)) as proxy:
            proxy.ready()
            async with await Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice:
                await alice.produce(topic, 10)
                alice.subscribe(topic, topic, session_timeout_ms=6000)
                await alice.until(lambda: len(alice.values) >= 10, within=40)
                await alice.close()
            proxy.stop()
    written = list(spans(file))
    mine = [span for span in written if said(span, "kip848.group_id") == topic]
    assert {span["name"] for span in mine} >= ORDINARY_LIFE
    by_id = {span["spanId"]: span for span in mine}
    for span in mine:
        if "parentSpanId" not in span:
            assert span["name"] in ROOTS or said(span, "error.type"), span
        else:
            parent = by_id[span["parentSpanId"]]
            assert int(parent["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
            assert int(span["endTimeUnixNano"]) <= int(parent["endTimeUnixNano"])
    # Each holds the heartbeat it became. A newcomer's goes out with its request; a leave may find one under way.
    asked = {said(span, "kip848.request"): span for span in mine if span["name"] in ("JoinGroup", "LeaveGroup")}
    beats = [span for span in mine if span["name"] == "ConsumerGroupHeartbeat" and "parentSpanId" in span]
    assert {by_id[beat["parentSpanId"]]["name"] for beat in beats} >= {"JoinGroup", "LeaveGroup"}
    named = [(beat, asked[said(beat, "kip848.request")]) for beat in beats if said(beat, "kip848.request") in asked]
    assert "JoinGroup" in {request["name"] for _, request in named}
    assert all(beat["parentSpanId"] == request["spanId"] for beat, request in named)
    settled = [span for span in mine if span["name"] == "rebalance" and said(span, "kip848.outcome") == "stable"]
    assert {said(span, "kip848.client_software") for span in settled} == {"confluent-kafka-python"}
    # The two exporters have threads of their own: what they send is the same, how many spans at once is not.
    assert list(spans(theirs.file)) == written
