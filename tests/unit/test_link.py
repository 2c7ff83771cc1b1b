"""A plaintext connection, where the wire shows nothing of what it does: what it leaves behind, and when it sleeps.

Real sockets, no brokers. What becomes of the bytes is tested on the wire (tests/proxy/test_hostile_bytes.py and others).
"""

from __future__ import annotations

import contextlib
import fcntl
import gc
import os
import socket
import struct
import termios
import time
import weakref
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial

import pytest
import trio

from proxy.addresses import Address
from proxy.answers import Bytes
from proxy.calls import Calls
from proxy.causes import Cause
from proxy.connections import Connections
from proxy.counts import Counts
from proxy.dial import Dial
from proxy.epoll_set import LONGEST_TRAIN, UNKNOWN, EpollSet
from proxy.leg import BEGINNING_BYTES, BUFFER_BYTES, LEAST_TO_SPLICE
from proxy.link import Link
from proxy.logs import Log
from proxy.parting import Partings
from proxy.settings import Limits
from tests.unit.test_conversation import HERE, OPAQUE, PRODUCE, REWRITTEN, UNFINISHED, ShoutingWire, answer, request
from tests.unit.test_desk import TAKEN, Desk, TakingWire, known_at_once

PATIENCE_SECONDS = 30
# Longer than it takes to ask again, on a slow machine too.
LONG_US = 500_000
# What is sent while nobody reads, and arrives at once: there is room for it.
PIECE = LEAST_TO_SPLICE + 12
ROOM = 4 * PIECE


class Ends:
    """Where a client is heard and where a broker is found, and a link between them."""

    def __init__(
        self,
        epoll_set: EpollSet,
        find_out: Callable[[int | None, Callable[[], None]], None] = known_at_once,
        node: int | None = 1,
    ) -> None:
        self.counts = Counts()
        self.heard_from = heard_from = list[Address]()
        self._partings = Partings(epoll_set)
        self.connections = Connections(
            Limits(),
            ShoutingWire(),
            self.counts,
            Log("error"),
            lambda _link: Desk(),
            self._partings,
            find_out,
            lambda address, _opened_at: heard_from.append(address),
        )
        self.door = listening()
        with listening() as entrance:
            self.client = socket.create_connection(entrance.getsockname(), PATIENCE_SECONDS)
            arrived, _ = entrance.accept()
        name = self.door.getsockname()
        dial = Dial(epoll_set, Calls(self.counts, Log("error")), [(Address(*name), (socket.AF_INET, name))])
        self.link = Link(self.connections, epoll_set, arrived, "a client", node, dial)

    def broker(self) -> socket.socket:
        accepted, _ = self.door.accept()
        accepted.settimeout(PATIENCE_SECONDS)
        return accepted

    def close(self) -> None:
        self.link.close(Cause.DRAINED)
        # The last of what its client was sent may be unacknowledged yet.
        self._partings.end()
        self.client.close()
        self.door.close()


def listening() -> socket.socket:
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
    sock.bind(("127.0.0.1", 0))
    sock.listen()
    sock.settimeout(PATIENCE_SECONDS)
    return sock


@pytest.fixture
def epoll_set() -> Iterator[EpollSet]:
    with EpollSet(LONG_US) as made:
        yield made


@pytest.fixture
async def ends(epoll_set: EpollSet) -> AsyncIterator[Ends]:
    made = Ends(epoll_set)
    yield made
    made.close()


async def test_closed_while_it_still_dials_it_hangs_up_on_both(ends: Ends) -> None:
    assert ends.link.connecting()
    ends.link.close(Cause.DRAINED)
    with ends.broker() as broker:
        assert (broker.recv(1), ends.client.recv(1)) == (b"", b"")
    assert ends.counts.connections_open == 0


