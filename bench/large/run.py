"""python -m bench.large.run [--sizes N …] [--rounds N] [--markdown]

A large group of legacy members and one native: they start, one more comes and leaves again, ten restart. The legacy ones
come to the broker itself, which then translates for them, or through the proxy, in turns; the native one to the broker
always. Medians over the rounds; of what two had at once, the worst.
"""

from __future__ import annotations

import argparse
import shlex
import statistics
import sys
import uuid
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
import trio

from bench.dataplane.accounting import cpu_seconds
from bench.document import write_section
from bench.large.native import Native
from bench.members.crowd import HEARTBEAT_SECONDS, PATIENCE_SECONDS, Crowd, Member
from bench.rebalance.requests import Counters, between
from tests.kafka import Cluster
from tests.proxy.running import Running

NODE = 1
# So whoever comes gets some, and somebody has to give them up.
PARTITIONS_EACH = 2
START_APART_SECONDS = 0.008
RESTARTS, RESTARTS_APART_SECONDS = 10, 1.0
LOOK_SECONDS = 0.05
# Nobody was disturbed for so long: everybody has beaten since, the native one too.
CALM_SECONDS = 2 * HEARTBEAT_SECONDS
# As for thousands of members (bench/members).
BROKER_SETTINGS = {"socket.listen.backlog.size": "1024"}
HEAD = (
    "| members | what happens | layout | seconds | idle partition-s | owned twice | rejoins | requests upstream "
    "| CPU s, broker | CPU s, proxy |\n|---|---|---|---|---|---|---|---|---|---|"
)


class Figures(msgspec.Struct, frozen=True):
    seconds: float  # until the last member was disturbed
    idle: float  # partition-seconds
    twice: float  # likewise, of two owners
    rejoins: float  # SyncGroups that were answered, of all
    requests: float  # that the broker answered, of groups
    broker_cpu: float
    proxy_cpu: float


# By members, what happens, and layout.
Results = dict[tuple[int, str, str], list[Figures]]


