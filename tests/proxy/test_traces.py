"""C1: each rebalance of a member is one trace, in the file as in a collector."""

from __future__ import annotations

import json
import signal
import uuid
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.clients import Client
from tests.kafka import Cluster
from tests.proxy.running import Running

pytestmark = pytest.mark.broker


def read(path: Path) -> list[dict[str, Any]]:
    found = []
    for line in path.read_text().splitlines():
        for resource in json.loads(line)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                found += scope["spans"]
    return found


def attributes(span: dict[str, Any]) -> dict[str, Any]:
    def plain(value: dict[str, Any]) -> Any:
        if "arrayValue" in value:
            return [plain(each) for each in value["arrayValue"]["values"]]
        return int(value["intValue"]) if "intValue" in value else next(iter(value.values()))

    return {each["key"]: plain(each["value"]) for each in span["attributes"]}


async def test_the_rebalances_of_a_member_can_be_read_from_the_file(kafka: Cluster, tmp_path: Path) -> None:
    topic = f"traced-{uuid.uuid4()}"
    kafka.create_topic(topic, partitions=4)
    config = tmp_path / "proxy.toml"
    config.write_text(f'[traces]\nfile = "{tmp_path / "traces.jsonl"}"\n')
    proxy = Running(kafka.bootstrap, "--config", str(config)).ready()
    async with (
        await Client.start("confluent-kafka", proxy.bootstrap, name="old") as old,
        await Client.start("confluent-kafka", kafka.bootstrap, name="new") as new,
    ):
        old.subscribe(topic, topic, session_timeout_ms=6_000)
        await old.until(lambda: len(old.owned) == 4, within=30)
        new.subscribe(topic, topic, protocol="consumer")
        await new.until(lambda: len(new.owned) == 2, within=30)
        await old.until(lambda: len(old.owned) == 2, within=30)
        await old.close()
    await trio.to_thread.run_sync(proxy.process.end, signal.SIGTERM)

    spans = read(tmp_path / "traces.jsonl")
    by_id = {span["spanId"]: span for span in spans}
    for span in spans:
        if parent := by_id.get(span.get("parentSpanId", "")):
            assert parent["traceId"] == span["traceId"]
            assert int(parent["startTimeUnixNano"]) <= int(span["startTimeUnixNano"])
        else:
            assert "parentSpanId" not in span, span
        assert int(span["startTimeUnixNano"]) <= int(span["endTimeUnixNano"])

    rebalances = [span for span in spans if span["name"] == "rebalance"]
    first, second = rebalances[0], next(each for each in rebalances if attributes(each).get("kip848.revoked"))
    assert attributes(first)["kip848.gained"] == [f"{topic}:{number}" for number in range(4)]
    assert attributes(first)["messaging.consumer.group.name"] == topic
    assert "confluent-kafka" in attributes(first)["kip848.client_software"]
    assert len(attributes(second)["kip848.revoked"]) >= 2

    inside = [span["name"] for span in spans if span["traceId"] == second["traceId"]]
    assert {"PrepareRebalance", "CompletingRebalance", "JoinGroup", "SyncGroup", "ConsumerGroupHeartbeat"} <= set(
        inside
    )
    joins = {span["spanId"] for span in spans if span["name"] == "JoinGroup"}
    assert any(span["name"] == "ConsumerGroupHeartbeat" and span.get("parentSpanId") in joins for span in spans)

    moves = [attributes(span) for span in spans if span["name"] == "transition"]
    assert moves[0]["kip848.phase_before"] == "absent"
    assert moves[-1]["kip848.phase"] == "absent"
    assert [each["kip848.at"] for each in moves] == sorted(each["kip848.at"] for each in moves)
    epochs = [each["kip848.epoch"] for each in moves if each["kip848.epoch"] > 0]
    assert epochs == sorted(epochs)
