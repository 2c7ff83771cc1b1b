"""The table of the byte path says what is met, and how others do in the same run."""

from __future__ import annotations

from bench.dataplane.peers import OURS, SMALLEST
from bench.dataplane.run import render

NAMES = ["direct", "haproxy", "kroxylicious", SMALLEST, OURS, f"{OURS}, 4 processes"]


def last_cell(row: str, *values: float) -> str:
    table = {row: {name: [value] for name, value in zip(NAMES, values, strict=True)}}
    return render(table, NAMES).splitlines()[-1].split("|")[-2].strip()


def test_what_reaches_its_target_is_met_and_nothing_else() -> None:
    assert last_cell("consume MB/s", 100, 80, 70, 90, 60, 1) == "≥ 0.60 of direct: met"
    assert last_cell("consume MB/s", 100, 80, 70, 90, 59, 99) == "≥ 0.60 of direct: NOT met"


def test_beside_a_target_in_seconds_of_cpu_stands_the_best_other_proxy() -> None:
    assert last_cell("produce CPU s/GB", 0.9, 0.8, 1.2, 0.2, 0.4, 0.1) == "≤ 0.25: NOT met; ×0.50 of the best other"


def test_medians_are_shown_with_their_ratio_to_direct() -> None:
    table = {"produce MB/s": {"direct": [100.0, 300.0, 200.0], "this proxy": [150.0, 10.0, 900.0]}}
    assert "| 200 | 150 (×0.75) |" in render(table, ["direct", "this proxy"])
