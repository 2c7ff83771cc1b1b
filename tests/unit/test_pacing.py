"""Who is on this machine is not paced, and whoever comes from elsewhere is. On a machine that paces nobody, its congestion
control is taken for one that does: what is done about it is the same."""

from __future__ import annotations

import contextlib
import io
import socket
from collections.abc import Iterator
from socket import IPPROTO_TCP, TCP_CONGESTION

import pytest

from proxy import pacing
from proxy.addresses import Address
from proxy.calls import Calls
from proxy.counts import Counts
from proxy.doors import Door
from proxy.epoll_set import EpollSet
from proxy.logs import Log
from proxy.names import Target

HERE = "127.0.0.1"
# Of documentation (RFC 5737): nobody's, and nothing is sent there.
ELSEWHERE: Target = (socket.AF_INET, ("198.51.100.1", 9092))


def control(sock: socket.socket) -> bytes:
    return sock.getsockopt(IPPROTO_TCP, TCP_CONGESTION, pacing.LONGEST_NAME).rstrip(b"\0")


def the_machines() -> bytes:
    with socket.socket() as sock:
        return control(sock)


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> bytes:
    found = the_machines()
    if found == pacing.UNPACED:
        pytest.skip("this machine's is the one that is asked for")
    monkeypatch.setattr(pacing, "PACING", found)
    return found


class House:
    """A door, and all who have come in by it."""

    def __init__(self, epoll_set: EpollSet, stack: contextlib.ExitStack[bool | None]) -> None:
        with socket.create_server((HERE, 0)) as free:
            self.address = Address(*free.getsockname())
        self._stack = stack
        self.newcomers: list[socket.socket] = []
        self.door = Door(epoll_set, self.address, None, self._welcome, Log(out=io.StringIO()))
        stack.callback(self.door.close)

    def _welcome(self, sock: socket.socket, _client: str, _node: int | None) -> None:
        self.newcomers.append(self._stack.enter_context(sock))

    def newcomers_control(self, source: str) -> bytes:
        with socket.create_connection(self.address, source_address=(source, 0)):
            for listening in self.door._sockets:
                self.door._knocked(listening, 0)
        return control(self.newcomers.pop())


@pytest.fixture
def house() -> Iterator[House]:
    with EpollSet() as epoll_set, contextlib.ExitStack() as stack:
        yield House(epoll_set, stack)


@pytest.fixture
def another_address() -> str:
    """Of this machine: who comes from it to the loopback's looks as if it came from elsewhere."""
    try:
        with socket.socket(ELSEWHERE[0], socket.SOCK_DGRAM) as probe:
            probe.connect(ELSEWHERE[1])
            return str(probe.getsockname()[0])
    except OSError:
        pytest.skip("this machine has no network")


@pytest.mark.parametrize("is_reopened", [False, True])
def test_who_comes_from_this_machine_is_not_paced(own: bytes, house: House, is_reopened: bool) -> None:
    if is_reopened:
        house.door.shut()
        house.door.reopen()
    assert house.newcomers_control(HERE) == pacing.UNPACED
    assert house.newcomers_control("127.0.0.2") == pacing.UNPACED


def test_who_comes_from_elsewhere_is(own: bytes, house: House, another_address: str) -> None:
    assert house.newcomers_control(another_address) == own


def test_a_broker_on_this_machine_is_dialled_unpaced_and_one_elsewhere_is_not(own: bytes) -> None:
    calls = Calls(Counts(), Log(out=io.StringIO()))
    with socket.create_server((HERE, 0)) as broker, calls.begin((socket.AF_INET, broker.getsockname())) as dialled:
        assert control(dialled) == pacing.UNPACED
    with socket.socket() as sock:
        pacing.unpace_if_near(sock, ELSEWHERE)
        assert control(sock) == own


def test_where_nobody_is_paced_all_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "PACING", b"none is called so")
    with socket.create_server((HERE, 0)) as listening, socket.socket() as sock:
        assert pacing.unpace_newcomers(listening) == b""
        pacing.unpace_if_near(sock, (socket.AF_INET, listening.getsockname()))
        assert control(listening) == control(sock) == the_machines()
