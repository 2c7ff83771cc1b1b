"""What Spark makes of the parse, before it has parsed anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from bench.pipeline.writer import request
from pipeline import schema, spans, streaming
from pipeline.life import at_home, lives
from pipeline.phases import member_phases
from tests.pipeline.quick import SETTINGS
from tests.pipeline.telling import Planted

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


def test_what_was_compiled_for_a_batch_of_a_stream_does_for_the_next(compiling: SparkSession, tmp_path: Path) -> None:
    """With a number of its own for each, HotSpot would begin anew with each, and never come to an end."""
    (tmp_path / "in").mkdir()
    for number in range(4):
        lines = "".join(request([span]) + "\n" for span in Planted("g", str(number)).joins(0, 0).spans)
        (tmp_path / f"in/{number}.json").write_text(lines)
    compiled: list[int] = []
    count = compiling._jvm.org.apache.spark.metrics.source.CodegenMetrics.METRIC_COMPILATION_TIME
    keep = streaming._into(str(tmp_path / "out"))

    def take(batch: DataFrame, number: int) -> None:
        keep(batch, number)
        compiled.append(count().getCount())

    read = streaming.from_files(compiling, str(tmp_path / "in"), per_batch=1)
    writer = read.writeStream.foreachBatch(take).option("checkpointLocation", str(tmp_path / "checkpoint"))
    writer.trigger(availableNow=True).start().awaitTermination()
    assert len(compiled) == 4
    assert compiled[3] == compiled[1] > 0


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
