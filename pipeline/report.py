"""One page: what the migration cost, whether it was safe, and what is left to do. Self-contained HTML, a light one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import Row

from pipeline.cost import MOVED
from pipeline.drawing import PHASES, Bar, beside, counts, lanes, palette, shown
from pipeline.excerpts import READS, Excerpt, Report
from pipeline.pictures import write
from pipeline.shapes import Picture
from pipeline.svg import escape

__all__ = ["READS", "Report", "drawn", "page", "pictures", "write_pictures"]
# Of a group's name, what every file system takes.
UNSAFE, NAME = re.compile(r"[^A-Za-z0-9._-]"), 80
STYLE = """body{font:15px/1.45 sans-serif;max-width:1040px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;font-size:13px;margin:.6em 0}
td,th{border-bottom:1px solid #ddd;padding:.25em .7em;text-align:left}
.legend span{margin-right:1.2em;font-size:12px}.legend i{display:inline-block;width:11px;height:11px;margin-right:.4em}
.broken,.use{color:#b00020}.good{color:#00754a}.costly,.look{color:#a05a00}svg{width:100%;height:auto}h3{margin-top:2em}"""

COST = (
    "group",
    "began",
    "joined",
    "adopted",
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


def page(report: Report) -> str:
    parts = [
        "<h1>A migration, from its traces</h1>",
        _answer(report),
        "<h2>What is left to do</h2>",
        _table(report.readiness.rows, ("group_id", "day", "legacy", "held_back_by", "verdict")),
        _cut(report.readiness, "groups, on their last day", "those in use come first"),
        "<h2>What it cost</h2>",
        COST_SAYS,
        _table([_costed(row) for row in report.cost.rows], COST),
        _cut(report.cost, "deploys", "those that were felt most"),
        "<h2>Was it safe?</h2>",
        _table(
            [_found(row) for row in report.audits.rows],
            ("severity", "audit", "group", "member", "other", "partition", "at", "detail"),
        ),
        _cut(report.audits, "findings", "the worst come first"),
        *[_group(report, group) for group in report.groups.rows],
        _cut(report.groups, "groups", "those with most violations, and then those that moved most"),
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
    verdicts = ", ".join(f"{row['count']} {row['verdict']}" for row in report.verdicts)
    deploys, rebalances, unowned_ns = report.paid
    paid = f"{deploys} deploys cost {rebalances} rebalances and {unowned_ns / 1e9:.1f} unowned partition-seconds."
    return f"<p>{safe} {paid} Groups: {escape(verdicts)}.</p>"


def _cut(excerpt: Excerpt, what: str, which: str) -> str:
    """Nobody shall take some for all."""
    shown = len(excerpt.rows)
    return "" if shown == excerpt.of else f"<p>{shown} of {excerpt.of} {what}: {which}.</p>"


def pictures(report: Report, group: str) -> dict[str, str]:
    """By name, as they are in the page."""
    return {name: shown(picture) for name, picture in drawn(report, group).items()}


def drawn(report: Report, group: str) -> dict[str, Picture | None]:
    phases = _lanes_in_order(report.phases.get(group, Excerpt()), "member_id")
    held = _lanes_in_order(report.ownership.get(group, Excerpt()), "partition")
    broken = report.broken.get(group, Excerpt()).rows
    marks = [(row["from_ns"], f"{row['audit']}: {row['detail'] or ''}") for row in broken]
    owners = palette(row["member_id"] for row in held)
    return {
        "members": lanes([_bar(row, row["member_id"], row["phase"], report.end_ns) for row in phases], PHASES, marks),
        "partitions": lanes(
            [_bar(row, row["partition"], row["member_id"], report.end_ns) for row in held], owners, marks
        ),
        "rebalances": counts(report.durations.get(group, []), "s"),
        "cost": _compared(report, group),
    }


def _lanes_in_order(stays: Excerpt, lane: str) -> list[Any]:
    """By name, but those first that something broken was found of."""
    return sorted(stays.rows, key=lambda row: (not row["named"], row[lane], row["from_ns"]))


def _compared(report: Report, group: str) -> Picture | None:
    """Rebalances, of the last deploys: what was felt, and what the broker alone would have caused."""
    rows = [
        (_time(row["from_ns"]), {"through the proxy": row["rebalances"], "in the broker": row["broker_rebalances"]})
        for row in reversed(report.deploys.get(group, Excerpt()).rows)
    ]
    return beside(rows, "rebalances")


def write_pictures(report: Report, folder: Path) -> list[Path]:
    """Groups are numbered, for their names may be anything."""
    named = {
        f"{number}-{UNSAFE.sub('_', group)[:NAME]}-{name}": picture
        for number, group in enumerate(report.groups.rows, 1)
        for name, picture in drawn(report, group).items()
    }
    return write(named, folder)


def _bar(row: Row, name: str, kind: str, end_ns: int) -> Bar:
    return Bar(name, row["from_ns"], end_ns if row["to_ns"] is None else row["to_ns"], kind, f"epoch {row['epoch']}")


def _group(report: Report, group: str) -> str:
    found = pictures(report, group)
    which = "of members with violations, and then the last"
    told, deploys = report.ownership.get(group, Excerpt()), report.deploys.get(group, Excerpt())
    return (
        f"<h2>Group {escape(group)}</h2><h3>Members</h3>{found['members']}"
        f"{_cut(report.phases.get(group, Excerpt()), 'stays', which)}"
        f"<h3>Partitions, by who was told to own them</h3>{found['partitions']}{_cut(told, 'stays', which)}"
        f"<h3>How long rebalances took</h3>{found['rebalances']}"
        "<h3>Rebalances of each deploy, and what the broker alone would have caused</h3>"
        f"{found['cost']}{_cut(deploys, 'deploys', 'the last')}"
    )


def _costed(row: Row) -> dict[str, Any]:
    return {
        "group": row["group_id"],
        "began": _time(row["from_ns"]),
        **{name: row[name] for name in MOVED},
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
