"""A seed is a row, whatever happens to it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pipeline import campaigns
from simulation import playing
from simulation.invariants import Broken
from simulation.world import World


def test_a_seed_is_the_same_row_twice_but_for_the_time_it_took() -> None:
    one, again = (campaigns.row(17) | {"took_ms": 0.0} for _ in range(2))
    assert one == again
    assert one["verdict"] == campaigns.HOLDS
    assert one["digest"] != campaigns.row(18)["digest"]


def test_a_seed_that_fails_is_a_row_with_its_story(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(world: World) -> None:
        raise Broken("Converged", "never")

    monkeypatch.setattr(playing, "calm_down", broken)
    row = campaigns.row(17, shrunk=False)
    assert (row["verdict"], row["said"]) == ("Converged", "Converged: never")
    assert row["story"].startswith("story = Story(")


@pytest.mark.broker
def test_a_campaign_over_spark_has_a_row_for_each_seed(spark: SparkSession, tmp_path: Path) -> None:
    rows = campaigns.campaign(spark, first=100, seeds=4).collect()
    assert [row.seed for row in rows] == [100, 101, 102, 103]
    assert [row.digest for row in rows] == [campaigns.row(seed)["digest"] for seed in range(100, 104)]
    (line,) = {row.verdict for row in rows}
    assert line == campaigns.HOLDS
