"""A stream's tables are batch's, on whatever day the power fails."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from pipeline import jobs, streaming
from pipeline.tables import ALL
from tests.pipeline.running import Command
from tests.pipeline.telling import Planted, write

pytestmark = pytest.mark.broker
KILLS, FILES, MEMBERS = 5, 60, 20


def differ(one: DataFrame, other: DataFrame) -> int:
    columns = sorted(one.columns)
    assert columns == sorted(other.columns)
    a, b = one.select(*columns), other.select(*columns)
    return a.exceptAll(b).count() + b.exceptAll(a).count()


@pytest.fixture(scope="session")
def streamed(spark: SparkSession, played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("streamed") / "out"
    read = streaming.from_files(spark, str(played / "in"), per_batch=2)
    streaming.run(read, str(out), until_drained=True, every_s=1e9, say=lambda said: None)
    return out


@pytest.mark.parametrize("table", ALL)
def test_a_stream_ends_with_the_tables_of_a_batch(
    spark: SparkSession, played: Path, streamed: Path, table: str
) -> None:
    one, other = (jobs.table(spark, str(folder), table) for folder in (played / "out", streamed))
    assert one.count() > 0
    assert differ(one, other) == 0


def test_rows_that_a_watermark_drops_end_the_run() -> None:
    with pytest.raises(streaming.RowsDropped, match="3 rows"):
        streaming.complain({"stateOperators": [{"numRowsDroppedByWatermark": 3}]})
    streaming.complain({"stateOperators": [{"numRowsDroppedByWatermark": 0}]})


@pytest.mark.timeout(280)
def test_five_times_killed_nothing_is_lost_and_nothing_doubled(spark: SparkSession, tmp_path: Path) -> None:
    told = [_life(tmp_path / "in", number) for number in range(FILES)]
    chance, out = random.Random(7), tmp_path / "out"
    words = ("stream", "--files", str(tmp_path / "in"), "--until-drained", "--per-batch", "1", str(out))
    for _ in range(KILLS):
        with Command(*words, log=tmp_path / "log") as command:
            seen = _batches(out)
            while command.is_running and _batches(out) == seen:
                time.sleep(0.05)
            time.sleep(chance.random())
            assert command.is_running, (tmp_path / "log").read_text()
    read = streaming.from_files(spark, str(tmp_path / "in"), per_batch=50)
    streaming.follow(read, str(out), True, 1e9, make=lambda: None, say=lambda said: None)
    raw = spark.read.parquet(f"{out}/transitions")
    assert raw.count() == jobs.table(spark, str(out), "transitions").count() == sum(told)


def _life(folder: Path, number: int) -> int:
    members = [Planted(f"g{number}", f"m{each}").joins(0, each).leaves(1_000) for each in range(MEMBERS)]
    spans = [span for member in members for span in member.spans]
    write(folder / f"{number:03}.json", spans)
    return len(spans)


def _batches(out: Path) -> int:
    return len(list((out / "transitions").glob("batch=*/_SUCCESS")))
