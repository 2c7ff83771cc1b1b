"""One group on a real cluster, members of real libraries, records at a steady rate: what scenarios are played on.

Legacy members come to the broker itself (then it translates for them) or through the proxy; native ones likewise.
"""

from __future__ import annotations

import threading
import time
import uuid
from contextlib import AsyncExitStack
from random import Random
from typing import Any, NamedTuple

import trio
from confluent_kafka import Producer

from tests.clients import Client
from tests.kafka import Cluster

PARTITIONS = 24
RECORDS_PER_SECOND = 240
SESSION_MS = 10_000
LEGACY_BEAT_SECONDS = 3


class Kind(NamedTuple):
    """How legacy members come: the library, and what it is told of the strategy."""

    library: str
    strategy: str | None


# Java is told nothing: by default it offers range first and cooperative-sticky too.
STRATEGIES = {
    "range": Kind("confluent-kafka", "range"),
    "cooperative": Kind("confluent-kafka", "cooperative"),
    "java": Kind("java-3.9", None),
}
NATIVE = "confluent-kafka"


class Layout(NamedTuple):
    """Where the members of each kind connect."""

    name: str
    legacy: str
    native: str


class Records:
    """Produced straight to the broker, to each partition in turn; a record's value is its number and its time."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self.sent = 0
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
        self._topic = topic
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        began = time.monotonic()
        while not self._stop.is_set():
            due = int((time.monotonic() - began) * RECORDS_PER_SECOND)
            while self.sent < due:
                value = f"{self.sent}:{time.time() * 1000:.1f}"
                self._producer.produce(self._topic, value, partition=self.sent % PARTITIONS)
                self.sent += 1
            self._producer.poll(0)
            self._stop.wait(0.02)

    def end(self) -> None:
        self._stop.set()
        self._thread.join()
        self._producer.flush(10)


class Stage:
    def __init__(self, kafka: Cluster, layout: Layout, kind: Kind, exits: AsyncExitStack, chance: Random) -> None:
        self.kafka = kafka
        self.layout = layout
        self.kind = kind
        self.topic = f"bench-{uuid.uuid4().hex[:12]}"
        self.everybody: list[Client] = []
        # Those that are there now.
        self.present: list[Client] = []
        self._exits = exits
        self.chance = chance
        kafka.create_topic(self.topic, partitions=PARTITIONS)
        self.records = Records(kafka.bootstrap, self.topic)

    async def legacy(self, name: str) -> Client:
        client = await self.ready(name)
        self.joins(client)
        return client

    async def native(self, name: str) -> Client:
        client = await self.ready(name, native=True)
        self.joins(client, native=True)
        return client

    async def ready(self, name: str, native: bool = False) -> Client:
        """A program that `joins` later. How long one takes to start is not measured here, and what a JVM's start takes of
        the machine would be; it has talked to the cluster, for a JVM's first words take a second, in which it loads classes.
        """
        library, bootstrap = (NATIVE, self.layout.native) if native else (self.kind.library, self.layout.legacy)
        client = await self._exits.enter_async_context(await Client.start(library, bootstrap, name=name))
        await client.metadata()
        return client

    def joins(self, client: Client, native: bool = False) -> None:
        as_such: dict[str, Any] = {"protocol": "consumer"}
        if not native:
            as_such = {"strategy": self.kind.strategy, "session_timeout_ms": SESSION_MS}
        client.subscribe(self.topic, self.topic, commit="default", **as_such)
        self.everybody.append(client)
        self.present.append(client)

    async def leaves(self, client: Client, away_seconds: float = 0) -> None:
        """Away since it has left, whatever its program has yet to do: a JVM takes 0.3 s to end, or more."""
        left = await client.leave()
        self.present.remove(client)
        await trio.sleep(max(0, left["at_ms"] / 1000 + away_seconds - time.time()))

    def crashes(self, client: Client) -> None:
        client.kill()
        self.present.remove(client)

    async def all_leave(self) -> None:
        """Else the proxy would beat for them until their sessions end, in the next story."""
        async with trio.open_nursery() as nursery:
            for client in list(self.present):
                nursery.start_soon(self.leaves, client)

    async def is_calm(self) -> None:
        """Converged, and a while later."""
        await self.converged()
        await trio.sleep(self.chance.uniform(0, LEGACY_BEAT_SECONDS))

    async def converged(self, within: float = 90, calm: float = 2.0) -> float:
        """When every partition had one owner among those present, each of whom has its share; stays so for a moment.
        The time is when it became so, in seconds since the epoch."""
        with trio.fail_after(within):
            since: float | None = None
            held: list[set[tuple[str, int]]] = []
            while since is None or time.time() - since < calm:
                now = [client.owned for client in self.present]
                if not _is_fair(now):
                    since = None
                elif since is None or now != held:
                    since = time.time()
                held = now
                await trio.sleep(0.05)
            return since


def _is_fair(held: list[set[tuple[str, int]]]) -> bool:
    least = PARTITIONS // len(held)
    return sum(map(len, held)) == len(set().union(*held)) == PARTITIONS and all(len(own) >= least for own in held)
