"""What is found while it happens: live_rules.py, kept by Spark for each group over the steps that a stream writes.

Each micro-batch of rules overwrites a folder of its own (`live/batch=7`), as those of facts do. What is said of a thing
is said again when it ends; `findings` gives what holds, and that is what batch's audits find in the steps up to the
watermark, rule for rule.

Steps that come later than others by more than `late_s` end the run (LateStep) before anything wrong is written. The facts
are there all the same: without `live` and `_checkpoint_live` a stream begins its rules anew, from the first batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from pipeline import audits, jobs
from pipeline.asking import LIVE, first_line
from pipeline.live_feed import KEY, Feed, unpack
from pipeline.live_group import STUCK, Finding, Group, Step
from pipeline.live_rules import LateStep, advance
from pipeline.names import by_name
from pipeline.patience import begun
from pipeline.session import is_remote, shuffles_into, shuffling

TABLE, CHECKPOINT = LIVE, "_checkpoint_live"
# Proxies export every second, collectors somewhat later; what waits longer than this had an outage on its way.
LATE_S = 30.0
TRIGGER = "500 milliseconds"
NS_PER_MS = 1_000_000
SAID = (
    "audit string, severity string, group_id string, about string, member_id string, other_member_id string,"
    " partition string, from_ns bigint, to_ns bigint, detail string, said_ns bigint"
)
Take = Callable[[DataFrame, int], None]
pack = msgspec.msgpack.Encoder().encode
unpack_group = msgspec.msgpack.Decoder(Group).decode


class Rules(StatefulProcessor):
    """The state of a group is one value: rules look at it whole, and a call to the store costs more than a step."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._group = handle.getValueState("group", "packed BINARY")

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: TimerValues) -> Iterator[Row]:  # noqa: N802, N803
        steps = [step for row in rows for step in unpack(row.steps)]
        return self._advanced(key[0], steps, timerValues)

    def handleExpiredTimer(  # noqa: N802
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: N803
    ) -> Iterator[Row]:
        return self._advanced(key[0], [], timerValues, expiredTimerInfo.getExpiryTimeInMs())

    def _advanced(
        self, group_id: str, steps: list[Step], timers: TimerValues, fired_ms: int | None = None
    ) -> Iterator[Row]:
        stored = self._group.get()
        group = unpack_group(bytes(stored[0])) if stored else Group()
        said = advance(group, steps, timers.getCurrentWatermarkInMs() * NS_PER_MS)
        self._wake(group, fired_ms)
        self._group.update((pack(group),))
        return (_row(group_id, finding) for finding in said)

    def _wake(self, group: Group, fired_ms: int | None) -> None:
        """At one time at most, and one that the watermark has yet to reach. Spark itself deletes what has fired, once the
        rules have seen it."""
        at_ms = None if group.wakes_ns is None else -(-group.wakes_ns // NS_PER_MS)
        if at_ms == group.wake_ms:
            return
        if group.wake_ms not in (None, fired_ms):
            self._handle.deleteTimer(group.wake_ms)
        if at_ms is not None:
            self._handle.registerTimer(at_ms)
        group.wake_ms = at_ms


def _row(group_id: str, finding: Finding) -> Row:
    return Row(group_id=group_id, **msgspec.structs.asdict(finding))


def follow(spark: SparkSession, out: str, late_s: float = LATE_S) -> StreamingQuery:
    """Findings in the facts of `out`, as they are written, until it is stopped."""
    spark.dataSource.register(Feed)
    steps = spark.readStream.format(Feed.name()).option("out", out).load()
    writer = steps.transform(said, late_s).writeStream.foreachBatch(briefly(_into(out)))
    with all_at_once(spark):
        return begun(writer.option("checkpointLocation", f"{out}/{CHECKPOINT}").trigger(processingTime=TRIGGER).start)


@contextmanager
def all_at_once(spark: SparkSession) -> Iterator[None]:
    """What starts here has no more partitions of state than can run at once. Each costs a round trip to a Python worker
    and a commit in every micro-batch, and those that wait for their turn keep facts waiting. A checkpoint keeps the number
    that it began with."""
    asked = shuffles_into(spark)
    with shuffling(spark, min(asked, spark.sparkContext.defaultParallelism) if _is_here(spark) else asked):
        yield


def _is_here(spark: SparkSession) -> bool:
    """A cluster does not know yet how much it will have, and a server of Spark Connect does not say."""
    return not is_remote(spark) and str(spark.sparkContext.master).startswith("local[")


def said(steps: DataFrame, late_s: float) -> DataFrame:
    """The column of the watermark goes no further: what is late for its group is the rules' to say, and they do not let
    it pass, where Spark would drop rows that are late for anybody."""
    at_time = f.timestamp_millis("last_ms")
    moving = steps.withColumn("at_time", at_time).withWatermark("at_time", f"{int(late_s * 1000)} milliseconds")
    return moving.select(KEY, "steps").groupBy(KEY).transformWithState(Rules(), SAID, "append", "EventTime")


def briefly(take: Take) -> Take:
    """What fails, fails in few words. Spark asks with a regular expression whether Python was only interrupted, and that
    one recurses over every character: on the trace of a task it overflows the stack, the query dies without a cause, and
    looks as though it had come to its end."""

    def taken(batch: DataFrame, number: int) -> None:
        try:
            take(batch, number)
        except Exception as error:
            late = LateStep.found_in(error)
            raise (LateStep(late) if late else RuntimeError(first_line(error))) from None

    return taken


def _into(out: str) -> Take:
    def take(batch: DataFrame, number: int) -> None:
        batch.write.mode("overwrite").parquet(f"{out}/{TABLE}/{jobs.BATCH}={number}")

    return take


def findings(spark: SparkSession, out: str) -> DataFrame:
    """What holds of all that was said, in the columns of audits."""
    found = spark.read.schema(SAID).parquet(by_name(f"{out}/{TABLE}"))
    held = found.transform(last_said).transform(still_stuck, jobs.table(spark, out, "transitions"))
    return held.transform(audits.doubted, held.where(f.col("audit") == audits.GAP))


def last_said(found: DataFrame) -> DataFrame:
    last = f.max_by(f.struct(*audits.COLUMNS), "said_ns").alias("last")
    return found.groupBy("audit", "group_id", "about").agg(last).select("last.*")


def still_stuck(found: DataFrame, transitions: DataFrame) -> DataFrame:
    """For how long, only the end of all facts can say."""
    end = transitions.agg(f.max("at_ns").alias("end_ns"))
    so_far = f.format_string("%.0f s", (f.col("end_ns") - f.col("from_ns")) / audits.SECOND)
    detail = f.when((f.col("audit") == STUCK) & f.col("to_ns").isNull(), so_far).otherwise(f.col("detail"))
    return found.crossJoin(f.broadcast(end)).withColumn("detail", detail).select(*audits.COLUMNS)
