"""audits: what should not have happened? One row for each finding; no rows is the good news.

Nothing here trusts the proxy's own opinion. What the traces cannot show: a partition that is with a native member is
held by nobody that the proxy translates, so `unowned` is an upper bound in groups with native members.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as f

from pipeline.life import MEMBER, begins, goes, joins, life, whole
from pipeline.ownership import TOLD, stays, without
from pipeline.sweep import overlaps

COLUMNS = {
    "audit": "string",
    "severity": "string",
    "group_id": "string",
    "member_id": "string",
    "other_member_id": "string",
    "partition": "string",
    "from_ns": "bigint",
    "to_ns": "bigint",
    "detail": "string",
}
SECOND = 10**9
# A client's default max.poll.interval, and with it its rebalance timeout, is 5 minutes; nobody waits longer than that.
STUCK_NS = 300 * SECOND
# A lost revocation: upstream has taken the partition away for so long, and the client was never made to let go.
LOST_REVOCATION_NS = 60 * SECOND
FLAPS, FLAPPING_WITHIN_NS = 4, 300 * SECOND
# The broker's default session timeout is 45 s, its heartbeats 5 s apart: an answer that takes longer than this is late.
LATE_HEARTBEAT_NS = 5 * SECOND
# What only rises in a member's life.
RISE = ("epoch", "generation")
# NTP slews; a wall clock that is set jumps.
CLOCK_STEP_NS = SECOND // 10
# So far apart the clocks of two proxies may be: what one saw end and another begin may overlap so long, and did not.
CLOCKS_APART_NS = CLOCK_STEP_NS
BRIEF = "shorter than clocks agree"
# A leave and the join that replaces it: less is how rebalances are.
UNOWNED_NS = 10 * SECOND
GAP = "gap in the record"
# Where a member stands after a step, and before the next one.
STANDS = ("phase", "standing", "epoch", "generation")
# What has no length.
MOMENTS = ("epoch backwards", "generation backwards", "commit by non-owner")


def audits(
    transitions: DataFrame,
    home: DataFrame,
    requests: DataFrame,
    ownership: DataFrame,
    stretches: DataFrame,
    breaks: DataFrame,
) -> DataFrame:
    end_ns = transitions.agg(f.max("at_ns").alias("end_ns"))
    found = [
        _double_ownerships(ownership, stretches, transitions),
        _unowned(stretches),
        _lost_revocations(home, end_ns),
        _backwards(breaks),
        _never_told(home),
        _commits_by_non_owners(home, requests),
        _stuck(home, end_ns),
        _flapping(home),
        _late_heartbeats(requests),
        _ended_sessions(home),
        _clock_steps(transitions),
    ]
    gaps = _gaps(breaks)
    return doubted(reduce(DataFrame.unionByName, [*found, gaps]), gaps)


def _finding(rows: DataFrame, audit: str | Column, severity: str | Column, **values: Column) -> DataFrame:
    said = {"audit": f.lit(audit), "severity": f.lit(severity), **values}
    have = set(rows.columns)

    def column(name: str, kind: str) -> Column:
        value = said.get(name, f.col(name) if name in have else f.lit(None))
        return value.cast(kind).alias(name)

    return rows.select(*[column(name, kind) for name, kind in COLUMNS.items()])


def _double_ownerships(ownership: DataFrame, stretches: DataFrame, transitions: DataFrame) -> DataFrame:
    """A proxy that was killed says of no member that it has ended. Whose proxy lives is heard of again, for the coordinator
    gives nobody what a member has before it has given that member up."""
    last_words = transitions.groupBy(f.col("proxy").alias("other")).agg(f.max("at_ns").alias("last_ns"))
    found = overlaps(ownership.where(f.col("view") == TOLD), stretches)
    found = found.join(f.broadcast(last_words), f.col("other_proxy").eqNullSafe(f.col("other")))
    is_silent = f.col("is_last_word") & (f.col("last_ns") < f.col("from_ns"))
    silent = f.format_string("%s has said nothing since: was it killed?", "other_proxy")
    one_clock = f.col("proxy").eqNullSafe(f.col("other_proxy"))
    is_brief = ~one_clock & f.coalesce(f.col("to_ns") - f.col("from_ns") <= CLOCKS_APART_NS, f.lit(False))
    both = f.concat_ws(" and ", "proxy", "other_proxy")
    # One row, whichever of these it is: to look for them is the dearest of all audits, and is done once.
    return _finding(
        found,
        f.when(is_silent, "silent proxy").otherwise("double ownership"),
        f.when(is_silent | is_brief, "odd").otherwise("broken"),
        detail=f.when(is_silent, silent).when(is_brief, f.concat_ws(", ", both, f.lit(BRIEF))).otherwise(both),
    )


def _unowned(stretches: DataFrame) -> DataFrame:
    gaps = stretches.where(f"count = 0 AND to_ns - from_ns > {UNOWNED_NS}")
    return _finding(
        gaps, "unowned", "costly", detail=f.format_string("%.1f s", (f.col("to_ns") - f.col("from_ns")) / SECOND)
    )


def _lost_revocations(home: DataFrame, end_ns: DataFrame) -> DataFrame:
    """The client holds what upstream has taken from the member, for too long."""
    excess = home.withColumn("excess", without("owned", "assigned"))
    held = stays(excess, {TOLD: "excess"}).crossJoin(f.broadcast(end_ns))
    lost = held.where(f"coalesce(to_ns, end_ns) - from_ns > {LOST_REVOCATION_NS}")
    return _finding(lost, "lost revocation", "broken")


def breaks(home: DataFrame) -> DataFrame:
    """Steps that do not begin where the last one of their member ended, or in which falls what only rises. Who arrives begins
    anew, and so does who comes back to a proxy: that one has missed what happened elsewhere."""
    before = {f"{what}_was": f.lag(what).over(life()) for what in ("at_ns", *STANDS)}
    known = home.withColumns(before | {"begins": begins()}).where("NOT begins")
    is_one = reduce(Column.__or__, [_is_torn(), *map(_fell, RISE)])
    stands = [f"{what}{when}" for what in STANDS for when in ("", "_was", "_before")]
    return known.where(is_one).select(*MEMBER, "at_ns", "at_ns_was", *stands)


def _is_torn() -> Column:
    return reduce(Column.__or__, [f.col(f"{what}_was") != f.col(f"{what}_before") for what in STANDS])


def _fell(what: str) -> Column:
    return (f.col(f"{what}_was") > f.col(what)) & (f.col(what) > 0)


def _backwards(breaks: DataFrame) -> DataFrame:
    """Within one life, as one proxy knows it: who joins anew starts again at 0, and has no generation before it is told one;
    and who comes back to a proxy finds there what was known when it went."""
    rows = breaks.where("phase_before <> 'absent'")
    fell = [
        f.when(
            _fell(what),
            f.struct(f.lit(what).alias("what"), f.col(f"{what}_was").alias("was"), f.col(what).alias("now")),
        )
        for what in RISE
    ]
    found = rows.select(*MEMBER, f.col("at_ns").alias("from_ns"), f.inline(f.array_compact(f.array(*fell))))
    said = f.concat("was", f.lit(" -> "), "now")
    return _finding(found, f.concat("what", f.lit(" backwards")), "broken", detail=said)


def _never_told(home: DataFrame) -> DataFrame:
    """JoinGroup was answered with a generation, and the client never came to be Stable in it."""
    rows = home.withColumn("final", f.last("generation").over(whole(life()))).where("generation >= 0")
    by_generation = rows.groupBy(*MEMBER, "generation").agg(
        f.min("at_ns").alias("from_ns"),
        f.max("at_ns").alias("to_ns"),
        f.bool_or(f.col("phase") == "stable").alias("told"),
        f.bool_or(f.col("final") == f.col("generation")).alias("is_last"),
    )
    missed = by_generation.where("NOT told AND NOT is_last")
    return _finding(missed, "generation never told", "odd", detail=f.concat(f.lit("generation "), "generation"))


def _commits_by_non_owners(home: DataFrame, requests: DataFrame) -> DataFrame:
    """Accepted, though the member held nothing, or not these partitions, when the request came in. What an eager client lets
    go of to rejoin, and stays assigned to its member, is its own. Of a topic that it never had anything of it may commit
    what it likes, as with a broker. What was not answered in time was not accepted."""
    names = (*MEMBER, "at_ns")
    its_own = f.concat("owned", without("assigned", "owned")).alias("owned")
    commits = requests.where("name = 'OffsetCommit' AND error_code = 0 AND member_id IS NOT NULL")
    topics = (
        home.select(*MEMBER, f.explode("owned").alias("each"))
        .groupBy(*MEMBER)
        .agg(f.collect_set(_topic(f.col("each"))).alias("topics"))
    )
    known = f.filter("partitions", lambda each: f.array_contains("topics", _topic(each))).alias("partitions")
    asked = commits.join(topics, list(MEMBER)).select(
        *MEMBER, f.col("start_ns").alias("at_ns"), known, f.lit(True).alias("asks")
    )
    nothing = f.lit(None).cast("array<string>")
    facts = home.select(*names, nothing.alias("partitions"), f.lit(False).alias("asks"), its_own).unionByName(
        asked.withColumn("owned", nothing)
    )
    in_order = Window.partitionBy(*MEMBER).orderBy("at_ns", "asks").rowsBetween(Window.unboundedPreceding, 0)
    rows = facts.withColumn("owned", f.last("owned", ignorenulls=True).over(in_order)).where(
        "asks AND owned IS NOT NULL AND (partitions IS NULL OR size(partitions) > 0)"
    )
    strange = rows.where("size(owned) = 0 OR size(array_except(partitions, owned)) > 0")
    what = f.coalesce(f.array_join("partitions", " "), f.lit("holds nothing"))
    return _finding(strange, "commit by non-owner", "broken", from_ns=f.col("at_ns"), detail=what)


def _topic(partition: Column) -> Column:
    return f.regexp_replace(partition, r":\d+$", "")


def _stuck(home: DataFrame, end_ns: DataFrame) -> DataFrame:
    """For as long as it waits without a break: a wait that was called off is over, and who is adopted begins anew."""
    goes_on = (f.col("phase_before") == f.col("phase")) & f.lag("phase").over(life()).eqNullSafe(f.col("phase"))
    stays = home.withColumn("goes_on", goes_on).where("NOT goes_on").withColumn("to_ns", f.lead("at_ns").over(life()))
    waits = stays.where("phase = 'prepare-rebalance'").withColumnRenamed("at_ns", "from_ns")
    until = f.coalesce("to_ns", "end_ns")
    lasted = waits.crossJoin(f.broadcast(end_ns)).where(until - f.col("from_ns") > STUCK_NS)
    said = f.format_string("%.0f s", (until - f.col("from_ns")) / SECOND)
    return _finding(lasted, "stuck in PrepareRebalance", "broken", detail=said)


def _flapping(home: DataFrame) -> DataFrame:
    """A client that comes again and again, under whatever member id: its name and host stay, its port does not. It comes
    again when it was gone: on one host (and before a sidecar, where all are local) others may have its name."""
    who = ("group_id", "client_id", "host", "instance_id")
    left_ns = f.lead(f.when(goes(), f.col("at_ns"))).over(life())
    came = home.where(joins() | goes()).withColumns({"left_ns": left_ns, "host": _host()}).where(joins())
    lately = Window.partitionBy(*who).orderBy("at_ns").rangeBetween(-FLAPPING_WITHIN_NS, 0)
    gone = f.filter(f.collect_list("left_ns").over(lately), lambda each: each <= f.col("at_ns"))
    counted = came.withColumn("times", f.size(gone) + 1).where(f"times >= {FLAPS}")
    worst = counted.groupBy(*who).agg(
        f.min("at_ns").alias("from_ns"),
        f.max("at_ns").alias("to_ns"),
        f.max("times").alias("times"),
        f.max_by("member_id", "at_ns").alias("member_id"),
    )
    said = f.format_string("%s joined %d times within 5 minutes", "client_id", "times")
    return _finding(worst, "flapping", "odd", detail=said)


def _host() -> Column:
    """10.0.0.1:47544, [::1]:47544: each connection has a port of its own."""
    return f.regexp_replace("client_address", r":\d+$", "")


def _late_heartbeats(requests: DataFrame) -> DataFrame:
    late = requests.where(f"name = 'ConsumerGroupHeartbeat' AND end_ns - start_ns > {LATE_HEARTBEAT_NS}")
    said = f.format_string("answered after %.1f s", (f.col("end_ns") - f.col("start_ns")) / SECOND)
    return _finding(late, "late heartbeat", "odd", from_ns=f.col("start_ns"), to_ns=f.col("end_ns"), detail=said)


def _ended_sessions(home: DataFrame) -> DataFrame:
    """The client's own heartbeats did not come in time: it died, or it was too busy to beat."""
    rows = home.where(
        "phase = 'absent' AND phase_before <> 'absent' AND cause IN ('session ended', 'rebalance timeout')"
    )
    return _finding(rows, "late heartbeat", "odd", from_ns=f.col("at_ns"), detail=f.col("cause"))


