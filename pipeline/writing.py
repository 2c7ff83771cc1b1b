"""How do the tables of one run come to stand together? Nobody shall read one run's groups beside another's audits.

All are written aside, and put in their places when the last of them is whole: some renames, a matter of milliseconds. On
file systems that this process does not see (`hdfs://…`, a server of Spark Connect elsewhere) Spark overwrites each in its
place. Either way `_run` says which run has made them, and as long as places change, that they do not belong together: so it
stays when the run is killed then, until the next one is through.
"""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from pipeline.asking import CannotBeDone
from pipeline.names import by_name

Say = Callable[[str], None]
# Readers pass over names that begin so.
ASIDE, FORMER, RUN = "_aside", "former", "_run"
RUN_SAYS = "run string, whole boolean"


class Anew:
    """A run's tables: made while it is entered, in their places when it is left. If it fails, the former ones stay."""

    def __init__(self, spark: SparkSession, out: str, say: Say = lambda line: None) -> None:
        self._spark, self._out, self._say = spark, out, say
        self._run = uuid.uuid4().hex
        # Of its own: what a cancelled job still writes is not among what is put in place.
        self._aside = Path(out, ASIDE, self._run) if Path(out).is_dir() else None
        self._names: list[str] = []

    def put(self, name: str, rows: DataFrame) -> DataFrame:
        """What it gives is on disk, to be read as often as one likes until the run is over."""
        self._say(name)
        place = f"{self._aside or self._out}/{name}"
        rows.write.mode("overwrite").parquet(place)
        self._names.append(name)
        return self._spark.read.parquet(by_name(place))

    def __enter__(self) -> Anew:
        if self._aside is None:
            self._mark(whole=False)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            if self._aside is not None:
                self._mark(whole=False)
                for name in self._names:
                    _swap(self._aside / name, Path(self._out, name), self._aside / FORMER / name)
            self._mark(whole=True)
        sweep(self._out)

    def _mark(self, whole: bool) -> None:
        said = self._spark.range(0, 1, numPartitions=1).select(
            f.lit(self._run).alias("run"), f.lit(whole).alias("whole")
        )
        said.write.mode("overwrite").parquet(f"{self._out}/{RUN}")


def _swap(whole: Path, place: Path, former: Path) -> None:
    """A folder cannot be renamed onto one that has files, so the former one steps aside first."""
    former.parent.mkdir(parents=True, exist_ok=True)
    if place.exists():
        os.rename(place, former)
    os.rename(whole, place)


def sweep(out: str) -> None:
    """What is aside when nothing is being written is of no use to anybody."""
    shutil.rmtree(Path(out, ASIDE), ignore_errors=True)


@contextmanager
def of_one_run(spark: SparkSession, out: str) -> Iterator[None]:
    """Whatever is read in here belongs together, or it cannot be done. A reader whose files are taken away fails; what it
    is told is why."""
    before = _run_of(spark, out)
    try:
        yield
    finally:
        if _run_of(spark, out) != before:
            raise CannotBeDone(f"the tables in {out} were made anew while they were read: ask again")


def _run_of(spark: SparkSession, out: str) -> str | None:
    """None: nobody has said, or it is being said at this moment, which is before the first table changes or after the
    last."""
    if not is_there(spark, f"{out}/{RUN}"):
        return None
    rows = spark.read.schema(RUN_SAYS).parquet(by_name(f"{out}/{RUN}")).collect()
    if not all(row.whole for row in rows):
        raise CannotBeDone(
            f"the tables in {out} are not of one run: one is replacing them now, or was killed while it did. Ask again; if"
            " that does not help, run `batch` (or `stream`) once more"
        )
    return rows[0].run if rows else None


def is_there(spark: SparkSession, path: str) -> bool:
    """Asked of Spark, for the path may be elsewhere."""
    try:
        return bool(spark.read.text(by_name(path)).columns)
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return False
        raise
