"""rebalances: what did each cycle of a member cost it? One row from leaving Stable (or arriving) to Stable again.

A cycle that was called off before the client heard of it is one all the same, with that outcome; nobody felt it.

An eager client lets go of everything and takes most of it back: `kept` counts what it had before and after, and
`idle_partition_ns` what stood still meanwhile, over the partitions that it has in the end.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from pipeline.life import IN_ORDER, MEMBER, arrives, joins, life, so_far, whole
from pipeline.ownership import without

IN_CYCLE = ("prepare-rebalance", "completing-rebalance")


def rebalances(home: DataFrame) -> DataFrame:
    rows = home.withColumns(_place())
    cycles = rows.withColumn("cycle", f.sum(f.col("begins").cast("int")).over(so_far())).where("begins OR inside")
    cycle = Window.partitionBy(*MEMBER, "cycle").orderBy(*IN_ORDER)
    told = f.last("owned").over(whole(cycle))
    held = f.size(without("told", "owned")) * f.when(f.col("still"), f.col("next_ns") - f.col("at_ns"))
    return cycles.withColumn("told", told).withColumn("idle_ns", held).transform(_one_row_each)


def _place() -> dict[str, Column]:
    """Where in a cycle a row is. A row that ends a cycle is inside it; `still`: the cycle goes on after it. Who comes back to
    a proxy that has missed the beginning is in it all the same."""
    phase_was = f.coalesce(f.when(~arrives(), f.lag("phase").over(life())), f.col("phase_before"))
    was_in, is_in = phase_was.isin(*IN_CYCLE), f.col("phase").isin(*IN_CYCLE)
    return {
        "begins": ~was_in & is_in,
        "inside": was_in | is_in,
        "still": is_in,
        "next_ns": f.lead("at_ns").over(life()),
        # Who is adopted as the first that is seen of it held what its new proxy found.
        "had": f.coalesce(f.lag("owned").over(life()), f.when(arrives() & ~joins(), f.col("owned"))),
        "is_newcomer": joins(),
    }


def _one_row_each(rows: DataFrame) -> DataFrame:
    order = f.struct(*IN_ORDER)
    cycles = rows.groupBy(*MEMBER, "cycle").agg(
        # Whole rows: to find the first and the last once is cheaper than for each column.
        f.min_by(f.struct("at_ns", "proxy", "cause", "is_newcomer", "had"), order).alias("first"),
        f.max_by(f.struct("at_ns", "client_id", "owned", "phase", "cause", "epoch", "generation"), order).alias("last"),
        f.bool_or(f.col("phase_before") == "completing-rebalance").alias("rejoined"),
        f.coalesce(f.sum("idle_ns"), f.lit(0)).alias("idle_partition_ns"),
        f.max_by("reason", "at_ns").alias("reason"),
    )
    named = {
        "client_id": "last.client_id",
        "proxy": "first.proxy",
        "cause": "first.cause",
        "is_newcomer": "first.is_newcomer",
        "has": "last.owned",
        "ended_in": "last.phase",
        "ended_by": "last.cause",
        "epoch": "last.epoch",
        "generation": "last.generation",
        "from_ns": "first.at_ns",
        "last_ns": "last.at_ns",
    }
    nothing = f.array().cast("array<string>")
    rows = cycles.withColumns({name: f.col(value) for name, value in named.items()})
    over = ~f.col("ended_in").isin(*IN_CYCLE)
    return rows.withColumn("had", f.coalesce("first.had", nothing)).select(
        *MEMBER,
        "client_id",
        "proxy",
        "cause",
        "reason",
        "is_newcomer",
        _outcome(over).alias("outcome"),
        "ended_by",
        "epoch",
        "generation",
        "from_ns",
        f.when(over, f.col("last_ns")).alias("to_ns"),
        f.when(over, f.col("last_ns") - f.col("from_ns")).alias("duration_ns"),
        f.array_sort(f.array_intersect("had", "has")).alias("kept"),
        f.array_sort(without("had", "has")).alias("revoked"),
        f.array_sort(without("has", "had")).alias("gained"),
        "idle_partition_ns",
    )


def _outcome(over: Column) -> Column:
    called_off = (f.col("ended_in") == "stable") & ~f.col("rejoined")
    return f.when(~over, "goes on").when(called_off, "called off").otherwise(f.col("ended_in"))
