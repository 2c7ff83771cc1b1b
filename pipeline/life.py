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


def at_home(transitions: DataFrame) -> DataFrame:
    """Without what a proxy says of a member that has since arrived at another one. Who never arrived (the traces begin
    later) is at home wherever it is."""
    home = f.last(f.when(arrives(), f.col("proxy")), ignorenulls=True).over(so_far())
    return transitions.withColumn("home", home).where("home IS NULL OR home <=> proxy").drop("home")


def seconds(ns: Column) -> Column:
    return ns / 1e9
