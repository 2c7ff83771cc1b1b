"""`python -m bench.defaults.run [--moments 10]`: sweeps one setting at a time and writes docs/defaults.md."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import msgspec

from bench.defaults.reasons import NOT_SWEPT, WHY
from bench.defaults.scenarios import SCENARIOS, Scenario
from translation.rules import Pacing, Rules

DOCUMENT = Path(__file__).parents[2] / "docs/defaults.md"
SWEEPS: dict[str, tuple[float, ...]] = {
    "park_ms": (0, 500, 1000, 3000, 6000),
    "company_ms": (0, 100, 300, 1000, 2000),
    "plan_ms": (0, 300, 1000),
    "poll_ms": (50, 100, 200, 500),
    "look_ms": (0, 300, 1000, 3000),
    "hold_beat_part": (0.0, 0.5, 0.8, 0.9),
    "describe_from": (1, 2, 4, 1000),
    "grace_ms": (0, 500, 1000, 2000),
    "longest_away_ms": (500, 1000, 1500, 2500),
}
WATCHED_MS = 20_000


class Measured(msgspec.Struct, frozen=True):
    """Means over the moments."""

    idle_s: float
    revocations: float
    settled_s: float
    requests: float


def measure(scenario: Scenario, rules: Rules, pacing: Pacing, moments: int) -> Measured:
    idle_ms = revocations = settled_ms = requests = 0
    for seed in range(moments):
        story = scenario(rules, pacing, seed)
        settled_ms += story.settles()
        story.passes(WATCHED_MS)
        ledger = story.world.ledger
        idle_ms, revocations = idle_ms + ledger.idle_ms, revocations + ledger.revocations
        requests += story.world.upstream.requests
    return Measured(idle_ms / moments / 1000, revocations / moments, settled_ms / moments / 1000, requests / moments)


def sweep(setting: str, values: tuple[float, ...], moments: int) -> str:
    """One table: a row a scenario, a column a value; the default is in bold."""
    default = getattr(Rules() if setting in Rules.__struct_fields__ else Pacing(), setting)
    columns = [*values] if default in values else sorted((*values, default))
    head = " | ".join(f"**{value:g}**" if value == default else f"{value:g}" for value in columns)
    lines = [f"## {setting}", "", WHY[setting], "", f"| | {head} |", "|---|" + "---|" * len(columns)]
    for name, scenario in SCENARIOS.items():
        cells = [_cell(measure(scenario, *_with(setting, value), moments)) for value in columns]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def _with(setting: str, value: float) -> tuple[Rules, Pacing]:
    changes: dict[str, Any] = {setting: value}
    if setting in Rules.__struct_fields__:
        return msgspec.structs.replace(Rules(), **changes), Pacing()
    return Rules(), msgspec.structs.replace(Pacing(), **changes)


def _cell(seen: Measured) -> str:
    return f"{seen.idle_s:.1f} / {seen.revocations:.1f} / {seen.settled_s:.1f} / {seen.requests:.0f}"


HEAD = f"""# How the defaults were chosen

Written by `python -m bench.defaults.run`. Each table changes one setting of [translation/rules.py](../translation/rules.py)
and leaves the rest as they are; the default is in bold. A group of three legacy members (six, or two direct natives beside
them, where it says so) with twelve partitions is at rest; then something happens, at moments drawn from a seed.

Cells: partition-seconds nobody owned / revocations felt / seconds until everybody owns its target for good / requests
upstream until {WATCHED_MS // 1000} s after that. Less is better, everywhere; virtual time, 1 to 10 ms to the coordinator.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--moments", type=int, default=10)
    parser.add_argument("--only", choices=[*SWEEPS], help="print this one, write nothing")
    asked = parser.parse_args()
    if asked.only:
        print(sweep(asked.only, SWEEPS[asked.only], asked.moments))
        return
    tables = (sweep(name, values, asked.moments) for name, values in SWEEPS.items())
    DOCUMENT.write_text("\n".join([HEAD, *tables, NOT_SWEPT]))


if __name__ == "__main__":
    main()
