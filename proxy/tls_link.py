"""A connection with TLS on one side or both: two trio streams and three pumps.

The conversation between them is the same as for plaintext. A pump each way reads, lets the conversation look, and sends
before it reads again: backpressure by waiting. The third one sends what is asked and answered here at other times. What
one of them takes to send is queued for its stream before anybody else runs, so it leaves in the order in which it was
expected.
The first pump to fail or be closed ends the others; `run` closes both streams, whatever happened, and reports the cause
once. As with plaintext, a connection on which a member speaks to its coordinator lingers when its client goes.
"""

from __future__ import annotations

import contextlib
import ssl
import traceback
from collections.abc import Awaitable, Callable
from functools import partial
from socket import SHUT_RDWR

import trio

from proxy.addresses import Address
from proxy.causes import Cause, Disconnect
from proxy.connections import CLIENT_GONE, Connections, Watch
from proxy.relaying import lent, relay
from proxy.socket_stream import SocketStream
from proxy.swallowed import is_swallowed, silent_ms, socket_of, throw_away
from proxy.tls_stream import RECEIVE_BYTES, PromptLock

Reach = Callable[[], Awaitable[tuple[Address, trio.abc.Stream]]]


class TlsLink:
    def __init__(
        self,
        connections: Connections,
        stream: trio.abc.Stream,
        client: str,
        certificate: bytes | None,
        node: int | None,
        part: Callable[[Cause], None],
    ) -> None:
        """`part`: what is on its way to the client should still arrive there (parting.py)."""
        self.client = client
        self.certificate = certificate
        self.node = node
        self.dialled: Address | None = None
        self.conversation = connections.converse(self)
        self.opened_at = self.active_at = trio.current_time()
        self.watch = Watch(self.opened_at)
        self._connections = connections
        self._counts = connections.counts
        self._client = stream
        self._part = part
        self._broker: trio.abc.Stream | None = None
        self._scope = trio.CancelScope()
        self._end: tuple[Cause, str] | None = None
        self._client_writing = PromptLock()
        self._broker_writing = PromptLock()
        self._pushed = trio.Event()
        self._lingering = False
        self._client_ended = False
        self._broker_ended = False
        self._draining = False
        # While the client is waited for: what ends the wait when draining.
        self._receiving: trio.CancelScope | None = None
        # Set whenever an answer has left: a client with too many requests in flight waits for it.
        self._answered = trio.Event()
        # The pumps, which end when the connection goes to another process.
        self._pumping = trio.CancelScope()
        self._has_moved = False
        connections.opened(self)

    def __repr__(self) -> str:
        return f"<TlsLink {self.client} to {self.dialled} {self.conversation!r}>"

    async def run(self, dial: Reach) -> None:
        try:
            with self._scope:
                self.dialled, self._broker = await dial()
                self.active_at = trio.current_time()
                while (near := await self._pumped_until_it_moves()) is None:
                    pass
                await self._relay(self._broker, *near)
        except Disconnect as end:
            self.close(end.cause, end.detail)
        except Exception:
            self.close(Cause.OUR_MISTAKE, traceback.format_exc())
        finally:
            ended = Cause.MOVED if self._has_moved else Cause.OUR_MISTAKE
            why = self._end or (ended, "ended without a cause")
            if not (why[0] in CLIENT_GONE or self._client_ended or self._lingering):
                self._part(why[0])
            throw_away(socket_of(self._broker), why[0], self._lingering)
            # Both, also where it is the process that ends.
            with trio.CancelScope(shield=True):
                for stream in (self._client, self._broker):
                    if stream is not None:
                        await trio.aclose_forcefully(stream)
            if not self._has_moved:
                self._connections.closed(self, *why)

    async def _pumped_until_it_moves(self) -> tuple[SocketStream, SocketStream] | None:
        """The near ends of what the other process has; None if that takes nobody, and the conversation stays."""
        async with trio.open_nursery() as pumps:
            self._pumping = pumps.cancel_scope
            pumps.start_soon(self._pump, self._client_to_broker)
            pumps.start_soon(self._pump, self._broker_to_client)
            pumps.start_soon(self._pump, self._ours)
        # Else all of this is cancelled.
        return self._move()

    def close(self, cause: Cause, detail: str = "") -> None:
        if cause in CLIENT_GONE and self._linger():
            return
        if self._end is None:
            self._end = (cause, detail)
        self._scope.cancel()

    def flush(self) -> None:
        if not self.conversation.inside:
            self._pushed.set()

    def _linger(self) -> bool:
        """The client has gone, a member stays: true if so."""
        may_ask = not (self._broker_ended or self.conversation.is_unfinished)
        if not self._lingering and may_ask and self.conversation.is_needed:
            self._lingering = True
            # Closed at the end. Until then no pump is to wait for it: what a member has yet to hear lies behind.
            _hang_up(self._client)
            self._connections.lingers(self)
            self.conversation.client_left()
            # It may have gone in the middle of something, and what was asked here meanwhile waits.
            self.flush()
        return self._lingering and may_ask

    def release(self) -> None:
        if self._lingering and not self.conversation.is_needed:
            self.close(Cause.RELEASED)

    def drain(self) -> None:
        self._draining = True
        if self.conversation.bound_for is not None:
            self.conversation.stay()
            self.flush()
        if self._receiving is not None and not self.conversation.request_under_way:
            self._receiving.cancel()
        is_unsent = self._client_writing.locked() or self._broker_writing.locked()
        is_over = not is_unsent and self.conversation.quiet
        # Of a client that has gone nothing is owed to anybody, but what members say for the last time arrives.
        if is_over or (self._lingering and not self.conversation.asks_of_its_own):
            self.close(Cause.DRAINED)

    def stalled_by_client(self) -> bool:
        return self._receiving is not None

    def connecting(self) -> bool:
        return self._broker is None

    def leaves_broker_unread(self) -> bool:
        return self._client_writing.locked()

    def swallows(self) -> bool:
        return is_swallowed(socket_of(self._broker))

    def silent_ms(self) -> int:
        return silent_ms(socket_of(self._broker))

    def pass_over(self, patience_seconds: float) -> None:
        """Each address has its own time (`Streams.open_any`)."""

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
        while True:
            while self.conversation.full:
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
                await self._tell_broker(broker, onward)
            await self._send_ours(broker)
        # TLS can't be half-closed through trio: an end from the client is an end, once what it asked is answered.
        self._client_ended = True
        # While the broker is asked about the request in hand, what lies behind that is whole requests, for all we know.
        is_cut = self.conversation.request_under_way and not self.conversation.asks
        if self.conversation.bound_for is not None:
            # Who goes on with it will see the end as well.
            return
        if self.conversation.quiet or is_cut or self.conversation.is_needed:
            self.close(Cause.CLIENT_CLOSED)

    async def _from_client(self) -> bytes | bytearray | None:
        """What the client sent, empty at its end; None when no more is to be taken: we drain, or have hung up."""
        if self._lingering or (self._draining and not self.conversation.request_under_way):
            return None
        with trio.CancelScope() as self._receiving:
            try:
                return await self._client.receive_some(RECEIVE_BYTES)
            finally:
                self._receiving = None
        return None

    async def _broker_to_client(self, broker: trio.abc.Stream) -> None:
        while True:
            arrived = await broker.receive_some(RECEIVE_BYTES)
            if not arrived:
                self._broker_ended = True
                self.close(Cause.CLIENT_CLOSED if self._client_ended else Cause.BROKER_CLOSED)
                return
            self.active_at = trio.current_time()
            if self.node is None and self.dialled is not None:
                self._connections.heard_from(self.dialled, self.opened_at)
            self._counts.bytes_from_brokers += len(arrived)
            onward = self.conversation.from_broker(arrived)
            self._answered.set()
            if onward:
                await self._tell_client(onward)
            await self._send_ours(broker)

    # -------------------------------------------------------------------------------------------------------- sending

    async def _ours(self, broker: trio.abc.Stream) -> None:
        while True:
            await self._pushed.wait()
            self._pushed = trio.Event()
            self._answered.set()
            await self._send_ours(broker)

    async def _send_ours(self, broker: trio.abc.Stream) -> None:
        """What the desk asks and answers, and what the client sent behind a request that was in hand."""
        conversation = self.conversation
        onward: bytes | bytearray | memoryview = conversation.take_outbox()
        while onward or conversation.waiting():
            if onward:
                await self._tell_broker(broker, onward)
            onward = conversation.from_client(b"") if conversation.waiting() else b""
        conversation.owed.release_locals()
        if due := conversation.owed.take_due():
            await self._tell_client(due)
        if self._lingering and conversation.is_unfinished:
            # By what lay behind a request in hand when its client went.
            raise Disconnect(Cause.CLIENT_CLOSED)
        if self._client_ended and not self._lingering and conversation.quiet:
            self.close(Cause.CLIENT_CLOSED)
        if conversation.can_move and not (self._client_writing.locked() or self._broker_writing.locked()):
            # Nobody is sending. Who receives loses nothing by being told to stop.
            self._pumping.cancel()

    # --------------------------------------------------------------------------------------------------------- moving

    def _move(self) -> tuple[SocketStream, SocketStream] | None:
        near = lent(partial(self._connections.send, self, has_tls=True))
        if near is None:
            self.conversation.stay()
            self._pushed.set()
            return None
        self._has_moved = True
        self._connections.closed(self, Cause.MOVED, "")
        return near

    async def _relay(self, broker: trio.abc.Stream, near_client: SocketStream, near_broker: SocketStream) -> None:
        async def of_client() -> None:
            await relay(self._client, near_client)
            # Whoever is still heard on the other side speaks for it.
            self._lingering = True
            self._part(Cause.MOVED)
            await trio.aclose_forcefully(self._client)

        self._connections.relayed += 1
        try:
            async with trio.open_nursery() as sides:
                sides.start_soon(of_client)
                was_rude = await relay(broker, near_broker)
                throw_away(socket_of(broker), Cause.BROKER_SILENT if was_rude else Cause.MOVED, self._lingering)
                await trio.aclose_forcefully(broker)
        finally:
            self._connections.relayed -= 1

    async def _tell_broker(self, broker: trio.abc.Stream, data: bytes | bytearray | memoryview) -> None:
        async with self._broker_writing:
            await _send(broker, data, Cause.BROKER_LOST)

    async def _tell_client(self, data: bytes | bytearray | memoryview) -> None:
        if self._lingering:
            return
        try:
            async with self._client_writing:
                await _send(self._client, data, Cause.CLIENT_LOST)
        except Disconnect:
            if not self._linger():
                raise


async def _send(stream: trio.abc.Stream, data: bytes | bytearray | memoryview, lost: Cause) -> None:
    try:
        await stream.send_all(data)
    except (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError, OSError) as failure:
        raise Disconnect(lost, str(failure)) from failure


def _hang_up(stream: trio.abc.Stream) -> None:
    """Whoever waits for the peer to say or to take something goes on."""
    sock = socket_of(stream)
    if sock is not None:
        with contextlib.suppress(OSError):
            sock.shutdown(SHUT_RDWR)
