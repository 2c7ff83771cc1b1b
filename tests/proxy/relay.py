"""A road between two ends of a test that can be long, be cut, lose what comes back, stand still, and lead elsewhere.

async with open_relay(port, to=("127.0.0.1", 9092)) as relay:
    relay.cut()                  # every connection ends; newcomers are hung up on
    relay.forget()               # the same, but nobody tells the far end
    relay.lose_answers()         # what is asked arrives, what is answered does not; until it is cut
    relay.mend()                 # newcomers are carried again
    relay.lead(to=address)       # connections end, and newcomers are carried there
    with relay.standing_still(): # what is sent meanwhile arrives afterwards
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
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
        # Of which the far end believes that they are there.
        self._forgotten: set[trio.CancelScope] = set()
        self._moves = trio.Event()
        self._moves.set()

    def cut(self) -> None:
        self._is_open = self._loses_answers = False
        for road in self._roads:
            road.cancel()

    def forget(self) -> None:
        self._forgotten |= self._roads
        self.cut()

    def mend(self) -> None:
        self._is_open = True

    def lead(self, to: Address) -> None:
        self.to = to
        self.cut()
        self.mend()

    def lose_answers(self) -> None:
        """A part of an answer would be worse than none: afterwards, `cut`."""
        self._loses_answers = True

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        self._moves = trio.Event()
        try:
            yield
        finally:
            self._moves.set()

    async def carry(self, client: trio.SocketStream) -> None:
        async with AsyncExitStack() as far_end:
            with trio.CancelScope() as road:
                async with client:
                    if self._is_open:
                        self._roads.add(road)
                        await self._carry(client, far_end, road)
            self._roads.discard(road)
            if road in self._forgotten:
                await trio.sleep_forever()

    async def _carry(self, client: trio.SocketStream, far_end: AsyncExitStack, road: trio.CancelScope) -> None:
        try:
            server = await far_end.enter_async_context(await trio.open_tcp_stream(*self.to, local_address=self._source))
        except OSError:
            return
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._copy, client, server, False, road)
            nursery.start_soon(self._copy, server, client, True, road)

    async def _copy(
        self, source: trio.SocketStream, target: trio.SocketStream, is_answer: bool, road: trio.CancelScope
    ) -> None:
        begins, ends = trio.open_memory_channel[tuple[float, bytes]](MOST_ON_THE_WAY)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._arrive, ends, target)
                async with begins:
                    while some := await source.receive_some(CHUNK_BYTES):
                        if is_answer and self._loses_answers:
                            self.answers_lost += 1
                        else:
                            await begins.send((trio.current_time() + self._seconds, some))
        except* (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        road.cancel()

    async def _arrive(
        self, on_the_way: trio.MemoryReceiveChannel[tuple[float, bytes]], target: trio.SocketStream
    ) -> None:
        async for at, some in on_the_way:
            await trio.sleep_until(at)
            await self._moves.wait()
            await target.send_all(some)


@asynccontextmanager
async def open_relay(port: int, to: Address, source: str | None = None, seconds: float = 0) -> AsyncIterator[Relay]:
    """`source`: the local address that the far end sees. `seconds`: how long one is on the way, in either direction."""
    relay = Relay(port, to, source, seconds)
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(trio.serve_tcp, relay.carry, port, host=HOST))
        yield relay
        nursery.cancel_scope.cancel()
