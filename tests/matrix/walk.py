"""The walk. Each step begins with a group at rest and ends with one; a step that fails ends the walk and says why."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial

import trio

from tests.clients import Client, ClientEnded, overlaps, shared_out
from tests.kafka import Cluster
from tests.matrix.complaints import complaints
from tests.matrix.rows import Row
from tests.matrix.steady import Steady

PARTITIONS = 6
SESSION_MS = 10_000
HEARTBEAT_MS = 1_000
STEP_SECONDS = 60
# Within the session, and long enough that the partitions of who has left for good are given away.
AWAY_SECONDS = 4
CALM_SECONDS = 1.5
# Two processes' clocks are one, but a callback is told a moment after it ran.
OVERLAP_TOLERANCE_MS = 5


@dataclass
class Seen:
    """What came of one walk."""

    client: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    failed: str | None = None
    sent: int = 0
    lost: int = 0
    twice: int = 0
    overlapping: int = 0
    complaints: set[str] = field(default_factory=set)

    @property
    def whole(self) -> bool:
        return self.failed is None and not self.lost and not self.overlapping


class Walk:
    def __init__(self, kafka: Cluster, bootstrap: str, row: Row, exits: AsyncExitStack, one_by_one: bool) -> None:
        self.kafka = kafka
        self.bootstrap = bootstrap
        self.row = row
        self.one_by_one = one_by_one
        self.topic = f"matrix-{uuid.uuid4()}"
        self.everybody: list[Client] = []
        # Those who came by the way that this walk is about.
        self.walkers: list[Client] = []
        self.present: list[Client] = []
        self.seen = Seen()
        self._exits = exits
        kafka.create_topic(self.topic, partitions=PARTITIONS)
        self.steady = Steady(kafka.bootstrap, self.topic, PARTITIONS)

    # ------------------------------------------------------------------------------------------------------- steps

    async def before(self) -> None:
        """Two read and commit, on the classic protocol and past the proxy; the second came to where the first was."""
        self.alice = await self._legacy("alice", self.kafka.bootstrap)
        await self._settled()
        self.bob = await self._legacy("bob", self.kafka.bootstrap)
        await self._settled()
        await self.alice.until(lambda: len(self.alice.values) > 50, within=STEP_SECONDS)

    async def moves(self) -> None:
        """Both are restarted, to where this walk leads: one after the other where the coordinator lets them mix."""
        await self._leaves(self.bob)
        if not self.one_by_one:
            await self._leaves(self.alice)
            await self._forgotten()
        self.bob = await self._legacy("bob")
        await self._settled()
        if self.one_by_one:
            await self._leaves(self.alice)
        self.alice = await self._legacy("alice")
        await self._settled()

    async def scales_out(self) -> None:
        self.carol = await self._legacy("carol")
        await self._settled()

    async def static_restart(self) -> None:
        """Within its session: it has the same partitions again, and its neighbours notice nothing."""
        had = self.carol.owned
        neighbours = (self.alice, self.bob)
        let_go = [len(one.seen("revoked")) for one in neighbours]
        await self._leaves(self.carol)
        await trio.sleep(AWAY_SECONDS)
        self.carol = await self._legacy("carol")
        await self._settled()
        assert self.carol.owned == had, f"another share after the restart: {self.carol.owned}, not {had}"
        assert [len(one.seen("revoked")) for one in neighbours] == let_go, "a neighbour had to let go"

    async def scales_in(self) -> None:
        """A static member that goes for good is given up when its session ends."""
        await self._leaves(self.carol)
        await self._settled()

    async def native_joins(self) -> None:
        self.nadia = await self._start("confluent-kafka", "nadia", self.kafka.bootstrap)
        self.nadia.subscribe(self.topic, self.topic, protocol="consumer")
        await self._settled()

    async def native_leaves(self) -> None:
        await self._leaves(self.nadia)
        await self._settled()

    async def crash(self) -> None:
        dave = await self._legacy("dave")
        await self._settled()
        dave.kill()
        self.present.remove(dave)
        await self._settled()

    async def after(self) -> None:
        """Both go, and past the proxy somebody goes on where they were."""
        # Who commits by itself too and has read nothing since has nothing to commit, and librdkafka calls that an error.
        commits = list[tuple[str, int, int]]()
        for one in (self.alice, self.bob):
            await one.until(partial(_has_read_more, one, len(one.values)), within=STEP_SECONDS)
            commits += await one.commit()
        committed = {(topic, number): offset for topic, number, offset in commits}
        assert committed, "nothing was committed"
        await self._leaves(self.alice)
        await self._leaves(self.bob)
        await self._forgotten()
        after = await self._legacy("after", self.kafka.bootstrap)
        await self._settled()
        await after.until(lambda: len(after.values) > 50, within=STEP_SECONDS)
        again = [record for record in after.records if record[2] < committed.get(record[:2], 0)]
        assert not again, f"committed, and read again: {len(again)} records, {again[:3]}"

    def steps(self) -> list[Callable[[], Awaitable[None]]]:
        out = [self.scales_out, self.static_restart] if self.row.static else [self.scales_out]
        natives = [self.native_joins, self.native_leaves]
        return [self.before, self.moves, *out, self.scales_in, *natives, self.crash, self.after]

    # ----------------------------------------------------------------------------------------------------- details

    async def _legacy(self, name: str, bootstrap: str | None = None) -> Client:
        client = await self._start(self.row.library, name, bootstrap or self.bootstrap)
        client.subscribe(
            self.topic,
            self.topic,
            strategy=self.row.strategy,
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
            instance_id=name if self.row.static else None,
        )
        return client

    async def _start(self, library: str, name: str, bootstrap: str) -> Client:
        client = await self._exits.enter_async_context(await Client.start(library, bootstrap, name=name, within=60))
        self.everybody.append(client)
        if bootstrap == self.bootstrap:
            self.walkers.append(client)
        self.present.append(client)
        if library == self.row.library:
            self.seen.client = " ".join(client.seen("ready")[0][key] for key in ("library", "version"))
        return client

    async def _leaves(self, client: Client) -> None:
        await client.close()
        self.present.remove(client)

    async def _forgotten(self) -> None:
        """Whoever has left is no member any more: a static one only when its session ends."""
        await trio.sleep(SESSION_MS / 1000 if self.row.static else 0)

    async def _settled(self) -> None:
        await shared_out(self.present, PARTITIONS, CALM_SECONDS, STEP_SECONDS)

    async def finishes(self) -> None:
        """Whatever was produced is read in the end, or lost."""
        self.steady.end()
        if self.seen.failed is None:
            last = self.everybody[-1]
            with contextlib.suppress(TimeoutError, ClientEnded):
                await last.until(lambda: not self.steady.read_by(self.everybody).lost, within=15)
        self.seen.sent, self.seen.lost, self.seen.twice = self.steady.read_by(self.everybody)
        self.seen.overlapping = len(overlaps(self.everybody, OVERLAP_TOLERANCE_MS))
        for client in self.walkers:
            if client.library == self.row.library:
                self.seen.complaints |= complaints(client)


def _has_read_more(one: Client, than: int) -> bool:
    return len(one.values) > than


async def warm(kafka: Cluster) -> None:
    """A fresh broker has no coordinator until somebody asks for one, and every client grumbles at that."""
    async with await Client.start("confluent-kafka", kafka.bootstrap, name="first") as first:
        topic = f"matrix-{uuid.uuid4()}"
        await trio.to_thread.run_sync(kafka.create_topic, topic)
        first.subscribe(topic, topic)
        await first.event("assigned", within=STEP_SECONDS)


async def walks(kafka: Cluster, bootstrap: str, row: Row, one_by_one: bool = True) -> Seen:
    async with AsyncExitStack() as exits:
        walk = await trio.to_thread.run_sync(Walk, kafka, bootstrap, row, exits, one_by_one)
        try:
            for step in walk.steps():
                began = time.monotonic()
                try:
                    await step()
                except (TimeoutError, ClientEnded, AssertionError) as failure:
                    walk.seen.failed = f"{step.__name__}: {str(failure)[:1_500]}"
                    break
                walk.seen.seconds[step.__name__] = round(time.monotonic() - began, 1)
        finally:
            await walk.finishes()
        return walk.seen