async def test_one_that_is_closed_is_let_go_of_before_anybody_looks_for_garbage(epoll_set: EpollSet) -> None:
    """With what it had yet to be told: connections come and go by the thousand."""
    ends = [Ends(epoll_set) for _ in range(2)]
    gone = weakref.ref(ends[0].link)
    gc.disable()
    try:
        async with trio.open_nursery() as tasks:
            tasks.start_soon(epoll_set.run)
            for each in ends:
                with each.broker() as broker:
                    each.client.sendall(request(OPAQUE, 0) + request(OPAQUE, 1)[:9])
                    await trio.to_thread.run_sync(received, broker, request(OPAQUE, 0))
                # As one does that has taken something.
                each.link.conversation.desk = Knowing(each.link)
                each.close()
            del ends, each
            await trio.testing.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()
        assert gone() is None
    finally:
        gc.enable()


class Knowing(Desk):
    """Answers on its connection, as a line does."""

    def __init__(self, connection: Link) -> None:
        super().__init__()
        self.connection = connection


@pytest.mark.parametrize(
    "cause", [Cause.BROKER_CLOSED, Cause.BROKER_LOST, Cause.BROKER_SILENT, Cause.BROKER_UNREACHABLE]
)
async def test_a_client_hears_of_its_brokers_end_when_it_is_known_whether_that_is_there(
    epoll_set: EpollSet, cause: Cause
) -> None:
    asked: list[tuple[int | None, Callable[[], None]]] = []
    ends = Ends(epoll_set, lambda node, then: asked.append((node, then)))
    with contextlib.closing(ends), ends.broker() as broker:
        ends.link.close(cause)
        assert ends.counts.disconnects[cause.value] == 1
        assert broker.recv(1) == b""
        ends.client.setblocking(False)
        with pytest.raises(BlockingIOError):
            ends.client.recv(1)
        ((node, then),) = asked
        then()
        assert (node, ends.client.recv(1)) == (1, b"")


@pytest.mark.parametrize(("cause", "ends_so"), [(Cause.BROKER_SILENT, ConnectionResetError), (Cause.DRAINED, None)])
async def test_what_a_silent_broker_has_not_heard_by_then_it_never_hears(
    epoll_set: EpollSet, ends: Ends, cause: Cause, ends_so: type[OSError] | None
) -> None:
    """When its network is mended, an old commit would arrive behind a newer one."""
    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        with ends.broker() as broker:
            ends.client.sendall(request(OPAQUE, 0))
            await trio.to_thread.run_sync(received, broker, request(OPAQUE, 0))
            ends.link.close(cause)
            with pytest.raises(ends_so) if ends_so is not None else contextlib.nullcontext():
                assert broker.recv(1) == b""
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("size", [LEAST_TO_SPLICE, 4 * BUFFER_BYTES], ids=["read whole", "spliced"])
@pytest.mark.parametrize("is_asked", [True, False], ids=["request", "answer"])
async def test_what_is_large_ends_a_train_of_small_ones(
    epoll_set: EpollSet, ends: Ends, size: int, is_asked: bool
) -> None:
    """Whoever says so much goes by the megabyte, and the set would be awake for nothing."""
    client = ends.client
    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        with ends.broker() as broker:
            await trio.to_thread.run_sync(small_ones, client, broker)
            assert epoll_set.is_awake
            if is_asked:
                await moves(client, broker, request(OPAQUE, 0, bytes(size)))
            else:
                await moves(client, broker, request(OPAQUE, 0))
                assert epoll_set.is_awake
                await moves(broker, client, answer(0, bytes(size)))
            assert not epoll_set.is_awake
        tasks.cancel_scope.cancel()


def small_ones(client: socket.socket, broker: socket.socket) -> None:
    for correlation_id in range(LONGEST_TRAIN):
        client.sendall(request(OPAQUE, correlation_id))
        received(broker, request(OPAQUE, correlation_id))
        broker.sendall(answer(correlation_id))
        received(client, answer(correlation_id))


async def moves(source: socket.socket, sink: socket.socket, frame: bytes) -> None:
    """The set has no turn until the first piece is there, and so finds it whole."""
    deliver(source, frame[:PIECE])
    async with trio.open_nursery() as both:
        both.start_soon(partial(trio.to_thread.run_sync, source.sendall, frame[PIECE:]))
        both.start_soon(partial(trio.to_thread.run_sync, received, sink, frame))


