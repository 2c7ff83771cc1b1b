"""cost: what did each deploy disturb? A deploy is a stretch of comings and goings with no long calm in between."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from pipeline.life import at_home
from pipeline.ownership import TOLD
from pipeline.sweep import PARTITION, holders

CALM_NS = 120 * 10**9


def cost(transitions: DataFrame, rebalances: DataFrame, ownership: DataFrame) -> DataFrame:
    deploys = _deploys(transitions)
    felt = rebalances.select(
        "group_id",
        f.col("from_ns").alias("at_ns"),
        (~f.col("is_newcomer")).cast("int").alias("rebalances"),
        f.size("revoked").alias("revoked"),
        (~f.col("is_newcomer") & (f.size("revoked") + f.size("gained") == 0)).cast("int").alias("in_vain"),
        "idle_partition_ns",
    )
    gaps = _gaps(ownership)
    sums = ("rebalances", "revoked", "in_vain", "idle_partition_ns", "unowned_partition_ns")
    facts = felt.unionByName(gaps, allowMissingColumns=True)
    within = (f.col("d.group_id") == f.col("e.group_id")) & f.col("e.at_ns").between(
        f.col("from_ns"), f.col("until_ns")
    )
    joined = deploys.alias("d").join(facts.alias("e"), within, "left")
    keys = ("from_ns", "to_ns", "joined", "left")
    return joined.groupBy("d.group_id", *keys).agg(*[f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in sums])


def _deploys(transitions: DataFrame) -> DataFrame:
    moved = transitions.transform(at_home).where("(phase_before = 'absent') <> (phase = 'absent')")
    order = Window.partitionBy("group_id").orderBy("at_ns", "span_id")
    starts = (f.col("at_ns") - f.lag("at_ns").over(order) > CALM_NS) | f.lag("at_ns").over(order).isNull()
    numbered = moved.withColumn("starts", starts.cast("int"))
    deploy = f.sum("starts").over(order.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    found = (
        numbered.withColumn("deploy", deploy)
        .groupBy("group_id", "deploy")
        .agg(
            f.min("at_ns").alias("from_ns"),
            f.max("at_ns").alias("to_ns"),
            f.count(f.when(f.col("phase") != "absent", 1)).alias("joined"),
            f.count(f.when(f.col("phase") == "absent", 1)).alias("left"),
        )
    )
    # What follows within the calm belongs to it; the next deploy begins later than that.
    return found.withColumn("until_ns", f.col("to_ns") + CALM_NS)


def _gaps(ownership: DataFrame) -> DataFrame:
    """Time in which a partition had no owner among the members of the proxies, between two that were."""
    stretches = holders(ownership.where(f.col("view") == TOLD), *PARTITION)
    gaps = stretches.where("count = 0 AND to_ns IS NOT NULL")
    return gaps.select(
        "group_id", f.col("from_ns").alias("at_ns"), (f.col("to_ns") - f.col("from_ns")).alias("unowned_partition_ns")
    )
