"""python -m bench.dataplane.run [--rounds N] [--only WORD …] [--upstream H:P] [--peer NAME=H:P@PID …] [--smallest]
    [--ours-alone] [--processes N] [--markdown]

Rounds are interleaved (every peer takes its turn in every round, another one first each time) after one that does not
count, in which JVMs warm up. Medians are shown: absolute figures are this machine's on that day, ratios to direct and CPU
figures carry over. No figure fails the run; targets are printed beside.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import shlex
import statistics
import sys
from pathlib import Path

from bench.dataplane import peers
from bench.dataplane.broker import fill, scratch, start_broker
from bench.dataplane.measures import CLIENT_MEGABYTES, Bench, Result, in_rounds
from bench.dataplane.peers import Peer
from bench.dataplane.surroundings import surroundings
from bench.document import write_section

# What the table is to show, beside the figure: better than this counts as met. Ratios are to direct; seconds of CPU are those
# of the machine the targets are from, so beside them stands how the best other proxy does in the same run.
TARGETS = {
    "consume MB/s": ("≥ 0.60 of direct", lambda own, direct: own >= 0.6 * direct),
    "consume CPU s/GB": ("≤ 0.35", lambda own, _: own <= 0.35),
    "produce MB/s": ("≥ 0.90 of direct", lambda own, direct: own >= 0.9 * direct),
    "produce CPU s/GB": ("≤ 0.25", lambda own, _: own <= 0.25),
    "1 connection p50 µs": ("≤ direct + 40", lambda own, direct: own <= direct + 40),
    "64 connections req/s": ("≥ 0.43 of direct", lambda own, direct: own >= 0.43 * direct),
    "64 connections CPU µs": ("≤ 30", lambda own, _: own <= 30),
    "connect p50 µs": ("≤ 2.5 × direct", lambda own, direct: own <= 2.5 * direct),
    "1,000 idle MB": ("≤ fresh + 30", lambda own, fresh: own <= fresh + 30),
}

Table = dict[str, dict[str, list[float]]]


def main() -> None:
    options = _options()
    around = surroundings(options.upstream)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(scratch())
        upstream = options.upstream or stack.enter_context(start_broker()).bootstrap
        bench = Bench(folder, upstream)
        fill(upstream, CLIENT_MEGABYTES, {})
        measured = start_peers(stack, upstream, folder, options)
        table = run(bench, measured, options.rounds, options.only)
    text = f"{around}\n\n{render(table, [peer.name for peer in measured])}"
    print(text)
    if options.markdown:
        write_section("dataplane", shlex.join(["python", "-m", "bench.dataplane.run", *sys.argv[1:]]), text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[], help="measures whose name holds one of these words")
    parser.add_argument("--upstream", metavar="HOST:PORT", help="a cluster of one broker that runs already")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=HOST:PORT@PID", help="measure this one before it too"
    )
    parser.add_argument("--ours-alone", action="store_true", help="direct and this proxy only")
    parser.add_argument("--processes", type=int, metavar="N", help="this proxy as so many processes as well")
    parser.add_argument("--smallest", action="store_true", help="also the least that a forwarder in Python can do")
    parser.add_argument("--markdown", action="store_true", help="write the table into docs/benchmarks.md")
    options = parser.parse_args()
    if options.peer and not options.upstream:
        parser.error("--peer needs --upstream: it must stand before the same broker as all others")
    return options


def start_peers(stack: contextlib.ExitStack, upstream: str, folder: Path, options: argparse.Namespace) -> list[Peer]:
    found: list[Peer | None] = [peers.direct(upstream)]
    if not options.ours_alone:
        found += [stack.enter_context(peers.haproxy(upstream, folder, splices=splices)) for splices in (False, True)]
        found += [stack.enter_context(proxy(upstream, folder)) for proxy in (peers.kafka_proxy, peers.kroxylicious)]
    if options.smallest:
        found.append(stack.enter_context(peers.smallest(upstream, folder)))
    found += [peers.given(words) for words in options.peer]
    found.append(stack.enter_context(peers.ours(upstream, folder)))
    if options.processes:
        found.append(stack.enter_context(peers.ours(upstream, folder, processes=options.processes)))
    return [peer for peer in found if peer is not None]


def run(bench: Bench, measured: list[Peer], rounds: int, only: list[str]) -> Table:
    table: Table = {}

    def note(peer: Peer, result: Result) -> None:
        for row, value in result.items():
            table.setdefault(row, {}).setdefault(peer.name, []).append(value)

    wanted = [measure for measure in in_rounds(bench) if not only or any(word in measure.__name__ for word in only)]
    if not only or "memory" in only:
        for peer in measured:
            note(peer, bench.memory(peer))
    for number in range(rounds + 1):
        first = number % len(measured)
        for measure in wanted:
            for peer in measured[first:] + measured[:first]:
                try:
                    result = measure(peer)
                except RuntimeError as error:
                    if number > 0:
                        raise RuntimeError(f"{measure.__name__} of {peer.name}: {error}") from error
                    # A cold JVM closes connections that ask before it is ready for so many.
                    print(f"{measure.__name__} of {peer.name}, while it warms up: {error}")
                else:
                    if number > 0:
                        note(peer, result)
        print(f"round {number} of {rounds} done", flush=True)
    return table


def render(table: Table, names: list[str]) -> str:
    lines = [f"| measure | {' | '.join(names)} | target |", "|---" * (len(names) + 2) + "|"]
    medians = {row: {name: statistics.median(values) for name, values in found.items()} for row, found in table.items()}
    for row, found in medians.items():
        direct = found.get("direct", medians.get("fresh MB", {}).get(peers.OURS, 0.0))
        cells = [_cell(row, found.get(name), found.get("direct")) for name in names]
        target = ""
        if row in TARGETS and peers.OURS in found:
            words, met = TARGETS[row]
            target = f"{words}: {'met' if met(found[peers.OURS], direct) else 'NOT met'}{_beside_others(row, found)}"
        lines.append(f"| {row} | {' | '.join(cells)} | {target} |")
    return "\n".join(lines)


def _beside_others(row: str, found: dict[str, float]) -> str:
    none = ("direct", peers.SMALLEST)
    others = [value for name, value in found.items() if name not in none and not name.startswith(peers.OURS)]
    return f"; ×{found[peers.OURS] / min(others):.2f} of the best other" if "CPU" in row and others else ""


def _cell(row: str, value: float | None, direct: float | None) -> str:
    if value is None or ("CPU" in row and direct == value):
        return "–"
    if math.isnan(value):
        return "closed them"
    shown = f"{value:,.2f}" if value < 10 else f"{value:,.0f}"
    return shown if direct in (None, 0, value) else f"{shown} (×{value / direct:.2f})"


if __name__ == "__main__":
    main()
