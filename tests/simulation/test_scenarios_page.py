"""docs/scenarios.md keeps its word: every test it names is there, and no scenario of Kafka's is missing."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TREE = Path(__file__).parents[2]
PAGE = (TREE / "docs/scenarios.md").read_text()
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py::\w+)`", PAGE)))
KAFKAS = [*map(str, range(1, 84)), *(f"X{number}" for number in range(1, 14))]


def names_in(path: Path) -> set[str]:
    """What a module defines or, as the test case of rules, assigns."""
    body = ast.parse(path.read_text()).body
    defined = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    assigned = {
        target.id
        for node in body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return defined | assigned


def numbers(row: str) -> list[str]:
    first, dash, last = row.partition("–")
    return [str(number) for number in range(int(first), int(last) + 1)] if dash else [first]


@pytest.mark.parametrize("test", NAMED)
def test_each_test_that_the_page_names_is_there(test: str) -> None:
    path, name = test.split("::")
    assert name in names_in(TREE / path)


def test_no_scenario_is_missing_and_none_is_told_twice() -> None:
    rows = re.findall(r"^\| (X?\d+(?:–\d+)?) \|", PAGE, re.MULTILINE)
    assert [number for row in rows for number in numbers(row)] == KAFKAS
