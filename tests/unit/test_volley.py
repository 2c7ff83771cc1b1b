"""Sending together what many sockets are owed: what leaves by one call, in which order, and what if one takes it not.

Real sockets and the kernel's own call, no brokers.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import socket
import struct
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from random import Random

import pytest
import trio

from proxy.causes import Cause, Disconnect
from proxy.epoll_set import FIRST, READABLE, EpollSet
from proxy.io_submit import Writes
from proxy.leg import BUFFER_BYTES, LEAST_TO_SPLICE, Leg
from proxy.pipe import Pipes
from proxy.volley import FEWEST_THINGS, MOST_BYTES, MOST_PIECES, Volley
from tests.unit.test_conversation import HERE, OPAQUE, REWRITTEN, answer, request
from tests.unit.test_link import Ends, deliver, received

# ------------------------------------------------------------------------------------------------------ by itself


class Sender:
    """Has more to say to others as soon as it hears that something of its own fell short."""

    def __init__(self) -> None:
        self.heard: list[Cause | None] = []
        self.then: list[tuple[Leg, bytes]] = []

    def fell_short(self, failure: Disconnect | None) -> None:
        self.heard.append(failure.cause if failure is not None else None)
        for leg, more in self.then:
            leg.send(more)


class Way:
    """A leg, who is at its other end, and whose it is."""

    def __init__(self, lost: Cause = Cause.CLIENT_LOST) -> None:
        with socket.create_server(("127.0.0.1", 0)) as door:
            self.end = socket.create_connection(door.getsockname())
            sock, _ = door.accept()
        sock.setblocking(False)
        self.end.settimeout(30)
        self.leg = Leg(sock, lost, PIPES)
        self.sender = Sender()

    def add_to(self, volley: Volley, piece: bytes) -> None:
        volley.room[: len(piece)] = piece
        volley.add(self.sender, self.leg, len(piece))

    def fill(self) -> int:
        """It takes no more; how much it has taken."""
        taken = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                taken += self.leg.sock.send(bytes(1024 * 1024))
        return taken

    def close(self) -> None:
        self.leg.sock.close()
        self.end.close()


PIPES = Pipes()


@pytest.fixture
def volley() -> Iterator[Volley]:
    with contextlib.closing(Volley()) as made:
        yield made


@pytest.fixture
def ways() -> Iterator[list[Way]]:
    made = [Way() for _ in range(5)]
    yield made
    for way in made:
        way.close()


def calls_of(volley: Volley, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pieces left by each call from now on."""
    assert volley._writes is not None
    counts, really = list[int](), volley._writes.do

    def counted(count: int) -> dict[int, int]:
        counts.append(count)
        return really(count)

    monkeypatch.setattr(volley._writes, "do", counted)
    return counts


