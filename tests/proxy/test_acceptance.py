"""docs/acceptance.md names tests and commands that there are, for every row of what must hold."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/acceptance.md").read_text()
NODES = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE)))
COMMANDS = sorted(set(re.findall(r"`python -m ([\w.]+)`", PAGE)))
EVERY_ROW = [*(f"A{n}" for n in range(1, 21)), *(f"B{n}" for n in range(1, 11)), *(f"C{n}" for n in range(1, 8))]
EVERY_ROW += [*(f"D{n}" for n in range(1, 6)), "E", "F"]


@pytest.mark.parametrize("file", sorted({file for file, _ in NODES}))
def test_the_tests_that_are_named_exist(file: str) -> None:
    tree = ast.parse((ROOT / file).read_text())
    there = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assert {test for named_in, test in NODES if named_in == file} <= there


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_that_are_named_exist(command: str) -> None:
    assert importlib.util.find_spec(command) is not None


def test_every_row_is_there_and_shown_by_something_or_said_to_be_missing() -> None:
    rows = {cells[1].strip(): cells for line in PAGE.splitlines() if len(cells := line.split("|")) == 6}
    assert [row for row in rows if row in EVERY_ROW] == EVERY_ROW
    assert [row for row in EVERY_ROW if "`" not in rows[row][3] and not rows[row][4].strip()] == []
