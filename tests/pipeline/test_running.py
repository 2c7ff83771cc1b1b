"""The same code on a cluster, behind Spark Connect, from a topic, and as the command that people run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from pipeline import jobs
from tests.kafka import Cluster
from tests.pipeline.running import Command
from tests.pipeline.telling import Planted, write
from tests.pipeline.test_encodings import packed, proto

pytestmark = [pytest.mark.broker, pytest.mark.timeout(280)]
# In a process of its own, for this one has a session already. All the words come last.
SCRIPT = """
import json, sys
from pipeline import campaigns, compressed, jobs, session, spans
where, source = json.loads(sys.argv[1]), sys.argv[2]
started = session.start(**where)
session.ship(started)
rows = jobs.read_lines(started, source).transform(spans.spans)
found = sorted(row.member_id for row in rows.transform(spans.transitions).transform(spans.once).collect())
seeds = [row.verdict for row in campaigns.campaign(started, 0, 2).collect()]
print(json.dumps([found, seeds]))
started.stop()
"""


@pytest.mark.parametrize(
    "where",
    [
        pytest.param({"master": "local-cluster[2,1,1024]", "spark.executor.memory": "1g"}, id="a cluster"),
        pytest.param({"remote": "local[2]"}, id="Spark Connect"),
    ],
)
def test_the_same_code_runs_elsewhere(where: dict[str, str], tmp_path: Path) -> None:
    life = Planted("g", "a").joins(0, 0).leaves(1_000)
    write(tmp_path / "in/plain.json", life.spans)
    (tmp_path / "in/packed.zst").write_bytes(packed((tmp_path / "in/plain.json").read_text()))
    words = [sys.executable, "-c", SCRIPT, json.dumps(where), str(tmp_path / "in")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=200)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [["a"] * len(life.spans), ["holds"] * 2]


@pytest.mark.parametrize("encoding", ["otlp_proto", "otlp_json"])
def test_a_topic_of_the_collector_is_read(spark: SparkSession, kafka: Cluster, encoding: str, tmp_path: Path) -> None:
    topic = f"spans-{encoding}"
    life = Planted("g", "a").joins(0, 0).leaves(1_000)
    lines = write(tmp_path / "in.json", life.spans).read_text().splitlines()
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for line in lines * 2:
        producer.produce(topic, proto(line) if encoding == "otlp_proto" else line.encode())
    producer.produce(topic, b"\xff\xfe")
    producer.flush()
    out, log = tmp_path / "out", tmp_path / "log"
    words = ("stream", "--kafka", kafka.bootstrap, "--topic", topic, "--encoding", encoding, "--until-drained")
    with Command(*words, str(out), log=log) as command:
        assert command.process.wait(240) == 0, log.read_text()
    assert jobs.table(spark, str(out), "transitions").count() == len(life.spans)
    (reject,) = jobs.table(spark, str(out), "rejects").collect()
    assert reject.reason == "not an OTLP request"
    assert reject.origin.startswith(f"{topic}/")
