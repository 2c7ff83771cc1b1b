"""A plaintext connection: two raw sockets in the epoll set.

What is read from one side goes through the conversation and is sent to the other in the same breath. What the other
side's socket does not take is kept (`unsent`), and nothing more is read for it until that is gone: that is all the
backpressure there is, and it bounds the memory of a connection to one buffer each way. While nothing is unsent a
connection owns no buffer at all: reading uses one that all of them share.

A client that has finished sending (half-closed) still gets its answers: the end is passed on to the broker once all is
sent, and the broker's own end closes the connection. When a broker ends, what it said is delivered first.

A connection on which a member speaks to its coordinator outlives its client's socket (it *lingers*): members are not
connections, and the client may be back on another one.
"""

from __future__ import annotations

import errno
import os
import traceback
from collections.abc import Callable
from socket import IPPROTO_TCP, SHUT_WR, SO_ERROR, SOCK_NONBLOCK, SOCK_STREAM, SOL_SOCKET, TCP_NODELAY, socket

import trio

from proxy.addresses import Address
from proxy.causes import Cause, Disconnect
from proxy.connections import Connections, Watch
from proxy.conversation import Bytes
from proxy.epoll_set import READABLE, WRITABLE, EpollSet
from proxy.names import Target

BUFFER_BYTES = 256 * 1024
# Below this, copying costs less than the calls that avoid it.
LEAST_TO_SPLICE = 64 * 1024
# How a client goes.
GONE = frozenset({Cause.CLIENT_CLOSED, Cause.CLIENT_LOST})
_buffer = bytearray(BUFFER_BYTES)
_view = memoryview(_buffer)


class Leg:
    """One of the two sockets."""

    __slots__ = ("ended", "ending", "lost", "sock", "unsent", "watched")

    def __init__(self, sock: socket, lost: Cause) -> None:
        self.sock = sock
        self.lost = lost
        self.unsent = bytearray()
        self.watched = 0
        # What it had to say is read to its end.
        self.ended = False
        # It is to be told that there is no more, once all is sent.
        self.ending = False


