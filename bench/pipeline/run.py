"""python -m bench.pipeline.run [--spans N [N ...]] [--cores 2] [--markdown]

`kip848-pipeline batch` over N spans on so many cores, with Spark's default heap, and DuckDB beside it in the same run with
the same tables to make of the same lines; both must have as many rows in each. What Spark makes and DuckDB cannot, `cost`,
which plays a simulation, stands apart. Several sizes are several columns, each with a session of its own.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb
import msgspec

from bench.document import write_section
from bench.pipeline import duck, spans
from pipeline import asking, jobs, session

ALONE = "cost"
# Of what `jobs.batch` says it is doing.
PARTS = {
    "lines to spans": ("reading spans",),
    "facts": ("rejects", "transitions", "requests"),
    "tables": ("member_phases", "ownership", "rebalances", "group_changes", "audits", "readiness"),
}


class Found(msgspec.Struct, frozen=True):
    spans: int
    gigabytes: float
    session_s: float
    took_s: dict[str, float]
    cpu_s: float
    peak_gigabytes: float
    duck_s: float


class Watch:
    """What is said is what begins, and the end of what was said before."""

    def __init__(self) -> None:
        self.took_s: dict[str, float] = {}
        self._at = time.perf_counter()
        self._doing = "session"

    def __call__(self, doing: str) -> None:
        now = time.perf_counter()
        self.took_s[self._doing] = now - self._at
        self._at, self._doing = now, doing


def main() -> None:
    asked = _options()
    if asked.one:
        sys.stdout.buffer.write(msgspec.json.encode(_one(asked.spans[0], asked.cores)) + b"\n")
        return
    table = _table([_apart(count, asked.cores) for count in asked.spans], asked.cores)
    print(table)
    if asked.markdown:
        sizes = " ".join(map(str, asked.spans))
        write_section("pipeline", f"python -m bench.pipeline.run --spans {sizes} --markdown", table)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spans", type=int, nargs="+", default=[500_000])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def _apart(count: int, cores: int) -> Found:
    """In a process of its own: a JVM that has done the job once does it faster."""
    words = [sys.executable, "-m", "bench.pipeline.run", "--one", "--spans", str(count), "--cores", str(cores)]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Found)


def _one(count: int, cores: int) -> Found:
    folder = Path(tempfile.mkdtemp(prefix="pipeline-bench-"))
    try:
        source = folder / "in"
        count = spans.write(source, count)
        size = sum(file.stat().st_size for file in source.iterdir())
        took_s, cpu_s, peak = _spark(source, folder / "out", cores)
        began = time.perf_counter()
        duck.run(source, folder / "duck", cores)
        duck_s = time.perf_counter() - began
        _compare(folder / "out", folder / "duck")
    finally:
        shutil.rmtree(folder)
    return Found(count, size / 1e9, took_s.pop("session"), took_s, cpu_s, peak, duck_s)


def _spark(source: Path, out: Path, cores: int) -> tuple[dict[str, float], float, float]:
    watch = Watch()
    spark = session.start(f"local[{cores}]", is_little=asking.weighs_little(str(source)))
    spark.sparkContext.setLogLevel("ERROR")
    java: Any = spark._jvm
    jvm = Path("/proc", str(java.java.lang.ProcessHandle.current().pid()))
    out.mkdir()
    jobs.batch(spark, str(source), str(out), watch)
    watch("end")
    cpu_s, peak = _cpu_s(jvm), _peak_gigabytes(jvm)
    spark.stop()
    return watch.took_s, cpu_s, peak


def _cpu_s(process: Path) -> float:
    """Without the Python workers of `cost`."""
    ticks = (process / "stat").read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / 100


def _peak_gigabytes(process: Path) -> float:
    (line,) = (each for each in (process / "status").read_text().splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) / 1e6


def _compare(out: Path, other: Path) -> None:
    for table in duck.TABLES:
        ours, theirs = (
            duckdb.execute(f"SELECT count(*) FROM '{files}'").fetchall()
            for files in (out / table / "*.parquet", other / f"{table}.parquet")
        )
        if ours != theirs:
            raise ValueError(f"{table}: {ours} rows of Spark's, {theirs} of DuckDB's")


def _table(found: list[Found], cores: int) -> str:
    rows = [
        ("GB of lines", [f"{each.gigabytes:.1f}" for each in found]),
        ("session s", [f"{each.session_s:.1f}" for each in found]),
        *[(f"{part} s", [f"{_sum(each, names):.1f}" for each in found]) for part, names in PARTS.items()],
        ("all these s", [f"{_spark_s(each):.1f}" for each in found]),
        ("DuckDB, the same s", [f"{each.duck_s:.1f}" for each in found]),
        ("Spark / DuckDB", [f"×{_spark_s(each) / each.duck_s:.2f}" for each in found]),
        (f"{ALONE} s", [f"{each.took_s[ALONE]:.1f}" for each in found]),
        ("spans/s, all", [f"{each.spans / (_spark_s(each) + each.took_s[ALONE]):,.0f}" for each in found]),
        ("JVM CPU µs/span", [f"{each.cpu_s / each.spans * 1e6:.0f}" for each in found]),
        ("JVM peak GB", [f"{each.peak_gigabytes:.1f}" for each in found]),
    ]
    heads = " | ".join(f"{each.spans:,} spans" for each in found)
    lines = [f"| {name} | {' | '.join(values)} |" for name, values in rows]
    said = (
        f"{cores} cores, Spark's default heap; Spark and DuckDB have as many rows in each of {len(duck.TABLES)} tables."
    )
    return "\n".join([said, "", f"| batch | {heads} |", f"|---|{'---|' * len(found)}", *lines])


def _sum(found: Found, names: tuple[str, ...]) -> float:
    return sum(found.took_s[name] for name in names)


def _spark_s(found: Found) -> float:
    """What both make, with the session that it takes."""
    return found.session_s + sum(_sum(found, names) for names in PARTS.values())


if __name__ == "__main__":
    main()
