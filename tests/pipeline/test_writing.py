"""Tables are of one run, whatever happens to the job that writes them; where they are not, whoever asks is told."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pipeline import cli, jobs, session, streaming
from pipeline.asking import CannotBeDone
from pipeline.writing import ASIDE, RUN, Anew, Say, of_one_run
from tests.pipeline.telling import Planted, write

pytestmark = pytest.mark.broker
NAMES = ("first", "second", "third")


def made(spark: SparkSession, out: Path, rows: DataFrame, say: Say = lambda line: None) -> None:
    with Anew(spark, str(out), say) as anew:
        for name in NAMES:
            anew.put(name, rows)


def held(spark: SparkSession, out: Path) -> list[int]:
    with of_one_run(spark, str(out)):
        return [jobs.table(spark, str(out), name).count() for name in NAMES]


def test_tables_are_of_the_former_run_until_the_last_is_whole(spark: SparkSession, tmp_path: Path) -> None:
    seen = list[list[int]]()
    made(spark, tmp_path, spark.range(3))
    made(spark, tmp_path, spark.range(5), lambda name: seen.append(held(spark, tmp_path)))
    assert seen == [[3, 3, 3]] * 3
    assert held(spark, tmp_path) == [5, 5, 5]


def test_a_run_that_fails_leaves_the_former_tables_and_nothing_else(spark: SparkSession, tmp_path: Path) -> None:
    made(spark, tmp_path, spark.range(3))
    torn = spark.range(100).select(f.when(f.col("id") < 99, f.col("id")).otherwise(f.raise_error(f.lit("torn"))))
    with pytest.raises(PySparkException, match="torn"):
        made(spark, tmp_path, torn.toDF("id"))
    assert held(spark, tmp_path) == [3, 3, 3]
    assert sorted(each.name for each in tmp_path.iterdir()) == [RUN, *NAMES]


def test_a_run_that_ends_amid_the_swap_leaves_a_folder_that_says_so(spark: SparkSession, tmp_path: Path) -> None:
    def lose_the_second(name: str) -> None:
        if name == NAMES[-1]:
            (aside,) = (tmp_path / ASIDE).iterdir()
            shutil.rmtree(aside / NAMES[1])

    made(spark, tmp_path, spark.range(3))
    with pytest.raises(FileNotFoundError):
        made(spark, tmp_path, spark.range(5), lose_the_second)
    assert jobs.table(spark, str(tmp_path), NAMES[0]).count() == 5
    asked = argparse.Namespace(out=str(tmp_path), table=NAMES[0], where="true", limit=1, file=tmp_path / "page.html")
    for verb in (cli._show, cli._report):
        with pytest.raises(CannotBeDone, match=f"the tables in {tmp_path} are not of one run"):
            verb(spark, asked, lambda said: None)  # type: ignore[arg-type]
    made(spark, tmp_path, spark.range(5))
    assert held(spark, tmp_path) == [5, 5, 5]


def test_a_file_that_is_renamed_while_it_is_read_is_read_all_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """As the proxy does when it is full; what has its name then is another one."""
    full = write(tmp_path / "in/traces.jsonl", Planted("g", "a").joins(0, 0).spans)
    said = list[str]()

    def rotate(doing: str) -> None:
        if "reading spans" not in said:
            full.rename(full.with_name("traces-2026-11-26T10-00-00.000000000.jsonl"))
            write(full, Planted("g", "b").joins(0, 0).spans)
        said.append(doing)

    jobs.batch(spark, str(tmp_path / "in"), str(tmp_path / "out"), rotate)
    members = jobs.table(spark, str(tmp_path / "out"), "transitions").select("member_id").distinct().collect()
    assert {row.member_id for row in members} == {"a", "b"}
    assert said[:3] == ["reading spans", "files have come or gone meanwhile: once more", "reading spans"]


def test_elsewhere_tables_are_not_of_one_run_until_the_last_is_written(spark: SparkSession, tmp_path: Path) -> None:
    """Where this process sees no folder."""
    out, told = tmp_path / "out", list[str]()

    def ask(name: str) -> None:
        with pytest.raises(CannotBeDone, match="not of one run"):
            held(spark, out)
        told.append(name)

    made(spark, out, spark.range(3), ask)
    assert told == list(NAMES)
    assert held(spark, out) == [3, 3, 3]


def test_a_reader_whose_tables_are_replaced_is_told_to_ask_again(spark: SparkSession, tmp_path: Path) -> None:
    def read_for_too_long() -> None:
        with of_one_run(spark, str(tmp_path)):
            rows = jobs.table(spark, str(tmp_path), NAMES[0])
            made(spark, tmp_path, spark.range(5))
            rows.collect()

    made(spark, tmp_path, spark.range(3))
    with pytest.raises(CannotBeDone, match="made anew while they were read"):
        read_for_too_long()


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
    assert not (played / "out" / ASIDE).exists()


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
