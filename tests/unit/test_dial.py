"""A broker's addresses in turn, until one answers. Real sockets, no brokers."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import pytest
import trio

from proxy.addresses import Address
from proxy.calls import Calls
from proxy.causes import Cause, Disconnect
from proxy.counts import Counts
from proxy.dial import Dial
from proxy.epoll_set import EpollSet
from proxy.names import Target

# Nobody is there, and the kernel says so at once; of a refusal on loopback it tells by an event.
NOWHERE = (Address("nowhere", 9092), (socket.AF_INET, ("255.255.255.255", 9092)))


@pytest.fixture
def door() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def closed() -> tuple[Address, Target]:
    with socket.create_server(("127.0.0.1", 0)) as was:
        return choice(was)


def choice(door: socket.socket) -> tuple[Address, Target]:
    name = door.getsockname()
    return Address(*name), (socket.AF_INET, name)


class Caller:
    """Runs an epoll set until its dial has come to an end."""

    def __init__(self, *choices: tuple[Address, Target]) -> None:
        self.counts = Counts()
        self.set = EpollSet()
        self.dial = Dial(self.set, Calls(self.counts), choices)
        self.sock: socket.socket | None = None
        self.failure: Disconnect | None = None
        self._ended = trio.Event()

    async def calls(self) -> None:
        with self.set:
            async with trio.open_nursery() as nursery:
                self._guarded(lambda: self.dial.begin(self._news))
                nursery.start_soon(self.set.run)
                with trio.fail_after(30):
                    await self._ended.wait()
                nursery.cancel_scope.cancel()

    def _news(self, events: int) -> None:
        self._guarded(lambda: self._answered(self.dial.answered(self._news, events)))

    def _answered(self, sock: socket.socket | None) -> None:
        self.sock = sock
        if sock is not None:
            self._ended.set()

    def _guarded(self, act: Callable[[], None]) -> None:
        try:
            act()
        except Disconnect as failure:
            self.failure = failure
            self._ended.set()


async def test_the_first_that_answers_is_taken(closed: tuple[Address, Target], door: socket.socket) -> None:
    caller = Caller(NOWHERE, closed, choice(door), closed)
    await caller.calls()
    assert caller.sock is not None
    with caller.sock:
        assert caller.sock.getpeername() == door.getsockname()
    assert caller.dial.address == choice(door)[0]
    assert caller.counts.upstream_connect_failures == 2


async def test_where_none_answers_the_last_is_named_and_why(closed: tuple[Address, Target]) -> None:
    caller = Caller(NOWHERE, closed)
    await caller.calls()
    assert caller.sock is None
    assert caller.failure is not None
    assert caller.failure.cause is Cause.BROKER_UNREACHABLE
    assert caller.failure.detail == f"{closed[0]}: Connection refused"
    assert caller.counts.upstream_connect_failures == 2


async def test_with_no_address_at_all_there_is_nothing_to_dial() -> None:
    caller = Caller()
    await caller.calls()
    assert caller.failure is not None
    assert caller.failure.detail == "no address to dial"


async def test_who_gives_up_leaves_no_socket_behind(door: socket.socket) -> None:
    with EpollSet() as epoll_set:
        dial = Dial(epoll_set, Calls(Counts()), [choice(door)])
        dial.begin(lambda _events: None)
        dial.abandon()
        dial.abandon()
        accepted, _ = door.accept()
        with accepted:
            accepted.settimeout(30)
            assert accepted.recv(1) == b""


async def test_an_address_that_says_nothing_is_passed_over(door: socket.socket) -> None:
    """Its machine is gone, or packets to it are dropped: like a listener whose backlog is full, and which never accepts."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as silent, EpollSet() as epoll_set:
        filling = [socket.socket() for _ in range(3)]
        for sock in filling:
            sock.setblocking(False)
            sock.connect_ex(silent.getsockname())
        dial = Dial(epoll_set, Calls(Counts()), [choice(silent), choice(door)])
        dial.begin(lambda _events: None)
        dial.pass_over(lambda _events: None, 60)
        assert dial.address == choice(silent)[0]
        dial.pass_over(lambda _events: None, -1)
        assert dial.address == choice(door)[0]
        with pytest.raises(Disconnect, match="timed out"):
            dial.pass_over(lambda _events: None, -1)
        for sock in filling:
            sock.close()
