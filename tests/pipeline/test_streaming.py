"""A stream's tables are batch's, on whatever day the power fails."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.streaming.query import StreamingQuery

from pipeline import asking, cli, jobs, judging, live, live_feed, session, spans, streaming
from pipeline.audits import FLAPS
from pipeline.ending import Ending
from pipeline.live_group import DOUBLE, FLAPPING, SEVERITY
from pipeline.tables import ALL
from tests.pipeline.running import Command
from tests.pipeline.telling import Planted, write
from tests.pipeline.test_encodings import packed
from tests.pipeline.test_live import doubled, fed

pytestmark = pytest.mark.broker
KILLS, FILES, MEMBERS = 5, 60, 8


def differ(one: DataFrame, other: DataFrame) -> int:
    columns = sorted(one.columns)
    assert columns == sorted(other.columns)
    a, b = one.select(*columns), other.select(*columns)
    return a.exceptAll(b).count() + b.exceptAll(a).count()


@pytest.fixture(scope="session")
def streamed(spark: SparkSession, played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("streamed") / "out"
    _appear_in_turn(played / "in")
    read = streaming.from_files(spark, str(played / "in"), per_batch=2)
    streaming.run(read, str(out), until_drained=True, every_s=1e9, say=lambda said: None, late_s=0)
    return out


def _appear_in_turn(folder: Path) -> None:
    """The two proxies of one group in one batch, as their times are."""
    for number, file in enumerate(sorted(folder.iterdir())):
        os.utime(file, (number, number))


@pytest.mark.parametrize("table", ALL)
def test_a_stream_ends_with_the_tables_of_a_batch(
    spark: SparkSession, played: Path, streamed: Path, table: str
) -> None:
    one, other = (jobs.table(spark, str(folder), table) for folder in (played / "out", streamed))
    assert one.count() > 0
    assert differ(one, other) == 0


def test_what_is_found_live_is_what_batch_finds(spark: SparkSession, played: Path, streamed: Path) -> None:
    """But for a proxy that falls silent for ever: who has yet to hear of it may hear of it in a moment."""
    found, of_silent = live.findings(spark, str(streamed)), f.col("group_id").isin("killed", "given-up")
    assert [row.audit for row in found.where(of_silent).collect()] == ["double ownership"] * 2
    found = found.where(~of_silent)
    audits = jobs.table(spark, str(played / "out"), "audits").where(f.col("audit").isin(*SEVERITY))
    assert {row.audit for row in found.collect()} == SEVERITY.keys()
    assert differ(found, audits) == 0


def test_what_is_found_live_can_be_shown(
    spark: SparkSession, streamed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = argparse.Namespace(verb="show", remote=None, master=None, out=str(streamed), table=live.TABLE)
    asking.check(words)
    words.where, words.limit = "severity = 'odd'", 5
    assert cli._show(spark, words, lambda said: None) == cli.DONE  # type: ignore[arg-type]
    assert "flapping" in capsys.readouterr().out


def test_who_was_killed_while_it_wrote_its_first_offset_begins_again(spark: SparkSession, tmp_path: Path) -> None:
    """What is left then has a name that only its writer knows."""
    write(tmp_path / "in/1.json", Planted("g", "early").joins(0, 0).spans)
    for checkpoint in (live_feed.CHECKPOINT, live.CHECKPOINT):
        write(tmp_path / "out" / checkpoint / "offsets/.0.6d1f0c2e.tmp", [])
    read = streaming.from_files(spark, str(tmp_path / "in"))
    streaming.follow(read, str(tmp_path / "out"), True, 1e9, lambda: None, lambda said: None, late_s=0)
    assert jobs.table(spark, str(tmp_path / "out"), "transitions").count() == 3


def test_rows_that_come_too_late_end_the_run(spark: SparkSession, tmp_path: Path) -> None:
    """They are among the facts all the same, from which all can be judged anew."""
    early, late = Planted("g", "early").joins(0, 0), Planted("g", "late").joins(60_000, 1)
    write(tmp_path / "in/1.json", late.spans)
    read = streaming.from_files(spark, str(tmp_path / "in"))
    follow = partial(streaming.follow, read, str(tmp_path / "out"), True, 1e9, lambda: None, lambda said: None)
    follow(late_s=0)
    write(tmp_path / "in/2.json", early.spans)
    with pytest.raises(judging.RowsLate, match="a step of early came after 60"):
        follow(late_s=0)
    with pytest.raises(judging.RowsLate):
        follow(late_s=0)
    assert jobs.table(spark, str(tmp_path / "out"), "transitions").count() == 6


def test_python_that_starts_too_slowly_once_does_not_end_the_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on a busy machine: the process of the rules' source takes its time, the first time."""
    slow, once = tmp_path / "python", tmp_path / "once"
    at_source = f'case "$*" in *streaming_source*) [ -e {once} ] || {{ touch {once}; sleep 12; }};; esac'
    slow.write_text(f'#!/bin/sh\n{at_source}\nexec {sys.executable} "$@"\n')
    slow.chmod(0o755)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", str(slow))
    write(tmp_path / "in/1.json", doubled()[0].spans + doubled()[1].spans)
    said = list[str]()
    read = streaming.from_files(spark, str(tmp_path / "in"))
    streaming.follow(read, str(tmp_path / "out"), True, 1e9, lambda: None, said.append, late_s=0)
    assert once.exists()
    assert said.count(judging.AGAIN) == 1
    assert {row.audit for row in spark.read.parquet(f"{tmp_path}/out/{live.TABLE}").collect()} == {DOUBLE}


