"""Two sockets apart from all others: who says more than is taken, and who takes it.

A producer that has much to say is ahead of its broker, whose socket then is full whenever something comes for it. To wait
for room within the set of all sockets means to leave the client unwatched, to be woken by each answer meanwhile, and to
watch the client again: a quarter of the CPU that its bytes cost. So room is waited for here, at once, and what both of them
say meanwhile is there when that ends. And the socket is given more of it, so that it is full less often.

Nobody else waits for it. The pair has an epoll set of its own, which is one of those in the set of all (epoll(7)), and is
not named there while it has its turn: so the others can be waited for without it.

One pair at a time: where several have much to say there is always something to do, and waiting alone would gain nothing.
"""

from __future__ import annotations

import select
from pathlib import Path
from socket import SO_SNDBUF, SOL_SOCKET, socket
from time import perf_counter

# The pair is named in the set of all once, and again when its turn is over.
ONCE = select.EPOLLIN | select.EPOLLONESHOT
# How long it goes on at most before trio looks at what is its own, and the pair's answers are passed on.
TURN_SECONDS = 0.01
# Room that its socket is given, where the kernel gives so much; by itself it gives 4 MB at most (tcp_wmem, tcp(7)).
ROOM_BYTES = 4 * 1024 * 1024
# Who had to wait so recently stays the pair.
KEPT_SECONDS = 0.05


class Aside:
    def __init__(self, others: select.epoll) -> None:
        self._others = others
        self._own = select.epoll()
        self._others.register(self._own, ONCE)
        self._news = select.poll()
        self._news.register(self._others, select.POLLIN)
        # The two sockets, and for what each is watched.
        self._pair: dict[socket, int] = {}
        self._used_at = self._turn_ends = 0.0

    def fileno(self) -> int:
        return self._own.fileno()

    def close(self) -> None:
        self._own.close()

    # -------------------------------------------------------------------------------------------------- who they are

    def take(self, pair: dict[socket, int], sink: socket) -> bool:
        """Two that are watched among the others are the pair from now on. False: another one is, and waited just now."""
        now = perf_counter()
        if pair.keys() != self._pair.keys():
            if now - self._used_at < KEPT_SECONDS:
                return False
            _move(self._pair, self._own, self._others)
            _move(pair, self._others, self._own)
            self._pair = pair
            _widen(sink)
        self._used_at = now
        return True

    def change(self, sock: socket, events: int) -> bool:
        """It is to be watched for something else. False: it is not one of the pair."""
        before = self._pair.get(sock)
        if before is None:
            return False
        self._pair[sock] = events
        change(self._own, sock, before, events)
        return True

    def forget(self, sock: socket) -> None:
        """It is about to be closed, and leaves the kernel's set by that."""
        self._pair.pop(sock, None)

    # ---------------------------------------------------------------------------------------------------- their turn

    def take_turn(self) -> list[tuple[int, int]]:
        self._turn_ends = perf_counter() + TURN_SECONDS
        return self._own.poll(0)

    def end_turn(self) -> None:
        self._turn_ends = 0.0
        self._others.modify(self._own, ONCE)

    def may_go_on(self) -> bool:
        """Nobody else has anything to do."""
        return perf_counter() < self._turn_ends and not self._news.poll(0)

    def has_room(self, sink: socket) -> bool:
        """As soon as it has. False: somebody else has something to do first, or the turn is over."""
        left = self._turn_ends - perf_counter()
        if left <= 0:
            return False
        self._news.register(sink, select.POLLOUT)
        try:
            return any(descriptor == sink.fileno() for descriptor, _ in self._news.poll(left * 1000))
        finally:
            self._news.unregister(sink)


def _widen(sink: socket) -> None:
    """Its kernel's buffer, as far as the machine lets: what is full less often wakes us less often, and is woken for more."""
    # Of what is asked for the kernel makes twice as much, and does not say when that would be less than there is (socket(7)).
    if 2 * min(ROOM_BYTES, _most_that_may_be_asked_for()) > sink.getsockopt(SOL_SOCKET, SO_SNDBUF):
        sink.setsockopt(SOL_SOCKET, SO_SNDBUF, ROOM_BYTES)


def _most_that_may_be_asked_for() -> int:
    try:
        return int(Path("/proc/sys/net/core/wmem_max").read_text())
    except (OSError, ValueError):
        # Some containers do not show it.
        return 0


def _move(pair: dict[socket, int], before: select.epoll, after: select.epoll) -> None:
    for sock, events in pair.items():
        change(before, sock, events, 0)
        change(after, sock, 0, events)


def change(epoll: select.epoll, sock: socket, before: int, events: int) -> None:
    """No events at all takes the socket out: the kernel reports an ended peer for as long as it is in."""
    if before and events:
        epoll.modify(sock, events)
    elif events:
        epoll.register(sock, events)
    elif before:
        epoll.unregister(sock)
