"""python -m bench.pipeline.stream [--spans N] [--seconds S] [--rate R] [--cores 2] [--markdown]

A stream of N spans from files, facts only and with the live rules beside them; then S seconds of R spans a second through
a real broker: how long after a step it lies among the facts, how long until the rules have taken it in, and what they keep.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import quantiles
from typing import Any

import pyarrow.parquet as pq
from confluent_kafka import Producer
from pyspark.sql import SparkSession

from bench.document import write_section
from bench.pipeline import spans
from bench.pipeline.writer import BEGAN_NS, lines
from pipeline import connector, live, session, streaming
from pipeline.live_feed import BATCH, FACTS
from tests.kafka import Cluster
from tests.pipeline.telling import Planted

TOPIC, GROUPS, SPANS_EACH, TICK_S = "otlp_spans", 250, 4, 0.1
FILES_AT_ONCE = 2
# Spans of generated lives are told life by life, so that hours overlap by some minutes.
OVERLAP_S = 900.0
WARM_S, NEVER_S = 20.0, 1e9


def main() -> None:
    asked = _options()
    folder = Path(tempfile.mkdtemp(prefix="stream-bench-"))
    spark = session.start(f"local[{asked.cores}]", jars=connector.jars())
    spark.sparkContext.setLogLevel("OFF")
    try:
        table = "\n\n".join(
            [_throughput(spark, folder, asked.spans), _latency(spark, folder, asked.rate, asked.seconds)]
        )
    finally:
        spark.stop()
        shutil.rmtree(folder)
    print(table)
    if asked.markdown:
        write_section("stream", "python -m bench.pipeline.stream --markdown", table)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=2_000_000)
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--rate", type=int, default=1_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


def _throughput(spark: SparkSession, folder: Path, count: int) -> str:
    source = folder / "in"
    count = spans.write(source, count)
    read = streaming.from_files(spark, str(source), FILES_AT_ONCE)

    def facts_only() -> None:
        streaming.keep_facts(read, f"{folder}/facts", until_drained=True).awaitTermination()

    def with_rules() -> None:
        out = f"{folder}/rules"
        streaming.follow(read, out, True, NEVER_S, lambda: None, lambda said: None, OVERLAP_S)

    # Once for nothing: a stream runs for days, and the JVM's first minute is not among those that count.
    streaming.keep_facts(read, f"{folder}/warm", until_drained=True).awaitTermination()
    runs = {"facts only": facts_only, "facts and live rules": with_rules}
    rows = [f"| {name} | {count / _timed(run):,.0f} |" for name, run in runs.items()]
    head = f"{count:,} spans from files, {FILES_AT_ONCE} files of {spans.PER_FILE:,} a micro-batch."
    return "\n".join([head, "", "| stream | spans/s |", "|---|---|", *rows])


def _timed(run: Callable[[], None]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def _latency(spark: SparkSession, folder: Path, rate: int, seconds: int) -> str:
    out = folder / "live"
    with Cluster.start() as kafka:
        kafka.create_topic(TOPIC, partitions=2, replication=1)
        facts = streaming.keep_facts(
            streaming.from_kafka(spark, kafka.bootstrap, TOPIC, streaming.JSON), str(out), until_drained=False
        )
        rules = live.follow(spark, str(out))
        sender = threading.Thread(target=_send, args=(kafka.bootstrap, rate, seconds + WARM_S))
        sender.start()
        read_until, kept = _watched(sender, rules)
        for query in (facts, rules):
            query.processAllAvailable()
            query.stop()
        read_until |= _read_until(rules)
    since_ns = _first_ns(out) + int(WARM_S * 1e9)
    rows = [
        _row("until it is a fact", _delays(out, since_ns, _done_ns(out))),
        _row("until the rules have it", _delays(out, since_ns, _judged_ns(out, read_until))),
    ]
    return "\n".join(
        [
            f"{rate:,} spans/s for {seconds} s through a broker, {GROUPS} groups. A finding is said {live.LATE_S:.0f} s"
            " after the rules have it: until then, what came before it may still come.",
            "",
            "| from a step | p50 s | p95 s | max s |",
            "|---|---|---|---|",
            *rows,
            "",
            "| after s | rows in the state store | MB |",
            "|---|---|---|",
            *(f"| {at:.0f} | {rows_kept:,} | {size / 1e6:.1f} |" for at, rows_kept, size in kept),
        ]
    )


def _send(bootstrap: str, rate: int, seconds: float) -> None:
    """As much as is due by now, however late the machine lets us wake."""
    producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
    began, sent = time.monotonic(), 0
    while (passed := time.monotonic() - began) < seconds:
        due = int(passed * rate) // SPANS_EACH
        for line in lines(span for number in range(sent, due) for span in _life(number)):
            producer.produce(TOPIC, line.encode())
        producer.poll(0)
        sent = due
        time.sleep(TICK_S)
    producer.flush()


def _life(number: int) -> list[dict[str, Any]]:
    at = (time.time_ns() - BEGAN_NS) // 1_000_000 - SPANS_EACH
    member = Planted(f"group-{number % GROUPS}", f"member-{number}", client_id=f"app-{number}")
    return member.joins(at, 0).leaves(at + 3).spans


def _watched(sender: threading.Thread, rules: Any) -> tuple[dict[int, int], list[tuple[float, int, int]]]:
    """What its batches have read; and (seconds, rows, bytes): what the store held, ten times over the run or so."""
    began, read_until, kept = time.monotonic(), dict[int, int](), list[tuple[float, int, int]]()
    while sender.is_alive():
        sender.join(WARM_S)
        read_until |= _read_until(rules)
        if (progress := rules.lastProgress) and progress["stateOperators"]:
            (store,) = progress["stateOperators"]
            kept.append((time.monotonic() - began, store["numRowsTotal"], store["memoryUsedBytes"]))
    return read_until, kept


def _read_until(rules: Any) -> dict[int, int]:
    """Of each batch of rules: up to which of facts it has read. Asked for while it runs: Spark knows the last hundred
    batches and no more, here as in a checkpoint."""
    return {each["batchId"]: json.loads(each.sources[0].endOffset)[BATCH] for each in rules.recentProgress}


def _row(name: str, delays_s: list[float]) -> str:
    cuts = quantiles(delays_s, n=100)
    return f"| {name} | {cuts[49]:.2f} | {cuts[94]:.2f} | {max(delays_s):.2f} |"


def _steps(out: Path) -> list[tuple[int, list[int]]]:
    folders = (out / FACTS).glob(f"{BATCH}=*")
    files = ((int(folder.name.partition("=")[2]), file) for folder in folders for file in folder.glob("*.parquet"))
    return [(number, pq.ParquetFile(file).read(["at_ns"])["at_ns"].to_pylist()) for number, file in files]


def _first_ns(out: Path) -> int:
    return min(at_ns for _, steps in _steps(out) for at_ns in steps)


def _delays(out: Path, since_ns: int, done_ns: dict[int, int]) -> list[float]:
    return [(done_ns[number] - at_ns) / 1e9 for number, steps in _steps(out) for at_ns in steps if at_ns >= since_ns]


def _done_ns(table: Path) -> dict[int, int]:
    marks = (table / FACTS).glob(f"{BATCH}=*/_SUCCESS")
    return {int(mark.parent.name.partition("=")[2]): mark.stat().st_mtime_ns for mark in marks}


def _judged_ns(out: Path, read_until: dict[int, int]) -> dict[int, int]:
    """Of each batch of facts: when the first batch of rules that has read beyond it was done."""
    judged: dict[int, int] = {}
    for batch, until in sorted(read_until.items()):
        done = out / live.TABLE / f"{BATCH}={batch}/_SUCCESS"
        if done.exists():
            judged |= {number: done.stat().st_mtime_ns for number in range(len(judged), until)}
    return judged


if __name__ == "__main__":
    main()
