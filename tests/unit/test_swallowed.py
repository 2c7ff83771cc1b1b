"""What a network swallows: seen by the kernel's own count, thrown away with a reset where it must not arrive later."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress

import pytest
import trio

from proxy.causes import Cause
from proxy.socket_stream import SocketStream
from proxy.swallowed import is_swallowed, silent_ms, socket_of, throw_away
from proxy.tls_stream import TlsStream
from tests.kafka.admin import until

PATIENCE_SECONDS = 30
# Longer than a slow machine takes to look again.
SILENT_MS = 500


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as door:
        near = socket.create_connection(door.getsockname(), PATIENCE_SECONDS)
        far, _ = door.accept()
    far.settimeout(PATIENCE_SECONDS)
    with near, far:
        yield near, far


def test_what_is_sent_again_and_again_is_swallowed(pair: tuple[socket.socket, socket.socket]) -> None:
    """A door before which two wait already takes no third, and says nothing to it."""
    near, _ = pair
    near.sendall(b"arrives, unread")
    assert not is_swallowed(near)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        callers = [socket.socket() for _ in range(3)]
        for caller in callers:
            caller.setblocking(False)
            with suppress(BlockingIOError):
                caller.connect(full.getsockname())
        try:
            until(lambda: is_swallowed(callers[-1]), "it is sent again")
            assert not is_swallowed(callers[0])
        finally:
            for caller in callers:
                caller.close()
    assert not is_swallowed(callers[-1])
    assert not is_swallowed(None)


def test_who_has_said_something_is_silent_from_then_on_whether_that_was_read_or_not(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    near, far = pair
    until(lambda: silent_ms(near) > SILENT_MS, "it says nothing")
    near.sendall(b"what is said to it counts for nothing")
    assert silent_ms(near) > SILENT_MS
    far.sendall(b"said")
    until(lambda: silent_ms(near) < SILENT_MS, "it has spoken")
    until(lambda: silent_ms(near) > SILENT_MS, "it says nothing again")
    near.close()
    assert silent_ms(near) == silent_ms(None) == 0


@pytest.mark.parametrize("is_lingering", [False, True])
@pytest.mark.parametrize("swallows", [False, True])
@pytest.mark.parametrize("cause", [Cause.BROKER_SILENT, Cause.RELEASED, Cause.CLIENT_CLOSED, Cause.DRAINED])
def test_of_whom_nothing_may_arrive_any_more(
    pair: tuple[socket.socket, socket.socket],
    monkeypatch: pytest.MonkeyPatch,
    cause: Cause,
    swallows: bool,
    is_lingering: bool,
) -> None:
    monkeypatch.setattr("proxy.swallowed.is_swallowed", lambda _: swallows)
    near, far = pair
    near.sendall(b"said")
    throw_away(near, cause, is_lingering)
    near.close()
    assert _ends(far) == ("reset" if cause is Cause.BROKER_SILENT or (swallows and is_lingering) else "said")


def _ends(far: socket.socket) -> str:
    heard = b""
    try:
        while more := far.recv(100):
            heard += more
    except ConnectionResetError:
        return "reset"
    return heard.decode()


async def test_the_socket_is_found_beneath_tls(pair: tuple[socket.socket, socket.socket]) -> None:
    bare = SocketStream(pair[0])
    assert socket_of(bare) is pair[0]
    assert socket_of(TlsStream(bare, ssl.create_default_context(), server_hostname="broker")) is pair[0]
    assert socket_of(trio.testing.memory_stream_pair()[0]) is None
    assert socket_of(None) is None
