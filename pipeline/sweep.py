"""The sweep line: who holds a partition at once with whom, and when did nobody?

Each interval is +1 at its start and -1 at its end; the running sum in order of time says how many hold it between one
event and the next. One pass finds overlaps and gaps alike. At the same instant, letting go comes first.
"""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as f

from pipeline.life import FOUND
from pipeline.ownership import TOLD

PARTITION = ("group_id", "partition")


def stretches(ownership: DataFrame) -> DataFrame:
    """In which more members than one hold a partition, as they were told, or none does between two of them. Before the first
    and after the last nobody is expected."""
    told = ownership.where(f.col("view") == TOLD)
    return holders(told, *PARTITION).where("count > 1 OR (count = 0 AND to_ns IS NOT NULL)")


def holders(intervals: DataFrame, *keys: str) -> DataFrame:
    """(keys, from_ns, to_ns, count): stretches of time in which `count` intervals cover; to_ns null at the end."""
    ends = f.array(
        f.struct(f.col("from_ns").alias("at_ns"), f.lit(1).alias("delta")),
        f.struct(f.col("to_ns").alias("at_ns"), f.lit(-1).alias("delta")),
    )
    events = intervals.select(*keys, f.inline(ends)).where("at_ns IS NOT NULL")
    in_order = Window.partitionBy(*keys).orderBy("at_ns", "delta")
    summed = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    found = events.select(
        *keys,
        f.col("at_ns").alias("from_ns"),
        f.lead("at_ns").over(in_order).alias("to_ns"),
        f.sum("delta").over(summed).alias("count"),
    )
    return found.where("to_ns IS NULL OR to_ns > from_ns")


def overlaps(intervals: DataFrame, stretches: DataFrame) -> DataFrame:
    """Pairs of members at once, only of the partitions where the sweep found any. `is_last_word`: of the other one's hold
    nobody saw the end. It has none, or a proxy found that member later, and found it without the partition."""
    suspects = stretches.where("count > 1").select(*PARTITION).distinct()
    held = intervals.join(f.broadcast(suspects), list(PARTITION), "left_semi").withColumn(
        "end_ns", f.coalesce("to_ns", f.lit(2**63 - 1))
    )
    a, b = held.alias("a"), held.alias("b")
    # The later of the two, by start and then by name, is said to intrude upon the earlier.
    order = "struct(a.from_ns, a.member_id) < struct(b.from_ns, b.member_id)"
    meet = f.expr(
        "a.group_id = b.group_id AND a.partition = b.partition AND a.member_id <> b.member_id"
        f" AND a.end_ns > b.from_ns AND {order}"
    )
    return a.join(b, meet).selectExpr(
        "a.group_id",
        "a.partition",
        "b.member_id AS member_id",
        "a.member_id AS other_member_id",
        "b.from_ns AS from_ns",
        "least(a.to_ns, b.to_ns) AS to_ns",
        "b.proxy AS proxy",
        "a.proxy AS other_proxy",
        f"(a.to_ns IS NULL OR a.ended_by = '{FOUND}') AS is_last_word",
    )
