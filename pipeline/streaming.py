"""A stream of spans to the same tables, exactly once.

Each micro-batch overwrites a folder of its own (`transitions/batch=7`), so one that is done again after a crash replaces
what it had written, and no reader needs to know of Spark's bookkeeping. The checkpoint lives inside the output folder:
neither can be lost without the other. Spans that came twice, in one batch or in two, are counted once when tables are read
(jobs.table), so nothing is forgotten on a watermark and nothing is dropped by one.

All other tables are made anew from these facts, by the code that batch uses: now and then while the stream runs, and
once when it ends. That is why they equal batch's: order of arrival has no part in them.

Beside it, a second query judges the facts as they are written (judging.py), and ends the run when it cannot.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from pipeline import jobs, live, protobuf, spans
from pipeline.asking import CannotBeDone
from pipeline.compressed import FILES, lines_of
from pipeline.judging import Judging
from pipeline.live_feed import CHECKPOINT
from pipeline.names import ORIGIN, for_spark
from pipeline.patience import begun
from pipeline.writing import Say, is_there

JSON, PROTO = "otlp_json", "otlp_proto"
# Bounds what one micro-batch holds, and so memory: records are about 100 spans each.
RECORDS_PER_BATCH, FILES_PER_BATCH = 5_000, 20
# Spark passes over files a week older than the newest it has read, and says nothing: of a host that was cut off so long, say.
NEVER_TOO_OLD = "36500d"
POLL_S = 1
# Of a batch's facts, rejects are written last.
FIRST_IS_WHOLE = f"rejects/{jobs.BATCH}=0/_SUCCESS"
# What is shipped reaches its tasks, and not the process that takes batches.
NOT_THERE = (
    "Spark Connect's server has no `pipeline`, and a stream's batches are taken there: install this package on it"
)


def from_kafka(
    spark: SparkSession, bootstrap: str, topic: str, encoding: str, per_batch: int = RECORDS_PER_BATCH
) -> DataFrame:
    """What the collector's Kafka exporter wrote, from the beginning; data that is gone is an error, never a gap."""
    options = {
        "kafka.bootstrap.servers": bootstrap,
        "subscribe": topic,
        "startingOffsets": "earliest",
        "failOnDataLoss": "true",
        "maxOffsetsPerTrigger": str(per_batch),
    }
    records = spark.readStream.format("kafka").options(**options).load()
    origin = "concat(topic, '/', partition, '@', offset) AS origin"
    if encoding == PROTO:
        return records.selectExpr("value", origin).transform(protobuf.spans)
    return records.selectExpr("CAST(value AS STRING) AS value", origin).transform(spans.spans)


def from_files(spark: SparkSession, folder: str, per_batch: int = FILES_PER_BATCH) -> DataFrame:
    """JSON lines of files that are complete when they appear, as rotated ones are; the same that batch reads."""
    some = jobs.EVERY | {"maxFilesPerTrigger": str(per_batch), "maxFileAge": NEVER_TOO_OLD}
    meant = for_spark(folder)
    plain = spark.readStream.options(pathGlobFilter=jobs.NOT_ZSTD, **some).text(meant)
    packed = spark.readStream.options(pathGlobFilter=jobs.ZSTD, **some).format("binaryFile").schema(FILES).load(meant)
    lines = plain.selectExpr("value", ORIGIN).unionByName(lines_of(packed))
    return lines.transform(spans.spans)


def never() -> bool:
    return False


def run(
    read: DataFrame,
    out: str,
    until_drained: bool,
    every_s: float,
    say: Say,
    late_s: float = live.LATE_S,
    is_interrupted: Callable[[], bool] = never,
) -> bool:
    """Until it is interrupted; or, drained, until all that is there now has been read. Then all tables, once more; False:
    there is nothing yet to make them of. If it fails they stay as they are, and the facts are whole."""

    def make() -> bool:
        has_facts = is_there(read.sparkSession, f"{out}/{FIRST_IS_WHOLE}")
        if has_facts:
            jobs.make(read.sparkSession, out, say)
        return has_facts

    try:
        follow(read, out, until_drained, every_s, make, say, late_s, is_interrupted)
    except KeyboardInterrupt:
        say("interrupted: the tables once more")
        make()
        raise
    return make()


def follow(
    read: DataFrame,
    out: str,
    until_drained: bool,
    every_s: float,
    make: Callable[[], object],
    say: Say,
    late_s: float = live.LATE_S,
    is_interrupted: Callable[[], bool] = never,
) -> None:
    """Facts and what is found in them live, and `make` every so often."""
    facts = keep_facts(read, out, until_drained)
    rules = _rules(read.sparkSession, out, late_s, say)
    try:
        _watch(facts, rules, every_s, make, say, is_interrupted)
        for judging in rules:
            judging.finish()
    finally:
        facts.stop()
        for judging in rules:
            judging.stop()


def keep_facts(read: DataFrame, out: str, until_drained: bool) -> StreamingQuery:
    if is_there(read.sparkSession, f"{out}/{jobs.OF_A_BATCH}"):
        raise CannotBeDone(
            f"a batch has made the tables in {out}, and a stream's facts beside them would not be seen: give the stream"
            " another folder"
        )
    writer = read.writeStream.foreachBatch(live.briefly(_into(out))).option("checkpointLocation", f"{out}/{CHECKPOINT}")
    try:
        return begun((writer.trigger(availableNow=True) if until_drained else writer).start)
    except PySparkException as error:
        raise (CannotBeDone(NOT_THERE) if "No module named 'pipeline'" in str(error) else error) from None


def _rules(spark: SparkSession, out: str, late_s: float, say: Say) -> list[Judging]:
    """They read the facts as files, and so want a path."""
    if "://" in out:
        say(f"nothing is judged live: {out} is no path")
        return []
    return [Judging(spark, out, late_s, say)]


def _into(out: str) -> live.Take:
    def take(batch: DataFrame, number: int) -> None:
        rows = batch.persist()
        facts = {
            "transitions": spans.transitions(rows),
            "requests": spans.requests(rows),
            # Hardly ever any, and by now the lines are parsed: one task, and one file, is enough.
            "rejects": spans.rejects(rows).coalesce(1),
        }
        for name, table in facts.items():
            table.write.mode("overwrite").parquet(f"{out}/{name}/{jobs.BATCH}={number}")
        rows.unpersist()

    return take


def _watch(
    facts: StreamingQuery,
    rules: list[Judging],
    every_s: float,
    make: Callable[[], object],
    say: Say,
    is_interrupted: Callable[[], bool],
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Who is due is asked at each look, for news may come too early, and no more after it."""
    made_at, told, is_stale = clock(), -1, False
    while not facts.awaitTermination(POLL_S):
        if is_interrupted():
            raise KeyboardInterrupt
        for judging in rules:
            judging.look()
        done, records = _done(facts.lastProgress)
        if done != told:
            told, is_stale = done, True
            say(f"batch {told}: {records} records" if records else f"batch {told}")
        if is_stale and clock() - made_at >= every_s:
            make()
            made_at, is_stale = clock(), False


def _done(progress: Any) -> tuple[int, int]:
    """The last batch that is done, and its records if they are known. Spark also reports that there is nothing to do, under
    the number that the next batch will have."""
    if progress is None:
        return -1, 0
    records = sum(source["numInputRows"] for source in progress["sources"])
    return (progress["batchId"] if records else progress["batchId"] - 1), records
