"""Who still needs the proxy? Who is quiet is not gone, and who is gone is not quiet, where that can be told."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pyspark.sql import Row, SparkSession

from bench.pipeline.writer import BEGAN_NS
from pipeline.phases import member_phases
from pipeline.readiness import DAY_NS, IN_USE, LOOK, readiness
from pipeline.rebalances import rebalances
from tests.pipeline.conftest import Rows
from tests.pipeline.telling import Planted, home_of

pytestmark = pytest.mark.broker
HOUR, DAY = 3_600_000, 86_400_000
QUIET = "1 legacy members: apache-kafka-java 3.9.1"
KILLED = "1 members have not followed their group for over an hour: was killed killed?"


def told(spark: SparkSession, *members: Planted) -> list[Row]:
    """Of group g, a row for each day."""
    with home_of(spark, *members) as home:
        rows = readiness(home, member_phases(home), rebalances(home)).where("group_id = 'g'")
        return rows.orderBy("day").collect()


def others(at: int) -> Planted:
    """Somebody has something to say at that time."""
    return Planted("others", "z").joins(at, 0)


def test_a_member_that_is_quiet_for_days_is_there(spark: SparkSession) -> None:
    days = told(spark, Planted("g", "a").joins(0, 0), others(3 * DAY))
    assert [row.verdict for row in days] == [IN_USE] * 4


def test_who_lets_its_group_move_on_without_it_is_missing_from_then_on(spark: SparkSession) -> None:
    killed = Planted("g", "a", "killed").joins(0, 0)
    alive = Planted("g", "b").joins(DAY, 1, epoch=2).leaves(3 * DAY)
    days = told(spark, killed, alive, others(4 * DAY))
    assert [(row.verdict, row.legacy, row.seen) for row in days] == [
        *[(IN_USE, 1, 1), (IN_USE, 1, 2), (IN_USE, 1, 2)],
        *[(LOOK, 0, 2), (LOOK, 0, 1)],
    ]
    assert [row.held_back_by for row in days] == [[QUIET], [QUIET, KILLED], [QUIET, KILLED], [KILLED], [KILLED]]


@pytest.mark.parametrize("epoch", [1, 2])
def test_a_member_that_follows_or_has_time_to_is_not_missed(spark: SparkSession, epoch: int) -> None:
    """It comes to the new epoch; or less than an hour after that nothing more is known."""
    a = Planted("g", "a").joins(0, 0)
    follows = a.steps(60_000, epoch=2) if epoch == 2 else a
    others_say_no_more = HOUR // 2 if epoch == 1 else 5 * HOUR
    (day,) = told(spark, follows, Planted("g", "b").joins(50_000, 1, epoch=2), others(others_say_no_more))
    assert (day.verdict, day.legacy, len(day.held_back_by)) == (IN_USE, 2, 1)


def test_who_was_ahead_of_a_group_that_began_anew_is_no_measure(spark: SparkSession) -> None:
    """Its epochs begin at 1 again, when it had no member left."""
    before = Planted("g", "old").joins(0, 0, epoch=50).leaves(1_000)
    (day,) = told(spark, before, Planted("g", "new").joins(2_000, 0, epoch=3), others(5 * HOUR))
    assert (day.verdict, day.legacy) == (IN_USE, 1)


def test_the_last_nanosecond_of_a_day_is_of_that_day(spark: SparkSession) -> None:
    last = (BEGAN_NS // DAY_NS + 1) * DAY_NS - 1
    a = Planted("g", "a").joins(0, 0)
    a.spans = a.spans[-1:]
    a.spans[0]["startTimeUnixNano"] = a.spans[0]["endTimeUnixNano"] = str(last)
    (day,) = told(spark, a)
    assert day.day == datetime.fromtimestamp(BEGAN_NS // 10**9, UTC).date()


def test_what_holds_a_group_back_is_said(rows: Rows) -> None:
    (behind,) = rows("readiness", "group_id = 'behind'")
    assert (behind.verdict, behind.held_back_by) == (LOOK, [KILLED])
