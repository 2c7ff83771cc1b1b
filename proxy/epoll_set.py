"""Many sockets, one trio task: the plaintext byte path's way to wait.

Waiting for one socket costs trio about ten microseconds (it arms the kernel anew for each wait). Here a socket is
registered once, with what to call when it is ready, and trio waits only for the set as a whole. Everything that is
called runs to its end without awaiting; it must not block, and must not raise: whoever is called owns its errors.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from socket import socket
from types import TracebackType

import trio

READABLE = select.EPOLLIN
WRITABLE = select.EPOLLOUT

# Give other trio tasks their turn after this many batches, also when there is always more to do.
BATCHES_PER_TURN = 16
EVENTS_PER_BATCH = 256


class EpollSet:
    """Owns the epoll descriptor. Sockets stay their owner's, but are closed through `forget`."""

    def __init__(self) -> None:
        self._epoll = select.epoll()
        self._ready: dict[int, Callable[[int], None]] = {}
        self._forgotten: list[socket] = []
        # The time of the batch under way: near enough for idle times, and free.
        self.now = 0.0

    def __enter__(self) -> EpollSet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close_forgotten()
        self._epoll.close()

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

    def forget(self, sock: socket, events: int) -> None:
        """Stop watching and close. Closed only after the batch, lest its number name another socket within it."""
        self.change(sock, events, 0)
        self._ready.pop(sock.fileno(), None)
        self._forgotten.append(sock)

    async def run(self) -> None:
        batches = 0
        while True:
            events = self._epoll.poll(0, EVENTS_PER_BATCH)
            if not events:
                await trio.lowlevel.wait_readable(self._epoll)
                continue
            self.now = trio.current_time()
            for descriptor, mask in events:
                ready = self._ready.get(descriptor)
                if ready is not None:
                    ready(mask)
            self._close_forgotten()
            batches += 1
            if batches == BATCHES_PER_TURN:
                batches = 0
                await trio.lowlevel.checkpoint()

    def _close_forgotten(self) -> None:
        for sock in self._forgotten:
            sock.close()
        self._forgotten.clear()
