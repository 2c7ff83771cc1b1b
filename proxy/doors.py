"""The listening sockets: one for bootstrap, one for each broker (or one for all, with SNI)."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable, Iterable
from functools import partial

from proxy.addresses import Address, end
from proxy.epoll_set import READABLE, EpollSet
from proxy.logs import Log
from proxy.names import Target
from proxy.pacing import pace_from_elsewhere, unpace_newcomers
from proxy.settings import HIGHEST_PORT
from proxy.siblings import Ports

BACKLOG = 1024
ACCEPTS_PER_BATCH = 64
# Out of descriptors or memory: accepting again at once would only spin.
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
# An address, or a whole family, that this machine has not.
NOT_HERE = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})

# What is done with a newcomer: its socket, how it is called in logs, and whose door it came to (None: bootstrap).
Welcome = Callable[[socket.socket, str, int | None], None]


class CannotListen(Exception):
    """An address that can't be bound; the text names it, whose it is and what may help."""


class Door:
    def __init__(
        self,
        epoll_set: EpollSet,
        address: Address,
        node: int | None,
        welcome: Welcome,
        log: Log,
        beside: Door | None = None,
        ports: Ports | None = None,
    ) -> None:
        """`beside`: a door on the same host. Its name is looked up once for both: that takes seconds where no resolver
        answers, and all connections stand still meanwhile. `ports`: other processes of this proxy listen there too."""
        self.address = address
        self.node = node
        self._welcome = welcome
        self._log = log
        self._epoll_set = epoll_set
        self._watched = READABLE
        self._shut = self._closed = False
        known = beside._targets if beside is not None else None
        self._targets: list[Target]
        # One for each address of a name.
        self._targets, self._sockets = _listen(address, node, known, ports)
        for listening in self._sockets:
            self._pacing = unpace_newcomers(listening)
            epoll_set.watch(listening, READABLE, partial(self._knocked, listening))
        at = ",".join(str(end(listening.getsockname())) for listening in self._sockets)
        facts = {} if at == str(address) else {"at": at}
        log.info("listening", address=address, node="bootstrap" if node is None else node, **facts)

    def close(self) -> None:
        for listening in self._sockets:
            self._epoll_set.forget(listening)
        self._closed = True

    def shut(self) -> None:
        """Who dials it is refused, and the port stays ours."""
        if self._closed:
            return
        self._watch(0)
        self._shut = True
        for listening in self._sockets:
            # Linux takes it for the end of listening, and forgets nothing else of the socket.
            listening.shutdown(socket.SHUT_RDWR)

    def reopen(self) -> None:
        """OSError when the port has become somebody else's, who may be let in while nobody listens."""
        if self._closed:
            return
        for listening in self._sockets:
            listening.listen(BACKLOG)
        self._shut = False
        self.resume()

    def rest(self) -> None:
        """Accept nobody for now; newcomers wait in the kernel's queue."""
        self._watch(0)

    def resume(self) -> None:
        self._watch(READABLE)

    def _watch(self, events: int) -> None:
        for listening in self._sockets:
            self._epoll_set.change(listening, self._watched, events)
        self._watched = events

    @property
    def resting(self) -> bool:
        return not (self._watched or self._shut or self._closed)

    def _knocked(self, listening: socket.socket, _events: int) -> None:
        for _ in range(ACCEPTS_PER_BATCH):
            try:
                sock, peer = listening.accept()
            except BlockingIOError:
                return
            except OSError as failure:
                if failure.errno in EXHAUSTED:
                    self._log.error("accepting paused", address=self.address, reason=failure.strerror)
                    self.rest()
                # Anything else is the newcomer's: it hung up before it was let in.
                return
            if self._pacing:
                pace_from_elsewhere(sock, peer[0], self._pacing)
            self._welcome(sock, str(end(peer)), self.node)


def _listen(
    address: Address, node: int | None, known: list[Target] | None, ports: Ports | None
) -> tuple[list[Target], list[socket.socket]]:
    """`known`: what the host's name means, with whatever port."""
    whose = "the bootstrap listener" if node is None else f"the listener of node {node}"
    if address.port > HIGHEST_PORT:
        remedy = "there is no such port: give the node another in `ports`, or use `sni`"
        raise CannotListen(f"cannot listen on {address} for {whose}: {remedy}")
    try:
        known = _look_up(address.host) if known is None else known
        targets = [(family, (host, address.port, *more)) for family, (host, _, *more) in known]
        return targets, bind(targets) if ports is None else _share(targets, address.port, ports)
    except OSError as failure:
        raise CannotListen(
            f"cannot listen on {address} for {whose}: {hindrance(failure, 'listen', 'ports')}"
        ) from failure


def _look_up(host: str) -> list[Target]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return [(int(family), target) for family, _, _, _, target in found]


def _share(targets: list[Target], port: int, ports: Ports) -> list[socket.socket]:
    with ports.opening(port) as is_first:
        for listening in bind(targets) if is_first else ():
            # Nobody else's, then: the kernel would let us in beside any other of this user that shares it.
            listening.close()
        return bind(targets, is_shared=True)


def bind(targets: Iterable[Target], is_shared: bool = False) -> list[socket.socket]:
    """All of them, but for those that this machine has not: `localhost` may be ::1 where there is no IPv6. OSError when one
    can't be bound, or none."""
    bound: list[socket.socket] = []
    missing: OSError | None = None
    # A name that stands twice in /etc/hosts has its address twice.
    for family, target in dict.fromkeys(targets):
        # `[::]` is every address, as elsewhere.
        is_dual = target[0] == "::" and socket.has_dualstack_ipv6()
        try:
            listening = socket.create_server(
                target, family=family, backlog=BACKLOG, reuse_port=is_shared, dualstack_ipv6=is_dual
            )
        except OSError as failure:
            if failure.errno in NOT_HERE:
                missing = failure
                continue
            for each in bound:
                each.close()
            raise
        listening.setblocking(False)
        bound.append(listening)
    if missing is not None and not bound:
        raise missing
    return bound


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
