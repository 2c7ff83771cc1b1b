"""The tables say what happened: a story of the simulation, to the row, and each planted fault."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from bench.pipeline.writer import BEGAN_NS, request
from pipeline import audits, jobs, spans
from pipeline.life import at_home, lives
from pipeline.ownership import without
from pipeline.tables import ALL, HOME, MADE
from tests.pipeline.conftest import Rows
from tests.pipeline.scenes import story
from tests.pipeline.telling import Planted

pytestmark = pytest.mark.broker
MS = 1_000_000
HOUR_NS = 3_600 * 10**9


def findings(rows: Rows, audit: str) -> list[tuple[str, str | None]]:
    return [
        (row.group_id, row.member_id) for row in rows("audits", f"audit = '{audit}'", "group_id, member_id, from_ns")
    ]


def test_every_transition_is_a_row_once_though_it_came_twice(rows: Rows) -> None:
    assert len(rows("transitions", "group_id = 'story'")) == len(story())


def test_times_are_kept_to_the_nanosecond(rows: Rows) -> None:
    told = {int(span["startTimeUnixNano"]) for span in story()}
    kept = rows("transitions", "group_id = 'story'")
    assert {row.at_ns for row in kept} == told
    assert any(at_ns % 1000 for at_ns in told)
    assert all(round(row.at_time.timestamp() * 1e6) == row.at_ns // 1000 for row in kept)


def test_a_time_is_in_the_microsecond_in_which_it_was(spark: SparkSession) -> None:
    (first, *_) = Planted("g", "a").joins(0, 0).spans
    told = [(request([{**first, "startTimeUnixNano": str(BEGAN_NS + 999)}]), "here")]
    found = spark.createDataFrame(told, "value string, origin string").transform(spans.spans)
    (row,) = found.transform(spans.transitions).collect()
    assert (row.at_ns, row.at_time.microsecond) == (BEGAN_NS + 999, 0)


def test_a_clock_may_be_a_day_ahead_and_no_more_than_two(spark: SparkSession) -> None:
    (first, *_) = Planted("g", "a").joins(0, 0).spans
    ahead = {hours: str(time.time_ns() + hours * HOUR_NS) for hours in (23, 49)}
    told = [(request([{**first, "startTimeUnixNano": at, "endTimeUnixNano": at}]), at) for at in ahead.values()]
    found = spark.createDataFrame(told, "value string, origin string").transform(spans.spans)
    assert {row.start_ns: row.reject for row in found.collect()} == {
        int(ahead[23]): None,
        int(ahead[49]): "span from the future",
    }


def test_a_line_that_cannot_be_read_is_a_reject_with_the_reason(rows: Rows) -> None:
    """Each of them, though two be alike as far as they are shown."""
    reasons = sorted((row.reason, row.line[:8]) for row in rows("rejects"))
    assert [reason for reason, _ in reasons] == [
        *["not an OTLP request"] * 5,
        "span from before 2020",
        "span from the future",
        *["span without a time"] * 2,
        "span without an id",
        "transition of unknown phase asleep",
        "transition without member_id",
    ]
    assert ("not an OTLP request", "{broken") in reasons
    assert all(row.origin.endswith("bad.json") for row in rows("rejects"))


def test_any_reader_can_read_what_was_no_text(played: Path) -> None:
    lines = parquet.read_table(played / "out/rejects").column("line").to_pylist()
    assert "\ufffd\ufffdno\ufffd" in lines


def test_of_a_line_that_cannot_be_read_as_many_characters_are_shown_whatever_they_are(spark: SparkSession) -> None:
    told = [(first + "\N{GRINNING FACE}" * 1_000, "here") for first in ("", "a", "ab", "abc")]
    found = spark.createDataFrame(told, "value string, origin string").transform(spans.spans)
    assert sorted(row.line for row in found.collect()) == sorted(line[: spans.SHOWN] for line, _ in told)


def test_a_clock_in_another_time_makes_no_days(rows: Rows) -> None:
    assert rows("readiness", "group_id = 'when'") == []
    days = {row.day for row in rows("readiness")}
    assert max(days) - min(days) == timedelta(days=1)


def test_the_phases_of_a_story(rows: Rows) -> None:
    bob = rows("member_phases", "group_id = 'story' AND client_id = 'bob'", "from_ns")
    assert [row.phase for row in bob if row.standing == "stable"] == ["completing-rebalance", "stable"]
    assert (bob[-1].phase, bob[-1].standing, bob[-1].cause) == ("absent", "leaving", "session ended")
    assert all(first.to_ns == then.from_ns for first, then in pairwise(bob))


def test_the_ownership_of_a_story(rows: Rows) -> None:
    bob = rows("ownership", "group_id = 'story' AND client_id = 'bob'", "view")
    assert [(row.view, row.partition, row.ended_by) for row in bob] == [
        ("granted", "foo:2", "session ended"),
        ("told", "foo:2", "session ended"),
    ]
    assert bob[0].from_ns < bob[1].from_ns
    alice = rows("ownership", "group_id = 'story' AND client_id = 'alice' AND view = 'told'", "partition, from_ns")
    assert [row.partition for row in alice] == ["foo:0"] * 4 + ["foo:1"] * 2 + ["foo:2"] * 2


def test_the_rebalances_of_a_story(rows: Rows) -> None:
    alice = rows("rebalances", "group_id = 'story' AND client_id = 'alice'", "from_ns")
    assert [(row.kept, row.revoked, row.gained) for row in alice] == [
        ([], [], ["foo:0", "foo:1", "foo:2"]),
        (["foo:0", "foo:1"], ["foo:2"], []),
        (["foo:0"], ["foo:1"], []),
        (["foo:0"], [], ["foo:2"]),
    ]
    assert [row.is_newcomer for row in alice] == [True, False, False, False]
    assert all(row.outcome == "stable" and row.duration_ns == row.to_ns - row.from_ns for row in alice)


def test_what_an_eager_client_lets_go_of_lies_idle_until_it_has_it_back(rows: Rows) -> None:
    """Alice gives up three partitions and gets two of them back 6 ms later."""
    second = rows("rebalances", "group_id = 'story' AND client_id = 'alice'", "from_ns")[1]
    assert second.idle_partition_ns // MS == 2 * 6


def test_a_rebalance_that_has_not_ended_goes_on(rows: Rows) -> None:
    (_, cycle) = rows("rebalances", "group_id = 'stuck' AND member_id = 'a'", "from_ns")
    assert (cycle.outcome, cycle.to_ns, cycle.duration_ns) == ("goes on", None, None)


def test_who_was_disturbed_by_an_epoch_and_who_needed_to_be(rows: Rows) -> None:
    third = next(row for row in rows("group_changes", "group_id = 'story'", "epoch") if row.epoch == 3)
    assert [each.split("-")[0] for each in third.disturbed] == ["alice"]
    assert third.needed == third.disturbed
    assert third.in_vain == []
    (untold,) = rows("group_changes", "group_id = 'untold' AND epoch = 3")
    assert (untold.disturbed, untold.in_vain) == (["a"], ["a"])


def test_a_planted_double_ownership_is_found_with_both_members_and_its_time(rows: Rows) -> None:
    (found,) = rows("audits", "audit = 'double ownership' AND severity = 'broken'")
    assert (found.group_id, found.member_id, found.other_member_id, found.partition) == ("double", "b", "a", "t:0")
    assert (found.to_ns - found.from_ns) // MS == 9_000 - 5_002


def test_an_overlap_that_two_clocks_may_have_made_up_is_odd(rows: Rows) -> None:
    (found,) = rows("audits", "group_id = 'apart'")
    assert (found.audit, found.severity, found.member_id, found.other_member_id) == (
        "double ownership",
        "odd",
        "b",
        "a",
    )
    assert found.detail == "proxy-2 and proxy-1, shorter than clocks agree"
    assert (found.to_ns - found.from_ns) // MS == 22


def test_where_steps_are_missing_that_is_said_and_what_lies_across_is_called_nothing_worse(rows: Rows) -> None:
    gap, double = rows("audits", "group_id = 'torn'", "from_ns")
    assert (gap.audit, gap.severity, gap.member_id) == ("gap in the record", "odd", "a")
    assert ((gap.from_ns - BEGAN_NS) // MS, (gap.to_ns - BEGAN_NS) // MS) == (10_000, 20_000)
    assert gap.detail == "prepare-rebalance in epoch 1, and then completing-rebalance in epoch 1"
    assert (double.audit, double.severity, double.other_member_id) == ("double ownership", "odd", "a")
    assert double.detail == "proxy-1 and proxy-1, across a gap in the record"


# What is found, from which second and to which, and how bad it stays where there is a gap from the tenth to the twentieth.
ACROSS = [
    ("double ownership", 10, 20, "odd"),
    ("double ownership", 15, 18, "odd"),
    # Before the gap, and after it, both are known to have had it.
    ("double ownership", 9, 20, "broken"),
    ("double ownership", 15, 21, "broken"),
    ("double ownership", 15, None, "broken"),
    ("lost revocation", -45, 20, "odd"),
    ("lost revocation", -55, 20, "broken"),
    ("epoch backwards", 20, None, "odd"),
    ("epoch backwards", 21, None, "broken"),
    ("unowned", 10, 20, "costly"),
]


@pytest.fixture(scope="module")
def severities(spark: SparkSession) -> dict[str, list[str]]:
    """All of them at once, each in a group of its own, and found of either member."""
    columns = ", ".join(f"{name} {kind}" for name, kind in audits.COLUMNS.items())
    found, gaps = list[tuple[object, ...]](), list[tuple[object, ...]]()
    for audit, from_s, to_s, _ in ACROSS:
        group, said = across(audit, from_s, to_s), "costly" if audit == "unowned" else "broken"
        gaps.append((audits.GAP, "odd", group, "a", None, None, 10 * audits.SECOND, 20 * audits.SECOND, None))
        to_ns = None if to_s is None else to_s * audits.SECOND
        for members in (("a", "b"), ("b", "a")):
            found.append((audit, said, group, *members, "t:0", from_s * audits.SECOND, to_ns, None))
    severities: dict[str, list[str]] = {across(*case[:3]): [] for case in ACROSS}
    for row in audits.doubted(*(spark.createDataFrame(rows, columns) for rows in (found, gaps))).collect():
        severities[row.group_id].append(row.severity)
    return severities


def across(audit: str, from_s: int, to_s: int | None) -> str:
    return f"{audit} {from_s} {to_s}"


@pytest.mark.parametrize(("audit", "from_s", "to_s", "severity"), ACROSS)
def test_what_is_known_without_what_is_missing_stays_as_bad_as_it_is(
    severities: dict[str, list[str]], audit: str, from_s: int, to_s: int | None, severity: str
) -> None:
    assert severities[across(audit, from_s, to_s)] == [severity] * 2


def test_who_holds_what_the_last_word_of_a_killed_proxy_says_of_another_is_told_apart(rows: Rows) -> None:
    (found,) = rows("audits", "group_id = 'killed'")
    assert (found.audit, found.severity, found.member_id, found.other_member_id) == ("silent proxy", "odd", "b", "a")
    assert found.detail == "killed has said nothing since: was it killed?"
    assert (found.to_ns - found.from_ns) // MS == 90_000 - 60_002


def test_who_goes_with_its_first_word_after_a_restart_holds_nothing_any_more(rows: Rows) -> None:
    """And of its former proxy nobody says that it was killed."""
    assert rows("audits", "group_id = 'restarted'") == []
    held = rows("ownership", "group_id = 'restarted' AND view = 'told'", "from_ns")
    until_ms = [(row.member_id, (row.to_ns - BEGAN_NS) // MS, row.ended_by) for row in held]
    assert until_ms[-2:] == [("a", 60_001, "LeaveRequested"), ("b", 90_000, "LeaveRequested")]


def test_whom_its_coordinator_gave_up_while_nobody_spoke_for_it_held_nothing_that_anybody_knows_of(rows: Rows) -> None:
    (found,) = rows("audits", "group_id = 'given-up'")
    assert (found.audit, found.severity, found.member_id, found.other_member_id) == ("silent proxy", "odd", "b", "a")
    assert (found.to_ns - BEGAN_NS) // MS == 61_000


def test_a_planted_lost_revocation_is_found(rows: Rows) -> None:
    (found,) = rows("audits", "audit = 'lost revocation'")
    assert (found.group_id, found.member_id, found.partition) == ("lost", "a", "t:1")
    assert (found.from_ns - BEGAN_NS) // MS == 10_000


def test_a_member_stuck_in_prepare_rebalance_is_found_and_none_that_waited_twice_for_a_moment(rows: Rows) -> None:
    assert findings(rows, "stuck in PrepareRebalance") == [("stuck", "a")]


def test_an_epoch_and_a_generation_that_go_backwards_are_found(rows: Rows) -> None:
    assert findings(rows, "epoch backwards") == [("back", "a")]
    assert findings(rows, "generation backwards") == [("back", "a")]


def test_a_generation_that_is_never_told_is_found(rows: Rows) -> None:
    (found,) = rows("audits", "audit = 'generation never told'")
    assert (found.group_id, found.detail) == ("untold", "generation 2")


def test_commits_by_members_that_own_nothing_or_something_else_are_found(rows: Rows) -> None:
    found = rows("audits", "audit = 'commit by non-owner'", "from_ns")
    assert [((row.from_ns - BEGAN_NS) // MS, row.detail) for row in found] == [(2_000, "t:5"), (5_000, "t:0")]


def test_a_flapping_client_is_found_under_all_its_member_ids(rows: Rows) -> None:
    (found,) = rows("audits", "audit = 'flapping'")
    assert (found.group_id, found.detail) == ("flapping", "app joined 4 times within 5 minutes")


def test_a_clock_that_was_set_is_found(rows: Rows) -> None:
    (found,) = rows("audits", "audit = 'clock step'")
    assert (found.group_id, found.detail) == ("skew", "the clock of skewed was set by -4.000 s")


def test_late_heartbeats_are_found_on_both_sides(rows: Rows) -> None:
    assert [group for group, _ in findings(rows, "late heartbeat")] == ["late", "story"]


def test_time_without_an_owner_is_found(rows: Rows) -> None:
    unowned = rows("audits", "audit = 'unowned' AND group_id = 'flapping'", "from_ns")
    assert [(row.to_ns - row.from_ns) // MS for row in unowned] == [10_001] * 3


def test_a_member_that_moves_to_another_proxy_is_no_second_owner(rows: Rows) -> None:
    """What the first proxy says after the second has adopted it is not about the client."""
    stays = rows("member_phases", "group_id = 'moved' AND phase = 'stable'", "from_ns")
    assert [((row.from_ns - BEGAN_NS) // MS, row.proxy) for row in stays] == [(2, "proxy-1"), (20_000, "proxy-2")]
    (held,) = rows("ownership", "group_id = 'moved' AND view = 'told'")
    assert ((held.from_ns - BEGAN_NS) // MS, (held.to_ns - BEGAN_NS) // MS) == (2, 50_000)


def test_a_member_whose_client_is_back_at_its_first_proxy_is_there(rows: Rows) -> None:
    """What the second proxy says after that is about its own memory."""
    (held,) = rows("ownership", "group_id = 'returned' AND view = 'told' AND to_ns IS NULL")
    assert (held.proxy, (held.from_ns - BEGAN_NS) // MS) == ("proxy-1", 24_002)
    *_, last = rows("member_phases", "group_id = 'returned'", "from_ns")
    assert (last.phase, last.proxy, last.to_ns) == ("stable", "proxy-1", None)
    _, again = rows("rebalances", "group_id = 'returned'", "from_ns")
    assert (again.proxy, again.outcome, again.kept) == ("proxy-1", "stable", ["t:0"])
    assert rows("audits", "group_id = 'returned'") == []
    assert [row.verdict for row in rows("readiness", "group_id = 'returned'")] == ["in use"]


def test_what_a_client_had_before_it_was_elsewhere_it_does_not_have_when_it_is_back(rows: Rows) -> None:
    """Its proxy knows what it has when it has joined again."""
    held = rows("ownership", "group_id = 'returns' AND view = 'told'", "partition, from_ns")
    ms = [(row.partition, row.member_id, (row.from_ns - BEGAN_NS) // MS, row.to_ns) for row in held]
    assert [each[:3] for each in ms] == [("t:0", "a", 2), ("t:1", "a", 2), ("t:1", "b", 40_002)]
    assert (held[1].to_ns - BEGAN_NS) // MS == 22_000
    assert [row.audit for row in rows("audits", "group_id = 'returns' AND severity = 'broken'")] == []
    assert [row.outcome for row in rows("rebalances", "group_id = 'returns' AND member_id = 'a'")] == ["stable"] * 3


def test_what_a_client_had_where_it_was_fenced_it_has_when_it_is_back_elsewhere(rows: Rows) -> None:
    """For it has not heard of that: it commits what it has."""
    held = rows("ownership", "group_id = 'fenced' AND view = 'told'", "partition, from_ns")
    ms = [(row.partition, (row.from_ns - BEGAN_NS) // MS, row.to_ns and (row.to_ns - BEGAN_NS) // MS) for row in held]
    assert ms == [("t:0", 2, 24_000), ("t:0", 25_000, None), ("t:1", 26_001, None)]
    assert rows("audits", "group_id = 'fenced' AND severity = 'broken'") == []


def test_a_member_whose_proxy_sees_it_elsewhere_lives_on_there(rows: Rows) -> None:
    (held,) = rows("ownership", "group_id = 'glanced' AND view = 'told'")
    assert ((held.from_ns - BEGAN_NS) // MS, held.to_ns) == (2, None)
    *_, last = rows("member_phases", "group_id = 'glanced'", "from_ns")
    assert (last.phase, last.cause, last.to_ns) == ("stable", "SeenElsewhere", None)
    assert [row.outcome for row in rows("rebalances", "group_id = 'glanced'", "from_ns")] == ["stable", "called off"]
    assert [(row.epoch, row.members) for row in rows("group_changes", "group_id = 'glanced'", "epoch")] == [
        (1, 1),
        (2, 1),
    ]
    assert rows("audits", "group_id = 'glanced'") == []
    assert [row.verdict for row in rows("readiness", "group_id = 'glanced'")] == ["in use"]


def test_what_is_in_one_list_and_not_in_another_is_what_spark_says_at_length(spark: SparkSession) -> None:
    lists = [[], ["t:0"], ["t:1", "t:0"], ["t:0", "t:1"], ["t:2"], ["t:2", "t:2"]]
    pairs = [(one, other) for one in lists for other in lists]
    found = spark.createDataFrame(pairs, "one array<string>, other array<string>")
    for row in found.select(
        "*", without("one", "other").alias("soon"), f.array_except("one", "other").alias("late")
    ).collect():
        assert row.soon == row.late, row


def test_when_all_tables_are_made_nothing_is_kept_of_them(spark: SparkSession, played: Path) -> None:
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()
    jobs.make(spark, str(played / "out"))
    assert spark._jsparkSession.sharedState().cacheManager().isEmpty()


def test_no_table_goes_through_a_life_again_for_each_of_its_steps(spark: SparkSession, played: Path) -> None:
    """A frame from each row to the end: of a member of 80,000 steps that took two minutes, and four times as long for twice
    as many."""
    tables = {name: jobs.table(spark, str(played / "out"), name) for name in ALL}
    tables["transitions"] = tables["transitions"].transform(lives)
    tables[HOME] = at_home(tables["transitions"])
    for name, made in MADE.items():
        rows = made(tables)
        tables.setdefault(name, rows)
        plan = rows._jdf.queryExecution().analyzed().toString().lower()
        assert re.search(r"frame, (?!unboundedpreceding)\S+ unboundedfollowing", plan) is None, name


def test_a_story_that_went_well_breaks_nothing(rows: Rows) -> None:
    assert rows("audits", "group_id = 'story' AND severity = 'broken'") == []


def test_a_group_that_nobody_was_seen_in_is_ready_and_one_in_use_says_by_whom(rows: Rows) -> None:
    gone = rows("readiness", "group_id = 'gone'", "day")
    assert [row.verdict for row in gone] == ["look first", "safe to remove"]
    # Of nobody but translated members there is a trace.
    assert gone[0].__fields__ == ["group_id", "day", "legacy", "seen", "clients", "held_back_by", "verdict"]
    (stuck,) = rows("readiness", "group_id = 'stuck'")
    assert (stuck.legacy, stuck.clients, stuck.verdict) == (2, ["apache-kafka-java 3.9.1"], "in use")
    assert stuck.held_back_by == ["2 legacy members: apache-kafka-java 3.9.1", "1 rebalances that did not end"]


def test_a_wait_that_no_client_heard_of_disturbed_nobody(rows: Rows) -> None:
    assert [row.outcome for row in rows("rebalances", "group_id = 'patient'", "from_ns")] == [
        "stable",
        *["called off"] * 2,
    ]
    (change,) = rows("group_changes", "group_id = 'patient'")
    assert (change.disturbed, change.in_vain) == ([], [])
    (deploy,) = rows("cost", "group_id = 'patient'")
    assert (deploy.joined, deploy.rebalances, deploy.in_vain) == (1, 0, 0)


def test_a_restart_of_a_proxy_is_paid_by_the_members_that_it_asks_to_rejoin(rows: Rows) -> None:
    cycles = rows("rebalances", "group_id = 'adopted'", "from_ns")
    assert [(row.is_newcomer, row.kept, row.gained) for row in cycles] == [(False, ["t:0"], [])] * 2
    for deploy in rows("cost", "group_id = 'adopted'"):
        assert (deploy.joined, deploy.adopted, deploy.left) == (0, 1, 0)
        assert (deploy.rebalances, deploy.in_vain, deploy.broker_rebalances) == (1, 1, 0)


def test_a_deploy_has_a_price(rows: Rows) -> None:
    (story,) = rows("cost", "group_id = 'story'")
    assert (story.joined, story.left, story.rebalances, story.revoked, story.in_vain) == (2, 2, 3, 2, 0)