def deliver(source: socket.socket, data: bytes) -> None:
    """All of it is there, on kernels too that send it by and by: nothing sent is unacknowledged (SIOCOUTQ, tcp(7))."""
    source.sendall(data)
    while any(fcntl.ioctl(source, termios.TIOCOUTQ, bytes(4))):
        pass


def received(sock: socket.socket, expected: bytes) -> None:
    got = bytearray()
    while len(got) < len(expected) and (piece := sock.recv(len(expected) - len(got))):
        got += piece
    assert got == expected


async def test_who_says_more_than_its_broker_takes_loses_nothing_and_keeps_nobody_waiting(
    epoll_set: EpollSet, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever waited for the end of its turn would wait too long for this test.
    monkeypatch.setattr("proxy.aside.TURN_SECONDS", 2.0 * PATIENCE_SECONDS)
    said = [request(OPAQUE, number, os.urandom(BUFFER_BYTES + number)) for number in range(60)]
    another = Ends(epoll_set)

    def in_turns(broker: socket.socket, its_broker: socket.socket) -> None:
        """In one thread, which is there before the first turn: what trio would learn by looking waits for the end of that."""
        while not epoll_set._aside._pair:
            time.sleep(0.001)
        for each in said:
            another.client.sendall(request(OPAQUE, 1))
            received(its_broker, request(OPAQUE, 1))
            received(broker, each)

    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        with ends.broker() as broker, another.broker() as its_broker:
            tasks.start_soon(partial(trio.to_thread.run_sync, ends.client.sendall, b"".join(said)))
            await trio.to_thread.run_sync(in_turns, broker, its_broker)
            assert epoll_set._aside._pair.keys() == {ends.link._client.sock, ends.link._broker.sock}
        tasks.cancel_scope.cancel()
    another.close()


async def test_nobody_who_may_go_on_does_before_what_its_broker_has_said_is_passed_on(
    epoll_set: EpollSet, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its client may be waiting for that before it says more."""
    unread = list[bool]()
    monkeypatch.setattr(epoll_set, "may_go_on", lambda: unread.append(ends.link.leaves_broker_unread()))
    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        with ends.broker() as broker:
            await moves(ends.client, broker, request(OPAQUE, 0, bytes(4 * BUFFER_BYTES)))
            # Both are there when the set has its turn.
            deliver(ends.client, request(OPAQUE, 1, bytes(2 * PIECE)))
            deliver(broker, answer(0))
            await trio.to_thread.run_sync(received, ends.client, answer(0))
            await trio.to_thread.run_sync(received, broker, request(OPAQUE, 1, bytes(2 * PIECE)))
        tasks.cancel_scope.cancel()
    assert not any(unread)


async def test_nor_does_anybody_whose_proxy_drains(
    epoll_set: EpollSet, ends: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[bool]()
    monkeypatch.setattr(epoll_set, "may_go_on", lambda: asked.append(True))
    large = request(OPAQUE, 1, bytes(BUFFER_BYTES + 2 * PIECE))
    # All of it is there when the set has its turn.
    ends.link._client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 * len(large))
    async with connected(epoll_set, ends) as broker:
        for drains in (False, True):
            asked.clear()
            deliver(ends.client, large[:5])
            await is_so(lambda: ends.link.conversation.request_under_way)
            if drains:
                ends.link.drain()
            deliver(ends.client, large[5:])
            await trio.to_thread.run_sync(received, broker, large)
            assert asked == ([] if drains else [True])


@pytest.mark.parametrize("is_asked", [True, False], ids=["requests", "answers"])
async def test_whatever_follows_a_large_frame_arrives_as_it_was_and_is_counted_once(
    epoll_set: EpollSet, ends: Ends, is_asked: bool
) -> None:
    """It is looked at where it is: the beginning of another large one stays there to be spliced, all else is taken."""
    large = BUFFER_BYTES + PIECE
    sizes = (large, large, 0, large, BEGINNING_BYTES, large, LEAST_TO_SPLICE // 2, large, 0, large, 2 * large)
    asked = [request(OPAQUE, number, os.urandom(size if is_asked else 0)) for number, size in enumerate(sizes)]
    said = asked if is_asked else [answer(number, os.urandom(size)) for number, size in enumerate(sizes)]
    # Frames one by one, two at once, and one whose beginning is too short to be judged.
    parts = (*said[:3], said[3] + said[4], *said[5:8], said[8] + said[9][:7], said[9][7:], said[10])
    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        with ends.broker() as broker:
            if not is_asked:
                ends.client.sendall(b"".join(asked))
                await trio.to_thread.run_sync(received, broker, b"".join(asked))
            source, sink = (ends.client, broker) if is_asked else (broker, ends.client)
            async with trio.open_nursery() as whole:
                whole.start_soon(partial(trio.to_thread.run_sync, received, sink, b"".join(said)))
                for number in range(len(parts)):
                    await trio.to_thread.run_sync(source.sendall, parts[number])
                    sent = len(b"".join(parts[: number + 1]))
                    await is_so(partial(has_heard, ends, is_asked, sent))
        tasks.cancel_scope.cancel()


async def test_what_is_answered_here_before_a_large_request_is_not_passed_on_with_it(
    epoll_set: EpollSet, ends: Ends
) -> None:
    """Both are looked at together, behind another large one."""
    large = request(OPAQUE, 0, os.urandom(BUFFER_BYTES + PIECE))
    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        with ends.broker() as broker:
            await moves(ends.client, broker, large)
            broker.sendall(answer(0))
            await trio.to_thread.run_sync(received, ends.client, answer(0))
            deliver(ends.client, request(HERE, 1) + large[:PIECE])
            async with trio.open_nursery() as both:
                both.start_soon(partial(trio.to_thread.run_sync, ends.client.sendall, large[PIECE:]))
                both.start_soon(partial(trio.to_thread.run_sync, received, broker, large))
            await trio.to_thread.run_sync(received, ends.client, answer(1, b"made here"))
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("node", [None, 1])
async def test_whoever_answers_by_the_bootstrap_is_there_and_its_own_door_may_open(
    epoll_set: EpollSet, node: int | None
) -> None:
    """Before its client hears what it says: that may be where it is. Who speaks at its own door is known to be there."""
    ends = Ends(epoll_set, node=node)
    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        with ends.broker() as broker:
            await moves(ends.client, broker, request(REWRITTEN, 1))
            broker.sendall(answer(1))
            await is_so(lambda: ends.counts.bytes_from_brokers > 0)
        assert ends.heard_from == ([] if node == 1 else [ends.link.dialled])
        tasks.cancel_scope.cancel()
    ends.close()


def has_heard(ends: Ends, is_asked: bool, sent: int) -> bool:
    return sent == (ends.counts.bytes_from_clients if is_asked else ends.counts.bytes_from_brokers)


async def test_a_request_that_had_begun_when_it_was_drained_is_the_last(epoll_set: EpollSet, ends: Ends) -> None:
    client, last = ends.client, request(OPAQUE, 1, bytes(1_000))
    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        with ends.broker() as broker:
            client.sendall(last[:500])
            await trio.to_thread.run_sync(received, broker, last[:500])
            ends.link.drain()
            client.sendall(last[500:])
            await trio.to_thread.run_sync(received, broker, last[500:])
            ends.link.drain()
            client.sendall(request(OPAQUE, 2))
            broker.sendall(answer(1))
            await trio.to_thread.run_sync(received, client, answer(1))
            ends.link.drain()
            assert await trio.to_thread.run_sync(broker.recv, 1) == b""
        tasks.cancel_scope.cancel()


async def test_an_answer_that_its_client_did_not_stay_for_is_read_to_its_end(epoll_set: EpollSet, ends: Ends) -> None:
    """A member needs the connection: what it asks is answered behind that."""
    talk, heard = ends.link.conversation, trio.Event()
    talk.desk, talk.authenticated = Needed(), True
    large = answer(1, bytes(8 * PIECE))
    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        with ends.broker() as broker:
            ends.client.sendall(request(OPAQUE, 1))
            await trio.to_thread.run_sync(received, broker, request(OPAQUE, 1))
            broker.sendall(large[:PIECE])
            await trio.to_thread.run_sync(received, ends.client, large[:PIECE])
            # In one batch of events.
            broker.sendall(large[PIECE : 2 * PIECE])
            ends.client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            ends.client.close()
            await trio.to_thread.run_sync(broker.sendall, large[2 * PIECE :])
            talk.ask(request(OPAQUE, 77)[4:], lambda _: heard.set())
            ends.link.flush()
            await trio.to_thread.run_sync(received, broker, request(OPAQUE, 77))
            broker.sendall(answer(77))
            with trio.fail_after(PATIENCE_SECONDS):
                await heard.wait()
        tasks.cancel_scope.cancel()


async def test_who_asked_too_much_is_read_again_when_a_large_answer_has_let_the_small_ones_go(
    epoll_set: EpollSet, ends: Ends
) -> None:
    """They are made here, and wait behind it."""
    client, large = ends.client, answer(0, bytes(2 * PIECE))
    most = Limits().max_pipelined_requests
    asked = b"".join(request(HERE, number) for number in range(1, most + 1))
    made = b"".join(answer(number, b"made here") for number in range(1, most + 1))
    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        with ends.broker() as broker:
            client.sendall(request(OPAQUE, 0) + asked)
            await trio.to_thread.run_sync(received, broker, request(OPAQUE, 0))
            broker.sendall(large[:PIECE])
            await trio.to_thread.run_sync(received, client, large[:PIECE])
            # All at once, so that it is spliced.
            deliver(broker, large[PIECE:])
            await trio.to_thread.run_sync(received, client, large[PIECE:] + made)
            client.sendall(request(OPAQUE, 7))
            await trio.to_thread.run_sync(received, broker, request(OPAQUE, 7))
        tasks.cancel_scope.cancel()


class Needed(Desk):
    """A member speaks here."""

    def needed(self) -> bool:
        return True


async def test_a_drain_waits_until_the_broker_has_what_it_need_not_answer(epoll_set: EpollSet, ends: Ends) -> None:
    """Produce without acks: nothing is owed to the client, and all of it was read from it."""
    records, sent = request(PRODUCE, 0, bytes(32 * 1024)), 0
    async with connected(epoll_set, ends) as broker:
        while ends.link.stalled_by_client():
            ends.client.sendall(records)
            sent += len(records)
            await is_so(partial(has_heard, ends, True, sent))
        ends.link.drain()
        assert ends.counts.connections_open == 1
        await trio.to_thread.run_sync(received, broker, records * (sent // len(records)))
        await is_so(partial(has_drained, ends))


@pytest.mark.parametrize("is_over", [False, True], ids=["asks on", "says that it asks no more"])
async def test_what_a_broker_said_before_it_was_lost_arrives_though_its_client_was_heard_first(
    epoll_set: EpollSet, ends: Ends, is_over: bool
) -> None:
    async with connected(epoll_set, ends) as broker:
        ends.client.sendall(request(OPAQUE, 1))
        await trio.to_thread.run_sync(received, broker, request(OPAQUE, 1))
        # In one batch of events, in this order.
        if is_over:
            ends.client.shutdown(socket.SHUT_WR)
        else:
            deliver(ends.client, request(OPAQUE, 2))
        deliver(broker, answer(1, b"written"))
        broker.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        broker.close()
        await trio.to_thread.run_sync(received, ends.client, answer(1, b"written"))
        await is_so(lambda: ends.counts.connections_open == 0)
    assert ends.counts.disconnects["broker_lost"] == 1


async def test_a_broker_is_left_unread_while_its_client_does_not_take_what_it_said_before(
    epoll_set: EpollSet, ends: Ends
) -> None:
    records, sent = answer(1, bytes(32 * 1024)), 0
    async with connected(epoll_set, ends) as broker:
        while not ends.link._client.stuck:
            assert not ends.link.leaves_broker_unread()
            ends.client.sendall(request(OPAQUE, 1))
            await trio.to_thread.run_sync(received, broker, request(OPAQUE, 1))
            broker.sendall(records)
            sent += len(records)
            await is_so(partial(has_heard, ends, False, sent))
        assert ends.link.leaves_broker_unread()


async def test_so_it_is_before_the_set_had_its_turn(epoll_set: EpollSet, ends: Ends) -> None:
    """Whose client has just taken all: who looks then would take the broker for silent."""
    async with connected(epoll_set, ends) as broker:
        ends.client.sendall(request(OPAQUE, 1))
        await trio.to_thread.run_sync(received, broker, request(OPAQUE, 1))
        deliver(broker, answer(1))
        assert ends.link.leaves_broker_unread()
        await trio.to_thread.run_sync(received, ends.client, answer(1))
        assert not ends.link.leaves_broker_unread()


async def test_what_was_asked_here_while_its_client_went_is_sent(epoll_set: EpollSet, ends: Ends) -> None:
    talk = ends.link.conversation
    talk.desk, talk.authenticated = Needed(), True
    async with connected(epoll_set, ends) as broker:
        talk.ask(request(OPAQUE, 77)[4:], lambda _: None)
        ends.link.close(Cause.CLIENT_LOST)
        await trio.to_thread.run_sync(received, broker, request(OPAQUE, 77))


@pytest.mark.parametrize("sent", UNFINISHED.values(), ids=UNFINISHED)
async def test_it_does_not_outlive_a_client_that_left_something_unfinished(
    epoll_set: EpollSet, ends: Ends, sent: bytes
) -> None:
    """The broker waits for the rest of it. A member that had asked behind that was mute for thirty seconds, though its client
    was back on another connection: librdkafka hangs up in the midst of authenticating again when its coordinator moves."""
    talk, heard = ends.link.conversation, list[Bytes | None]()
    talk.desk = Needed()
    async with connected(epoll_set, ends) as broker:
        ends.client.sendall(sent)
        await trio.to_thread.run_sync(received, broker, sent)
        talk.ask(request(OPAQUE, 77)[4:], heard.append)
        ends.link.flush()
        ends.client.close()
        await is_so(lambda: ends.counts.connections_open == 0)
    assert heard == [None]
    assert ends.counts.disconnects["client_closed"] == 1


@pytest.mark.parametrize("sent", UNFINISHED.values(), ids=UNFINISHED)
async def test_nor_one_that_had_begun_something_behind_a_request_in_hand(
    epoll_set: EpollSet, ends: Ends, sent: bytes
) -> None:
    talk = ends.link.conversation
    talk.desk = Needed()
    async with connected(epoll_set, ends) as broker:
        talk.in_hand = True
        ends.client.sendall(sent)
        await is_so(partial(has_heard, ends, True, len(sent)))
        ends.client.close()
        await is_so(lambda: ends.link._lingering)
        talk.answer(answer(1)[4:])
        ends.link.flush()
        await trio.to_thread.run_sync(received, broker, sent)
        await is_so(lambda: ends.counts.connections_open == 0)
    assert ends.counts.disconnects["client_closed"] == 1


async def test_a_drain_waits_for_what_a_member_asks_whose_client_has_gone(epoll_set: EpollSet, ends: Ends) -> None:
    """What it says next may be that it leaves."""
    desk = Needed()
    talk = ends.link.conversation
    talk.desk, talk.authenticated, desk.asking = desk, True, True
    async with connected(epoll_set, ends) as broker:
        talk.ask(request(OPAQUE, 77)[4:], lambda _: None)
        ends.link.close(Cause.CLIENT_LOST)
        ends.link.drain()
        assert ends.counts.connections_open == 1
        await trio.to_thread.run_sync(received, broker, request(OPAQUE, 77))
        desk.asking = False
        ends.link.drain()
        assert ends.counts.connections_open == 0


async def test_a_desk_that_fails_at_the_end_of_a_connection_ends_nothing_else(epoll_set: EpollSet, ends: Ends) -> None:
    def fails(_: Bytes | None) -> Bytes | None:
        raise ValueError

    talk = ends.link.conversation
    talk.desk, talk.authenticated = Desk(), True
    async with connected(epoll_set, ends):
        talk.ask(request(OPAQUE, 77)[4:], fails)
        ends.link.close(Cause.IDLE)
        assert ends.counts.disconnects["idle"] == 1


async def test_a_client_that_ends_behind_a_request_in_hand_is_served_as_it_would_be_by_a_broker(
    epoll_set: EpollSet, ends: Ends
) -> None:
    """The desk asks before it forwards: the broker hears of the end behind what it is still to hear."""
    talk = ends.link.conversation
    talk.desk, talk.authenticated = Desk(), True
    async with connected(epoll_set, ends) as broker:
        talk.in_hand = True
        talk.ask(request(OPAQUE, 77)[4:], lambda _: None)
        ends.link.flush()
        ends.client.sendall(request(OPAQUE, 2))
        ends.client.shutdown(socket.SHUT_WR)
        await trio.to_thread.run_sync(received, broker, request(OPAQUE, 77))
        await is_so(lambda: ends.link._client.ended)
        talk.forward(request(OPAQUE, 1)[4:])
        ends.link.flush()
        await trio.to_thread.run_sync(received, broker, request(OPAQUE, 1) + request(OPAQUE, 2))
        assert await trio.to_thread.run_sync(broker.recv, 1) == b""
        broker.sendall(answer(77) + answer(1) + answer(2))
        broker.close()
        await trio.to_thread.run_sync(received, ends.client, answer(1) + answer(2))
        await is_so(lambda: ends.counts.connections_open == 0)
    assert dict(ends.counts.disconnects)["client_closed"] == 1


async def test_who_forwards_only_goes_first_and_who_speaks_for_a_member_waits_with_its_group(
    epoll_set: EpollSet, ends: Ends
) -> None:
    talk = ends.link.conversation
    talk._treatments = TakingWire.treatments
    both = {ends.link._client.sock.fileno()}
    async with connected(epoll_set, ends) as broker:
        assert ends.link._broker is not None
        both.add(ends.link._broker.sock.fileno())
        assert both <= set(epoll_set._first)
        ends.client.sendall(request(TAKEN, 1))
        await is_so(lambda: not both & set(epoll_set._first))
        assert epoll_set._lanes == dict.fromkeys(both, UNKNOWN)
        # It is let in, and then its members are known.
        talk.ask(request(OPAQUE, 77)[4:], lambda _: talk.desk.groups.add("group"))
        ends.link.flush()
        await trio.to_thread.run_sync(received, broker, request(OPAQUE, 77))
        broker.sendall(answer(77))
        await is_so(lambda: epoll_set._lanes == dict.fromkeys(both, "group"))
        ends.link.close(Cause.DRAINED)
        assert not epoll_set._lanes


@contextlib.asynccontextmanager
async def connected(epoll_set: EpollSet, ends: Ends) -> AsyncIterator[socket.socket]:
    """It moves bytes, to the broker that is given."""
    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        with ends.broker() as broker:
            ends.client.sendall(request(PRODUCE, 0, b"\0"))
            await trio.to_thread.run_sync(received, broker, request(PRODUCE, 0, b"\0"))
            ends.counts.bytes_from_clients = 0
            yield broker
        tasks.cancel_scope.cancel()


def has_drained(ends: Ends) -> bool:
    ends.link.drain()
    return ends.counts.connections_open == 0


async def is_so(probe: Callable[[], bool]) -> None:
    with trio.fail_after(PATIENCE_SECONDS):
        while not probe():  # noqa: ASYNC110 (nobody tells)
            await trio.sleep(0.001)
