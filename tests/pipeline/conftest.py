"""One session for all tests, and one run of the pipeline over everything that is planted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from pipeline import jobs, session
from tests.pipeline import scenes
from tests.pipeline.quick import quick

Rows = Callable[..., list[Row]]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    settings: dict[str, Any] = quick() | {"spark.driver.memory": "2g"}
    started = session.start("local[2]", **settings)
    started.sparkContext.setLogLevel("OFF")
    yield started
    started.stop()


@pytest.fixture(scope="session")
def played(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with `in` and `out` of one batch over all scenes."""
    folder = tmp_path_factory.mktemp("played")
    scenes.write_all(folder / "in")
    jobs.batch(spark, str(folder / "in"), str(folder / "out"))
    return folder


@pytest.fixture(scope="session")
def rows(spark: SparkSession, played: Path) -> Rows:
    def found(table: str, condition: str = "true", order: str = "1") -> list[Row]:
        read = jobs.table(spark, str(played / "out"), table).where(condition)
        return read.orderBy(
            *[each.strip() for each in order.split(",")] if order != "1" else read.columns[:1]
        ).collect()

    return found
