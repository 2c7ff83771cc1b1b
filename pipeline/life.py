"""A member's life in order: the frame in which every table looks at transitions."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as f

MEMBER = ("group_id", "member_id")
LISTS = ("owned", "assigned")
IN_ORDER = ("at_ns", "at", "span_id")
# Causes that are a client's own words, to the proxy that tells of them. "was elsewhere": it is back, and was told more there.
JOIN, BACK = "JoinRequested", "was elsewhere"
WORDS = (JOIN, "SyncRequested", "LeaveRequested", BACK)
# A proxy finds a member that was there before, at another proxy or in an earlier life of itself.
FOUND = "MemberAdopted"
# Causes of a proxy that gives a member up, for its client is at another one.
ELSEWHERE = ("SeenElsewhere", "seen elsewhere")


def life() -> WindowSpec:
    return Window.partitionBy(*MEMBER).orderBy(*IN_ORDER)


def so_far() -> WindowSpec:
    return life().rowsBetween(Window.unboundedPreceding, Window.currentRow)


def whole(rows: WindowSpec) -> WindowSpec:
    """Never from a row to the end: for each row Spark would begin that anew, which grows with the square of a life."""
    return rows.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)


def arrives() -> Column:
    return (f.col("phase_before") == "absent") & (f.col("phase") != "absent")


def goes() -> Column:
    return (f.col("phase") == "absent") & (f.col("phase_before") != "absent")


def joins() -> Column:
    """Comes by its own JoinGroup. Who is adopted is asked to rejoin, or nothing: it was there before its proxy was."""
    return (f.col("phase_before") == "absent") & (f.col("phase") == "completing-rebalance")


def begins() -> Column:
    """Nothing of it goes on from the step before: the member arrives, or it is another proxy that speaks now."""
    return arrives() | ~f.lag("proxy").over(life()).eqNullSafe(f.col("proxy"))


def lives(transitions: DataFrame) -> DataFrame:
    """Each transition once, members side by side, each life in order; and whether its member `is_home` then, and what it
    `had` where its proxy does not know. What exporters repeat stands beside itself in a life's order, so one shuffle and
    sort both removes it and serves all tables."""
    in_order = Window.partitionBy(*MEMBER).orderBy(*IN_ORDER, "trace_id")
    until_then = in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    name = f.struct("trace_id", "span_id")
    here = f.when(arrives() | _speaks(), f.col("proxy"))
    beside = {
        "again": f.lag(name).over(in_order).eqNullSafe(name),
        "home": f.last(here, ignorenulls=True).over(until_then),
    }
    gives_up = _is_elsewhere() & f.col("home").eqNullSafe(f.col("proxy"))
    given_up = f.when(here.isNotNull(), f.lit(False)).when(gives_up, f.lit(True))
    is_given_up = f.coalesce(f.last(given_up, ignorenulls=True).over(until_then), f.lit(False))
    is_home = is_given_up | f.col("home").isNull() | f.col("home").eqNullSafe(f.col("proxy"))
    known = transitions.withColumns(beside).withColumn("is_home", is_home).where("NOT again").drop("again", "home")
    return known.transform(_with_what_it_had)


def _speaks() -> Column:
    return (f.col("phase_before") != "absent") & f.col("cause").isin(*WORDS)


def _is_elsewhere() -> Column:
    return goes() & f.col("cause").isin(*ELSEWHERE)


def _with_what_it_had(known: DataFrame) -> DataFrame:
    """A member's proxy does not know what it has that was elsewhere and is back, before it has joined again: it is what it
    had last. That it was refused there, it never heard."""
    learns = f.when(f.col("cause") == BACK, False).when(arrives() | goes() | (f.col("cause") == JOIN), True)
    knows = f.coalesce(_last_at_home(learns), f.lit(True)) & ~_is_elsewhere()
    held = f.when(f.col("knows") & (f.col("phase") != "absent"), f.struct(*LISTS))
    had = f.when(~f.col("knows"), _last_at_home(held))
    return known.withColumn("knows", knows).withColumn("had", had).drop("knows")


def _last_at_home(value: Column) -> Column:
    return f.last(f.when(f.col("is_home"), value), ignorenulls=True).over(so_far())


def at_home(lives: DataFrame) -> DataFrame:
    """Without what a proxy says of a member whose client has since come, or spoken, to another one. Whose home is not known
    (the traces begin later, or its last one has given it up for another) is at home wherever it is. Whose client is at
    another proxy has not ended: there it has what it had, and nobody asks it to rejoin."""
    there = {"phase": f.lit("stable"), "standing": f.col("standing_before"), "generation": f.col("generation_before")}
    lives_on = {name: f.when(_is_elsewhere(), was).otherwise(f.col(name)) for name, was in there.items()}
    has = {name: f.coalesce(f.col("had").getField(name), f.col(name)) for name in LISTS}
    return lives.where("is_home").withColumns(lives_on | has).drop("is_home", "had")
