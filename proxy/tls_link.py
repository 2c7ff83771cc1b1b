"""A connection with TLS on one side or both: two trio streams and a pump each way.

The conversation between them is the same as for plaintext. Each pump reads, lets the conversation look, and sends before
it reads again: backpressure by waiting. The first pump to end, fail or be closed ends the other; `run` closes both
streams, whatever happened, and reports the cause once.
"""

from __future__ import annotations

import ssl
import traceback
from collections.abc import Awaitable, Callable

import trio

from proxy.addresses import Address
from proxy.causes import Cause, Disconnect
from proxy.connections import Connections, Watch

RECEIVE_BYTES = 64 * 1024

Dial = Callable[[], Awaitable[tuple[Address, trio.abc.Stream]]]


class TlsLink:
    def __init__(self, connections: Connections, stream: trio.abc.Stream, client: str, node: int | None) -> None:
        self.client = client
        self.node = node
        self.dialled: Address | None = None
        self.conversation = connections.converse()
        self.opened_at = self.active_at = trio.current_time()
        self.watch = Watch(self.opened_at)
        self._connections = connections
        self._counts = connections.counts
        self._client = stream
        self._broker: trio.abc.Stream | None = None
        self._scope = trio.CancelScope()
        self._end: tuple[Cause, str] | None = None
        self._client_writing = trio.Lock()
        self._client_ended = False
        self._draining = False
        # While the client is waited for: what ends the wait when draining.
        self._receiving: trio.CancelScope | None = None
        # Set whenever an answer has left: a client with too many requests in flight waits for it.
        self._answered = trio.Event()
        connections.opened(self)

    def __repr__(self) -> str:
        return f"<TlsLink {self.client} to {self.dialled} {self.conversation!r}>"

    async def run(self, dial: Dial) -> None:
        try:
            with self._scope:
                self.dialled, self._broker = await dial()
                self.active_at = trio.current_time()
                async with trio.open_nursery() as pumps:
                    pumps.start_soon(self._pump, self._client_to_broker)
                    pumps.start_soon(self._pump, self._broker_to_client)
        except Disconnect as end:
            self.close(end.cause, end.detail)
        finally:
            for stream in (self._client, self._broker):
                if stream is not None:
                    await trio.aclose_forcefully(stream)
            self._connections.closed(self, *(self._end or (Cause.OUR_MISTAKE, "ended without a cause")))

    def close(self, cause: Cause, detail: str = "") -> None:
        if self._end is None:
            self._end = (cause, detail)
        self._scope.cancel()

    def drain(self) -> None:
        self._draining = True
        if self._receiving is not None and not self.conversation.request_under_way:
            self._receiving.cancel()
        if self.conversation.quiet and not self._client_writing.locked():
            self.close(Cause.DRAINED)

    def stalled_by_client(self) -> bool:
        return self._receiving is not None

    def connecting(self) -> bool:
        return self._broker is None

    async def _pump(self, pump: Callable[[trio.abc.Stream], Awaitable[None]]) -> None:
        assert self._broker is not None
        try:
            await pump(self._broker)
        except Disconnect as end:
            self.close(end.cause, end.detail)
        except (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError, OSError) as failure:
            self.close(Cause.BROKER_LOST if pump == self._broker_to_client else Cause.CLIENT_LOST, str(failure))
        except Exception:
            self.close(Cause.OUR_MISTAKE, traceback.format_exc())

    async def _client_to_broker(self, broker: trio.abc.Stream) -> None:
        limits = self._connections.limits
        while True:
            while len(self.conversation.expected) >= limits.max_pipelined_requests:
                self._answered = trio.Event()
                await self._answered.wait()
            arrived = await self._from_client()
            if arrived is None:
                return
            if not arrived:
                break
            self.active_at = trio.current_time()
            self._counts.bytes_from_clients += len(arrived)
            onward = self.conversation.from_client(arrived)
            if onward:
                await _send(broker, onward, Cause.BROKER_LOST)
            if self.conversation.answers:
                due = b"".join(self.conversation.answers)
                self.conversation.answers.clear()
                async with self._client_writing:
                    await _send(self._client, due, Cause.CLIENT_LOST)
        # TLS can't be half-closed through trio: an end from the client is an end, once what it asked is answered.
        self._client_ended = True
        if self.conversation.quiet or self.conversation.request_under_way:
            self.close(Cause.CLIENT_CLOSED)

    async def _from_client(self) -> bytes | bytearray | None:
        """What the client sent, empty at its end; None when no more is to be taken because we drain."""
        if self._draining and not self.conversation.request_under_way:
            return None
        with trio.CancelScope() as self._receiving:
            arrived = await self._client.receive_some(RECEIVE_BYTES)
            self._receiving = None
            return arrived
        return None

    async def _broker_to_client(self, broker: trio.abc.Stream) -> None:
        while True:
            arrived = await broker.receive_some(RECEIVE_BYTES)
            if not arrived:
                self.close(Cause.CLIENT_CLOSED if self._client_ended else Cause.BROKER_CLOSED)
                return
            self.active_at = trio.current_time()
            self._counts.bytes_from_brokers += len(arrived)
            onward = self.conversation.from_broker(arrived)
            self._answered.set()
            if onward:
                async with self._client_writing:
                    await _send(self._client, onward, Cause.CLIENT_LOST)
            if self._client_ended and self.conversation.quiet:
                self.close(Cause.CLIENT_CLOSED)
                return


async def _send(stream: trio.abc.Stream, data: bytes | bytearray | memoryview, lost: Cause) -> None:
    try:
        await stream.send_all(data)
    except (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError, OSError) as failure:
        raise Disconnect(lost, str(failure)) from failure
