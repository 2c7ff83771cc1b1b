"""readiness: for each group and day, who still needs the proxy, and may it be removed?

Counted at the end of the day (UTC): members that the proxy translates then. Nobody else leaves a trace: not legacy members
whose group passes through the proxy as it is, not native ones, and not who goes past it. `kip848-proxy report --upstream`
knows them: ask it before the last step.

Who is quiet leaves no trace for days, and who was killed with its proxy leaves none for ever. But each epoch of its group is
a step of every member: who has taken none, long after others came to a new epoch, is missing.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from pipeline.life import MEMBER

DAY_NS = 86_400 * 10**9
# A member that lives learns of an epoch by a heartbeat, and one that has to let go first has its client's rebalance timeout:
# 5 minutes by default.
MISSED_NS = 3_600 * 10**9
SAFE, IN_USE, LOOK = "safe to remove", "in use", "look first"


def readiness(home: DataFrame, phases: DataFrame, rebalances: DataFrame) -> DataFrame:
    legacy, unwell = _legacy(phases, _missing(home)), _unwell(rebalances)
    days = _days(phases).join(legacy, ["group_id", "day"], "left")
    return days.join(unwell, ["group_id", "day"], "left").select(
        "group_id",
        f.date_from_unix_date(f.col("day").cast("int")).alias("day"),
        *[f.coalesce(name, f.lit(0)).alias(name) for name in ("legacy", "seen")],
        f.coalesce("clients", f.array().cast("array<string>")).alias("clients"),
        _held_back().alias("held_back_by"),
        _verdict().alias("verdict"),
    )


def _day(ns: Column) -> Column:
    return f.call_function("div", ns, f.lit(DAY_NS))


def _days(phases: DataFrame) -> DataFrame:
    """Each group on each day from its first to the last of all traces: a day without a trace is news of its own."""
    last = phases.agg(f.max(_day(f.coalesce("to_ns", "from_ns"))).alias("last"))
    first = phases.groupBy("group_id").agg(_day(f.min("from_ns")).alias("first"))
    return first.crossJoin(f.broadcast(last)).select("group_id", f.explode(f.sequence("first", "last")).alias("day"))


def _missing(home: DataFrame) -> DataFrame:
    """Members without a last word, and since when they are missed."""
    last = f.max_by(f.struct("phase", "epoch"), "at_ns").alias("last")
    members = home.groupBy(*MEMBER).agg(last, f.max("at_ns").alias("last_ns")).where("last.phase <> 'absent'")
    epochs = home.where("phase <> 'absent'").groupBy("group_id", "epoch").agg(f.min("at_ns").alias("came_ns"))
    passed = members.join(epochs, "group_id").where("epoch > last.epoch AND came_ns > last_ns")
    missed = passed.groupBy(*MEMBER).agg((f.min("came_ns") + MISSED_NS).alias("missed_ns"))
    end = home.agg(f.max("at_ns").alias("end_ns"))
    return missed.crossJoin(f.broadcast(end)).where("missed_ns <= end_ns").drop("end_ns")


def _legacy(phases: DataFrame, missing: DataFrame) -> DataFrame:
    there = phases.where("phase <> 'absent'")
    last = phases.agg(f.max(_day(f.coalesce("to_ns", "from_ns"))).alias("last"))
    until = f.coalesce(_day(f.col("to_ns")), f.col("last"))
    daily = there.crossJoin(f.broadcast(last)).withColumn("day", f.explode(f.sequence(_day(f.col("from_ns")), until)))
    daily = daily.join(missing, list(MEMBER), "left")
    tomorrow_ns = (f.col("day") + 1) * DAY_NS
    is_missing = f.col("to_ns").isNull() & f.coalesce(f.col("missed_ns") < tomorrow_ns, f.lit(False))
    at_end = ~is_missing & (f.col("to_ns").isNull() | (f.col("to_ns") >= tomorrow_ns))
    software = f.trim(
        f.concat_ws(" ", f.coalesce("client_software", f.lit("unknown client")), "client_software_version")
    )

    def members(condition: Column) -> Column:
        """Not `count_distinct`: for three of them Spark would have each row four times."""
        return f.size(f.collect_set(f.when(condition, f.col("member_id")))).cast("bigint")

    return daily.groupBy("group_id", "day").agg(
        members(at_end).alias("legacy"),
        members(f.lit(True)).alias("seen"),
        f.array_sort(f.collect_set(f.when(at_end, software))).alias("clients"),
        members(is_missing).alias("missing"),
        f.array_sort(f.collect_set(f.when(is_missing, f.col("proxy")))).alias("proxies"),
    )


def _unwell(rebalances: DataFrame) -> DataFrame:
    cycles = rebalances.withColumn("day", _day(f.col("from_ns")))
    return cycles.groupBy("group_id", "day").agg(
        f.count(f.when(f.col("outcome") == "goes on", 1)).alias("open_cycles"),
        f.count(f.when(f.col("ended_by").startswith("refused"), 1)).alias("refused"),
    )


def _held_back() -> Column:
    legacy = f.when(
        f.col("legacy") > 0, f.format_string("%d legacy members: %s", "legacy", f.array_join("clients", ", "))
    )
    missing = f.when(
        f.col("missing") > 0,
        f.format_string(
            "%d members have not followed their group for over an hour: was %s killed?",
            "missing",
            f.array_join("proxies", ", "),
        ),
    )
    cycles = f.when(f.col("open_cycles") > 0, f.format_string("%d rebalances that did not end", "open_cycles"))
    refused = f.when(f.col("refused") > 0, f.format_string("%d members refused", "refused"))
    return f.array_compact(f.array(legacy, missing, cycles, refused))


def _verdict() -> Column:
    """A group that is just away (a nightly job) was seen today, and so was who is missing since; one that nobody was seen in
    has moved, or is gone."""
    busy = f.coalesce("legacy", f.lit(0)) > 0
    return f.when(busy, IN_USE).when(f.coalesce("seen", f.lit(0)) > 0, LOOK).otherwise(SAFE)
