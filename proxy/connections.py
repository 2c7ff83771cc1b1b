"""Every open connection: what it may cost, when it is cut, and how all of them are drained.

A connection is a client's socket, a broker's socket and the conversation between them, carried either by the epoll set
(`link.py`) or, where a leg has TLS, by trio streams (`tls_link.py`). Both look the same from here.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from functools import partial
from socket import socket
from typing import Protocol

import trio

from proxy.addresses import Address
from proxy.causes import Cause
from proxy.conversation import Conversation
from proxy.counts import Counts
from proxy.logs import Log
from proxy.parting import Partings
from proxy.settings import Limits
from proxy.siblings import Letter, Siblings
from proxy.too_old import TooOld
from proxy.treatments import Desk, Wire

SWEEP_SECONDS = 1.0
DRAIN_SWEEP_SECONDS = 0.05

# How a client goes.
CLIENT_GONE = frozenset({Cause.CLIENT_CLOSED, Cause.CLIENT_LOST})
# What may be because the broker is no longer there.
LEFT_ALONE = frozenset({Cause.BROKER_CLOSED, Cause.BROKER_LOST, Cause.BROKER_SILENT, Cause.BROKER_UNREACHABLE})
# How connections end; any other cause says that something is wrong, here or with a peer.
ORDINARY = frozenset(
    {
        Cause.RELEASED,
        Cause.MOVED,
        Cause.CLIENT_CLOSED,
        Cause.BROKER_CLOSED,
        Cause.DRAINED,
        Cause.IDLE,
        Cause.CLIENT_LOST,
    }
)


class Connection(Protocol):
    client: str
    # Which the client has shown, if it was asked for one (DER).
    certificate: bytes | None
    conversation: Conversation
    opened_at: float
    active_at: float
    # The node of the listener that was dialled.
    node: int | None
    watch: Watch

    @property
    def dialled(self) -> Address | None:
        """The broker's address, which may have been a guess."""

    def close(self, cause: Cause, detail: str = "") -> None: ...
    def drain(self) -> None: ...

    def flush(self) -> None:
        """Send what was asked and answered here, if that is not about to happen anyhow."""

    def release(self) -> None:
        """No member needs this connection any more: if its client has gone, it may go too."""

    def stalled_by_client(self) -> bool: ...
    def connecting(self) -> bool: ...

    def leaves_broker_unread(self) -> bool:
        """The broker may have said more than was looked at: the client has yet to take what came before that."""

    def swallows(self) -> bool:
        """What is said to the broker does not arrive."""

    def silent_ms(self) -> int:
        """How long ago the broker last said anything."""

    def pass_over(self, patience_seconds: float) -> None:
        """While connecting: dial the next address, if this one has said nothing for so long."""


class Watch:
    """What the sweep remembers of a connection between two looks."""

    __slots__ = ("requests", "unauthenticated_since", "under_way_since")

    def __init__(self, now: float) -> None:
        self.unauthenticated_since: float | None = now
        self.under_way_since: float | None = None
        self.requests = 0


