"""Two clients that share what a group reads, and are to notice nothing of what is done next."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import trio

from tests.clients import Client, Sasl, Tls
from tests.kafka import Cluster
from tests.proxy.running import secured
from tests.proxy.settled import at_rest, noticed

READ_AT_A_TIME = 40


def with_a_journal(kafka: Cluster, folder: Path) -> str:
    """Settings of a proxy whose groups outlive it, in a file of that folder."""
    config = folder / "proxy.toml"
    tls = secured(kafka.certificates) if kafka.certificates else ""
    config.write_text(f'[translation]\njournal = "{folder / "journal"}"\n{tls}')
    return str(config)


class Pair:
    def __init__(self, kafka: Cluster, topic: str, one: Client, other: Client) -> None:
        self._kafka = kafka
        # The group's name as well.
        self._topic = topic
        self.clients = (one, other)
        self._before: Any = None
        self._told: Any = None

    @classmethod
    async def start(cls, stack: AsyncExitStack, kafka: Cluster, bootstrap: str, topic: str, *libraries: str) -> Pair:
        """Of one library, or of two."""
        clients = []
        for library, name in zip((libraries[0], libraries[-1]), ("alice", "bob"), strict=True):
            tls = Tls(kafka.certificates.authority) if kafka.certificates else None
            sasl = Sasl("SCRAM-SHA-512", name, f"{name}-secret") if kafka.security.sasl else None
            client = await Client.start(library, bootstrap, name=name, tls=tls, sasl=sasl)
            clients.append(await stack.enter_async_context(client))
        return cls(kafka, topic, *clients)

    async def settles(self) -> None:
        for client in self.clients:
            client.subscribe(self._topic, self._topic, session_timeout_ms=20_000, heartbeat_interval_ms=500)
        self._before = await self.rests()
        assert all(client.owned for client in self.clients)
        await self._reads_on()
        self._told = [noticed(client) for client in self.clients]

    async def rests(self) -> Any:
        return await at_rest(self._kafka, self._topic, *self.clients)

    async def has_not_noticed(self) -> None:
        """And reads on, as the members that they were, all of it once."""
        await self._reads_on()
        after = await self.rests()
        assert [noticed(client) for client in self.clients] == self._told
        assert _members(after) == _members(self._before)
        assert after.group_epoch == self._before.group_epoch
        assert sorted(self._values) == sorted(map(str, range(len(self._values))))

    @property
    def _values(self) -> list[str]:
        return [value for client in self.clients for value in client.values]

    async def _reads_on(self) -> None:
        had = len(self._values)
        await self.clients[0].produce(self._topic, READ_AT_A_TIME, first=had)
        await self.clients[0].until(lambda: len(self._values) >= had + READ_AT_A_TIME)


def _members(described: Any) -> set[str]:
    return {member.member_id for member in described.members}


async def each(what: Callable[[Pair], Awaitable[None]], pairs: Iterable[Pair]) -> None:
    """Side by side, for most of the time is waiting."""
    async with trio.open_nursery() as nursery:
        for pair in pairs:
            nursery.start_soon(what, pair)
