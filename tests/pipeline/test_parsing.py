"""What Spark makes of the parse, before it has parsed anything."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from pipeline import schema, spans
from pipeline.life import at_home, lives
from pipeline.phases import member_phases
from tests.pipeline.quick import SETTINGS

pytestmark = pytest.mark.broker
# -XX:+DontCompileHugeMethods, which is how HotSpot runs.
COMPILED_BYTES = 8_000


@pytest.fixture
def compiling(spark: SparkSession) -> Iterator[SparkSession]:
    """As it is where speed matters."""
    compiles = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
    for name, value in compiles.items():
        spark.conf.set(name, value)
    yield spark
    for name in compiles:
        spark.conf.set(name, SETTINGS[name])


def test_no_method_of_the_parse_is_too_large_to_be_compiled(
    compiling: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    """The largest that a run has: what streams and batches stage, and what makes transitions of it."""
    lines = compiling.createDataFrame([], "value string, origin string")
    lines.transform(spans.spans).transform(spans.transitions).explain("codegen")
    sizes = [int(size) for size in re.findall(r"maxMethodCodeSize:(\d+)", capsys.readouterr().out)]
    assert 3_000 < max(sizes) <= COMPILED_BYTES


def test_a_span_is_counted_once_without_sorting_whole_rows(
    compiling: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = compiling.createDataFrame([], "trace_id string, span_id string, said string")
    rows.transform(spans.once).explain()
    assert shuffled_and_sorted(capsys.readouterr().out) == (1, 1)


def test_lives_are_shuffled_and_sorted_once_for_all_that_follows(
    compiling: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    transitions = compiling.createDataFrame([], schema.ddl(schema.TRANSITIONS))
    transitions.transform(lives).transform(at_home).transform(member_phases).explain()
    assert shuffled_and_sorted(capsys.readouterr().out) == (1, 1)


def shuffled_and_sorted(plan: str) -> tuple[int, int]:
    return plan.count("Exchange"), plan.count("Sort [")
