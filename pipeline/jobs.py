"""From lines to tables, and from facts to all other tables: what batch does, and what a stream has done now and then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from pyspark.sql import DataFrame, Row, SparkSession

from pipeline import schema, spans
from pipeline.asking import CannotBeDone
from pipeline.compressed import lines_of
from pipeline.life import at_home, lives
from pipeline.names import ORIGIN, by_name, for_spark
from pipeline.session import shuffles_into, shuffling
from pipeline.tables import HOME, KEPT, MADE
from pipeline.writing import ASIDE, Anew, Say, is_there, sweep

STAGED = "staged"
# To look up each value of each column in a dictionary took a quarter of the time of the whole parse, and saved a fifth of the
# bytes of what is soon removed.
IN_PASSING = {"parquet.enable.dictionary": "false"}
BATCH = "batch"
# What only a stream, and only a batch, leaves in its folder.
OF_A_STREAM, OF_A_BATCH = "_checkpoint/metadata", "transitions/_SUCCESS"
# With Spark's default heap of 1 GB and two tasks at once, two million were too many for one aggregation upon another.
MOST_IN_A_PARTITION = 500_000
# A proxy fills a file in minutes at the least.
MOST_READINGS = 5
# Spark's own reading of .zst needs Hadoop's native library.
ZSTD, NOT_ZSTD = "*.zst", "{*[!t],t,*[!s]t,st,*[!z]st,zst,*[!.]zst}"


# Folders in folders too. And without it a stream reads all files once for each, where a name had to be escaped.
EVERY = {"recursiveFileLookup": "true"}


class NoSpan(Exception):
    """Nothing that was read is one, so no table is made: those of a former run are worth more than empty ones. `rejects`:
    how many lines were none, and `first` one of them, as in the table."""

    def __init__(self, rejects: int, first: Row | None) -> None:
        super().__init__(f"{rejects} rejects")
        self.rejects, self.first = rejects, first


def read_lines(spark: SparkSession, source: str) -> DataFrame:
    """(value, origin) of files or folders of OTLP-JSON lines; `.zst` ones unpacked, `.gz` by Spark itself."""
    meant = for_spark(source)
    plain = spark.read.options(pathGlobFilter=NOT_ZSTD, **EVERY).text(meant)
    packed = spark.read.options(pathGlobFilter=ZSTD, **EVERY).format("binaryFile").load(meant)
    return plain.selectExpr("value", ORIGIN).unionByName(lines_of(packed))


def batch(spark: SparkSession, source: str, out: str, say: Say = lambda line: None) -> None:
    if is_there(spark, f"{out}/{OF_A_STREAM}"):
        raise CannotBeDone(f"a stream writes into {out}, and its facts would be lost: give batch another folder")
    rows = stage_settled(spark, source, out, say)
    if rows.where("reject IS NULL").isEmpty():
        rejects = spans.rejects(rows)
        nothing = NoSpan(rejects.count(), rejects.first())
        sweep(out)
        raise nothing
    with Anew(spark, out, say) as anew:
        anew.put("rejects", spans.rejects(rows))
        requests = anew.put("requests", rows.transform(spans.requests).transform(spans.once))
        with kept(spark, rows.transform(spans.transitions)) as transitions:
            anew.put("transitions", transitions.select(*schema.TRANSITIONS))
            _make(transitions, requests, anew)


def stage_settled(spark: SparkSession, source: str, out: str, say: Say) -> DataFrame:
    """A proxy that writes there renames its file when that is full: read by its old name after that, the new one would be
    read in its stead, and itself missed."""
    for _ in range(MOST_READINGS):
        lines = read_lines(spark, source)
        rows = stage(spark, lines, out, say)
        if set(read_lines(spark, source).inputFiles()) == set(lines.inputFiles()):
            return rows
        say("files have come or gone meanwhile: once more")
    raise CannotBeDone(f"files come and go in {source} faster than they are read: give batch a copy of them")


def stage(spark: SparkSession, lines: DataFrame, out: str, say: Say) -> DataFrame:
    """Each line is parsed once; what it is made into is read several times."""
    sweep(out)
    staged = f"{out}/{ASIDE}/{STAGED}"
    say("reading spans")
    lines.transform(spans.spans).write.mode("overwrite").options(**IN_PASSING).parquet(staged)
    return spark.read.parquet(by_name(staged))


def make(spark: SparkSession, out: str, say: Say = lambda line: None) -> None:
    """All other tables, from those that are there."""
    facts = spark.read.parquet(by_name(f"{out}/transitions")).drop(BATCH)
    with Anew(spark, out, say) as anew, kept(spark, facts) as transitions:
        _make(transitions, table(spark, out, "requests"), anew)


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


def _make(transitions: DataFrame, requests: DataFrame, anew: Anew) -> None:
    tables = {"transitions": transitions, HOME: at_home(transitions), "requests": requests}
    with ExitStack() as end:
        for name, made in MADE.items():
            rows = made(tables)
            if name in KEPT:
                tables[name] = rows.persist()
                end.callback(rows.unpersist)
            else:
                tables[name] = anew.put(name, rows)


def table(spark: SparkSession, out: str, name: str) -> DataFrame:
    """As it is on disk; what a stream wrote in several batches without the batch, and each span once."""
    rows = spark.read.parquet(by_name(f"{out}/{name}"))
    if BATCH not in rows.columns:
        return rows
    whole = rows.drop(BATCH)
    return whole if name == "rejects" else whole.transform(spans.once)
