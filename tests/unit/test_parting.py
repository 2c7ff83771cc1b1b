"""How long a socket that is closed here stays for what is on its way. Real sockets."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from proxy.connections import Connections
from proxy.counts import Counts
from proxy.epoll_set import EpollSet
from proxy.logs import Log
from proxy.parting import PATIENCE_SECONDS, Partings
from proxy.settings import Limits
from tests.unit.test_conversation import ShoutingWire
from tests.unit.test_desk import Desk, known_at_once
from tests.unit.test_link import is_so

NOW = 1_000.0


@pytest.fixture
def partings() -> Iterator[Partings]:
    with EpollSet() as epoll_set:
        made = Partings(epoll_set)
        yield made
        made.end()


@pytest.fixture
def client() -> Iterator[socket.socket]:
    with socket.socket() as made:
        made.settimeout(30)
        yield made


def connected(client: socket.socket, unread: int) -> socket.socket:
    """The other end, which has sent so much: more than its client's kernel has room for, or nothing."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    with socket.create_server(("127.0.0.1", 0)) as server:
        client.connect(server.getsockname())
        ours, _ = server.accept()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 10 * 1024 * 1024)
    ours.sendall(bytes(unread))
    return ours


def test_where_nothing_is_on_its_way_it_is_closed_at_once(partings: Partings, client: socket.socket) -> None:
    ours = connected(client, 0)
    partings.take(ours, NOW)
    assert (len(partings), ours.fileno(), client.recv(1)) == (0, -1, b"")


async def test_it_stays_until_all_is_delivered(partings: Partings, client: socket.socket) -> None:
    ours = connected(client, 200_000)
    partings.take(ours, NOW)
    client.sendall(b"more, which nobody reads")
    partings.sweep(NOW + 1)
    assert len(partings) == 1
    with client.makefile("rb") as heard:
        assert len(heard.read()) == 200_000

    def is_over() -> bool:
        partings.sweep(NOW + 2)
        return len(partings) == 0

    # What was heard may be acknowledged a moment later.
    await is_so(is_over)
    assert ours.fileno() == -1


def test_a_client_that_takes_nothing_has_its_time(partings: Partings, client: socket.socket) -> None:
    partings.take(connected(client, 200_000), NOW)
    partings.sweep(NOW + PATIENCE_SECONDS)
    assert len(partings) == 1
    partings.sweep(NOW + PATIENCE_SECONDS + 1)
    assert len(partings) == 0


def test_a_client_that_has_gone_is_waited_for_no_longer(partings: Partings, client: socket.socket) -> None:
    partings.take(connected(client, 200_000), NOW)
    client.close()
    partings.sweep(NOW + 1)
    assert len(partings) == 0


def test_they_count_as_connections(partings: Partings, client: socket.socket) -> None:
    limits = Limits(max_connections=1)
    connections = Connections(
        limits,
        ShoutingWire(),
        Counts(),
        Log("error"),
        lambda _link: Desk(),
        partings,
        known_at_once,
        lambda _address, _opened_at: None,
    )
    assert not connections.full
    partings.take(connected(client, 200_000), NOW)
    assert connections.full
