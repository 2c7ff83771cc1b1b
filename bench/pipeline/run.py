"""python -m bench.pipeline.run [--spans N] [--cores 2] [--markdown]

A batch over N spans on so many cores, with Spark's default heap: facts, phases, ownership and the sweep line, and DuckDB
with the same job beside it in the same run; then all the tables that DuckDB does not make.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from bench.document import write_section
from bench.pipeline import duck, spans
from pipeline import jobs, session
from pipeline.ownership import ownership
from pipeline.phases import member_phases
from pipeline.sweep import PARTITION, holders

T = TypeVar("T")


def main() -> None:
    asked = _options()
    folder = Path(tempfile.mkdtemp(prefix="pipeline-bench-"))
    try:
        table = _measured(folder, asked.spans, asked.cores)
    finally:
        shutil.rmtree(folder)
    print(table)
    if asked.markdown:
        write_section("pipeline", "python -m bench.pipeline.run --markdown", table)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, default=5_000_000)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--markdown", action="store_true")
    return parser.parse_args()


def _measured(folder: Path, count: int, cores: int) -> str:
    source, out = folder / "in", folder / "out"
    count = spans.write(source, count)
    size = sum(file.stat().st_size for file in source.iterdir())
    start_s, spark = _timed(lambda: session.start(f"local[{cores}]"))
    spark.sparkContext.setLogLevel("ERROR")
    facts_s, _ = _timed(lambda: jobs.stage(spark, jobs.read_lines(spark, str(source)), str(out), print))
    same_s, _ = _timed(lambda: _same_tables(spark, str(out)))
    duck_s, _ = _timed(lambda: duck.run(source, folder / "duck", cores))
    rest_s, _ = _timed(lambda: jobs.make(spark, str(out), print))
    spark.stop()
    both_s = facts_s + same_s
    return "\n".join(
        [
            f"{count:,} spans, {size / 1e9:.1f} GB of lines, {cores} cores.",
            "",
            "| step | seconds | spans/s |",
            "|---|---|---|",
            f"| session | {start_s:.1f} | |",
            f"| lines to facts | {facts_s:.1f} | {count / facts_s:,.0f} |",
            f"| phases, ownership, sweep line | {same_s:.1f} | {count / same_s:,.0f} |",
            f"| both | {both_s:.1f} | {count / both_s:,.0f} |",
            f"| DuckDB, the same | {duck_s:.1f} (Spark ×{both_s / duck_s:.2f}) | {count / duck_s:,.0f} |",
            f"| all seven tables from facts | {rest_s:.1f} | {count / rest_s:,.0f} |",
        ]
    )


def _same_tables(spark: SparkSession, out: str) -> None:
    transitions = jobs.table(spark, out, "transitions")
    jobs.write(spark, member_phases(transitions), out, "bench_phases")
    jobs.write(spark, ownership(transitions), out, "bench_ownership")
    told = jobs.table(spark, out, "bench_ownership").where(f.col("view") == "told")
    jobs.write(spark, holders(told, *PARTITION), out, "bench_stretches")


def _timed(work: Callable[[], T]) -> tuple[float, T]:
    began = time.perf_counter()
    done = work()
    return time.perf_counter() - began, done


if __name__ == "__main__":
    main()