class Link:
    def __init__(
        self,
        connections: Connections,
        epoll_set: EpollSet,
        sock: socket,
        client: str,
        node: int | None,
        choices: list[tuple[Address, Target]],
    ) -> None:
        self.client = client
        self.node = node
        self.dialled: Address | None = None
        self.conversation = connections.converse(self)
        # Not the epoll set's time: it stands still while the set waits, and we may come from elsewhere.
        self.opened_at = self.active_at = trio.current_time()
        self.watch = Watch(self.opened_at)
        self._connections = connections
        self._counts = connections.counts
        self._epoll_set = epoll_set
        self._pipe = epoll_set.pipe
        self._max_pipelined = connections.limits.max_pipelined_requests
        self._choices = iter(choices)
        self._client = Leg(sock, Cause.CLIENT_LOST)
        self._broker: Leg | None = None
        self._connected = False
        self._draining = False
        self._throttled = False
        self._closed = False
        self._lingering = False
        sock.setblocking(False)
        sock.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        connections.opened(self)
        epoll_set.watch(sock, 0, self._client_ready)
        self._guarded(self._dial, 0)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "connected" if self._connected else "dialling"
        return f"<Link {self.client} to {self.dialled} {state} {self.conversation!r}>"

    # ---------------------------------------------------------------------------------------------------- dialling

    def _dial(self, _events: int, last: str = "no address to dial") -> None:
        for address, (family, target) in self._choices:
            try:
                sock = socket(family, SOCK_STREAM | SOCK_NONBLOCK)
            except OSError as exhausted:
                raise Disconnect(Cause.BROKER_UNREACHABLE, str(exhausted)) from exhausted
            sock.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
            self.dialled = address
            failure = sock.connect_ex(target)
            if failure in (0, errno.EINPROGRESS):
                self._broker = Leg(sock, Cause.BROKER_LOST)
                self._broker.watched = WRITABLE
                self._epoll_set.watch(sock, WRITABLE, self._broker_ready)
                return
            sock.close()
            last = self._dial_failed(failure)
        raise Disconnect(Cause.BROKER_UNREACHABLE, last)

    def _dial_failed(self, failure: int) -> str:
        self._counts.upstream_connect_failures += 1
        return f"{self.dialled}: {os.strerror(failure)}"

    def _dialled(self, broker: Leg) -> None:
        failure = broker.sock.getsockopt(SOL_SOCKET, SO_ERROR)
        if not failure:
            self._connected = True
            self._arm()
            return
        self._epoll_set.forget(broker.sock, broker.watched)
        self._broker = None
        self._dial(0, self._dial_failed(failure))

    # ------------------------------------------------------------------------------------------------------ moving

    def _client_ready(self, events: int) -> None:
        self.active_at = self._epoll_set.now
        self._guarded(self._client_moves, events)

    def _broker_ready(self, events: int) -> None:
        self.active_at = self._epoll_set.now
        self._guarded(self._broker_moves, events)

    def _guarded(self, act: Callable[[int], None], events: int) -> None:
        """Whatever goes wrong ends this connection and no other."""
        if self._closed:
            return
        try:
            act(events)
        except Disconnect as end:
            self.close(end.cause, end.detail)
        except Exception:
            self.close(Cause.OUR_MISTAKE, traceback.format_exc())

    def _client_moves(self, events: int) -> None:
        client, broker = self._client, self._broker
        if client.unsent and events & ~READABLE:
            self._send_rest(client)
        if broker is None or not client.watched & READABLE or not events & ~WRITABLE:
            return
        if self.conversation.request_left >= LEAST_TO_SPLICE:
            moved = self._splice(client, broker, self.conversation.request_left)
            self.conversation.request_left -= moved
            self._counts.bytes_from_clients += moved
            return
        arrived = _receive(client)
        if arrived is None:
            return
        if not arrived:
            self._client_ended(broker)
            return
        self._counts.bytes_from_clients += len(arrived)
        onward = self.conversation.from_client(arrived)
        if onward:
            self._send(broker, onward)
        if self.conversation.desk is not None or self.conversation.answers:
            self._send_ours()
        if self.conversation.full(self._max_pipelined):
            self._throttled = True
            self._arm()

    def _broker_moves(self, events: int) -> None:
        client, broker = self._client, self._broker
        assert broker is not None
        if not self._connected:
            self._dialled(broker)
            return
        if broker.unsent and events & ~READABLE:
            self._send_rest(broker)
        if not broker.watched & READABLE or not events & ~WRITABLE:
            return
        if self.conversation.answer_left >= LEAST_TO_SPLICE:
            moved = self._splice(broker, client, self.conversation.answer_left)
            self.conversation.answer_left -= moved
            self._counts.bytes_from_brokers += moved
            self._send_ours()
            return
        arrived = _receive(broker)
        if arrived is None:
            return
        if not arrived:
            self._broker_ended(broker)
            return
        self._counts.bytes_from_brokers += len(arrived)
        onward = self.conversation.from_broker(arrived)
        if onward:
            self._send(client, onward)
        if self.conversation.desk is not None:
            self._send_ours()
        if self._throttled and not self.conversation.full(self._max_pipelined):
            self._throttled = False
            self._arm()

    def flush(self) -> None:
        """Something was asked or answered here outside of this connection's own events."""
        if not self.conversation.inside:
            self._guarded(self._flush, 0)

    def _flush(self, _events: int) -> None:
        self._send_ours()
        if self._throttled and not self.conversation.full(self._max_pipelined):
            self._throttled = False
            self._arm()

    def _send_ours(self) -> None:
        """What the desk asks and answers, and what the client sent behind a request that was in hand."""
        conversation, broker = self.conversation, self._broker
        if broker is None:
            return
        onward: Bytes = conversation.take_outbox()
        while onward or conversation.waiting():
            if onward:
                self._send(broker, onward)
            onward = conversation.from_client(b"") if conversation.waiting() else b""
        conversation.release_locals()
        if due := conversation.take_answers():
            self._send(self._client, due)

    def _splice(self, source: Leg, sink: Leg, limit: int) -> int:
        """The inside of a large opaque frame need not come into this process."""
        try:
            size = self._pipe.fill(source.sock, limit)
        except BlockingIOError:
            return 0
        except OSError as failure:
            raise Disconnect(source.lost, str(failure)) from failure
        if not size:
            raise Disconnect(source.lost, f"ended within a frame, {limit} bytes before its end")
        try:
            sink.unsent += self._pipe.empty(sink.sock, size)
        except OSError as failure:
            raise Disconnect(sink.lost, str(failure)) from failure
        if sink.unsent:
            self._arm()
        return size

    def _send(self, leg: Leg, data: Bytes) -> None:
        if leg is self._client and self._lingering:
            return
        sent = 0 if leg.unsent else _sent(leg, data)
        if sent < len(data):
            leg.unsent += memoryview(data)[sent:]
            self._arm()

    def _send_rest(self, leg: Leg) -> None:
        sent = _sent(leg, leg.unsent)
        if sent < len(leg.unsent):
            del leg.unsent[:sent]
            return
        leg.unsent = bytearray()
        if leg.ending:
            self._tell_end(leg)
        if not self._closed:
            self._arm()

    # ------------------------------------------------------------------------------------------------------ ending

    def _client_ended(self, broker: Leg) -> None:
        self._client.ended = True
        if self.conversation.quiet or self._needed():
            self.close(Cause.CLIENT_CLOSED)
        elif broker.unsent:
            broker.ending = True
            self._arm()
        else:
            self._tell_end(broker)
            self._arm()

    def _broker_ended(self, broker: Leg) -> None:
        broker.ended = True
        if self._lingering:
            self.close(Cause.BROKER_CLOSED)
        elif self._client.unsent:
            self._client.ending = True
            self._arm()
        else:
            self._tell_end(self._client)

    def _tell_end(self, leg: Leg) -> None:
        if leg is self._client:
            self.close(Cause.CLIENT_CLOSED if leg.ended else Cause.BROKER_CLOSED)
            return
        try:
            leg.sock.shutdown(SHUT_WR)
        except OSError as failure:
            raise Disconnect(leg.lost, str(failure)) from failure

    def close(self, cause: Cause, detail: str = "") -> None:
        if self._closed or (cause in GONE and self._linger()):
            return
        self._closed = True
        for leg in (self._client, self._broker):
            if leg is not None and not (self._lingering and leg is self._client):
                self._epoll_set.forget(leg.sock, leg.watched)
        self._connections.closed(self, cause, detail)

    def drain(self) -> None:
        if not self._draining:
            self._draining = True
            self._arm()
        if self._lingering or (self.conversation.quiet and not self._client.unsent):
            self.close(Cause.DRAINED)

    # --------------------------------------------------------------------------------------------------- lingering

    def _needed(self) -> bool:
        return self.conversation.desk is not None and self.conversation.desk.needed()

    def _linger(self) -> bool:
        """The client has gone, a member stays: true if so."""
        if self._lingering:
            return True
        if not self._connected or self._broker is None or self._broker.ended or not self._needed():
            return False
        self._lingering = True
        self._epoll_set.forget(self._client.sock, self._client.watched)
        self._client.watched = 0
        self._client.unsent = bytearray()
        self._arm()
        return True

    def release(self) -> None:
        """No member speaks on this connection any more."""
        if self._lingering and not self._needed():
            self.close(Cause.RELEASED)

    # -------------------------------------------------------------------------------------------------- what to await

    def stalled_by_client(self) -> bool:
        return bool(self._client.watched & READABLE)

    def connecting(self) -> bool:
        return not self._connected

    def _arm(self) -> None:
        """Watch for what can be acted on now: room to send what is unsent, and news only when it can be passed on."""
        client, broker = self._client, self._broker
        if broker is None:
            return
        held = self._throttled or (self._draining and not self.conversation.request_under_way)
        if self._connected:
            # Who does not take its answers may not ask for more: some are made here, and no broker holds them back.
            if not self._lingering:
                self._watch(client, not (client.ended or broker.unsent or client.unsent or held))
            self._watch(broker, not (broker.ended or client.unsent))

    def _watch(self, leg: Leg, read: bool) -> None:
        events = (READABLE if read else 0) | (WRITABLE if leg.unsent else 0)
        if events != leg.watched:
            self._epoll_set.change(leg.sock, leg.watched, events)
            leg.watched = events


def _receive(leg: Leg) -> memoryview | None:
    """What arrived, in the shared buffer: good until the next read. Empty at the end, None when there was nothing."""
    try:
        return _view[: leg.sock.recv_into(_buffer)]
    except BlockingIOError:
        return None
    except OSError as failure:
        raise Disconnect(leg.lost, str(failure)) from failure


def _sent(leg: Leg, data: Bytes) -> int:
    try:
        return leg.sock.send(data)
    except BlockingIOError:
        return 0
    except OSError as failure:
        raise Disconnect(leg.lost, str(failure)) from failure
