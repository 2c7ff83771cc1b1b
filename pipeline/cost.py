"""cost: what did each deploy disturb, and what would it have without the proxy? A deploy is a stretch of comings and goings
with no long calm in between.

Beside what was felt stand two replays of the same comings and goings (replay.py): `broker_…`, before the broker's own
translation, and `replayed_…`, before a simulated proxy, which says how near to the truth replays are. Null: not played,
for it is none of the last, or would take too long, or did not come to rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from pipeline import replay
from pipeline.life import MEMBER, arrives, joins, life
from pipeline.ownership import TOLD
from pipeline.session import shuffles_into

MOST_PLAYED = 50
CALM_NS = replay.AFTERMATH_MS * 10**6
# How many did what. Who is adopted had another proxy before, or this one before it was restarted.
MOVED = ("joined", "adopted", "left")
COUNTS = ("rebalances", "revoked", "in_vain")
FELT = (*COUNTS, "idle_partition_ns", "unowned_partition_ns")
# Where it is played again: in the broker?
ELSEWHERE = {"broker": True, "replayed": False}
REPLAYED = {
    f"{where}_{name}": "bigint" if name.endswith("_ns") else "double"
    for where in ELSEWHERE
    for name in replay.Bill._fields
}
COLUMNS = {"group_id": "string", "deploy": "bigint"} | REPLAYED
# For each that other shuffles have: one deploy may take as long as ten others.
TASKS = 4


def cost(home: DataFrame, rebalances: DataFrame, ownership: DataFrame, stretches: DataFrame) -> DataFrame:
    moves = _moves(home)
    deploys = _deploys(moves)
    played = elsewhere(moves, _last(deploys), ownership)
    return _felt(deploys, rebalances, stretches).join(played, ["group_id", "deploy"], "left").drop("deploy")


def _felt(deploys: DataFrame, rebalances: DataFrame, stretches: DataFrame) -> DataFrame:
    facts = _cycles(rebalances).unionByName(_gaps(stretches), allowMissingColumns=True)
    within = (f.col("d.group_id") == f.col("e.group_id")) & f.col("e.at_ns").between(
        f.col("from_ns"), f.col("until_ns")
    )
    joined = deploys.alias("d").join(facts.alias("e"), within, "left")
    sums = [f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in FELT]
    return joined.groupBy("d.group_id", "deploy", "from_ns", "to_ns", *MOVED).agg(*sums)


def _cycles(rebalances: DataFrame) -> DataFrame:
    """Of those who were there before, as far as they heard of it."""
    return rebalances.where("outcome <> 'called off'").select(
        "group_id",
        f.col("from_ns").alias("at_ns"),
        (~f.col("is_newcomer")).cast("int").alias("rebalances"),
        f.size("revoked").alias("revoked"),
        (~f.col("is_newcomer") & (f.size("revoked") + f.size("gained") == 0)).cast("int").alias("in_vain"),
        "idle_partition_ns",
    )


def _moves(home: DataFrame) -> DataFrame:
    """Who comes and goes, in which deploy of its group. Deploy 0: was there when the traces begin."""
    order = Window.partitionBy("group_id").orderBy("at_ns", "span_id")
    gap = f.col("at_ns") - f.lag("at_ns").over(order)
    starts = (f.coalesce(gap, f.lit(CALM_NS + 1)) > CALM_NS).cast("int")
    so_far = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    who = (*MEMBER, "instance_id", "at_ns", "cause", "cooperative", "comes", "is_adopted")
    known = home.withColumn("cooperative", _is_cooperative()).withColumn("comes", f.col("phase") != "absent")
    known = known.withColumn("is_adopted", arrives() & ~joins())
    moved = known.where("(phase_before = 'absent') <> (phase = 'absent')").withColumn("starts", starts)
    numbered = moved.withColumn("deploy", f.sum("starts").over(so_far)).select(*who, "deploy")
    return numbered.unionByName(_residents(known).select(*who, f.lit(0).cast("bigint").alias("deploy")))


def _is_cooperative() -> Column:
    """It has come to a JoinGroup, after the first, with partitions in its hands."""
    keeps = (f.col("cause") == "JoinRequested") & (f.col("phase_before") != "absent") & (f.size("owned") > 0)
    return f.coalesce(f.bool_or(keeps).over(Window.partitionBy(*MEMBER)), f.lit(False))


def _residents(known: DataFrame) -> DataFrame:
    first = known.withColumn("place", f.row_number().over(life())).where("place = 1")
    return first.where("phase_before <> 'absent' OR is_adopted").withColumn("comes", f.lit(True))


def _deploys(moves: DataFrame) -> DataFrame:
    found = (
        moves.where("deploy > 0")
        .groupBy("group_id", "deploy")
        .agg(
            f.min("at_ns").alias("from_ns"),
            f.max("at_ns").alias("to_ns"),
            f.count(f.when(f.col("comes") & ~f.col("is_adopted"), 1)).alias("joined"),
            f.count(f.when(f.col("is_adopted"), 1)).alias("adopted"),
            f.count(f.when(~f.col("comes"), 1)).alias("left"),
        )
    )
    # What follows within the calm belongs to it; the next deploy begins later than that.
    return found.withColumn("until_ns", f.col("to_ns") + CALM_NS)


def _last(deploys: DataFrame) -> DataFrame:
    """Those that are played again: the ones somebody will ask about, and no more than can be waited for."""
    last = deploys.orderBy(f.desc("from_ns"), "group_id").limit(MOST_PLAYED)
    return last.select("group_id", "deploy", f.lit(True).alias("again"))


def _gaps(stretches: DataFrame) -> DataFrame:
    """Time in which a partition had no owner among the members of the proxies, between two that were."""
    return stretches.where("count = 0").select(
        "group_id", f.col("from_ns").alias("at_ns"), (f.col("to_ns") - f.col("from_ns")).alias("unowned_partition_ns")
    )


def elsewhere(moves: DataFrame, asked: DataFrame, ownership: DataFrame) -> DataFrame:
    """The deploys asked for, each on its own: (group_id, deploy, broker_…, replayed_…)."""
    told = (
        ownership.where(f.col("view") == TOLD).groupBy("group_id").agg(f.collect_set("partition").alias("partitions"))
    )
    # All of a group's moves, for what came before says who is there.
    marked = moves.join(f.broadcast(asked), ["group_id", "deploy"], "left").fillna({"again": False})
    script = f.struct(*[f.col(name) for name in replay.Move._fields])
    scripts = marked.groupBy("group_id").agg(f.collect_list(script).alias("moves"), f.max("again").alias("any"))
    wanted = scripts.where("any").join(told, "group_id").select("group_id", "partitions", "moves")
    scenes = wanted.mapInArrow(_scenes, "group_id string, scene string")
    schema = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    # Few bytes, and seconds of work in each: by their bytes, Spark would have one task play them all.
    return scenes.repartition(_tasks(moves.sparkSession), "scene").mapInArrow(_played, schema)


def _tasks(spark: SparkSession) -> int:
    return min(MOST_PLAYED, TASKS * shuffles_into(spark))


def _scenes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    schema = pa.schema([("group_id", pa.string()), ("scene", pa.string())])
    for batch in batches:
        for group in batch.to_pylist():
            moves = [replay.Move(**move) for move in group["moves"]]
            rows = [
                {"group_id": group["group_id"], "scene": json.dumps(scene)}
                for scene in replay.scenes(group["partitions"], moves)
            ]
            yield pa.RecordBatch.from_pylist(rows, schema)


def _played(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    kinds = {"string": pa.string(), "double": pa.float64(), "bigint": pa.int64()}
    schema = pa.schema([(name, kinds[kind]) for name, kind in COLUMNS.items()])
    for batch in batches:
        yield pa.RecordBatch.from_pylist([_row(**each) for each in batch.to_pylist()], schema)


def _row(group_id: str, scene: str) -> dict[str, Any]:
    deploy, topics, there, script = json.loads(scene)
    played = replay.Scene(
        deploy, topics, [replay.Move(*each) for each in there], [replay.Move(*each) for each in script]
    )
    row: dict[str, Any] = {"group_id": group_id, "deploy": deploy}
    for where, in_broker in ELSEWHERE.items():
        if bill := replay.bill(played, in_broker):
            row |= {f"{where}_{name}": value for name, value in bill._asdict().items()}
    return row
