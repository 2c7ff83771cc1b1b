"""python -m bench.dataplane.run [--rounds N] [--only WORD …] [--peer NAME=HOST:PORT@PID …] [--markdown]

Rounds are interleaved (every peer takes its turn in every round) and medians are shown: absolute figures are this
machine's on that day, ratios to direct and CPU figures carry over. haproxy rewrites nothing, so librdkafka would leave it
for the broker's own address: its consume and produce are not measured.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
from pathlib import Path

from bench.dataplane import peers
from bench.dataplane.client import produce
from bench.dataplane.measures import CLIENT_MEGABYTES, MESSAGE_BYTES, SINK, TOPIC, Bench, Result, measures
from bench.dataplane.peers import Peer
from bench.document import write_section
from tests.kafka import Cluster

# What the table is to show, beside the figure: better than this counts as met. Ratios are to direct.
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
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=[], help="measures whose name holds one of these words")
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=HOST:PORT@PID", help="measure this one too"
    )
    parser.add_argument("--ours-alone", action="store_true", help="direct and this proxy only")
    parser.add_argument("--markdown", action="store_true", help="write the table into docs/benchmarks.md")
    options = parser.parse_args()
    # A disk would be what is measured.
    tempfile.tempdir = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        cluster = stack.enter_context(Cluster.start())
        fill(cluster)
        measured = start_peers(stack, cluster, folder, options)
        table = run(Bench(folder), measured, options.rounds, options.only)
    text = render(table, [peer.name for peer in measured])
    print(text)
    if options.markdown:
        write_section("dataplane", f"python -m bench.dataplane.run --rounds {options.rounds} --markdown", text)


def fill(cluster: Cluster) -> None:
    """What consumers and Fetch will read."""
    for topic in (TOPIC, SINK):
        cluster.create_topic(topic)
    produce(cluster.bootstrap, TOPIC, (CLIENT_MEGABYTES + 20) * 1_000_000, MESSAGE_BYTES, {})


def start_peers(stack: contextlib.ExitStack, cluster: Cluster, folder: Path, options: argparse.Namespace) -> list[Peer]:
    upstream = cluster.bootstrap
    host, port = upstream.split(":")
    found: list[Peer | None] = [Peer("direct", host, int(port), upstream, None)]
    if not options.ours_alone:
        found.append(stack.enter_context(peers.haproxy(upstream, 31000, folder)))
        found.append(stack.enter_context(peers.kroxylicious(upstream, 31100, folder)))
    found.append(stack.enter_context(peers.ours(upstream, 31200)))
    for given in options.peer:
        name, _, rest = given.partition("=")
        address, _, pid = rest.partition("@")
        found.append(Peer(name, *address.split(":")[:1], int(address.split(":")[1]), address, int(pid)))
    return [peer for peer in found if peer is not None]


def run(bench: Bench, measured: list[Peer], rounds: int, only: list[str]) -> Table:
    table: Table = {}

    def note(peer: Peer, result: Result) -> None:
        for row, value in result.items():
            table.setdefault(row, {}).setdefault(peer.name, []).append(value)

    wanted = [measure for measure in measures(bench) if not only or any(word in measure.__name__ for word in only)]
    if not only or "memory" in only:
        for peer in measured:
            note(peer, bench.memory(peer))
    for number in range(rounds):
        for measure in wanted:
            for peer in measured:
                if "haproxy" in peer.name and measure.__name__ in ("consume", "produce"):
                    continue
                note(peer, measure(peer))
        print(f"round {number + 1} of {rounds} done", flush=True)
    return table


def render(table: Table, names: list[str]) -> str:
    lines = [f"| measure | {' | '.join(names)} | target |", "|---" * (len(names) + 2) + "|"]
    medians = {row: {name: statistics.median(values) for name, values in found.items()} for row, found in table.items()}
    for row, found in medians.items():
        direct = found.get("direct", medians.get("fresh MB", {}).get("this proxy", 0.0))
        cells = [_cell(row, found.get(name), found.get("direct")) for name in names]
        target = ""
        if row in TARGETS and "this proxy" in found:
            words, met = TARGETS[row]
            target = f"{words}: {'met' if met(found['this proxy'], direct) else 'NOT met'}"
        lines.append(f"| {row} | {' | '.join(cells)} | {target} |")
    return "\n".join(lines)


def _cell(row: str, value: float | None, direct: float | None) -> str:
    if value is None or ("CPU" in row and direct == value):
        return "–"
    shown = f"{value:,.2f}" if value < 10 else f"{value:,.0f}"
    return shown if direct in (None, 0, value) else f"{shown} (×{value / direct:.2f})"


if __name__ == "__main__":
    main()
