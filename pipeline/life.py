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
    """Each transition once, members side by side, each life in order, and the `home` of its member then. What exporters
    repeat stands beside itself in a life's order, so one shuffle and sort both removes it and serves all tables."""
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
    known = transitions.withColumns(beside).withColumn("home", f.when(~is_given_up, f.col("home")))
    return known.where("NOT again").drop("again")


def _speaks() -> Column:
    return (f.col("phase_before") != "absent") & f.col("cause").isin(*WORDS)


def _is_elsewhere() -> Column:
    return goes() & f.col("cause").isin(*ELSEWHERE)


def at_home(lives: DataFrame) -> DataFrame:
    """Without what a proxy says of a member whose client has since come, or spoken, to another one. Whose home is not known
    (the traces begin later, or its last one has given it up for another) is at home wherever it is."""
    return lives.where("home IS NULL OR home <=> proxy").drop("home").transform(_living_on)


def _living_on(home: DataFrame) -> DataFrame:
    """Whose client is at another proxy has not ended: there it has what it had, and nobody asks it to rejoin. And what
    one has that was elsewhere and is back its proxy does not know before it has joined again: it is what it had last. That
    it was refused there, it never heard."""
    there = {"phase": f.lit("stable"), "standing": f.col("standing_before"), "generation": f.col("generation_before")}
    lives_on = {name: f.when(_is_elsewhere(), was).otherwise(f.col(name)) for name, was in there.items()}
    learns = f.when(f.col("cause") == BACK, False).when(arrives() | goes() | (f.col("cause") == JOIN), True)
    knows = f.coalesce(f.last(learns, ignorenulls=True).over(so_far()), f.lit(True)) & ~_is_elsewhere()
    is_there = f.col("knows") & (f.col("phase") != "absent")
    had = {name: f.last(f.when(is_there, f.col(name)), ignorenulls=True).over(so_far()) for name in LISTS}
    held = {name: f.when(f.col("knows"), f.col(name)).otherwise(f.coalesce(last, name)) for name, last in had.items()}
    return home.withColumn("knows", knows).withColumns(lives_on | held).drop("knows")
