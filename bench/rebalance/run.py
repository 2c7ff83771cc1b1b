"""python -m bench.rebalance.run [--rounds N] [--scenario NAME …] [--strategy NAME …] [--json FILE] [--markdown]

The same clients and the same broker, in turns: legacy members direct (the broker translates for them), through the proxy
with native members direct, and through the proxy with the native ones routed through it too. Medians over the rounds;
lost, duplicated and double-owned are the worst of all. A broker may refuse to let native members into a group of direct
classic ones (docs/runbook.md): then that run never settles, is no part of the medians, and is named below the table.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Awaitable
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random

import msgspec
import trio

from bench.document import write_section
from bench.rebalance.measures import Figures, figures, gaps, long_gaps, medians, requests_per_member_s
from bench.rebalance.requests import Counters, Reading, between
from bench.rebalance.scenarios import SCENARIOS
from bench.rebalance.stage import STRATEGIES, Layout, Stage
from tests.kafka import Cluster
from tests.proxy.running import Running

# Where native members take part, it matters how they come.
WITH_NATIVES = frozenset({"roll", "churn", "newcomer", "pioneer"})
DIRECT = "direct"
COLUMNS = (
    "revocations",
    "revoked",
    "idle_partition_seconds",
    "late",
    "p99_ms",
    "max_ms",
    "seconds",
    "first_record_s",
    "requests_per_member_s",
)

# None: it never settled.
Results = dict[tuple[str, str, str], list[Figures | None]]


def main() -> None:
    options = _options()
    defaults = {"group.initial.rebalance.delay.ms": "3000"}
    with Cluster.start(overrides=defaults) as kafka, Running(kafka.bootstrap, log_level="info") as proxy:
        proxy.ready()
        with Counters(kafka) as counters:
            results = trio.run(_all, kafka, proxy, counters, options)
    print(markdown(results))
    if options.json:
        said = [
            {"scenario": scenario, "strategy": strategy, "layout": layout, "runs": runs}
            for (scenario, strategy, layout), runs in results.items()
        ]
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(said)))
    if options.markdown:
        for scenario in options.scenario:
            table = markdown({key: runs for key, runs in results.items() if key[0] == scenario})
            write_section(f"rebalance {scenario}", f"python -m bench.rebalance.run {' '.join(sys.argv[1:])}", table)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--strategy", nargs="+", choices=STRATEGIES, default=list(STRATEGIES))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", action="store_true", help="write each scenario's table into docs/benchmarks.md")
    return parser.parse_args()


def layouts(kafka: Cluster, proxy: Running, scenario: str) -> list[Layout]:
    found = [
        Layout(DIRECT, kafka.bootstrap, kafka.bootstrap),
        Layout("proxy", proxy.bootstrap, kafka.bootstrap),
        Layout("proxy, natives too", proxy.bootstrap, proxy.bootstrap),
    ]
    if scenario == "soonest":
        return found[1:2]
    return found if scenario in WITH_NATIVES else found[:2]


async def _all(kafka: Cluster, proxy: Running, counters: Counters, options: argparse.Namespace) -> Results:
    results: Results = {}
    for round_ in range(options.rounds):
        for scenario in options.scenario:
            for strategy in options.strategy:
                turns = layouts(kafka, proxy, scenario)
                first = round_ % len(turns)
                for layout in turns[first:] + turns[:first]:
                    chance = Random(f"{round_} {scenario} {strategy}")
                    found = await _settled(layout, play(kafka, counters, layout, scenario, strategy, chance))
                    results.setdefault((scenario, strategy, layout.name), []).append(found)
                    print(f"{scenario}, {strategy}, {layout.name}: {found}", file=sys.stderr, flush=True)
    return results


async def _settled(layout: Layout, playing: Awaitable[Figures]) -> Figures | None:
    """Only who is direct may be refused."""
    try:
        return await playing
    except trio.TooSlowError:
        if layout.name != DIRECT:
            raise
        return None


async def play(
    kafka: Cluster, counters: Counters, layout: Layout, scenario: str, strategy: str, chance: Random
) -> Figures:
    began = Reading(0, {})

    def begin() -> None:
        nonlocal began
        began = counters.read()

    async with AsyncExitStack() as exits:
        stage = Stage(kafka, layout, STRATEGIES[strategy], exits, chance)
        try:
            played = await SCENARIOS[scenario](stage, begin)
            ended_ms = await stage.converged(calm=0.5) * 1000
            ended = counters.read()
        finally:
            stage.records.end()
        await _all_read(stage)
        window = (began.at_ms, ended_ms)
        found = figures(stage.everybody, played.stay, played.newcomer, window, stage.records.sent)
        print(f"requests: {between(began, ended)}", file=sys.stderr)
        for gap in long_gaps(gaps(stage.everybody, window), began.at_ms):
            print(gap, file=sys.stderr)
        if played.granted_s is None:
            found.requests_per_member_s = requests_per_member_s(stage.everybody, began, ended)
        else:
            found.first_record_s = played.granted_s
        await stage.all_leave()
        return found


async def _all_read(stage: Stage) -> None:
    """Whatever was produced is read in the end, or lost."""
    for _ in range(100):
        if len({value for client in stage.everybody for *_, value in client.records}) >= stage.records.sent:
            return
        await trio.sleep(0.2)


def markdown(results: Results) -> str:
    lines = [
        "| scenario, strategy | layout | revoke callbacks | partitions revoked | idle partition-s | late | p99 ms | max ms "
        "| seconds | newcomer's first record s | requests upstream per member-s | lost, twice, overlapping |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    rows = sorted(results.items(), key=lambda item: item[0][:2])
    for (scenario, strategy, layout), runs in rows:
        settled = [run for run in runs if run is not None]
        if not settled:
            continue
        it = medians(settled)
        shown = " | ".join(_shown(getattr(it, column)) for column in COLUMNS)
        lines.append(f"| {scenario}, {strategy} | {layout} | {shown} | {it.lost}, {it.duplicated}, {it.overlapping} |")
    for (scenario, strategy, layout), runs in rows:
        if None in runs:
            lines += ["", f"{scenario}, {strategy}, {layout}: {runs.count(None)} of {len(runs)} runs never settled."]
    return "\n".join(lines)


def _shown(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}".removesuffix(".0")


if __name__ == "__main__":
    main()
