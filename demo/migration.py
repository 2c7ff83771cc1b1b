"""The plot: four legacy consumers read through the proxy; then, one after the other, a native one takes each one's place,
connected to the cluster itself. When the last has moved the proxy is stopped, and nobody notices.

What a consumer that migrates needs is a library that knows KIP-848, `group.protocol=consumer`, and the cluster's address.
What the others should notice of it is next to nothing.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import trio

from demo.crew import PRODUCER, PROGRAMS, Program, start
from demo.ledger import Ledger, Step

LEGACY = ("confluent-kafka", "kafka-python", "confluent-kafka", "kafka-python")
NATIVE = "confluent-kafka"
PARTITIONS = 8
RECORDS_PER_SECOND = 200
SETTLE_SECONDS = 60
CATCH_UP_SECONDS = 30
# Calm before the first step, after each of four, and without the proxy.
STRETCHES = len(LEGACY) + 2


class NotInTime(Exception):
    """The group did not come to rest."""


class Stage(NamedTuple):
    cluster: str
    proxy: str
    topic: str
    group: str
    folder: Path
    seconds: float


class Migration:
    def __init__(
        self,
        stage: Stage,
        stop_proxy: Callable[[], Awaitable[None]],
        tell: Callable[[str], None],
        changed: Callable[[], None],
    ) -> None:
        """`tell` is given what happens, in words; `changed` is called whenever the ledger has changed."""
        self.ledger = Ledger(PARTITIONS)
        self.moved = 0
        self._stage = stage
        self._stop_proxy = stop_proxy
        self._tell = tell
        self._changed = changed
        # Set, and replaced, whenever a program said something.
        self._news = trio.Event()

    async def run(self) -> None:
        async with trio.open_nursery() as tasks:
            producer = await self._start_producer(tasks)
            self._step(f"{len(LEGACY)} legacy consumers start")
            self._tell(
                "  confluent-kafka with cooperative-sticky, kafka-python with roundrobin: no classic group takes both"
            )
            old = [
                await self._start_consumer(tasks, f"old-{number}", library, "classic")
                for number, library in enumerate(LEGACY, 1)
            ]
            await self._settle()
            self.ledger.has_formed = True
            await self._stretch()
            new = [await self._replace(tasks, number, each) for number, each in enumerate(old, 1)]
            self._step("all are native, the proxy stops")
            await self._stop_proxy()
            await self._stretch()
            await producer.leave()
            await self._caught_up()
            for each in new:
                tasks.start_soon(each.leave)

    async def _replace(self, tasks: trio.Nursery, number: int, old: Program) -> Program:
        self._step(f"{old.name} leaves, new-{number} takes its place")
        await old.leave()
        new = await self._start_consumer(tasks, f"new-{number}", NATIVE, "consumer")
        await self._settle()
        self.moved = number
        await self._stretch()
        return new

    # --------------------------------------------------------------------------------------------------------- starts

    async def _start_producer(self, tasks: trio.Nursery) -> Program:
        told = {"bootstrap": self._stage.cluster, "rate": RECORDS_PER_SECOND, "partitions": PARTITIONS}
        return await self._start(tasks, "producer", PRODUCER, told)

    async def _start_consumer(self, tasks: trio.Nursery, name: str, library: str, protocol: str) -> Program:
        self.ledger.enters(name, library, protocol)
        bootstrap = self._stage.proxy if protocol == "classic" else self._stage.cluster
        told = {"bootstrap": bootstrap, "group": self._stage.group, "protocol": protocol}
        return await self._start(tasks, name, PROGRAMS[library], told)

    async def _start(self, tasks: trio.Nursery, name: str, module: str, told: Mapping[str, Any]) -> Program:
        told = {**told, "name": name, "topic": self._stage.topic}
        return await start(tasks, name, module, told, self._stage.folder, self._hear)

    # ---------------------------------------------------------------------------------------------------------- waits

    async def _settle(self) -> None:
        began = time.monotonic()
        await self._until(lambda: self.ledger.is_settled, SETTLE_SECONDS, "every partition has its owner")
        self._tell(f"settled after {time.monotonic() - began:.1f} s")

    async def _caught_up(self) -> None:
        """What is still missing then is lost, and the summary says so."""
        with suppress(NotInTime):
            await self._until(lambda: not self.ledger.lost, CATCH_UP_SECONDS, "everything is read")

    async def _until(self, holds: Callable[[], bool], seconds: float, what: str) -> None:
        with trio.move_on_after(seconds):
            while not holds():
                await self._news.wait()
            return
        raise NotInTime(f"not within {seconds:.0f} s: {what}")

    async def _stretch(self) -> None:
        await trio.sleep(self._stage.seconds / STRETCHES)

    # --------------------------------------------------------------------------------------------------------- telling

    def _step(self, text: str) -> None:
        self.ledger.steps.append(Step(time.time() * 1000, text))
        self._tell(text)

    def _hear(self, name: str, event: Mapping[str, Any]) -> None:
        self.ledger.heard(name, event)
        text = _in_words(event)
        if text:
            self._tell(f"  {name} {text}")
        self._news.set()
        self._news = trio.Event()
        self._changed()


def _in_words(event: Mapping[str, Any]) -> str:
    """Records need no line, nor do assignments of nothing."""
    match event:
        case {"event": "assigned", "partitions": [_, *_] as partitions}:
            return f"is given {_listed(partitions)}"
        case {"event": "revoked", "partitions": [_, *_] as partitions}:
            return f"gives back {_listed(partitions)}"
        case {"event": "error", "message": message}:
            return f"says: {message}"
        case _:
            return ""


def _listed(partitions: list[int]) -> str:
    return " ".join(map(str, sorted(partitions)))
