"""ownership: which member held which partition, from when to when, as told to the client and as granted upstream?

What was gained and lost is computed here from consecutive lists, never taken from the record's own `gained` and
`revoked`: an audit that believes the audited finds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from pipeline.life import MEMBER, life

TOLD, GRANTED = "told", "granted"
COLUMNS = ("group_id", "view", "partition", "member_id", "client_id", "proxy", "from_ns", "to_ns", "epoch", "ended_by")
LISTS = {TOLD: "owned", GRANTED: "assigned"}


def ownership(home: DataFrame) -> DataFrame:
    return stays(home, LISTS).select(*COLUMNS)


def stays(home: DataFrame, lists: Mapping[str, str]) -> DataFrame:
    """One row for each stay of a partition in one of a member's lists."""
    of_member = Window.partitionBy(*MEMBER, "view", "partition").orderBy("at_ns", "takes")
    end = {"to_ns": f.lead("at_ns").over(of_member), "ended_by": f.lead("cause").over(of_member)}
    return changes(home, lists).withColumns(end).where("takes").withColumn("from_ns", f.col("at_ns"))


def without(one: str, other: str) -> Column:
    """`array_except`, for which Spark makes no Java where there are strings, and asks for its settings once more for each of
    them. Most lists are equal, or the one is empty, and that is soon seen."""
    is_none = (f.col(one) == f.col(other)) | (f.size(one) == 0)
    return f.when(is_none, f.array().cast("array<string>")).otherwise(f.array_except(one, other))


def changes(home: DataFrame, lists: Mapping[str, str]) -> DataFrame:
    """One row for each partition that comes to one of a member's lists, or goes from it. `lists`: view -> column."""
    nothing = f.array().cast("array<string>")
    before = {f"{name}_was": f.coalesce(f.lag(name).over(life()), nothing) for name in lists.values()}
    moves = [
        f.struct(f.lit(view).alias("view"), f.lit(takes).alias("takes"), without(new, old).alias("moved"))
        for view, name in lists.items()
        for new, old, takes in ((name, f"{name}_was", True), (f"{name}_was", name, False))
    ]
    beside = (*MEMBER, "client_id", "proxy", "at_ns", "epoch", "cause")
    # Lists first and partitions then. Of a column of all moves Spark would infer that it is not empty, and compute it
    # twice; and to make it takes a lambda, for which Spark makes no Java.
    listed = home.withColumns(before).select(*beside, f.inline(f.array(*moves)))
    return listed.select(*beside, "view", "takes", f.explode("moved").alias("partition"))
