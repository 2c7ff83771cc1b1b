"""Finding a broker that answers: its addresses in turn, none of them waited for (`link.py`)."""

from __future__ import annotations

import errno
import os
from collections import deque
from collections.abc import Callable, Iterable
from socket import SO_ERROR, SOL_SOCKET, socket

import trio

from proxy.addresses import Address
from proxy.calls import SOON_SECONDS, Calls
from proxy.causes import Cause, Disconnect
from proxy.epoll_set import WRITABLE, EpollSet
from proxy.names import Target


class Dial:
    """Who calls watches what becomes of it: `begin`, then `answered` whenever it was told that there is news."""

    def __init__(
        self,
        epoll_set: EpollSet,
        calls: Calls,
        choices: Iterable[tuple[Address, Target]],
        address: Address | None = None,
        sock: socket | None = None,
    ) -> None:
        """`address` and `sock`: somebody else has called, and been answered. Then there is nothing to choose from."""
        # The one dialled last.
        self.address = address
        self._epoll_set = epoll_set
        self._calls = calls
        # The first is the one that is dialled.
        self._choices = deque(calls.in_order(choices))
        self._has_others = len(self._choices) > 1
        self._sock = sock
        self._last = "no address to dial"
        self._began_at = 0.0

    def begin(self, news: Callable[[int], None]) -> None:
        if self._sock is not None:
            self._epoll_set.watch(self._sock, WRITABLE, news)
            return
        while self._choices:
            self.address, target = self._choices[0]
            try:
                self._sock = self._calls.begin(target)
            except OSError as failure:
                self._failed(failure.errno or 0)
            else:
                self._began_at = trio.current_time()
                self._epoll_set.watch(self._sock, WRITABLE, news)
                return
        raise Disconnect(Cause.BROKER_UNREACHABLE, self._last)

    def answered(self, news: Callable[[int], None], events: int) -> socket | None:
        """The connected socket, watched for nothing any more; or None, and the next address is dialled."""
        sock = self._sock
        assert sock is not None
        # A broker that has gone since it answered somebody else is noticed by whoever reads from it.
        failure = sock.getsockopt(SOL_SOCKET, SO_ERROR) if self._choices and events & ~WRITABLE else 0
        if not failure:
            self._epoll_set.change(sock, WRITABLE, 0)
            self._sock = None
            return sock
        self.abandon()
        self._failed(failure)
        self.begin(news)
        return None

    def pass_over(self, news: Callable[[int], None], patience_seconds: float) -> None:
        """An address that has said nothing for so long: the next one."""
        if not self._choices:
            return
        if len(self._choices) > 1:
            patience_seconds = min(patience_seconds, SOON_SECONDS)
        if trio.current_time() - self._began_at > patience_seconds:
            self.abandon()
            self._failed(errno.ETIMEDOUT)
            self.begin(news)

    def abandon(self) -> None:
        if self._sock is not None:
            self._epoll_set.forget(self._sock)
            self._sock = None

    def _failed(self, failure: int) -> None:
        address, target = self._choices.popleft()
        why = os.strerror(failure)
        self._calls.counts.upstream_connect_failures += 1
        if self._has_others:
            self._calls.failed(address, target, why)
        self._last = f"{address}: {why}"