class Stage:
    """One group of its own. `kafka` and `counters` are of the one broker that all groups share."""

    def __init__(
        self, kafka: Cluster, counters: Counters, proxy: Running | None, size: int, nursery: trio.Nursery
    ) -> None:
        name = f"large-{uuid.uuid4().hex[:12]}"
        self.partitions = PARTITIONS_EACH * size
        kafka.create_topic(name, partitions=self.partitions)
        direct = ("127.0.0.1", kafka.nodes[NODE].client_port)
        self._legacy = direct if proxy is None else ("127.0.0.1", proxy.port_of(NODE))
        self._pids = (kafka.pid(NODE), None if proxy is None else proxy.process.pid)
        self._counters = counters
        self._nursery = nursery
        self._topic = name
        self.crowd = Crowd(self._legacy, name, name, size, size)
        self.native = Native(direct, f"{name}-0", name)
        self._idle = self._twice = 0.0

    async def opens(self) -> None:
        """The native one has all."""
        self._nursery.start_soon(self.native.live)
        await _until(lambda: len(self.native.owned) == self.partitions)

    async def closes(self) -> None:
        """Else the coordinator would wait for the ends of their sessions while the next group is looked at."""
        for member in self.crowd.members:
            member.leave()
        await _until(lambda: all(member.owned is None for member in self.crowd.members))
        self._nursery.cancel_scope.cancel()

    async def figures(self, happens: Callable[[], Awaitable[None]]) -> Figures:
        self._idle = self._twice = 0.0
        joins, began, cpu, asked = self.crowd.joins, trio.current_time(), self._cpu(), self._counters.read()
        async with trio.open_nursery() as watching:
            watching.start_soon(self._watch)
            await happens()
            await _until(self._is_calm)
            watching.cancel_scope.cancel()
        broker_cpu, proxy_cpu = (late - early for early, late in zip(cpu, self._cpu(), strict=True))
        return Figures(
            seconds=self.crowd.told - began,
            idle=self._idle,
            twice=self._twice,
            rejoins=self.crowd.joins - joins,
            requests=sum(between(asked, self._counters.read()).values()),
            broker_cpu=broker_cpu,
            proxy_cpu=proxy_cpu,
        )

    def _cpu(self) -> tuple[float, float]:
        broker, proxy = self._pids
        return cpu_seconds(broker), cpu_seconds(proxy)

    async def _watch(self) -> None:
        before = trio.current_time()
        while True:
            await trio.sleep(LOOK_SECONDS)
            owned = self._owned()
            passed = trio.current_time() - before
            before += passed
            self._idle += passed * (self.partitions - len(set(owned)))
            self._twice += passed * (len(owned) - len(set(owned)))

    def _owned(self) -> list[int]:
        return [*self.native.owned, *(number for member in self.crowd.members for number in member.owned or ())]

    def _is_calm(self) -> bool:
        is_quiet = trio.current_time() - self.crowd.told > CALM_SECONDS
        return is_quiet and self.crowd.settled and len(self._owned()) == self.partitions

    # ------------------------------------------------------------------------------------------------- what happens

    async def start(self) -> None:
        for member in self.crowd.members:
            self._nursery.start_soon(member.live, self.crowd.door)
            await trio.sleep(START_APART_SECONDS)

    async def one_comes(self) -> None:
        one = Member(self.crowd, self._legacy, self._topic, f"{self._topic}-0", "newcomer")
        self.crowd.members.append(one)
        self._nursery.start_soon(one.live, self.crowd.door)

    async def it_leaves(self) -> None:
        one = self.crowd.members.pop()
        one.leave()
        self.crowd.told = trio.current_time()

    async def ten_restart(self) -> None:
        for member in self.crowd.members[:: len(self.crowd.members) // RESTARTS][:RESTARTS]:
            member.restart()
            await trio.sleep(RESTARTS_APART_SECONDS)


async def _until(holds: Callable[[], bool]) -> None:
    with trio.fail_after(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110
            await trio.sleep(LOOK_SECONDS)


HAPPENINGS: dict[str, Callable[[Stage], Awaitable[None]]] = {
    "all start": Stage.start,
    "one comes": Stage.one_comes,
    "it leaves": Stage.it_leaves,
    "ten restart": Stage.ten_restart,
}


async def _round(kafka: Cluster, counters: Counters, proxy: Running | None, size: int) -> dict[str, Figures]:
    async with trio.open_nursery() as nursery:
        stage = Stage(kafka, counters, proxy, size, nursery)
        await stage.opens()
        found = {what: await stage.figures(partial(happens, stage)) for what, happens in HAPPENINGS.items()}
        await stage.closes()
    await stage.native.leaves()
    return found


async def _all(kafka: Cluster, counters: Counters, proxy: Running, options: argparse.Namespace) -> Results:
    results: Results = {}
    for size in options.sizes:
        for turn in range(options.rounds):
            layouts = [("direct", None), ("proxy", proxy)]
            for layout, through in layouts if turn % 2 == 0 else reversed(layouts):
                for what, found in (await _round(kafka, counters, through, size)).items():
                    results.setdefault((size, what, layout), []).append(found)
                    print(f"{size}, {what}, {layout}: {found}", file=sys.stderr, flush=True)
    return results


def markdown(results: Results) -> str:
    whats = list(HAPPENINGS)
    in_order = sorted(results, key=lambda key: (key[0], whats.index(key[1])))
    return "\n".join([HEAD, *(_row(*key, results[key]) for key in in_order)])


def _row(size: int, what: str, layout: str, runs: list[Figures]) -> str:
    it = Figures(*(statistics.median(values) for values in zip(*map(msgspec.structs.astuple, runs), strict=True)))
    twice = max(run.twice for run in runs)
    through = "–" if layout == "direct" else f"{it.proxy_cpu:.1f}"
    return (
        f"| {size} | {what} | {layout} | {it.seconds:.1f} | {it.idle:.0f} | {twice:.2g} | {it.rejoins:,.0f} "
        f"| {it.requests:,.0f} | {it.broker_cpu:.1f} | {through} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 300], help="legacy members of the group")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--markdown", action="store_true", help="write the table into docs/benchmarks.md")
    options = parser.parse_args()
    if min(options.sizes) < RESTARTS:
        parser.error(f"--sizes: {RESTARTS} members restart, so there must be as many")
    with (
        Cluster.start(overrides=BROKER_SETTINGS) as kafka,
        Running(kafka.bootstrap, log_level="warning") as proxy,
        Counters(kafka) as counters,
    ):
        proxy.ready()
        kafka.coordinator("large")
        text = markdown(trio.run(_all, kafka, counters, proxy, options))
    print(text)
    if options.markdown:
        write_section("large", shlex.join(["python", "-m", "bench.large.run", *sys.argv[1:]]), text)


if __name__ == "__main__":
    main()
