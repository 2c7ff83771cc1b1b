"""A connection with TLS whose group is another process' (siblings.py): TLS stays where its keys are, the rest goes there.

The other process is given the far ends of two pairs of sockets for a client and a broker, and what is between is passed on
as it comes, decrypted and encrypted. It decides about everything: whom to hang up on, when, and how. Here a stream that ends
only says so, and goes when its near end does.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Callable

import trio

from proxy.socket_stream import SocketStream
from proxy.tls_stream import RECEIVE_BYTES

LOOPBACK = "127.0.0.1"
OVER = (trio.BrokenResourceError, trio.ClosedResourceError, ssl.SSLError, OSError)


def pair() -> tuple[socket.socket, socket.socket]:
    """The near end and the far end of one connection. Of TCP: whoever has the far one asks the kernel what only TCP knows."""
    with socket.create_server((LOOPBACK, 0)) as server:
        near = socket.create_connection(server.getsockname())
        while True:
            far, peer = server.accept()
            if peer == near.getsockname():
                far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                return near, far
            # Somebody else on this machine, who tries all ports.
            far.close()


def lent(send: Callable[[socket.socket, socket.socket], bool]) -> tuple[SocketStream, SocketStream] | None:
    """The near ends of what is sent in place of a client and a broker. None: nobody takes it, or there are no descriptors."""
    with contextlib.ExitStack() as ends:
        try:
            (client, far_client), (broker, far_broker) = (_kept(ends), _kept(ends))
        except OSError:
            return None
        if not send(far_client, far_broker):
            return None
        far_client.close()
        far_broker.close()
        ends.pop_all()
    return SocketStream(client), SocketStream(broker)


def _kept(ends: contextlib.ExitStack) -> tuple[socket.socket, socket.socket]:
    near, far = pair()
    return ends.enter_context(near), ends.enter_context(far)


async def relay(stream: trio.abc.Stream, near: SocketStream) -> bool:
    """Until the other process has hung up. Whether it did so rudely: what is unsent is to be thrown away."""
    was_rude = False

    async def there() -> None:
        with contextlib.suppress(*OVER):
            while arrived := await stream.receive_some(RECEIVE_BYTES):
                await near.send_all(arrived)
        with contextlib.suppress(OSError):
            near.sock.shutdown(socket.SHUT_WR)

    try:
        async with trio.open_nursery() as pumps:
            pumps.start_soon(there)
            try:
                while arrived := await near.receive_some(RECEIVE_BYTES):
                    await stream.send_all(arrived)
            except OVER:
                was_rude = True
            pumps.cancel_scope.cancel()
    finally:
        await trio.aclose_forcefully(near)
    return was_rude
