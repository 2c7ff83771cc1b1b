"""How somebody who came in at a door becomes a connection.

Where both sides are plaintext a connection is a link on the epoll set, at once if no name must be resolved first. Where one
of them has TLS it is a task; with SNI, only the handshake says which broker is meant.
"""

from __future__ import annotations

import contextlib
import socket
from functools import partial

import trio

from proxy.addresses import Address, Directory, end
from proxy.causes import Cause
from proxy.connections import Connections
from proxy.dial import Dial
from proxy.epoll_set import EpollSet
from proxy.link import Link
from proxy.names import Target
from proxy.settings import Settings
from proxy.siblings import Letter, Siblings
from proxy.socket_stream import SocketStream
from proxy.streams import Streams
from proxy.tls import ClientSide, HandshakeFailed
from proxy.tls_link import TlsLink
from proxy.tls_stream import TlsStream

REMEDY = "is a door of this proxy, and it dialled that as a broker: `upstream` and advertised.listeners must name the brokers"


class Newcomers:
    def __init__(
        self,
        settings: Settings,
        connections: Connections,
        directory: Directory,
        streams: Streams,
        client_side: ClientSide | None,
        epoll_set: EpollSet,
        tasks: trio.Nursery,
    ) -> None:
        self._limits = settings.limits
        self._has_sni = settings.sni is not None
        self._connections = connections
        self._directory = directory
        self._streams = streams
        self._client_side = client_side
        self._epoll_set = epoll_set
        self._tasks = tasks

    def welcome(self, sock: socket.socket, client: str, node: int | None) -> None:
        if self._streams.calls.began(client, sock):
            self._connections.refused(client, Cause.DIALLED_ITSELF, f"{end(sock.getsockname())} {REMEDY}", node)
            sock.close()
        elif self._connections.full and not self._connections.make_room():
            self._connections.refused(client, Cause.TOO_MANY_CONNECTIONS, node=node)
            sock.close()
        elif self._client_side or self._streams.upstream_side:
            self._tasks.start_soon(self._serve_tls, sock, client, node)
        else:
            choices = self._choices(node)
            if choices is None:
                self._tasks.start_soon(self._link_after_resolving, sock, client, node)
            else:
                self._link(sock, client, node, choices)

    def moved_in(self, siblings: Siblings, _events: int) -> None:
        """Connections whose groups are ours, from other processes of this proxy."""
        while True:
            try:
                moved = siblings.receive()
            except OSError as failure:
                self._connections.refused("from another process", Cause.TOO_MANY_CONNECTIONS, str(failure))
                continue
            if moved is None:
                return
            self._go_on_with(*moved)

    def _go_on_with(self, letter: Letter, sock: socket.socket, broker: socket.socket) -> None:
        if self._connections.full and not self._connections.make_room():
            self._connections.refused(letter.client, Cause.TOO_MANY_CONNECTIONS, node=letter.node)
            sock.close()
            broker.close()
            return
        dial = Dial(self._epoll_set, self._streams.calls, [], letter.dialled, broker)
        self._begin(sock, letter.client, letter.node, dial, letter)

    # ----------------------------------------------------------------------------------------------------- plaintext

    def _link(self, sock: socket.socket, client: str, node: int | None, choices: list[tuple[Address, Target]]) -> None:
        self._begin(sock, client, node, Dial(self._epoll_set, self._streams.calls, choices))

    def _begin(
        self, sock: socket.socket, client: str, node: int | None, dial: Dial, before: Letter | None = None
    ) -> None:
        try:
            Link(self._connections, self._epoll_set, sock, client, node, dial, before)
        except OSError as failure:
            # It hung up before it was let in.
            self._connections.refused(client, Cause.CLIENT_LOST, str(failure), node)
            sock.close()

    def _choices(self, node: int | None) -> list[tuple[Address, Target]] | None:
        """Where to dial, if no name must be resolved first. Any of them will do: with one that is known, others are asked for
        meanwhile."""
        names, choices = self._streams.names, list[tuple[Address, Target]]()
        for address in self._directory.targets(node):
            targets = names.remembered(address)
            if targets is None:
                names.ask(address)
            choices += [(address, target) for target in targets or ()]
        return choices or None

    async def _link_after_resolving(self, sock: socket.socket, client: str, node: int | None) -> None:
        choices: list[tuple[Address, Target]] = []
        failures: list[str] = []

        async def resolve(address: Address) -> None:
            try:
                choices.extend((address, target) for target in await self._streams.names.resolve(address))
                looking.cancel_scope.cancel()
            except OSError as failure:
                failures.append(str(failure))

        self._connections.arriving += 1
        try:
            async with trio.open_nursery() as looking:
                for address in self._directory.targets(node):
                    looking.start_soon(resolve, address)
        finally:
            self._connections.arriving -= 1
        if not choices:
            self._connections.refused(client, Cause.BROKER_UNREACHABLE, "; ".join(failures), node)
            self._connections.part(sock, node, Cause.BROKER_UNREACHABLE)
            return
        self._link(sock, client, node, choices)

    # ----------------------------------------------------------------------------------------------------------- tls

    async def _serve_tls(self, sock: socket.socket, client: str, node: int | None) -> None:
        stream: trio.abc.Stream = SocketStream(sock)
        self._connections.arriving += 1
        try:
            stream, node = await self._greet(stream, node)
        except (HandshakeFailed, trio.TooSlowError, OSError, KeyError) as failure:
            self._connections.refused(client, Cause.CLIENT_TLS_FAILED, _in_words(failure), node)
            await trio.aclose_forcefully(stream)
            return
        finally:
            self._connections.arriving -= 1
        certificate = stream.shown if isinstance(stream, TlsStream) else None
        link = TlsLink(self._connections, stream, client, certificate, node, partial(self._part, sock, node))
        await link.run(lambda: self._streams.open_any(self._directory.targets(node), certificate))

    def _part(self, sock: socket.socket, node: int | None, cause: Cause) -> None:
        """trio closes the descriptor that it has."""
        with contextlib.suppress(OSError):
            self._connections.part(sock.dup(), node, cause)

    async def _greet(self, stream: trio.abc.Stream, node: int | None) -> tuple[trio.abc.Stream, int | None]:
        """The handshake, where clients have TLS; with SNI it says which node is meant."""
        if self._client_side is None:
            return stream, node
        with trio.fail_after(self._limits.tls_handshake_timeout_ms / 1000):
            stream, server_name = await self._client_side.handshake(stream)
        return stream, self._directory.node_of_server_name(server_name) if self._has_sni else node


def _in_words(failure: Exception) -> str:
    if isinstance(failure, KeyError):
        (name,) = failure.args
        unnamed = "the client sent no server name: it must dial a name, not an address"
        return f"clients ⇄ proxy (sni): {unnamed if name is None else f'no broker is called {name!r}'}"
    return str(failure) or "clients ⇄ proxy (client_tls): no handshake in time"
