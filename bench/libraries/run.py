"""python -m bench.libraries.run [--library NAME …] [--rounds N] [--markdown]

One more member comes to a group of two, and goes: how long until all partitions are shared out again, how long they had
nobody meanwhile, and how long the one who goes takes to close. Each library with the strategy, Heartbeats and commits that it
has by default, directly and through the proxy in the same seconds; medians over the rounds, and of closing the worst too.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from random import Random

import msgspec
import trio

from bench.document import write_section
from bench.rebalance.measures import idle_ms
from bench.rebalance.stage import LEGACY_BEAT_SECONDS, Kind, Layout, Stage
from tests.clients import LIBRARIES
from tests.kafka import Cluster
from tests.proxy.running import Running

# Some Heartbeats long, but no more than that: who goes so early may still have one held that will be held no more later.
AT_HOME_SECONDS = 4.0


class Round(msgspec.Struct, frozen=True):
    """Seconds, and partition-seconds."""

    comes: float
    comes_idle: float
    goes: float
    goes_idle: float
    closes: float


def main() -> None:
    options = _options()
    with Cluster.start() as kafka, Running(kafka.bootstrap, log_level="warning") as proxy:
        layouts = [Layout("direct", kafka.bootstrap, ""), Layout("proxy", proxy.ready().bootstrap, "")]
        rows = []
        for library in options.library:
            found = trio.run(side_by_side, kafka, layouts, library, options.rounds)
            rows += [_row(library, layout, rounds) for layout, rounds in zip(layouts, found, strict=True)]
            print(*rows[-len(layouts) :], sep="\n", file=sys.stderr, flush=True)
    head = (
        "| library | layout | comes: s | idle partition-s | goes: s | idle partition-s | closes: s (worst) |\n"
        "|---|---|---|---|---|---|---|"
    )
    table = "\n".join([head, *rows])
    print(table)
    if options.markdown:
        write_section("libraries", f"python -m bench.libraries.run {' '.join(sys.argv[1:])}", table)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = [name for name, library in LIBRARIES.items() if not library.missing]
    parser.add_argument("--library", nargs="+", choices=here, default=here)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--markdown", action="store_true", help="write the table into docs/benchmarks.md")
    return parser.parse_args()


async def side_by_side(kafka: Cluster, layouts: Sequence[Layout], library: str, rounds: int) -> list[list[Round]]:
    found: list[list[Round]] = [[] for _ in layouts]
    async with trio.open_nursery() as nursery:
        for layout, into in zip(layouts, found, strict=True):
            nursery.start_soon(play, kafka, layout, library, rounds, into)
    return found


async def play(kafka: Cluster, layout: Layout, library: str, rounds: int, into: list[Round]) -> None:
    kind = Kind(library, None)
    async with AsyncExitStack() as exits:
        stage = Stage(kafka, layout, kind, exits, Random(library))
        try:
            for name in ("alice", "bob"):
                await stage.legacy(name)
                await stage.converged()
            for number in range(rounds):
                into.append(await _comes_and_goes(stage, f"carol-{number}"))
        finally:
            stage.records.end()
        await stage.all_leave()


async def _comes_and_goes(stage: Stage, name: str) -> Round:
    carol = await stage.ready(name)
    await stage.is_calm()
    began = time.time()
    stage.joins(carol)
    shared = await stage.converged()
    comes_idle = idle_ms(stage.everybody, (began * 1000, shared * 1000))
    await trio.sleep(AT_HOME_SECONDS + stage.chance.uniform(0, LEGACY_BEAT_SECONDS))
    left = time.time()
    await stage.leaves(carol)
    closed = carol.seen("closed")[0]["at_ms"] / 1000
    again = await stage.converged()
    goes_idle = idle_ms(stage.everybody, (left * 1000, again * 1000))
    return Round(shared - began, comes_idle / 1000, again - left, goes_idle / 1000, closed - left)


def _row(library: str, layout: Layout, rounds: Sequence[Round]) -> str:
    comes, comes_idle, goes, goes_idle, closes = (
        statistics.median(column) for column in zip(*map(msgspec.structs.astuple, rounds), strict=True)
    )
    worst = max(each.closes for each in rounds)
    return (
        f"| {library} | {layout.name} | {comes:.1f} | {comes_idle:.1f} | {goes:.1f} | {goes_idle:.1f} "
        f"| {closes:.2f} ({worst:.2f}) |"
    )


if __name__ == "__main__":
    main()
