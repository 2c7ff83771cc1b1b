"""python -m bench.members.run [--sizes N …] [--together N …] [--windows N] [--seconds S] [--markdown]

What members cost the proxy, at rest and while they are restarted one by one: CPU of the process as the kernel accounts it,
and memory. With tracing and without is measured in the same seconds, on two proxies that have as many members each: what
else the machine does then, it does to both. The groups are of fifty, but for those where all are in one (`--together`), with
a partition for each.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import trio

from bench.dataplane.accounting import cpu_seconds, resident_megabytes
from bench.document import write_section
from bench.members.crowd import GROUP_MEMBERS, HEARTBEAT_SECONDS, Crowd, rolling
from kafka_protocol import messages as m
from tests.kafka import Cluster
from tests.proxy.running import START_SECONDS, Running

TOPIC, PARTITIONS = "members", 100
NODE = 1
TRACED = 1_000
# While they roll: a deployment that restarts ten members a second is a quick one.
RESTARTS_PER_SECOND = 10
LIMIT_PERCENT = 10
# A broker's queue of connections that wait to be accepted holds 50 by default: what comes at once in thousands is cut off.
BROKER_SETTINGS = {"socket.listen.backlog.size": "1024"}


class Figures(msgspec.Struct, frozen=True):
    """Of one proxy in one window: CPU in seconds, requests that were answered, joins among them."""

    seconds: float
    cpu: float
    heartbeats: float
    joins: float

    @property
    def percent(self) -> float:
        return 100 * self.cpu / self.seconds


# When, the CPU so far, heartbeats and joins so far.
Count = tuple[float, float, int, int]


class Stand:
    """A proxy and its crowd."""

    def __init__(self, proxy: Running, name: str, size: int, topic: str = TOPIC, group: int = GROUP_MEMBERS) -> None:
        self.proxy = proxy
        self.fresh_megabytes = proxy.resident_megabytes()
        self.crowd = Crowd(("127.0.0.1", proxy.port_of(NODE)), topic, name, size, group)
        self._order = rolling(self.crowd)

    @property
    def megabytes(self) -> float:
        return resident_megabytes(self.proxy.process.pid) - self.fresh_megabytes

    async def roll(self) -> None:
        while True:
            next(self._order).restart()
            await trio.sleep(1 / RESTARTS_PER_SECOND)

    def count(self) -> Count:
        cpu = cpu_seconds(self.proxy.process.pid)
        return trio.current_time(), cpu, self.crowd.heartbeats, self.crowd.joins


def main() -> None:
    options = _options()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with Cluster.start(overrides=BROKER_SETTINGS) as kafka, tempfile.TemporaryDirectory() as place:
        kafka.create_topic(TOPIC, partitions=PARTITIONS)
        _wake_coordinator(kafka)
        text = trio.run(_all, kafka, Path(place), options)
    print(text)
    if options.markdown:
        write_section("members", shlex.join(["python", "-m", "bench.members.run", *sys.argv[1:]]), text)


def _wake_coordinator(kafka: Cluster) -> None:
    """The first question for a coordinator makes the topic that groups are kept in; members here ask none."""
    deadline = time.monotonic() + START_SECONDS
    while kafka.ask(NODE, 10, 1, m.FindCoordinatorRequest(key=TOPIC)).error_code:
        if time.monotonic() > deadline:
            raise TimeoutError(kafka.logs(NODE)[-2_000:])
        time.sleep(0.2)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 5_000], help="members of one proxy")
    parser.add_argument("--together", type=int, nargs="+", default=[100, 500], help="members of one group")
    parser.add_argument(
        "--windows", type=int, default=8, help="of each kind; the median is shown, and for tracing the extremes"
    )
    parser.add_argument("--seconds", type=float, default=15.0, help="of a window")
    parser.add_argument("--markdown", action="store_true", help="write the tables into docs/benchmarks.md")
    return parser.parse_args()


async def _all(kafka: Cluster, place: Path, options: argparse.Namespace) -> str:
    tables = [await _tracing(kafka, place, options)]
    tables.append(await _growth(kafka, options))
    tables.append(await _together(kafka, options))
    return "\n\n".join(tables)


@asynccontextmanager
async def standing(*stands: Stand) -> AsyncIterator[None]:
    async with trio.open_nursery() as nursery:
        for stand in stands:
            await stand.crowd.enter(nursery)
            print(f"all are in: {stand.crowd!r}", file=sys.stderr, flush=True)
        yield
        nursery.cancel_scope.cancel()
    for stand in stands:
        if stand.crowd.cut_off or stand.crowd.refused:
            print(f"{stand.crowd!r}\n{stand.proxy.log.read_text()[-2_000:]}", file=sys.stderr, flush=True)


async def window(stands: list[Stand], seconds: float, rolls: bool) -> list[Figures]:
    async with trio.open_nursery() as nursery:
        for stand in stands if rolls else ():
            nursery.start_soon(stand.roll)
        before = [stand.count() for stand in stands]
        await trio.sleep(seconds)
        after = [stand.count() for stand in stands]
        nursery.cancel_scope.cancel()
    return [
        Figures(*(late - early for early, late in zip(*pair, strict=True))) for pair in zip(before, after, strict=True)
    ]


# --- tracing -------------------------------------------------------------------------------------------------------


async def _tracing(kafka: Cluster, place: Path, options: argparse.Namespace) -> str:
    config = place / "traced.toml"
    config.write_text(f'[traces]\nfile = "{place}/traces.json"\n')
    with _proxy(kafka) as plain, _proxy(kafka, "--config", str(config)) as traced:
        stands = [Stand(plain, "plain", TRACED), Stand(traced, "traced", TRACED)]
        rows = []
        async with standing(*stands):
            for rolls, name in ((False, "at rest"), (True, f"{RESTARTS_PER_SECOND} restarts a second")):
                found = [await window(stands, options.seconds, rolls) for _ in range(options.windows)]
                rows.append(_said(_tracing_row(name, found)))
    head = (
        f"| {TRACED:,} members | tracing off, CPU | tracing on, CPU | more: median (extremes) | target |\n"
        "|---|---|---|---|---|"
    )
    return "\n".join([head, *rows])


def _tracing_row(name: str, found: list[list[Figures]]) -> str:
    off, on = (statistics.median(pair[n].percent for pair in found) for n in range(2))
    more = sorted(100 * (traced.cpu / plain.cpu - 1) for plain, traced in found)
    median = statistics.median(more)
    met = "met" if median < LIMIT_PERCENT else "NOT met"
    spread = f"{median:+.1f} % ({more[0]:+.0f} to {more[-1]:+.0f})"
    return f"| {name} | {off:.1f} % of a core | {on:.1f} % | {spread} | < {LIMIT_PERCENT} %: {met} |"


# --- growth --------------------------------------------------------------------------------------------------------


async def _growth(kafka: Cluster, options: argparse.Namespace) -> str:
    rows = []
    for size in options.sizes:
        with _proxy(kafka) as proxy:
            stand = Stand(proxy, f"of-{size}", size)
            async with standing(stand):
                found = [(await window([stand], options.seconds, False))[0] for _ in range(options.windows)]
                rows.append(_said(_growth_row(size, stand, found)))
    head = (
        "| members at rest | CPU | µs of CPU per member and second | heartbeats/s | MB | KB per member |\n"
        "|---|---|---|---|---|---|"
    )
    return "\n".join([head, *rows])


def _growth_row(size: int, stand: Stand, found: list[Figures]) -> str:
    percent = statistics.median(figures.percent for figures in found)
    beats = statistics.median(figures.heartbeats / figures.seconds for figures in found)
    late = "" if beats > 0.9 * size / HEARTBEAT_SECONDS else " (clients too slow)"
    return (
        f"| {size:,} | {percent:.1f} % of a core | {percent * 10_000 / size:.0f} | {beats:,.0f}{late} "
        f"| {stand.fresh_megabytes:.0f} + {stand.megabytes:.0f} | {stand.megabytes * 1024 / size:.1f} |"
    )


# --- one group -----------------------------------------------------------------------------------------------------


async def _together(kafka: Cluster, options: argparse.Namespace) -> str:
    rows = []
    for size in options.together:
        topic = f"{TOPIC}-{size}"
        kafka.create_topic(topic, partitions=size)
        with _proxy(kafka) as proxy:
            stand = Stand(proxy, f"together-{size}", size, topic, size)
            begun = stand.count()
            async with standing(stand):
                started = stand.count()
                found = [(await window([stand], options.seconds, rolls))[0] for rolls in (False, True)]
            rows.append(_said(_together_row(size, begun, started, found)))
    head = (
        "| members of one group | all in and at rest | CPU until then | at rest | "
        f"{RESTARTS_PER_SECOND} restarts a second |\n|---|---|---|---|---|"
    )
    return "\n".join([head, *rows])


def _together_row(size: int, begun: Count, started: Count, found: list[Figures]) -> str:
    seconds, cpu = (after - before for before, after in zip(begun[:2], started[:2], strict=True))
    rest, rolls = found
    return f"| {size:,} | {seconds:.0f} s | {cpu:.1f} s | {rest.percent:.1f} % of a core | {rolls.percent:.1f} % |"


def _said(row: str) -> str:
    """At once too, for the whole takes minutes."""
    print(row, file=sys.stderr, flush=True)
    return row


@contextlib.contextmanager
def _proxy(kafka: Cluster, *arguments: str) -> Iterator[Running]:
    with Running(kafka.bootstrap, *arguments, log_level="warning") as proxy:
        yield proxy.ready()


if __name__ == "__main__":
    main()
