"""Many sockets, one trio task: the plaintext byte path's way to wait.

Waiting for one socket costs trio about ten microseconds (it arms the kernel anew for each wait). Here a socket is
registered once, with what to call when it is ready, and trio waits only for the set as a whole. Even that costs as much as
forwarding a frame, and traffic comes in trains: so after something happened the set waits for the next thing itself, for a
moment, before it lets trio wait. Other tasks get their turn after some milliseconds at the latest.

Everything that is called runs to its end without awaiting; it must not block, and must not raise: whoever is called owns
its errors.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from socket import socket
from time import perf_counter
from types import TracebackType

import trio

from proxy.pipe import Pipes

READABLE = select.EPOLLIN
WRITABLE = select.EPOLLOUT

EVENTS_PER_BATCH = 256
# How long the set waits by itself for the next event, and the longest that other trio tasks wait for their turn. With
# less than a few milliseconds each wait sets a kernel timer anew: 10 µs of CPU a request on one busy connection.
LINGER_SECONDS = 0.004
TURN_SECONDS = 0.004


class EpollSet:
    """Owns the epoll descriptor. Sockets stay their owner's, but are closed through `forget`."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self.pipes = Pipes()
        self._ready: dict[int, Callable[[int], None]] = {}
        self._in_batch = False
        self._forgotten: list[socket] = []
        # The time of the batch under way: near enough for idle times, and free.
        self.now = 0.0

    def __enter__(self) -> EpollSet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close_forgotten()
        self._epoll.close()
        self.pipes.close()

    def watch(self, sock: socket, events: int, ready: Callable[[int], None]) -> None:
        self._ready[sock.fileno()] = ready
        self.change(sock, 0, events)

    def change(self, sock: socket, before: int, events: int) -> None:
        """No events at all takes the socket out: the kernel reports an ended peer for as long as it is in."""
        if before and events:
            self._epoll.modify(sock, events)
        elif events:
            self._epoll.register(sock, events)
        elif before:
            self._epoll.unregister(sock)

    def forget(self, sock: socket) -> None:
        """Stop watching and close; within a batch only after it, lest the number name another socket before it ends.

        Closing takes it out of the kernel's set as well.
        """
        self._ready.pop(sock.fileno(), None)
        if self._in_batch:
            self._forgotten.append(sock)
        else:
            sock.close()

    async def run(self) -> None:
        turn_at = 0.0
        # trio's clock is this one, started elsewhere; asking it for each batch is dear.
        started = trio.current_time() - perf_counter()
        while True:
            events = self._epoll.poll(LINGER_SECONDS, EVENTS_PER_BATCH)
            if not events:
                await trio.lowlevel.wait_readable(self._epoll)
                turn_at = trio.current_time() + TURN_SECONDS
                continue
            self.now = perf_counter() + started
            self._in_batch = True
            for descriptor, mask in events:
                ready = self._ready.get(descriptor)
                if ready is not None:
                    ready(mask)
            self._in_batch = False
            if self._forgotten:
                self._close_forgotten()
            if self.now > turn_at:
                await trio.lowlevel.checkpoint()
                turn_at = trio.current_time() + TURN_SECONDS

    def _close_forgotten(self) -> None:
        for sock in self._forgotten:
            sock.close()
        self._forgotten.clear()
