"""The same code on a cluster, behind Spark Connect, from a topic, and as the command that people run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyspark
import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from bench.pipeline.writer import lines
from pipeline import connector, jobs, session, streaming
from tests.kafka import Cluster
from tests.pipeline.quick import OF_DRIVER, OF_EXECUTOR, in_words, quick
from tests.pipeline.running import Command
from tests.pipeline.telling import Planted, write
from tests.pipeline.test_encodings import packed, proto

pytestmark = [pytest.mark.broker, pytest.mark.timeout(900)]
# A cluster of Spark's starts processes by the dozen: three minutes beside other tests.
LONG_S = 600
# In a process of its own, for this one has a session already. All the words come last.
SCRIPT = """
import json, sys
from pipeline import campaigns, compressed, jobs, session, spans, streaming
remote, settings, source, out = *map(json.loads, sys.argv[1:3]), *sys.argv[3:]
started = session.start(remote=remote, **settings)
session.ship(started)
rows = jobs.read_lines(started, source).transform(spans.spans)
found = sorted(row.member_id for row in rows.transform(spans.transitions).transform(spans.once).collect())
seeds = [row.verdict for row in campaigns.campaign(started, 0, 2).collect()]
streaming.follow(
    streaming.from_files(started, source), out, True, 1e9, make=lambda: None, say=lambda said: None, late_s=0
)
said = [[row.audit, row.member_id] for row in started.read.parquet(f"{out}/live").collect()]
print(json.dumps([found, seeds, said]))
started.stop()
"""


@pytest.mark.parametrize("where", ["a cluster", "Spark Connect"])
def test_the_same_code_runs_elsewhere(where: str, tmp_path: Path) -> None:
    life = Planted("g", "a").joins(0, 0, epoch=7).steps(10_000, epoch=5)
    write(tmp_path / "in/plain.json", life.spans)
    (tmp_path / "in/packed.zst").write_bytes(packed((tmp_path / "in/plain.json").read_text()))
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    start, remote = (submitted(tmp_path), None) if where == "a cluster" else ([sys.executable], "local[2]")
    words = [*start, str(script), json.dumps(remote), json.dumps(quick()), str(tmp_path / "in"), str(tmp_path / "out")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=LONG_S)
    assert done.returncode == 0, done.stderr
    found, seeds, said = json.loads(done.stdout.splitlines()[-1])
    assert found == ["a"] * len(life.spans)
    assert seeds == ["holds"] * 2
    assert said == [["epoch backwards", "a"]]


def submitted(folder: Path) -> list[str]:
    """As docs/pipeline.md says, with our packages in a zip."""
    submit, archive = Path(pyspark.__file__).parent / "bin/spark-submit", session.zipped(folder / "kip848.zip")
    settings = quick() | {
        "spark.executor.memory": "1g",
        OF_EXECUTOR: quick()[OF_DRIVER],
        "spark.pyspark.python": sys.executable,
    }
    return [str(submit), "--master", "local-cluster[2,1,1024]", *in_words(settings), "--py-files", str(archive)]


def test_a_topic_of_the_collector_is_read(spark: SparkSession, kafka: Cluster, tmp_path: Path) -> None:
    sent, out, log = filled(kafka, streaming.PROTO), tmp_path / "out", tmp_path / "log"
    words = ("stream", "--kafka", kafka.bootstrap, "--topic", streaming.PROTO, "--until-drained", str(out))
    with Command(*words, log=log) as command:
        assert command.process.wait(LONG_S) == 0, log.read_text()
    assert_is_read(spark, out, streaming.PROTO, sent)


def test_a_topic_of_json_is_read(spark: SparkSession, kafka: Cluster, tmp_path: Path) -> None:
    sent, out = filled(kafka, streaming.JSON), tmp_path / "out"
    for jar in connector.jars():
        spark.sql(f"ADD JAR '{jar}'")
    read = streaming.from_kafka(spark, kafka.bootstrap, streaming.JSON, streaming.JSON)
    streaming.keep_facts(read, str(out), until_drained=True).awaitTermination()
    assert_is_read(spark, out, streaming.JSON, sent)


def filled(kafka: Cluster, encoding: str) -> int:
    """A topic of that name, where everything comes twice, and something that is no request."""
    spans = Planted("g", "a").joins(0, 0).leaves(1_000).spans
    producer = Producer({"bootstrap.servers": kafka.bootstrap})
    for line in [*lines(spans, per_request=2)] * 2:
        producer.produce(encoding, proto(line) if encoding == streaming.PROTO else line.encode())
    producer.produce(encoding, b"\xff\xfe")
    producer.flush()
    return len(spans)


def assert_is_read(spark: SparkSession, out: Path, topic: str, sent: int) -> None:
    assert jobs.table(spark, str(out), "transitions").count() == sent
    (reject,) = jobs.table(spark, str(out), "rejects").collect()
    assert reject.reason == "not an OTLP request"
    assert reject.origin.startswith(f"{topic}/")
