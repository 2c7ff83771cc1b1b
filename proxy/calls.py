"""What all attempts to reach brokers have in common, with TLS or without: each begins here, and what failed is remembered.

A name may have several addresses, and packets to the first may be swallowed: not every client is to wait for that anew. One
that failed lately is dialled last, and while others remain none is waited for longer than SOON_SECONDS.

Who comes in at a door may be this proxy itself: `upstream`, or the brokers' advertised.listeners, name one of its doors, and
each connection dials the next, until there are no descriptors left. Names and addresses don't tell (a host has many, a door
may be bound to all of them), but both ends of such a connection are sockets of this process. Its four numbers are compared,
not its near end alone: the kernel gives one port of ours to connections with several others.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from socket import IPPROTO_TCP, SOCK_NONBLOCK, SOCK_STREAM, TCP_NODELAY, socket
from weakref import WeakValueDictionary

import trio

from proxy.addresses import Address, end
from proxy.causes import Cause, Disconnect
from proxy.counts import Counts
from proxy.logs import Log
from proxy.names import Target
from proxy.pacing import unpace_if_near
from proxy.settings import HIGHEST_PORT

SOON_SECONDS = 2.0
LATELY_SECONDS = 60.0


class Calls:
    def __init__(self, counts: Counts, log: Log) -> None:
        self.counts = counts
        self._log = log
        # Addresses that failed, and until when each is dialled last.
        self._failed: dict[Target, float] = {}
        # Sockets that began here, by their near ends, for as long as somebody has them.
        self._sockets: WeakValueDictionary[str, socket] = WeakValueDictionary()

    def begin(self, target: Target) -> socket:
        """On its way there: writable once it has arrived, or failed. OSError where that is known at once."""
        family, there = target
        if not 0 < there[1] <= HIGHEST_PORT:
            # A broker may be named so by the cluster. The kernel's own refusal is no OSError.
            raise OSError(errno.EINVAL, f"no port has the number {there[1]}")
        try:
            sock = socket(family, SOCK_STREAM | SOCK_NONBLOCK)
        except OSError as exhausted:
            raise Disconnect(Cause.BROKER_UNREACHABLE, str(exhausted)) from exhausted
        sock.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
        unpace_if_near(sock, target)
        failure = sock.connect_ex(there)
        if failure not in (0, errno.EINPROGRESS):
            sock.close()
            raise OSError(failure, os.strerror(failure))
        self._sockets[str(end(sock.getsockname()))] = sock
        return sock

    def began(self, client: str, accepted: socket) -> bool:
        """Whether who came in, with this name and by this socket, was sent by ourselves."""
        sock = self._sockets.get(client)
        try:
            return sock is not None and end(sock.getpeername()) == end(accepted.getsockname())
        except OSError:
            # It has been closed meanwhile.
            return False

    def failed(self, address: Address, target: Target, why: str) -> None:
        now = trio.current_time()
        self._failed = {each: until for each, until in self._failed.items() if until > now}
        if target not in self._failed:
            there = end(target[1])
            self._log.warning("dialled last", address=address, at=there, seconds=LATELY_SECONDS, reason=why)
            self._failed[target] = now + LATELY_SECONDS

    def in_order(self, choices: Iterable[tuple[Address, Target]]) -> list[tuple[Address, Target]]:
        """Those that failed lately last."""
        now = trio.current_time()
        return sorted(choices, key=lambda choice: self._failed.get(choice[1], now) > now)