def test_a_timer_is_deleted_once(spark: SparkSession, tmp_path: Path) -> None:
    """What has fired, by Spark."""
    fed(tmp_path, 0, *doubled())
    query = live.follow(spark, str(tmp_path), late_s=0)
    query.processAllAvailable()
    query.stop()
    counted = Counter[str]()
    for progress in query.recentProgress:
        for operator in progress["stateOperators"]:
            counted.update(operator["customMetrics"])
    # One has fired, and who has left is yet to be forgotten.
    assert (counted["numRegisteredTimers"], counted["numDeletedTimers"]) == (2, 1)


def test_state_has_no_more_partitions_than_can_run_at_once(spark: SparkSession) -> None:
    """And whatever comes after it shuffles as was asked for."""
    with session.shuffling(spark, 8):
        with live.all_at_once(spark):
            assert session.shuffles_into(spark) == 2
        assert session.shuffles_into(spark) == 8


def test_rows_that_a_watermark_drops_end_the_run() -> None:
    with pytest.raises(judging.RowsDropped, match="3 rows"):
        judging.complain({"stateOperators": [{"numRowsDroppedByWatermark": 3}]})
    judging.complain({"stateOperators": [{"numRowsDroppedByWatermark": 0}]})


def test_a_stream_reads_the_files_that_a_batch_reads(spark: SparkSession, tmp_path: Path) -> None:
    """Packed ones too, those in folders within, those whose whole name is how the name of one that is packed may end, and
    those whose names Spark would take for patterns; and of what cannot be read in them it says the same."""
    names = ("a.json", "b [1]+50%.json.zst", "zst", "st", "t", "deep/day=1/in.json", "{c,d}*?[e]+50%.json")
    write(tmp_path / "in1/like-it.json", Planted("like it", "a").joins(0, 0).spans)
    for name in names:
        file = write(tmp_path / "in[1]" / name, Planted(name, "a").joins(0, 0).spans)
        file.write_text(f"{file.read_text()}broken\n")
        if name.endswith(".zst"):
            file.write_bytes(packed(file.read_text()))
    source, out = str(tmp_path / "in[1]"), str(tmp_path / "out[1]")
    streaming.keep_facts(streaming.from_files(spark, source), out, until_drained=True).awaitTermination()
    batched = jobs.read_lines(spark, source).transform(spans.spans)
    for rows in (batched, jobs.table(spark, out, "transitions")):
        assert {row.group_id for row in rows.where("group_id IS NOT NULL").collect()} == set(names)
    for rejects in (spans.rejects(batched), jobs.table(spark, out, "rejects")):
        assert sorted(row.origin for row in rejects.collect()) == sorted(f"{source}/{name}" for name in names)


class Told:
    """A query that reports so many batches and records, one at each look, ten seconds apart; then it ends."""

    def __init__(self, *reports: tuple[int, int]) -> None:
        self._reports = list(reports)
        self.looks = 0

    def awaitTermination(self, timeout: float) -> bool:  # noqa: N802 (Spark's name)
        self.looks += 1
        return self.looks > len(self._reports)

    @property
    def lastProgress(self) -> dict[str, Any]:  # noqa: N802 (Spark's name)
        number, records = self._reports[self.looks - 1]
        return {"batchId": number, "sources": [{"numInputRows": records}]}

    def made_at_looks(self, every_s: float) -> list[int]:
        made = list[int]()
        self.watched(every_s, lambda: made.append(self.looks))
        return made

    def watched(
        self, every_s: float, make: Callable[[], object], is_interrupted: Callable[[], bool] = lambda: False
    ) -> None:
        facts = cast(StreamingQuery, self)
        streaming._watch(facts, [], every_s, make, lambda said: None, is_interrupted, lambda: 10.0 * self.looks)


