"""Which of those who come in were sent by ourselves. Real sockets."""

from __future__ import annotations

import contextlib
import io
import socket
from collections.abc import Iterator

import pytest

from proxy.addresses import end
from proxy.calls import Calls
from proxy.counts import Counts
from proxy.logs import Log


@pytest.fixture
def door() -> Iterator[socket.socket]:
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listening:
        yield listening


def came_in(door: socket.socket) -> tuple[str, socket.socket]:
    sock, peer = door.accept()
    return str(end(peer)), sock


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.9", "0.0.0.0", "::1", "::", "0:0:0:0:0:0:0:1"])
def test_who_comes_in_is_ourselves_by_whatever_name_it_was_dialled(door: socket.socket, host: str) -> None:
    calls = Calls(Counts(), Log(out=io.StringIO()))
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with calls.begin((family, (host, door.getsockname()[1]))):
        client, accepted = came_in(door)
        with accepted:
            assert calls.began(client, accepted)


def test_somebody_else_is_not_ourselves(door: socket.socket) -> None:
    with socket.create_connection(("127.0.0.1", door.getsockname()[1])):
        client, accepted = came_in(door)
        with accepted:
            assert not Calls(Counts(), Log(out=io.StringIO())).began(client, accepted)


def test_somebody_else_on_a_port_that_the_kernel_gave_to_us_too_is_not_ourselves(door: socket.socket) -> None:
    """One port serves connections to several others."""
    calls = Calls(Counts(), Log(out=io.StringIO()))
    with contextlib.ExitStack() as opened:
        broker = opened.enter_context(socket.create_server(("127.0.0.1", 0)))
        ours = opened.enter_context(calls.begin((socket.AF_INET, broker.getsockname())))
        opened.enter_context(broker.accept()[0])
        opened.enter_context(socket.create_connection(("127.0.0.1", door.getsockname()[1])))
        accepted = opened.enter_context(came_in(door)[1])
        assert not calls.began(str(end(ours.getsockname())), accepted)


def test_a_call_that_is_over_is_forgotten(door: socket.socket) -> None:
    calls = Calls(Counts(), Log(out=io.StringIO()))
    sock = calls.begin((socket.AF_INET, ("127.0.0.1", door.getsockname()[1])))
    client, accepted = came_in(door)
    with accepted:
        sock.close()
        assert not calls.began(client, accepted)
        del sock
        assert not calls.began(client, accepted)