def test_all_leaves_by_one_call_to_each_its_own(
    volley: Volley, ways: list[Way], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = calls_of(volley, monkeypatch)
    pieces = [os.urandom(10 + number) for number in range(len(ways))]
    for turn in range(2):
        for way, piece in zip(ways, pieces, strict=True):
            way.add_to(volley, piece)
        assert len(calls) == turn
        volley.fire()
        for way, piece in zip(ways, pieces, strict=True):
            received(way.end, piece)
    assert calls == [len(ways)] * 2
    assert not any(way.sender.heard for way in ways)


def test_one_alone_needs_no_such_call(volley: Volley, ways: list[Way], monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_of(volley, monkeypatch)
    ways[0].add_to(volley, b"alone")
    volley.fire()
    received(ways[0].end, b"alone")
    volley.fire()
    assert not calls


@pytest.mark.parametrize(("size", "together"), [(1, MOST_PIECES), (BUFFER_BYTES, 2), (60_000, 5)])
def test_when_there_is_room_for_no_more_it_leaves_by_itself(
    volley: Volley, monkeypatch: pytest.MonkeyPatch, size: int, together: int
) -> None:
    """As much is read at once as elsewhere, whatever waits: no more, for the inside of what is larger is spliced."""
    calls = calls_of(volley, monkeypatch)
    ways = [Way() for _ in range(together)]
    for number, way in enumerate(ways):
        assert len(volley.room) == BUFFER_BYTES
        way.add_to(volley, bytes([number]) * size)
    assert calls == [together]
    for number, way in enumerate(ways):
        received(way.end, bytes([number]) * size)
        way.close()


def test_who_takes_not_all_of_it_is_owed_the_rest_and_nobody_else_notices(
    volley: Volley, ways: list[Way], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = calls_of(volley, monkeypatch)
    full, half, gone, lost, other = ways
    filled = full.fill()
    half.leg.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
    half.end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 * 1024)
    lost.leg.lost = Cause.BROKER_LOST
    for way in (gone, lost):
        reset(way.end)
    large = os.urandom(MOST_BYTES // 2)
    for way, piece in ((full, b"full"), (half, large), (gone, b"gone"), (lost, b"lost"), (other, b"other")):
        way.add_to(volley, piece)
    volley.fire()
    assert calls == [len(ways)]
    received(other.end, b"other")
    assert [way.sender.heard for way in ways] == [[None], [None], [Cause.CLIENT_LOST], [], []]
    assert (full.leg.stuck, half.leg.stuck, other.leg.stuck) == (True, True, False)
    # A broker that is gone may have said something before: its link reads on.
    assert lost.leg.failure
    received(full.end, bytes(filled))
    full.leg.send_rest()
    received(full.end, b"full")
    heard = bytearray()
    while len(heard) < len(large):
        heard += half.end.recv(len(large))
        half.leg.send_rest()
    assert heard == large


def test_who_hears_that_it_fell_short_overtakes_nobody_with_what_it_says_then(volley: Volley, ways: list[Way]) -> None:
    first, second, *_ = ways
    filled = second.fill()
    first.fill()
    first.sender.then = [(second.leg, b" and more")]
    first.add_to(volley, b"what waits")
    second.add_to(volley, b"what waits")
    volley.fire()
    received(second.end, bytes(filled))
    second.leg.send_rest()
    received(second.end, b"what waits and more")


def test_what_the_call_did_not_try_is_sent_one_by_one(volley: Volley, ways: list[Way]) -> None:
    """It stops at the first for which there is no such socket."""
    before, closed, after, *_ = ways
    closed.leg.sock.close()
    for way in (before, closed, after):
        way.add_to(volley, b"said")
    volley.fire()
    received(before.end, b"said")
    received(after.end, b"said")
    assert [way.sender.heard for way in (before, closed, after)] == [[], [Cause.CLIENT_LOST], []]


def test_the_kernel_may_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OSError, match="io_setup: "):
        Writes(2**31)
    monkeypatch.setattr("platform.machine", lambda: "a new one")
    with pytest.raises(OSError, match="number of io_submit on a new one"):
        Writes(1)
    monkeypatch.undo()
    monkeypatch.setattr("ctypes.c_void_p", ctypes.c_uint32)
    with pytest.raises(OSError, match="number of io_submit on 32 bits"):
        Writes(1)


# ------------------------------------------------------------------------------------------------ of whole connections


Said = list[tuple[socket.socket, bytes]]


class Crowd:
    """Clients and their brokers, and a set that has no turn while a test does not wait."""

    def __init__(self, epoll_set: EpollSet, size: int) -> None:
        self.set = epoll_set
        self.ends = [Ends(epoll_set) for _ in range(size)]
        self.links = [each.link for each in self.ends]
        self.clients = [each.client for each in self.ends]
        self.brokers = [each.broker() for each in self.ends]
        self._way = Way()

    async def at_a_time(self, said: Said, heard: Said) -> None:
        for sock, frame in said:
            deliver(sock, frame)
        for sock, frame in heard:
            await trio.to_thread.run_sync(received, sock, frame)

    async def asks(self, frame: bytes) -> None:
        await self.at_a_time(to_each(self.clients, frame), to_each(self.brokers, frame))

    async def answers(self, frame: bytes) -> None:
        await self.at_a_time(to_each(self.brokers, frame), to_each(self.clients, frame))

    def meanwhile(self, what: Callable[[], None]) -> Said:
        """To be said behind others at a time: what is then done in the same batch."""
        mine = self._way.leg.sock

        def ready(_: int) -> None:
            mine.recv(1)
            what()

        self.set.watch(mine, READABLE, ready)
        self.set.put_in_lane(mine, FIRST)
        return [(self._way.end, b"!")]

    def close(self) -> None:
        for each, broker in zip(self.ends, self.brokers, strict=True):
            each.close()
            broker.close()
        self._way.close()


def to_each(socks: list[socket.socket], frame: bytes) -> Said:
    return each_its_own(socks, [frame] * len(socks))


def each_its_own(socks: list[socket.socket], frames: list[bytes]) -> Said:
    return list(zip(socks, frames, strict=True))


@contextlib.asynccontextmanager
async def crowd(size: int, first: bytes = request(OPAQUE, 0)) -> AsyncIterator[Crowd]:
    with EpollSet() as epoll_set:
        async with trio.open_nursery() as tasks:
            tasks.start_soon(epoll_set.run)
            made = Crowd(epoll_set, size)
            # By what they ask first it is known what they are.
            await made.asks(first)
            await made.answers(answer(0))
            yield made
            tasks.cancel_scope.cancel()
        made.close()


@pytest.mark.parametrize(
    ("size", "calls_each_way"), [(FEWEST_THINGS + 2, [FEWEST_THINGS + 2]), (FEWEST_THINGS - 1, [])]
)
async def test_what_many_ask_at_a_time_and_are_answered_leaves_together(
    monkeypatch: pytest.MonkeyPatch, size: int, calls_each_way: list[int]
) -> None:
    async with crowd(size) as made:
        calls = calls_of(made.set.volley, monkeypatch)
        asked = [request(OPAQUE, number, os.urandom(number)) for number in range(size)]
        answered = [answer(number, os.urandom(number)) for number in range(size)]
        await made.at_a_time(each_its_own(made.clients, asked), each_its_own(made.brokers, asked))
        assert calls == calls_each_way
        await made.at_a_time(each_its_own(made.brokers, answered), each_its_own(made.clients, answered))
        assert calls == calls_each_way * 2


@pytest.mark.parametrize(
    ("before", "behind"),
    [(b"", request(HERE, 2)), (request(HERE, 2)[:9], request(HERE, 2)[9:])],
    ids=["whole", "the rest of it"],
)
async def test_what_is_answered_here_does_not_overtake_what_its_broker_said_before(
    before: bytes, behind: bytes
) -> None:
    async with crowd(FEWEST_THINGS) as made:
        client = made.clients[0]
        await made.asks(request(OPAQUE, 1))
        client.sendall(before)
        await trio.testing.wait_all_tasks_blocked()
        said = [*to_each(made.brokers, answer(1)), (client, behind)]
        await made.at_a_time(said, [(client, answer(1) + answer(2, b"made here"))])


async def test_nothing_that_is_asked_here_meanwhile_overtakes_what_its_client_asked() -> None:
    async with crowd(FEWEST_THINGS) as made:
        link = made.links[0]

        def asks_on_its_connection() -> None:
            link.conversation.ask(request(OPAQUE, 77)[4:], lambda _: None)
            link.flush()

        said = to_each(made.clients, request(OPAQUE, 1)) + made.meanwhile(asks_on_its_connection)
        await made.at_a_time(said, [(made.brokers[0], request(OPAQUE, 1) + request(OPAQUE, 77))])


async def test_whose_connection_is_closed_meanwhile_has_heard_what_its_broker_said_before() -> None:
    """Something before it is on its way yet, so its socket is told at once that no more comes."""
    large = bytes(LEAST_TO_SPLICE)
    async with crowd(FEWEST_THINGS) as made:
        client, broker = made.clients[0], made.brokers[0]
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        await made.asks(request(OPAQUE, 1))
        await made.at_a_time([(client, request(OPAQUE, 2))], [(broker, request(OPAQUE, 2))])
        await made.at_a_time([(broker, answer(1, large))], [])
        await trio.testing.wait_all_tasks_blocked()
        said = [(broker, answer(2)), *to_each(made.brokers[1:], answer(1))]
        said += made.meanwhile(partial(made.links[0].close, Cause.DRAINED))
        await made.at_a_time(said, [(client, answer(1, large) + answer(2))])
        assert client.recv(1) == b""


async def test_who_waits_behind_those_who_only_pass_something_on_waits_for_nobody_after_that() -> None:
    """As long as it has only asked of brokers nobody knows what a client will be."""
    async with crowd(FEWEST_THINGS, request(REWRITTEN, 0)) as made:
        assert not any(link._client.sock.fileno() in made.set._first for link in made.links)
        await made.asks(request(OPAQUE, 1))


async def test_who_is_found_gone_by_what_it_is_sent_is_served_no_more() -> None:
    """Though what it said before has been read by then."""
    async with crowd(FEWEST_THINGS) as made:
        client, broker = made.clients[0], made.brokers[0]
        await made.asks(request(OPAQUE, 1))
        said = [
            *to_each(made.brokers, answer(1)),
            *made.meanwhile(partial(reset, client)),
            (client, request(REWRITTEN, 2)),
        ]
        await made.at_a_time(said, to_each(made.clients[1:], answer(1)))
        assert broker.recv(1) == b""


def reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    sock.close()


async def test_who_is_lost_among_many_is_cut_and_nobody_else_notices() -> None:
    async with crowd(FEWEST_THINGS + 1) as made:
        await made.asks(request(OPAQUE, 1))
        # It goes when its link has no reason to look at it, and is found gone by what it is sent.
        made.set.change(made.links[0]._client.sock, 1, 0)
        reset(made.clients[0])
        await made.at_a_time(to_each(made.brokers, answer(1)), to_each(made.clients[1:], answer(1)))
        assert made.ends[0].counts.disconnects["client_lost"] == 1


async def test_who_is_aside_says_nothing_while_anything_waits_and_leaves_nothing_waiting(ways: list[Way]) -> None:
    """A batch may name its sockets among the others as well, and what it then says at once must not overtake that."""
    before, aside, behind, sink, way = ways
    waits: dict[Way, int] = {}

    def ready(one: Way, _: int) -> None:
        one.leg.sock.recv(1)
        waits[one] = len(epoll_set.volley._pieces)
        way.add_to(epoll_set.volley, b".")

    with EpollSet() as epoll_set:
        for each in (before, aside, behind, sink):
            epoll_set.watch(each.leg.sock, READABLE, partial(ready, each))
            epoll_set.put_in_lane(each.leg.sock, FIRST)
        epoll_set._aside.take({aside.leg.sock: READABLE, sink.leg.sock: READABLE}, sink.leg.sock)
        for each in (before, aside, behind):
            deliver(each.end, b"!")
        async with trio.open_nursery() as tasks:
            tasks.start_soon(epoll_set.run)
            await trio.to_thread.run_sync(received, way.end, b"...")
            tasks.cancel_scope.cancel()
    assert waits == {before: 0, aside: 0, behind: 0}
    assert list(waits) == [before, aside, behind]


async def test_without_such_a_call_each_is_sent_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_: int) -> Writes:
        raise OSError("not allowed here")

    monkeypatch.setattr("proxy.volley.Writes", refused)
    async with crowd(2 * FEWEST_THINGS) as made:
        await made.asks(request(OPAQUE, 1))
        await made.answers(answer(1))
        assert not made.set.volley.is_open
        assert made.set.volley.refusal == "not allowed here"


async def test_at_random_all_arrives_in_order_whatever_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small and large, rewritten and answered here, to and from those who read late."""
    async with crowd(10) as made:
        calls = calls_of(made.set.volley, monkeypatch)
        async with trio.open_nursery() as tasks:
            for number, (client, broker) in enumerate(zip(made.clients, made.brokers, strict=True)):
                for sock in (client, broker):
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32 * 1024)
                tasks.start_soon(partial(trio.to_thread.run_sync, echo, broker))
                tasks.start_soon(partial(trio.to_thread.run_sync, ask, client, Random(number)))
        assert sum(calls) > 2 * len(calls) > 0


def ask(client: socket.socket, chance: Random) -> None:
    """One thing after another, and sometimes a second before the first is answered; at last what is numbered 0."""
    owed: list[bytes] = []
    for number in [*range(1, 50), 0]:
        body = chance.randbytes(chance.choice([0, 10, 100, 1_000, 40_000])).hex().encode()
        api = chance.choice([OPAQUE] * 8 + [REWRITTEN, HERE]) if number else OPAQUE
        client.sendall(request(api, number, body))
        owed.append(answer(number, {OPAQUE: body, REWRITTEN: body.upper(), HERE: b"made here"}[api]))
        if chance.randrange(4) or not number:
            received(client, b"".join(owed))
            owed.clear()


def echo(broker: socket.socket) -> None:
    """Answers with what it is asked, up to what is numbered 0."""
    with broker.makefile("rb") as said:
        correlation_id = -1
        while correlation_id:
            size, _, correlation_id = struct.unpack(">iIi", said.read(12))
            broker.sendall(answer(correlation_id, said.read(size - 8)))