def test_tables_are_made_when_there_is_news_and_only_then() -> None:
    """Spark says of a quiet input that the next batch has no records."""
    assert Told((0, 0), (0, 7), (1, 0), (1, 0), (1, 7), (1, 7)).made_at_looks(every_s=0) == [2, 5]


def test_news_that_comes_too_early_is_in_the_tables_when_they_are_due() -> None:
    assert Told((0, 7), (0, 7), (1, 7), (1, 7), (2, 0), (2, 0)).made_at_looks(every_s=20) == [2, 4]


def test_a_batch_that_is_over_before_one_looks_is_news() -> None:
    assert Told((4, 0), (4, 0), (6, 0)).made_at_looks(every_s=0) == [1, 3]


def test_it_is_interrupted_at_the_next_look() -> None:
    told = Told((0, 7), (0, 7), (1, 7), (1, 7))
    with pytest.raises(KeyboardInterrupt):
        told.watched(1e9, lambda: None, lambda: told.looks == 3)
    assert told.looks == 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_asks_for_the_end_twice_will_not_wait(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with Ending() as ending:
        assert not ending.is_asked_for()
        signal.raise_signal(number)
        assert ending.is_asked_for()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) == before


@pytest.mark.parametrize(("number", "end"), [(signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)])
def test_a_stream_that_is_interrupted_makes_its_tables(
    spark: SparkSession, tmp_path: Path, number: signal.Signals, end: Callable[[int, int], None]
) -> None:
    """A terminal tells the whole group, whoever ends a service only the command."""
    write(tmp_path / "in/a.json", Planted("g", "a").joins(0, 0).spans)
    out, log = tmp_path / "out", tmp_path / "log"
    with Command("stream", "--files", str(tmp_path / "in"), str(out), log=log) as command:
        while command.is_running and not _batches(out / "rejects"):
            time.sleep(0.1)
        end(command.process.pid, number)
        assert command.process.wait(240) == cli.INTERRUPTED, log.read_text()
    assert jobs.table(spark, str(out), "member_phases").count() > 0


def test_a_stream_that_has_nothing_to_read_says_so(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    words = {"kafka": None, "files": f"{tmp_path}/in", "out": f"{tmp_path}/out", "until_drained": True}
    asked = argparse.Namespace(**words, per_batch=None, every=1.0, late=0.0)
    assert cli._stream(spark, asked, lambda said: None) == cli.BAD_NEWS  # type: ignore[arg-type]
    assert f"nothing to read in {tmp_path}/in" in capsys.readouterr().err


@pytest.mark.timeout(1200)
def test_five_times_killed_nothing_is_lost_and_nothing_doubled(spark: SparkSession, tmp_path: Path) -> None:
    told = [_life(tmp_path / "in", number) for number in range(FILES)]
    chance, out = random.Random(7), tmp_path / "out"
    words = ("stream", "--files", str(tmp_path / "in"), "--until-drained", "--per-batch", "1", str(out))
    for kill in range(KILLS):
        table = ("transitions", live.TABLE)[kill % 2]
        with Command(*words, log=tmp_path / "log") as command:
            seen = _batches(out / table)
            while command.is_running and _batches(out / table) == seen:
                time.sleep(0.05)
            time.sleep(chance.random())
            assert command.is_running, (tmp_path / "log").read_text()
    read = streaming.from_files(spark, str(tmp_path / "in"), per_batch=50)
    streaming.follow(read, str(out), True, 1e9, make=lambda: None, say=lambda said: None, late_s=0)
    raw = spark.read.parquet(f"{out}/transitions")
    assert raw.count() == jobs.table(spark, str(out), "transitions").count() == sum(told)
    found = spark.read.parquet(f"{out}/{live.TABLE}").collect()
    doubled = [row.group_id for row in found if row.audit == DOUBLE]
    assert sorted(doubled) == sorted(f"g{number}" for number in range(FILES))
    # And its members are one client, which comes and goes: once too often, and then again with each.
    assert Counter(row.audit for row in found) == {DOUBLE: FILES, FLAPPING: FILES * (MEMBERS - FLAPS)}


def _life(folder: Path, number: int) -> int:
    """A minute after the former group's. The first of its members stays while the others come and go, one after the other;
    the last of them owns the same partition as the first."""
    at = number * 60_000
    stays = Planted(f"g{number}", "m0").joins(at, 0).leaves(at + 1_000)
    others = [
        Planted(f"g{number}", f"m{each}").joins(at + 10 * each, each % (MEMBERS - 1)).leaves(at + 10 * each + 5)
        for each in range(1, MEMBERS)
    ]
    spans = [span for member in (stays, *others) for span in member.spans]
    write(folder / f"{number:03}.json", spans)
    return len(spans)


def _batches(table: Path) -> int:
    return len(list(table.glob("batch=*/_SUCCESS")))