def _gaps(breaks: DataFrame) -> DataFrame:
    """A step begins where the last one of its member ended, or steps between the two are missing."""
    torn = breaks.where(_is_torn()).withColumn("from_ns", f.col("at_ns_was"))
    said = f.format_string(
        "%s in epoch %d, and then %s in epoch %d", "phase_was", "epoch_was", "phase_before", "epoch_before"
    )
    return _finding(torn, GAP, "odd", to_ns=f.col("at_ns"), detail=said)


def doubted(found: DataFrame, gaps: DataFrame) -> DataFrame:
    """What was not yet so when a gap of one of its members began, and no more when it was over, may never have been."""
    lasts = f.when(f.col("audit") == "lost revocation", LOST_REVOCATION_NS)
    needs = lasts.when(f.col("audit") == "stuck in PrepareRebalance", STUCK_NS).otherwise(0)
    end_ns = f.coalesce("to_ns", f.when(f.col("audit").isin(*MOMENTS), f.col("from_ns")))

    def hides(gap: Column) -> Column:
        return (gap["from_ns"] - f.col("from_ns") <= needs) & (gap["to_ns"] >= end_ns)

    of_members = gaps.groupBy("group_id", "member_id").agg(f.collect_list(f.struct("from_ns", "to_ns")).alias("gaps"))
    for who in ("member_id", "other_member_id"):
        found = found.join(of_members.withColumnRenamed("member_id", who), ["group_id", who], "left")
        is_doubted = (f.col("severity") == "broken") & f.coalesce(f.exists("gaps", hides), f.lit(False))
        said = {"severity": f.lit("odd"), "detail": f.concat_ws(", ", "detail", f.lit("across a gap in the record"))}
        found = found.withColumns({name: f.when(is_doubted, new).otherwise(f.col(name)) for name, new in said.items()})
        found = found.select(*COLUMNS)
    return found


def _clock_steps(transitions: DataFrame) -> DataFrame:
    """A proxy has two clocks: the wall's, and one that only goes forward (`at`). Where their distance changes, somebody
    has set the wall clock, and times before and after cannot be compared."""
    distance = f.col("at_ns") - f.col("at") * 1_000_000
    ranges = transitions.groupBy("proxy").agg((f.max(distance) - f.min(distance)).alias("range"))
    suspects = ranges.where(f"range > {CLOCK_STEP_NS}").select(f.col("proxy").alias("suspect"))
    clocks = transitions.join(f.broadcast(suspects), f.col("proxy").eqNullSafe(f.col("suspect")), "left_semi")
    in_order = Window.partitionBy("proxy").orderBy("at", "span_id")
    steps = clocks.withColumn("distance", distance).withColumn(
        "step", f.col("distance") - f.lag("distance").over(in_order)
    )
    rows = steps.where(f"abs(step) > {CLOCK_STEP_NS}")
    said = f.format_string("the clock of %s was set by %.3f s", "proxy", f.col("step") / SECOND)
    return _finding(rows, "clock step", "odd", from_ns=f.col("at_ns"), detail=said)
