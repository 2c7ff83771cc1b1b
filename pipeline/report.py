"""One page: what the migration cost, whether it was safe, and what is left to do. Self-contained HTML, a light one."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as f

from pipeline import jobs
from pipeline.asking import CannotBeDone
from pipeline.cost import FELT, REPLAYED
from pipeline.drawing import PHASES, Bar, beside, counts, lanes, palette, shown
from pipeline.pictures import write
from pipeline.shapes import Picture

# A page is for reading: of the groups that moved most, and the last of the rows. Everything is in the tables.
GROUPS, ROWS, BARS, DEPLOYS = 10, 200, 3000, 20
# Of a group's name, what every file system takes.
UNSAFE, NAME = re.compile(r"[^A-Za-z0-9._-]"), 80
READS = ("rebalances", "audits", "readiness", "cost", "member_phases", "ownership", "rejects", "transitions")
STYLE = """body{font:15px/1.45 sans-serif;max-width:1040px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;font-size:13px;margin:.6em 0}
td,th{border-bottom:1px solid #ddd;padding:.25em .7em;text-align:left}
.legend span{margin-right:1.2em;font-size:12px}.legend i{display:inline-block;width:11px;height:11px;margin-right:.4em}
.broken,.use{color:#b00020}.good{color:#00754a}.costly,.look{color:#a05a00}svg{width:100%;height:auto}h3{margin-top:2em}"""

COST = (
    "group",
    "began",
    "joined",
    "left",
    "rebalances",
    "revoked",
    "in vain",
    "idle partition-s",
    "unowned partition-s",
)
COST_SAYS = (
    "<p>Each deploy: who came and went, what the others felt of it, and for how long partitions lay idle. In brackets: what"
    " the broker's own translation would have caused for the same comings and goings, played again in a simulation, with one"
    " native member about; the mean of several runs.</p>"
)


class Report:
    """The tables, as far as a page needs them."""

    def __init__(self, spark: SparkSession, out: str) -> None:
        def read(name: str) -> DataFrame:
            return jobs.table(spark, out, name)

        _check_version(read("cost"), out)
        busiest = read("rebalances").groupBy("group_id").count().orderBy(f.desc("count"), "group_id").limit(GROUPS)
        self.groups = [row["group_id"] for row in busiest.collect()]
        some = f.col("group_id").isin(self.groups)
        self.findings = read("audits").groupBy("audit", "severity").count().orderBy("severity", "audit").collect()
        self.audits = read("audits").orderBy("severity", "from_ns").limit(ROWS).collect()
        self.readiness = read("readiness").orderBy(f.desc("day"), "group_id").limit(ROWS).collect()
        self.cost = read("cost").orderBy(f.desc("from_ns")).limit(ROWS).collect()
        self.durations = {
            row["group_id"]: row["s"]
            for row in read("rebalances")
            .where(some & f.col("to_ns").isNotNull())
            .groupBy("group_id")
            .agg(f.collect_list(f.col("duration_ns") / 1e9).alias("s"))
            .collect()
        }
        self.phases = read("member_phases").where(some).orderBy("member_id", "from_ns").limit(BARS).collect()
        told = read("ownership").where(some & (f.col("view") == "told"))
        self.ownership = told.orderBy("partition", "from_ns").limit(BARS).collect()
        self.rejects = read("rejects").groupBy("reason").count().collect()
        self.end_ns = read("transitions").agg(f.max("at_ns")).collect()[0][0] or 0


def _check_version(cost: DataFrame, out: str) -> None:
    """The table that has changed last."""
    if missing := sorted({*FELT, *REPLAYED} - set(cost.columns)):
        raise CannotBeDone(
            f"the table cost in {out} has no column {missing[0]}, so another version has made it:"
            f" `kip848-pipeline batch INPUT {out}` makes it anew"
        )


def page(report: Report) -> str:
    parts = [
        "<h1>A migration, from its traces</h1>",
        _answer(report),
        "<h2>What is left to do</h2>",
        _table(report.readiness, ("group_id", "day", "legacy", "held_back_by", "verdict")),
        "<h2>What it cost</h2>",
        COST_SAYS,
        _table([_costed(row) for row in report.cost], COST),
        "<h2>Was it safe?</h2>",
        _table(
            [_found(row) for row in report.audits],
            ("severity", "audit", "group", "member", "other", "partition", "at", "detail"),
        ),
        *[_group(report, group) for group in report.groups],
    ]
    if report.rejects:
        parts += ["<h2>What could not be read</h2>", _table(report.rejects, ("reason", "count"))]
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>Migration report</title><style>{STYLE}</style>'
    return f"{head}{''.join(parts)}</html>\n"


def _answer(report: Report) -> str:
    """The three answers, in three sentences."""
    broken = sum(row["count"] for row in report.findings if row["severity"] == "broken")
    safe = (
        f'<b class="broken">{broken} violations</b> were found.'
        if broken
        else '<b class="good">No violation</b> was found.'
    )
    last = {row["group_id"]: row["verdict"] for row in reversed(report.readiness)}
    verdicts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(Counter(last.values()).items()))
    felt, idle = (
        sum(row["rebalances"] for row in report.cost),
        sum(row["unowned_partition_ns"] for row in report.cost) / 1e9,
    )
    paid = f"{len(report.cost)} deploys cost {felt} rebalances and {idle:.1f} unowned partition-seconds."
    return f"<p>{safe} {paid} Groups: {escape(verdicts)}.</p>"


def pictures(report: Report, group: str) -> dict[str, str]:
    """By name, as they are in the page."""
    return {name: shown(picture) for name, picture in drawn(report, group).items()}


def drawn(report: Report, group: str) -> dict[str, Picture | None]:
    phases = [row for row in report.phases if row["group_id"] == group]
    held = [row for row in report.ownership if row["group_id"] == group]
    marks = [
        (row["from_ns"], f"{row['audit']}: {row['detail'] or ''}")
        for row in report.audits
        if row["group_id"] == group and row["severity"] == "broken"
    ]
    owners = palette(row["member_id"] for row in held)
    return {
        "members": lanes([_bar(row, row["member_id"], row["phase"], report.end_ns) for row in phases], PHASES, marks),
        "partitions": lanes(
            [_bar(row, row["partition"], row["member_id"], report.end_ns) for row in held], owners, marks
        ),
        "rebalances": counts(report.durations.get(group, []), "s"),
        "cost": _compared(report, group),
    }


def _compared(report: Report, group: str) -> Picture | None:
    """Rebalances, of the last deploys: what was felt, and what the broker alone would have caused."""
    deploys = [row for row in report.cost if row["group_id"] == group][:DEPLOYS]
    rows = [
        (_time(row["from_ns"]), {"through the proxy": row["rebalances"], "in the broker": row["broker_rebalances"]})
        for row in reversed(deploys)
    ]
    return beside(rows, "rebalances")


def write_pictures(report: Report, folder: Path) -> list[Path]:
    """Groups are numbered, for their names may be anything."""
    named = {
        f"{number}-{UNSAFE.sub('_', group)[:NAME]}-{name}": picture
        for number, group in enumerate(report.groups, 1)
        for name, picture in drawn(report, group).items()
    }
    return write(named, folder)


def _bar(row: Row, name: str, kind: str, end_ns: int) -> Bar:
    return Bar(name, row["from_ns"], end_ns if row["to_ns"] is None else row["to_ns"], kind, f"epoch {row['epoch']}")


def _group(report: Report, group: str) -> str:
    found = pictures(report, group)
    return (
        f"<h2>Group {escape(group)}</h2><h3>Members</h3>{found['members']}"
        f"<h3>Partitions, by who was told to own them</h3>{found['partitions']}"
        f"<h3>How long rebalances took</h3>{found['rebalances']}"
        f"<h3>Rebalances of each deploy, and what the broker alone would have caused</h3>{found['cost']}"
    )


def _costed(row: Row) -> dict[str, Any]:
    return {
        "group": row["group_id"],
        "began": _time(row["from_ns"]),
        "joined": row["joined"],
        "left": row["left"],
        "rebalances": _than(row, "rebalances"),
        "revoked": _than(row, "revoked"),
        "in vain": _than(row, "in_vain"),
        "idle partition-s": f"{row['idle_partition_ns'] / 1e9:.1f}",
        "unowned partition-s": _than(row, "unowned_partition_ns", 1e9),
    }


def _than(row: Row, name: str, unit: float = 1) -> str:
    """What was felt, and what the broker alone would have caused, where that is known."""
    felt, broker = row[name] / unit, row[f"broker_{name}"]
    said = f"{felt:.0f}" if unit == 1 else f"{felt:.1f}"
    return said if broker is None else f"{said} (broker: {broker / unit:.1f})"


def _found(row: Row) -> dict[str, Any]:
    return {
        "severity": row["severity"],
        "audit": row["audit"],
        "group": row["group_id"],
        "member": row["member_id"],
        "other": row["other_member_id"],
        "partition": row["partition"],
        "at": _time(row["from_ns"]),
        "detail": row["detail"],
    }


def _table(rows: Sequence[Any], columns: Sequence[str]) -> str:
    if not rows:
        return "<p>None.</p>"
    head = "".join(f"<th>{escape(name.replace('_', ' '))}</th>" for name in columns)
    body = "".join(f"<tr>{''.join(_cell(row[name]) for name in columns)}</tr>" for row in rows)
    return f"<table><tr>{head}</tr>{body}</table>"


def _cell(value: object) -> str:
    said = "; ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    kind = {
        "broken": "broken",
        "costly": "costly",
        "safe to remove": "good",
        "in use": "use",
        "look first": "look",
    }.get(said)
    return f'<td class="{kind}">{escape(said)}</td>' if kind else f"<td>{escape(said)}</td>"


def _time(ns: int | None) -> str:
    return "" if ns is None else datetime.fromtimestamp(ns // 10**9, UTC).strftime("%Y-%m-%d %H:%M:%S")
