"""`python -m bench.simulation.run [--sizes N …] [--markdown]`: simulated member-steps a second, on one core.

A step is one fact through `translation.step` with all that goes with it in the simulation: the client that caused it, the
network, the coordinator, the group's level, the invariants. Each group starts within a few seconds, comes to rest, beats
for a minute, has every tenth member restarted, and comes to rest again. Time is the CPU's, not the clock's: what else the
machine does is not counted, though a busy one has colder caches.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterator

import msgspec

from bench.document import write_section
from simulation.brokers import GroupSettings
from simulation.topics import Topics
from simulation.world import World

SIZES = (6, 100, 1_000)
START_MS = 5
QUIET_MS = 60_000
SETTLES_WITHIN_MS = 300_000
HEAD = "| members | part | member-steps | virtual s | CPU s | steps/s |\n|---|---|---|---|---|---|"


class Speed(msgspec.Struct, frozen=True):
    members: int
    part: str
    steps: int
    virtual_s: float
    cpu_s: float

    def __str__(self) -> str:
        rate = self.steps / self.cpu_s
        cells = (f"{self.members:,}", self.part, f"{self.steps:,}", f"{self.virtual_s:.0f}", f"{self.cpu_s:.2f}")
        return f"| {' | '.join(cells)} | {rate:,.0f} |"


class Stopwatch:
    def __init__(self, world: World) -> None:
        self.world = world
        self._begins()

    def lap(self, part: str) -> Speed:
        world = self.world
        cpu_s = time.process_time() - self._cpu_s
        virtual_s = (world.now - self._now) / 1_000
        speed = Speed(len(world.legacy), part, world.steps - self._steps, virtual_s, cpu_s)
        self._begins()
        return speed

    def _begins(self) -> None:
        self._cpu_s, self._now, self._steps = time.process_time(), self.world.now, self.world.steps


def measured(members: int) -> Iterator[Speed]:
    world = World(Topics(foo=members), settings=GroupSettings(max_size=2 * members))
    watch = Stopwatch(world)
    for number in range(members):
        world.client(f"member-{number}").starts()
        world.run(START_MS)
    world.settles(SETTLES_WITHIN_MS)
    yield watch.lap("start")
    world.run(QUIET_MS)
    yield watch.lap("beat")
    for client in list(world.legacy.values())[::10]:
        client.vanishes()
        client.starts()
        world.run(START_MS)
    world.settles(SETTLES_WITHIN_MS)
    yield watch.lap("roll")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.simulation.run", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--markdown", action="store_true", help="write the table into docs/benchmarks.md")
    asked = parser.parse_args()
    lines = [HEAD]
    print(HEAD)
    for members in asked.sizes:
        for speed in measured(members):
            print(speed, flush=True)
            lines.append(str(speed))
    if asked.markdown:
        command = shlex.join(["python", "-m", "bench.simulation.run", *sys.argv[1:]])
        write_section("simulation", command, "\n".join(lines))


if __name__ == "__main__":
    main()
