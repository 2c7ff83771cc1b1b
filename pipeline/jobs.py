"""Reading and writing: the only place, with streaming.py, that touches files.

A table is overwritten in its place. Spark marks one that is whole (`_SUCCESS`); a job that was killed leaves tables without
that mark, and is run again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from pipeline import spans
from pipeline.compressed import lines_of
from pipeline.tables import MADE

Say = Callable[[str], None]
STAGED = "_staged"
BATCH = "batch"
# Spark's own reading of .zst needs Hadoop's native library.
NOT_ZSTD = "{*[!t],*[!s]t,*[!z]st,*[!.]zst}"


def read_lines(spark: SparkSession, source: str) -> DataFrame:
    """(value, origin) of files or folders of OTLP-JSON lines; `.zst` ones unpacked, `.gz` by Spark itself."""
    every = {"recursiveFileLookup": "true"}
    plain = spark.read.options(pathGlobFilter=NOT_ZSTD, **every).text(source)
    packed = spark.read.options(pathGlobFilter="*.zst", **every).format("binaryFile").load(source)
    return plain.selectExpr("value", "_metadata.file_path AS origin").unionByName(lines_of(packed))


def batch(spark: SparkSession, source: str, out: str, say: Say = lambda line: None) -> None:
    stage(spark, read_lines(spark, source), out, say)
    make(spark, out, say)


def stage(spark: SparkSession, lines: DataFrame, out: str, say: Say) -> None:
    """Each line is parsed once; what it is made into is read several times."""
    read = lines.transform(spans.spans)
    staged = f"{out}/{STAGED}"
    say("reading spans")
    read.write.mode("overwrite").parquet(staged)
    rows = spark.read.parquet(staged)
    facts = {
        "rejects": spans.rejects(rows),
        "transitions": rows.transform(spans.transitions).transform(spans.once),
        "requests": rows.transform(spans.requests).transform(spans.once),
    }
    for name, table in facts.items():
        write(spark, table, out, name, say)
    remove(spark, staged)


def make(spark: SparkSession, out: str, say: Say = lambda line: None) -> None:
    """All other tables, from those that are there."""
    tables = {name: table(spark, out, name) for name in ("transitions", "requests")}
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


def write(spark: SparkSession, rows: DataFrame, out: str, name: str, say: Say = lambda line: None) -> None:
    say(name)
    rows.write.mode("overwrite").parquet(f"{out}/{name}")


def remove(spark: SparkSession, path: str) -> None:
    """An empty overwrite is all that can be done everywhere; a folder on this machine can simply go."""
    if Path(path).is_dir():
        for file in sorted(Path(path).rglob("*"), reverse=True):
            file.rmdir() if file.is_dir() else file.unlink()
        Path(path).rmdir()
