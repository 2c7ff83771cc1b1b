"""A member's life in order: the frame in which every table looks at transitions."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as f

MEMBER = ("group_id", "member_id")
IN_ORDER = ("at_ns", "at", "span_id")


def life() -> WindowSpec:
    return Window.partitionBy(*MEMBER).orderBy(*IN_ORDER)


def so_far() -> WindowSpec:
    return life().rowsBetween(Window.unboundedPreceding, Window.currentRow)


def arrives() -> Column:
    return (f.col("phase_before") == "absent") & (f.col("phase") != "absent")


def joins() -> Column:
    """Comes by its own JoinGroup. Who is adopted is asked to rejoin, or nothing: it was there before its proxy was."""
    return (f.col("phase_before") == "absent") & (f.col("phase") == "completing-rebalance")


def lives(transitions: DataFrame) -> DataFrame:
    """Each transition once, members side by side, each life in order, and the `home` of its member then. What exporters
    repeat stands beside itself in a life's order, so one shuffle and sort both removes it and serves all tables."""
    in_order = Window.partitionBy(*MEMBER).orderBy(*IN_ORDER, "trace_id")
    until_then = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    name = f.struct("trace_id", "span_id")
    beside = {
        "again": f.lag(name).over(in_order).eqNullSafe(name),
        "home": f.last(f.when(arrives(), f.col("proxy")), ignorenulls=True).over(until_then),
    }
    return transitions.withColumns(beside).where("NOT again").drop("again")


def at_home(lives: DataFrame) -> DataFrame:
    """Without what a proxy says of a member that has since arrived at another one. Who never arrived (the traces begin
    later) is at home wherever it is."""
    return lives.where("home IS NULL OR home <=> proxy").drop("home")
