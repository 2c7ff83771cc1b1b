"""A broker's addresses in turn, until one answers. Real sockets, no brokers."""

from __future__ import annotations

import contextlib
import io
import select
import socket
from collections.abc import Callable, Iterator

import pytest
import trio
import trio.testing

from proxy.addresses import Address
from proxy.calls import LATELY_SECONDS, SOON_SECONDS, Calls
from proxy.causes import Cause, Disconnect
from proxy.counts import Counts
from proxy.dial import Dial
from proxy.epoll_set import READABLE, WRITABLE, EpollSet
from proxy.logs import Log
from proxy.names import Names, Target
from proxy.settings import Limits
from proxy.streams import ENDS_WITHIN_SECONDS, Streams
from proxy.swallowed import AT_ONCE

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
        self.dial = Dial(self.set, Calls(self.counts, Log(out=io.StringIO())), choices)
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
        dial = Dial(epoll_set, Calls(Counts(), Log(out=io.StringIO())), [choice(door)])
        dial.begin(lambda _events: None)
        dial.abandon()
        dial.abandon()
        accepted, _ = door.accept()
        with accepted:
            accepted.settimeout(30)
            assert accepted.recv(1) == b""


async def test_what_somebody_else_was_answered_on_is_not_dialled_again(
    door: socket.socket, autojump_clock: trio.testing.MockClock
) -> None:
    """However long that is ago, and whether or not the broker has gone since: who reads from it will hear of that."""
    address, _ = choice(door)
    sock = socket.create_connection(door.getsockname())
    accepted, _ = door.accept()
    accepted.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    accepted.close()
    with EpollSet() as epoll_set, sock:
        calls = Calls(Counts(), Log(out=io.StringIO()))
        dial = Dial(epoll_set, calls, [], address, sock)
        dial.begin(nothing)
        await trio.sleep(100)
        dial.pass_over(nothing, 10)
        assert dial.answered(nothing, WRITABLE | READABLE | select.EPOLLERR) is sock
        assert dial.address == address
        assert calls.counts.upstream_connect_failures == 0


@pytest.fixture
def silent() -> Iterator[tuple[Address, Target]]:
    """Its machine is gone, or packets to it are dropped: like a listener whose backlog is full, and which never accepts."""
    with contextlib.ExitStack() as opened:
        listening = opened.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            sock = opened.enter_context(socket.socket())
            sock.setblocking(False)
            sock.connect_ex(listening.getsockname())
        yield choice(listening)


def nothing(_events: int) -> None:
    """News that nobody waits for."""


async def test_an_address_that_says_nothing_is_passed_over(
    door: socket.socket, silent: tuple[Address, Target], autojump_clock: trio.testing.MockClock
) -> None:
    """The sooner while others remain."""
    with EpollSet() as epoll_set:
        dial = Dial(epoll_set, Calls(Counts(), Log(out=io.StringIO())), [silent, choice(door)])
        dial.begin(nothing)
        dial.pass_over(nothing, 10)
        assert dial.address == silent[0]
        await trio.sleep(SOON_SECONDS + 0.1)
        dial.pass_over(nothing, 10)
        assert dial.address == choice(door)[0]
        await trio.sleep(SOON_SECONDS + 0.1)
        dial.pass_over(nothing, 10)
        await trio.sleep(10)
        with pytest.raises(Disconnect, match="timed out"):
            dial.pass_over(nothing, 10)


async def test_an_address_that_failed_is_dialled_last_for_a_while_and_named_once(
    door: socket.socket, silent: tuple[Address, Target], autojump_clock: trio.testing.MockClock
) -> None:
    out = io.StringIO()
    calls = Calls(Counts(), Log(out=out))
    with EpollSet() as epoll_set:
        for seconds, first in ((0, silent), (1, choice(door)), (1, choice(door)), (LATELY_SECONDS, silent)):
            await trio.sleep(seconds)
            dial = Dial(epoll_set, calls, [silent, choice(door)])
            dial.begin(nothing)
            assert dial.address == first[0]
            if dial.address == silent[0]:
                await trio.sleep(SOON_SECONDS + 0.1)
                dial.pass_over(nothing, 10)
            dial.abandon()
    where = f"{silent[0]} at={silent[0]}"
    said = f'warning dialled last address={where} seconds=60.0 reason="Connection timed out"'
    assert [line.partition(" ")[2] for line in out.getvalue().splitlines()] == [said, said]


