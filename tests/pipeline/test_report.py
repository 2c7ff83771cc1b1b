"""One page, by itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pipeline.drawing import Bar, counts, lanes, palette, shown
from pipeline.excerpts import Limits
from pipeline.report import Report, drawn, page, pictures
from tests.pipeline.conftest import Rows

SECOND = 10**9


def test_a_bar_is_as_long_as_its_time() -> None:
    svg = shown(lanes([Bar("a", 0, SECOND, "x"), Bar("b", SECOND, 4 * SECOND, "y")], palette("xy")))
    widths = [float(part.split('"')[1]) for part in svg.split("<rect ")[1:] for part in [part[part.index("width") :]]]
    assert widths[1] == pytest.approx(3 * widths[0], abs=0.2)
    assert "a: x for 1.000 s" in svg


def test_names_cannot_break_out_of_a_picture() -> None:
    assert "<script>" not in shown(lanes([Bar("<script>", 0, 1, "<script>")], palette(["<script>"])))


def test_no_rows_are_said_to_be_none() -> None:
    assert shown(lanes([], {})) == shown(counts([], "s")) == "<p>Nothing to show.</p>"


def test_a_histogram_counts_everything() -> None:
    svg = shown(counts([0.0, 1.0, 1.0, 2.0], "s", bins=2))
    assert "0.00 to 1.00 s: 1" in svg
    assert "1.00 to 2.00 s: 3" in svg


@pytest.fixture(scope="module")
def whole(spark: SparkSession, played: Path) -> Report:
    return Report(spark, str(played / "out"))


@pytest.mark.broker
def test_the_page_answers_what_it_cost_whether_it_was_safe_and_what_is_left(whole: Report) -> None:
    html = page(whole)
    for said in ("double ownership", "safe to remove", "2 legacy members", "violations</b> were found", "deploys cost"):
        assert said in html
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "src=" not in html
    assert len(html) < 500_000
    assert "alice" in pictures(whole, "story")["members"]


@pytest.mark.broker
def test_what_is_said_in_numbers_is_of_all_groups_and_what_is_shown_is_the_worst(
    spark: SparkSession, played: Path, rows: Rows, whole: Report
) -> None:
    short = Report(spark, str(played / "out"), Limits(2, 2, 3, 1))
    assert page(whole).partition("</p>")[0] == page(short).partition("</p>")[0]
    groups = {row.group_id for row in rows("readiness")}
    assert sum(row["count"] for row in short.verdicts) == short.readiness.of == short.groups.of == len(groups)
    assert short.paid["deploys"] == short.cost.of == len(rows("cost"))
    assert short.paid["rebalances"] == sum(row.rebalances for row in rows("cost"))
    assert [row["severity"] for row in short.audits.rows] == ["broken", "broken"]
    assert {row["verdict"] for row in short.readiness.rows} == {"in use"}
    assert set(short.groups.rows) == {"back", "commits"}
    assert f"2 of {len(groups)} groups: those with most violations" in page(short)


@pytest.mark.broker
def test_a_large_group_leaves_room_for_the_others(spark: SparkSession, played: Path, whole: Report) -> None:
    short = Report(spark, str(played / "out"), Limits(bars=2))
    assert short.phases.keys() == whole.phases.keys()
    assert {group: each.of for group, each in short.phases.items()} == {g: each.of for g, each in whole.phases.items()}
    assert all(len(each.rows) == min(2, each.of) for each in short.phases.values())
    assert all(drawn(short, group)["members"] is not None for group in short.groups.rows)