class Connections:
    def __init__(
        self,
        limits: Limits,
        wire: Wire,
        counts: Counts,
        log: Log,
        open_desk: Callable[[Connection], Desk],
        partings: Partings,
        find_out: Callable[[int | None, Callable[[], None]], None],
        heard_from: Callable[[Address, float], None],
        siblings: Siblings | None = None,
    ) -> None:
        """`find_out`: whether a node is there, and then. `heard_from`: an address has answered, on a connection that was
        opened at that time (absences.py)."""
        self._siblings = siblings
        self.limits = limits
        self._open_desk = open_desk
        self.counts = counts
        self.log = log
        self.partings = partings
        self._find_out = find_out
        self.heard_from = heard_from
        self._wire = wire
        self._open: set[Connection] = set()
        # Those whose clients have gone, the first to go first.
        self._lingering: dict[Connection, None] = {}
        self._too_old = TooOld(log)
        # Clients within their TLS handshake, or while a name is resolved: not connections yet, but they cost as much.
        self.arriving = 0
        # Those that are another process' by now, and have their TLS here.
        self.relayed = 0
        self.draining = False

    def __len__(self) -> int:
        return len(self._open)

    def __iter__(self) -> Iterator[Connection]:
        return iter(self._open)

    def converse(self, connection: Connection) -> Conversation:
        where_else = None if self._siblings is None else partial(self._where_else, self._siblings)
        return Conversation(self._wire, self.counts, self.limits, lambda: self._open_desk(connection), where_else)

    def _where_else(self, siblings: Siblings, group_id: str) -> int | None:
        """Who drains sends nobody anywhere."""
        return None if self.draining or siblings.is_ours(group_id) else siblings.whose(group_id)

    def send(self, connection: Connection, client: socket, broker: socket, has_tls: bool = False) -> bool:
        """To the process that has its group, with these sockets. False: nobody takes it there, or a drain has begun since; it
        stays, as with two proxies."""
        conversation, dialled = connection.conversation, connection.dialled
        if self._siblings is None or conversation.bound_for is None or dialled is None:
            return False
        letter = Letter(
            connection.client,
            connection.node,
            dialled,
            conversation.software,
            conversation.unseen,
            has_tls,
            connection.certificate,
        )
        return self._siblings.send(conversation.bound_for, letter, client, broker)

    @property
    def full(self) -> bool:
        # Of a relayed one there are four sockets.
        taken = len(self._open) + self.arriving + len(self.partings) + 2 * self.relayed
        return taken >= self.limits.max_connections

    def lingers(self, connection: Connection) -> None:
        """Its client has gone, and a member of it is still there."""
        self._lingering[connection] = None

    def make_room(self) -> bool:
        """Who comes goes before a client that has gone: that may come back, on another connection, and must find room too."""
        longest = next(iter(self._lingering), None)
        if longest is None:
            return False
        del self._lingering[longest]
        longest.close(Cause.TOO_MANY_CONNECTIONS, "its client had gone, and another one came")
        return True

    def opened(self, connection: Connection) -> None:
        self._open.add(connection)
        self.counts.connections_opened += 1
        self.counts.connections_open = len(self._open)

    def closed(self, connection: Connection, cause: Cause, detail: str) -> None:
        self._open.discard(connection)
        self._lingering.pop(connection, None)
        self.counts.connections_open = len(self._open)
        if cause is Cause.BROKER_CLOSED:
            self._too_old.hung_up_on(connection)
        try:
            _tell_desk(connection.conversation)
            connection.conversation.end()
        except Exception:
            # Nobody above knows which connection it was, and it has ended already.
            self.counts.mistakes += 1
            self.log.error("our mistake", client=connection.client, trace=traceback.format_exc())
        self.refused(connection.client, cause, detail, connection.node)

    def refused(self, client: str, cause: Cause, detail: str = "", node: int | None = None) -> None:
        """Also for those that never became a connection."""
        self.counts.disconnects[cause.value] += 1
        self.counts.mistakes += cause is Cause.OUR_MISTAKE
        say = self.log.debug if cause in ORDINARY else self.log.warning
        say("disconnected", cause=cause.value, client=client, node="bootstrap" if node is None else node, detail=detail)

    def part(self, sock: socket, node: int | None, cause: Cause) -> None:
        """Hang up on a client, whose socket is watched no more."""
        part = partial(self._part, sock)
        if cause in LEFT_ALONE and not self.draining:
            self._find_out(node, part)
        else:
            part()

    def _part(self, sock: socket) -> None:
        self.partings.take(sock, trio.current_time())

    async def sweep(self, whereabouts: Callable[[int], Address | None], answers_anybody: Callable[[], bool]) -> None:
        """Cut what is past its limits, for ever. `answers_anybody`: whether brokers do, and nobody authenticates."""
        while True:
            await trio.sleep(SWEEP_SECONDS)
            # Elsewhere, for what is looked at last is not to be held on to while this sleeps.
            self._sweep(whereabouts, answers_anybody())

    def _sweep(self, whereabouts: Callable[[int], Address | None], answers_anybody: bool) -> None:
        now = trio.current_time()
        self.partings.sweep(now)
        for connection in list(self._open):
            cause = self._overdue(connection, now, answers_anybody) or _mistaken(connection, whereabouts)
            if cause is not None:
                connection.close(cause)
            elif connection.connecting():
                connection.pass_over(self.limits.connect_timeout_ms / 1000)

    def _overdue(self, connection: Connection, now: float, answers_anybody: bool) -> Cause | None:
        limits, watch, conversation = self.limits, connection.watch, connection.conversation
        if (now - connection.active_at) * 1000 > limits.idle_timeout_ms:
            return Cause.IDLE
        if conversation.authenticated or answers_anybody:
            watch.unauthenticated_since = None
        elif watch.unauthenticated_since is None:
            watch.unauthenticated_since = now
        elif (now - watch.unauthenticated_since) * 1000 > limits.authentication_timeout_ms:
            return Cause.AUTHENTICATION_TIMEOUT
        # A request that we are slow to pass on is not the client's fault.
        is_whole = conversation.in_hand or not conversation.request_under_way
        if is_whole or not connection.stalled_by_client():
            watch.under_way_since = None
        elif watch.under_way_since is None or watch.requests != conversation.requests:
            watch.under_way_since, watch.requests = now, conversation.requests
        elif (now - watch.under_way_since) * 1000 > limits.request_timeout_ms:
            return Cause.REQUEST_TIMEOUT
        return None

    async def drain(self, patience: trio.CancelScope) -> None:
        """Take no new requests, let what was asked be answered, then close; when patience ends, close anyhow."""
        with patience:
            while self._open or self.partings or self.relayed:
                for connection in list(self._open):
                    connection.drain()
                self.partings.sweep(trio.current_time())
                await trio.sleep(DRAIN_SWEEP_SECONDS)
        for connection in list(self._open):
            connection.close(Cause.DRAINED, "still busy at the end of the drain")
        self.partings.end()


def _tell_desk(conversation: Conversation) -> None:
    if conversation.desk is not None:
        conversation.desk.closed()
        conversation.abandon()


def _mistaken(connection: Connection, whereabouts: Callable[[int], Address | None]) -> Cause | None:
    """A broker was guessed or has moved: the client finds the right one by dialling again."""
    if connection.node is None or connection.dialled is None:
        return None
    real = whereabouts(connection.node)
    return Cause.BROKER_MISTAKEN if real is not None and real != connection.dialled else None
