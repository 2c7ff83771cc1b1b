"""Which rows of the tables does a page show? Some, the worst first; what it says in numbers is counted by Spark, over all.

The words for what is bad are, as it happens, in the order of the alphabet: broken, costly, odd; in use, look first, safe to
remove.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as f

from pipeline import jobs
from pipeline.asking import CannotBeDone
from pipeline.cost import FELT, MOVED, REPLAYED

READS = ("rebalances", "audits", "readiness", "cost", "member_phases", "ownership", "rejects", "transitions")


class Limits(NamedTuple):
    """A page is for reading. `groups` have pictures, `rows` are in a table; of each group so many bars and deploys."""

    groups: int = 10
    rows: int = 200
    bars: int = 1000
    deploys: int = 20


LIMITS = Limits()


class Excerpt(NamedTuple):
    """Some rows, and how many there are."""

    rows: Sequence[Any] = ()
    of: int = 0


class Report:
    """The tables, as far as a page needs them."""

    def __init__(self, spark: SparkSession, out: str, limits: Limits = LIMITS) -> None:
        _check_version(jobs.table(spark, out, "cost"), out)
        tables = {name: jobs.table(spark, out, name) for name in READS}
        self._count(tables)
        self._tell(tables, limits)
        some = f.col("group_id").isin(self.groups.rows)
        self._draw({name: tables[name].where(some) for name in READS if name != "rejects"}, limits)

    def _count(self, tables: dict[str, DataFrame]) -> None:
        """Over all that there is."""
        self.findings = tables["audits"].groupBy("audit", "severity").count().collect()
        self.verdicts = _now(tables["readiness"]).groupBy("verdict").count().orderBy("verdict").collect()
        sums = [f.coalesce(f.sum(name), f.lit(0)).alias(name) for name in ("rebalances", "unowned_partition_ns")]
        self.paid = tables["cost"].agg(f.count("*").alias("deploys"), *sums).collect()[0]
        self.rejects = tables["rejects"].groupBy("reason").count().orderBy("reason").collect()
        self.end_ns = tables["transitions"].agg(f.max("at_ns")).collect()[0][0] or 0

    def _tell(self, tables: dict[str, DataFrame], limits: Limits) -> None:
        most, deploys = limits.rows, (f.desc("rebalances"), f.desc("unowned_partition_ns"), f.desc("from_ns"))
        self.audits = _excerpt(tables["audits"], most, "severity", "from_ns")
        self.readiness = _excerpt(_now(tables["readiness"]), most, "verdict", f.desc("legacy"), "group_id")
        self.cost = _excerpt(tables["cost"], most, *deploys)
        groups = _groups(tables["readiness"], tables["audits"], tables["rebalances"])
        found = _excerpt(groups, limits.groups, f.desc("broken"), f.desc("cycles"), "group_id")
        self.groups = Excerpt([row["group_id"] for row in found.rows], found.of)

    def _draw(self, tables: dict[str, DataFrame], limits: Limits) -> None:
        """Of each group that has pictures."""
        named = _named(tables["audits"])
        told = tables["ownership"].where("view = 'told'")
        self.phases, self.ownership = (
            _of_each(
                rows.join(named, ["group_id", "member_id"], "left"), limits.bars, f.desc("named"), f.desc("from_ns")
            )
            for rows in (tables["member_phases"], told)
        )
        self.broken = _of_each(tables["audits"].where("severity = 'broken'"), limits.rows, "from_ns")
        self.deploys = _of_each(tables["cost"], limits.deploys, f.desc("from_ns"))
        ended = tables["rebalances"].where("to_ns IS NOT NULL").groupBy("group_id")
        lasted = ended.agg(f.collect_list(f.col("duration_ns") / 1e9).alias("s")).collect()
        self.durations = {row["group_id"]: row["s"] for row in lasted}


def _check_version(cost: DataFrame, out: str) -> None:
    """The table that has changed last."""
    if missing := sorted({*MOVED, *FELT, *REPLAYED} - set(cost.columns)):
        raise CannotBeDone(
            f"the table cost in {out} has no column {missing[0]}, so another version has made it:"
            f" `kip848-pipeline batch INPUT {out}` makes it anew"
        )


def _now(readiness: DataFrame) -> DataFrame:
    """Each group on its last day."""
    return readiness.groupBy("group_id").agg(f.max_by(f.struct("*"), "day").alias("last")).select("last.*")


def _groups(readiness: DataFrame, audits: DataFrame, rebalances: DataFrame) -> DataFrame:
    broken = audits.where("severity = 'broken'").groupBy("group_id").agg(f.count("*").alias("broken"))
    cycles = rebalances.groupBy("group_id").agg(f.count("*").alias("cycles"))
    return _now(readiness).select("group_id").join(broken, "group_id", "left").join(cycles, "group_id", "left")


def _named(audits: DataFrame) -> DataFrame:
    """Members that something broken was found of."""
    both = f.explode(f.array("member_id", "other_member_id")).alias("member_id")
    found = audits.where("severity = 'broken'").select("group_id", both)
    return found.groupBy("group_id", "member_id").agg(f.lit(True).alias("named"))


def _excerpt(rows: DataFrame, most: int, *order: Column | str) -> Excerpt:
    return Excerpt(rows.orderBy(*order).limit(most).collect(), rows.count())


def _of_each(rows: DataFrame, most: int, *order: Column | str) -> dict[str, Excerpt]:
    of_group = Window.partitionBy("group_id")
    place = f.row_number().over(of_group.orderBy(*order))
    counted = rows.withColumns({"place": place, "of": f.count("*").over(of_group)})
    first = counted.where(f.col("place") <= most).orderBy("group_id", "place").collect()
    groups = [(group, list(found)) for group, found in groupby(first, lambda row: str(row["group_id"]))]
    return {group: Excerpt(found, found[0]["of"]) for group, found in groups}
