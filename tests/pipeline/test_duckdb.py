"""Told in SQL by somebody else: DuckDB makes the same tables of the same lines, and the rows are the same."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pytest

from bench.pipeline import duck

pytestmark = pytest.mark.broker


@pytest.fixture(scope="module")
def told_by_duckdb(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of all scenes but the lines that cannot be read, which would end it."""
    folder = tmp_path_factory.mktemp("duck")
    shutil.copytree(played / "in", folder / "in", ignore=shutil.ignore_patterns("bad.json"))
    duck.run(folder / "in", folder / "out", cores=1)
    return folder / "out"


@pytest.mark.parametrize("table", duck.TABLES)
def test_the_rows_are_those_that_sql_finds(played: Path, told_by_duckdb: Path, table: str) -> None:
    theirs = f"FROM '{told_by_duckdb}/{table}.parquet'"
    columns = ", ".join(f'"{column}"' for (column, *_) in duckdb.execute(f"DESCRIBE SELECT * {theirs}").fetchall())
    ours = f"FROM '{played}/out/{table}/*.parquet'"
    one, other = f"SELECT {columns} {ours}", f"SELECT {columns} {theirs}"
    assert duckdb.execute(other).fetchall() != []
    assert duckdb.execute(f"({one} EXCEPT ALL {other}) UNION ALL ({other} EXCEPT ALL {one})").fetchall() == []