async def test_with_tls_too_the_next_address_of_a_name_is_there_soon_and_then_first(
    door: socket.socket, silent: tuple[Address, Target], autojump_clock: trio.testing.MockClock
) -> None:
    streams = Streams(Limits(), None, Calls(Counts(), Log(out=io.StringIO())))
    streams.names = Two(silent[1], choice(door)[1])
    for patience_seconds in (SOON_SECONDS + 0.1, 0.1):
        with trio.fail_after(patience_seconds):
            await trio.aclose_forcefully(await streams.open(Address("two.example", 9092)))


async def test_a_broker_is_there_while_one_of_its_addresses_takes_connections(
    door: socket.socket, silent: tuple[Address, Target], autojump_clock: trio.testing.MockClock
) -> None:
    streams, address = Streams(Limits(), None, Calls(Counts(), Log(out=io.StringIO()))), Address("two.example", 9092)
    streams.names = Two(silent[1], choice(door)[1])
    assert await streams.why_away([address], 1.0) == ""
    streams.names = Two(silent[1])
    said = "two.example:9092: no answer in time"
    assert await streams.why_away([address], 1.0) == said
    assert await streams.why_away([address, address], 1.0) == f"{said}; {said}"


async def test_who_is_about_to_listen_no_more_is_away(closed: tuple[Address, Target]) -> None:
    """It takes one more connection, and resets it. One that is taken and ended is ended by somebody who is there."""
    streams, (address, _) = Streams(Limits(), None, Calls(Counts(), Log(out=io.StringIO()))), closed

    async def ends(door: socket.socket, takes: bool) -> None:
        await trio.sleep(ENDS_WITHIN_SECONDS / 4)
        if takes:
            door.accept()[0].close()
        else:
            door.close()

    for takes, said in ((False, f"{address}: reset while the broker ended"), (True, "")):
        with socket.create_server(address) as door:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(ends, door, takes)
                assert await streams.why_away([address], 1.0) == said


async def test_who_is_away_may_have_moved(closed: tuple[Address, Target], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its name is looked up again, and remembered for as long as ever when somebody is there."""
    streams = Streams(Limits(), None, Calls(Counts(), Log(out=io.StringIO())))
    asked: list[str] = []

    async def getaddrinfo(host: str, port: int, **_: object) -> list[object]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", closed[0])]

    monkeypatch.setattr(trio.socket, "getaddrinfo", getaddrinfo)
    moving = Address("moving.example", 9092)
    for _ in range(2):
        assert await streams.why_away([moving], 1.0) == "moving.example:9092: [Errno 111] Connection refused"
    with socket.create_server(closed[0]):
        for _ in range(2):
            assert await streams.why_away([moving], 1.0) == ""
    assert asked == ["moving.example"] * 3


async def test_a_port_that_there_is_not_is_no_more_than_a_broker_that_is_not_there() -> None:
    """Brokers are where the cluster says that they are."""
    streams, nowhere = Streams(Limits(), None, Calls(Counts(), Log(out=io.StringIO()))), Address("127.0.0.1", 70_000)
    said = "127.0.0.1:70000: [Errno 22] no port has the number 70000"
    assert await streams.why_away([nowhere], 1.0) == said
    with pytest.raises(OSError, match="no port has the number 70000"):
        await streams.open(nowhere)


class Two(Names):
    def __init__(self, *targets: Target) -> None:
        super().__init__()
        self._targets = list(targets)

    async def resolve(self, address: Address) -> list[Target]:
        return self._targets
