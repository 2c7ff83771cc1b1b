"""A road between two ends of a test that can be long, be cut, lose what comes back, and lead elsewhere.

async with open_relay(port, to=("127.0.0.1", 9092)) as relay:
    relay.cut()                  # every connection ends; newcomers are hung up on
    relay.lose_answers()         # what is asked arrives, what is answered does not; until it is cut
    relay.mend()                 # newcomers are carried again
    relay.lead(to=address)       # connections end, and newcomers are carried there
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import trio

HOST = "127.0.0.1"
CHUNK_BYTES = 64 * 1024
# Chunks; who sends more than these waits until some have arrived.
MOST_ON_THE_WAY = 256
Address = tuple[str, int]


class Relay:
    def __init__(self, port: int, to: Address, source: str | None, seconds: float) -> None:
        self.address = f"{HOST}:{port}"
        self.answers_lost = 0
        self.to = to
        self._source = source
        self._seconds = seconds
        self._is_open = True
        self._loses_answers = False
        self._roads: set[trio.CancelScope] = set()

    def cut(self) -> None:
        self._is_open = self._loses_answers = False
        for road in self._roads:
            road.cancel()

    def mend(self) -> None:
        self._is_open = True

    def lead(self, to: Address) -> None:
        self.to = to
        self.cut()
        self.mend()

    def lose_answers(self) -> None:
        """A part of an answer would be worse than none: afterwards, `cut`."""
        self._loses_answers = True

    async def carry(self, client: trio.SocketStream) -> None:
        async with client:
            if self._is_open:
                with trio.CancelScope() as road:
                    self._roads.add(road)
                    await self._carry(client, road)
                self._roads.discard(road)

    async def _carry(self, client: trio.SocketStream, road: trio.CancelScope) -> None:
        try:
            server = await trio.open_tcp_stream(*self.to, local_address=self._source)
        except OSError:
            return
        async with server, trio.open_nursery() as nursery:
            nursery.start_soon(self._copy, client, server, False, road)
            nursery.start_soon(self._copy, server, client, True, road)

    async def _copy(
        self, source: trio.SocketStream, target: trio.SocketStream, is_answer: bool, road: trio.CancelScope
    ) -> None:
        begins, ends = trio.open_memory_channel[tuple[float, bytes]](MOST_ON_THE_WAY)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_arrive, ends, target)
                async with begins:
                    while some := await source.receive_some(CHUNK_BYTES):
                        if is_answer and self._loses_answers:
                            self.answers_lost += 1
                        else:
                            await begins.send((trio.current_time() + self._seconds, some))
        except* (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        road.cancel()


async def _arrive(on_the_way: trio.MemoryReceiveChannel[tuple[float, bytes]], target: trio.SocketStream) -> None:
    async for at, some in on_the_way:
        await trio.sleep_until(at)
        await target.send_all(some)


@asynccontextmanager
async def open_relay(port: int, to: Address, source: str | None = None, seconds: float = 0) -> AsyncIterator[Relay]:
    """`source`: the local address that the far end sees. `seconds`: how long one is on the way, in either direction."""
    relay = Relay(port, to, source, seconds)
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(trio.serve_tcp, relay.carry, port, host=HOST))
        yield relay
        nursery.cancel_scope.cancel()
