"""The listening sockets: one for bootstrap, one for each broker (or one for all, with SNI)."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable

from proxy.addresses import Address, end
from proxy.epoll_set import READABLE, EpollSet
from proxy.logs import Log

HIGHEST_PORT = 65_535
BACKLOG = 1024
ACCEPTS_PER_BATCH = 64
# Out of descriptors or memory: accepting again at once would only spin.
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})

# What is done with a newcomer: its socket, how it is called in logs, and whose door it came to (None: bootstrap).
Welcome = Callable[[socket.socket, str, int | None], None]


class CannotListen(Exception):
    """An address that can't be bound; the text names it, whose it is and what may help."""


class Door:
    def __init__(self, epoll_set: EpollSet, address: Address, node: int | None, welcome: Welcome, log: Log) -> None:
        self.address = address
        self.node = node
        self._welcome = welcome
        self._log = log
        self._epoll_set = epoll_set
        self._watched = READABLE
        self._closed = False
        self._socket = _listen(address, node)
        epoll_set.watch(self._socket, READABLE, self._knocked)
        log.info("listening", address=address, node="bootstrap" if node is None else node)

    def close(self) -> None:
        self._epoll_set.forget(self._socket)
        self._closed = True

    def rest(self) -> None:
        """Accept nobody for now; newcomers wait in the kernel's queue."""
        self._epoll_set.change(self._socket, self._watched, 0)
        self._watched = 0

    def resume(self) -> None:
        self._epoll_set.change(self._socket, self._watched, READABLE)
        self._watched = READABLE

    @property
    def resting(self) -> bool:
        return not self._watched and not self._closed

    def _knocked(self, _events: int) -> None:
        for _ in range(ACCEPTS_PER_BATCH):
            try:
                sock, peer = self._socket.accept()
            except BlockingIOError:
                return
            except OSError as failure:
                if failure.errno in EXHAUSTED:
                    self._log.error("accepting paused", address=self.address, reason=failure.strerror)
                    self.rest()
                # Anything else is the newcomer's: it hung up before it was let in.
                return
            self._welcome(sock, str(end(peer)), self.node)


def _listen(address: Address, node: int | None) -> socket.socket:
    whose = "the bootstrap listener" if node is None else f"the listener of node {node}"
    if address.port > HIGHEST_PORT:
        remedy = "there is no such port: give the node another in `ports`, or use `sni`"
        raise CannotListen(f"cannot listen on {address} for {whose}: {remedy}")
    try:
        family = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        # `[::]` is every address, as elsewhere.
        is_dual = address.host == "::" and socket.has_dualstack_ipv6()
        listening = socket.create_server(tuple(address), family=family, backlog=BACKLOG, dualstack_ipv6=is_dual)
    except OSError as failure:
        raise CannotListen(
            f"cannot listen on {address} for {whose}: {hindrance(failure, 'listen', 'ports')}"
        ) from failure
    listening.setblocking(False)
    return listening


def hindrance(failure: OSError, address_setting: str, port_setting: str) -> str:
    """Why an address can't be bound, and what may help."""
    choose = " or ".join(f"`{name}`" for name in dict.fromkeys((address_setting, port_setting)))
    unknown = f"nobody knows this host: write an address of this machine in `{address_setting}`"
    return {
        errno.EADDRINUSE: f"the port is in use: stop what listens there or choose another in {choose}",
        errno.EACCES: "binding it needs more rights: choose a port above 1023",
        errno.EADDRNOTAVAIL: f"this machine has no such address: choose one of its own in `{address_setting}`",
        socket.EAI_NONAME: unknown,
        socket.EAI_AGAIN: unknown,
    }.get(failure.errno or 0, failure.strerror or str(failure))
