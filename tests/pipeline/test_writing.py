"""A table is whole or it is the former one, whatever happens to the job that writes it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from pipeline import jobs, session, streaming
from pipeline.asking import CannotBeDone
from tests.pipeline.telling import Planted, write

pytestmark = pytest.mark.broker


def test_a_write_that_fails_leaves_the_former_table_and_the_next_one_nothing_else(
    spark: SparkSession, tmp_path: Path
) -> None:
    def held() -> list[int]:
        return sorted(row.id for row in jobs.table(spark, str(tmp_path), "numbers").collect())

    jobs.write(spark, spark.range(3), str(tmp_path), "numbers")
    torn = spark.range(100).select(f.when(f.col("id") < 99, f.col("id")).otherwise(f.raise_error(f.lit("torn"))))
    with pytest.raises(PySparkException, match="torn"):
        jobs.write(spark, torn.toDF("id"), str(tmp_path), "numbers")
    assert held() == [0, 1, 2]
    jobs.write(spark, spark.range(5), str(tmp_path), "numbers")
    assert held() == [0, 1, 2, 3, 4]
    jobs.sweep(str(tmp_path))
    assert [each.name for each in tmp_path.iterdir()] == ["numbers"]


def test_a_batch_does_not_write_where_a_stream_does(spark: SparkSession, tmp_path: Path) -> None:
    """Files beside `batch=7` are not seen, and a table that is replaced has no `batch=7`."""
    source, out = str(tmp_path / "in"), str(tmp_path / "out")
    write(tmp_path / "in/a.json", Planted("g", "a").joins(0, 0).spans)
    streaming.keep_facts(streaming.from_files(spark, source), out, until_drained=True).awaitTermination()
    with pytest.raises(CannotBeDone, match=f"a stream writes into {out}"):
        jobs.batch(spark, source, out)
    assert jobs.table(spark, out, "transitions").count() == 3


def test_a_stream_does_not_write_where_a_batch_has(spark: SparkSession, played: Path, tmp_path: Path) -> None:
    out = played / "out"
    with pytest.raises(CannotBeDone, match=f"a batch has made the tables in {out}"):
        streaming.keep_facts(streaming.from_files(spark, str(tmp_path)), str(out), until_drained=True)
    assert not (out / "_checkpoint").exists()


def test_a_batch_leaves_only_its_tables(played: Path) -> None:
    assert not (played / "out" / jobs.ASIDE).exists()


def test_lives_come_in_as_many_partitions_as_they_need(
    spark: SparkSession, played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And whatever comes after them shuffles as was asked for."""
    transitions = jobs.table(spark, str(played / "out"), "transitions")
    monkeypatch.setattr(jobs, "MOST_IN_A_PARTITION", -(-transitions.count() // 5))
    with jobs.kept(spark, transitions) as rows:
        assert rows.rdd.getNumPartitions() == 5
        assert rows.count() == transitions.count()
    assert session.shuffles_into(spark) == 1
