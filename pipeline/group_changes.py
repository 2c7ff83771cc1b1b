"""group_changes: for each target epoch of a group, who was disturbed, and who needed to be?

Needed: the member has other partitions afterwards. In vain: it was a member, went through a rebalance, and has what it
had. A newcomer is not disturbed by its own arrival.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f


def group_changes(home: DataFrame, rebalances: DataFrame) -> DataFrame:
    return (
        _reached(home)
        .join(_felt(rebalances), ["group_id", "epoch"], "left")
        .select(
            "group_id",
            "epoch",
            "from_ns",
            "to_ns",
            "members",
            *[
                f.coalesce(name, f.array().cast("array<string>")).alias(name)
                for name in ("disturbed", "needed", "in_vain")
            ],
            f.coalesce("idle_partition_ns", f.lit(0)).alias("idle_partition_ns"),
        )
    )


def _reached(home: DataFrame) -> DataFrame:
    """When the first and the last member of the proxies came to each epoch."""
    came = home.where("epoch > 0 AND phase <> 'absent'")
    first = came.groupBy("group_id", "epoch", "member_id").agg(f.min("at_ns").alias("at_ns"))
    return first.groupBy("group_id", "epoch").agg(
        f.min("at_ns").alias("from_ns"), f.max("at_ns").alias("to_ns"), f.count("*").alias("members")
    )


def _felt(rebalances: DataFrame) -> DataFrame:
    moved = f.size("revoked") + f.size("gained") > 0

    def who(condition: Column) -> Column:
        return f.array_sort(f.collect_set(f.when(condition, f.col("member_id"))))

    felt = rebalances.where("NOT is_newcomer AND outcome = 'stable'")
    return felt.groupBy("group_id", "epoch").agg(
        f.array_sort(f.collect_set("member_id")).alias("disturbed"),
        who(moved).alias("needed"),
        who(~moved).alias("in_vain"),
        f.sum("idle_partition_ns").alias("idle_partition_ns"),
    )
