"""Reading and writing: the only place, with streaming.py and live.py, that touches files.

A table is written aside and put in its place when it is whole: who reads meanwhile sees the former one, for a moment none,
and never half of one. What a job that was killed has left aside is swept away by the next. On file systems that this
process does not see (`hdfs://…`, a server of Spark Connect elsewhere) Spark overwrites in place, and marks what is whole
(`_SUCCESS`).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from pipeline import schema, spans
from pipeline.asking import CannotBeDone
from pipeline.compressed import lines_of
from pipeline.life import at_home, lives
from pipeline.session import shuffles_into, shuffling
from pipeline.tables import HOME, MADE

Say = Callable[[str], None]
# Readers pass over names that begin so.
ASIDE, STAGED, FORMER = "_aside", "staged", "former"
BATCH = "batch"
# What only a stream, and only a batch, leaves in its folder.
OF_A_STREAM, OF_A_BATCH = "_checkpoint/metadata", "transitions/_SUCCESS"
# With Spark's default heap of 1 GB and two tasks at once, two million were too many for one aggregation upon another.
MOST_IN_A_PARTITION = 500_000
# Spark's own reading of .zst needs Hadoop's native library.
NOT_ZSTD = "{*[!t],*[!s]t,*[!z]st,*[!.]zst}"


def read_lines(spark: SparkSession, source: str) -> DataFrame:
    """(value, origin) of files or folders of OTLP-JSON lines; `.zst` ones unpacked, `.gz` by Spark itself."""
    every = {"recursiveFileLookup": "true"}
    plain = spark.read.options(pathGlobFilter=NOT_ZSTD, **every).text(source)
    packed = spark.read.options(pathGlobFilter="*.zst", **every).format("binaryFile").load(source)
    return plain.selectExpr("value", "_metadata.file_path AS origin").unionByName(lines_of(packed))


def batch(spark: SparkSession, source: str, out: str, say: Say = lambda line: None) -> None:
    if is_there(spark, f"{out}/{OF_A_STREAM}"):
        raise CannotBeDone(f"a stream writes into {out}, and its facts would be lost: give batch another folder")
    rows = stage(spark, read_lines(spark, source), out, say)
    write(spark, spans.rejects(rows).dropDuplicates(), out, "rejects", say)
    write(spark, rows.transform(spans.requests).transform(spans.once), out, "requests", say)
    with kept(spark, rows.transform(spans.transitions)) as transitions:
        write(spark, transitions.select(*schema.TRANSITIONS), out, "transitions", say)
        _make(spark, transitions, out, say)
    sweep(out)


def stage(spark: SparkSession, lines: DataFrame, out: str, say: Say) -> DataFrame:
    """Each line is parsed once; what it is made into is read several times."""
    sweep(out)
    staged = f"{out}/{ASIDE}/{STAGED}"
    say("reading spans")
    lines.transform(spans.spans).write.mode("overwrite").parquet(staged)
    return spark.read.parquet(staged)


def make(spark: SparkSession, out: str, say: Say = lambda line: None) -> None:
    """All other tables, from those that are there."""
    with kept(spark, spark.read.parquet(f"{out}/transitions").drop(BATCH)) as transitions:
        _make(spark, transitions, out, say)
    sweep(out)


@contextmanager
def kept(spark: SparkSession, transitions: DataFrame) -> Iterator[DataFrame]:
    """What is kept keeps its order: members side by side, each life in order, so that no table has to shuffle or sort
    again. And there are as many partitions as it takes for one to be counted in the memory that a task has."""
    with shuffling(spark, max(shuffles_into(spark), -(-transitions.count() // MOST_IN_A_PARTITION))):
        rows = transitions.transform(lives).persist()
        try:
            yield rows
        finally:
            rows.unpersist()


def _make(spark: SparkSession, transitions: DataFrame, out: str, say: Say) -> None:
    tables = {"transitions": transitions, HOME: at_home(transitions), "requests": table(spark, out, "requests")}
    for name, made in MADE.items():
        write(spark, made(tables), out, name, say)
        tables[name] = table(spark, out, name)


def table(spark: SparkSession, out: str, name: str) -> DataFrame:
    """As it is on disk; what a stream wrote in several batches, once and without the batch."""
    rows = spark.read.parquet(f"{out}/{name}")
    if BATCH not in rows.columns:
        return rows
    whole = rows.drop(BATCH)
    return whole.dropDuplicates() if name == "rejects" else whole.transform(spans.once)


def is_there(spark: SparkSession, path: str) -> bool:
    """Asked of Spark, for the path may be elsewhere."""
    try:
        return bool(spark.read.text(path).columns)
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return False
        raise


def write(spark: SparkSession, rows: DataFrame, out: str, name: str, say: Say = lambda line: None) -> None:
    say(name)
    put(rows, out, name)


def put(rows: DataFrame, out: str, name: str) -> None:
    if not Path(out).is_dir():
        rows.write.mode("overwrite").parquet(f"{out}/{name}")
        return
    aside = Path(out, ASIDE)
    rows.write.mode("overwrite").parquet(f"{aside}/{name}")
    _swap(aside / name, Path(out, name), aside / FORMER / name)


def _swap(whole: Path, place: Path, former: Path) -> None:
    """A folder cannot be renamed onto one that has files, so the former one steps aside first."""
    shutil.rmtree(former, ignore_errors=True)
    former.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        os.rename(place, former)
    os.rename(whole, place)
    shutil.rmtree(former, ignore_errors=True)


def sweep(out: str) -> None:
    """What is aside when nothing is being written is of no use to anybody."""
    shutil.rmtree(Path(out, ASIDE), ignore_errors=True)
