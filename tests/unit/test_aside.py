"""Who says more than is taken, and who takes it: apart from all others, who do not wait for them. Real sockets."""

from __future__ import annotations

import contextlib
import select
from collections.abc import Iterator
from functools import partial
from socket import SO_SNDBUF, SOL_SOCKET, socket, socketpair
from threading import Timer

import pytest
import trio

from proxy import aside
from proxy.aside import Aside
from proxy.epoll_set import READABLE, WRITABLE, EpollSet

# Longer than any of these takes: what is waited for in vain ends by it.
LONG_SECONDS = 20
SOON_SECONDS = 0.05


class Pair:
    """What is said at `client` is to be taken at `broker`."""

    def __init__(self) -> None:
        self.client, self.source = socketpair()
        self.sink, self.broker = socketpair()
        for each in (self.source, self.sink):
            each.setblocking(False)

    @property
    def watched(self) -> dict[socket, int]:
        return {self.source: READABLE, self.sink: READABLE}

    def fill(self) -> None:
        """And more is to come."""
        self.client.send(b"more")
        with contextlib.suppress(BlockingIOError):
            while True:
                self.sink.send(bytes(4096))

    def makes_room(self) -> None:
        """By taking all there is."""
        self.broker.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                self.broker.recv(1024 * 1024)

    def close(self) -> None:
        for each in (self.client, self.source, self.sink, self.broker):
            each.close()


@pytest.fixture
def others() -> Iterator[select.epoll]:
    with select.epoll() as made:
        yield made


@pytest.fixture
def pair(others: select.epoll) -> Iterator[Pair]:
    yield from watched_by(others)


@pytest.fixture
def another(others: select.epoll) -> Iterator[Pair]:
    yield from watched_by(others)


def watched_by(epoll: select.epoll) -> Iterator[Pair]:
    made = Pair()
    for sock, events in made.watched.items():
        epoll.register(sock, events)
    yield made
    made.close()


@pytest.fixture
def apart(others: select.epoll, monkeypatch: pytest.MonkeyPatch) -> Iterator[Aside]:
    monkeypatch.setattr(aside, "TURN_SECONDS", LONG_SECONDS)
    made = Aside(others)
    yield made
    made.close()


def test_room_is_waited_for(others: select.epoll, apart: Aside, pair: Pair) -> None:
    assert apart.take(pair.watched, pair.sink)
    pair.fill()
    with turn(apart, others), room_comes_soon(pair):
        assert apart.has_room(pair.sink)
        assert pair.sink.send(b"more") == 4


def test_nobody_else_waits_for_it(others: select.epoll, apart: Aside, pair: Pair, another: Pair) -> None:
    assert apart.take(pair.watched, pair.sink)
    pair.fill()
    with turn(apart, others):
        assert apart.may_go_on()
        another.client.send(b"something")
        with room_comes_soon(pair):
            assert not apart.has_room(pair.sink)
            assert not apart.may_go_on()


def test_a_turn_ends_whether_there_is_room_or_not(
    others: select.epoll, apart: Aside, pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "TURN_SECONDS", SOON_SECONDS)
    assert apart.take(pair.watched, pair.sink)
    pair.fill()
    with turn(apart, others):
        assert not apart.has_room(pair.sink)
        assert not apart.may_go_on()
        pair.makes_room()
        assert not apart.has_room(pair.sink)


def test_out_of_its_turn_nothing_is_waited_for(others: select.epoll, apart: Aside, pair: Pair) -> None:
    assert apart.take(pair.watched, pair.sink)
    assert not apart.has_room(pair.sink)
    assert not apart.may_go_on()
    pair.client.send(b"more")
    with turn(apart, others):
        assert apart.has_room(pair.sink)
    assert not apart.has_room(pair.sink)


def test_what_it_says_is_named_once_in_each_turn(others: select.epoll, apart: Aside, pair: Pair) -> None:
    assert apart.take(pair.watched, pair.sink)
    pair.client.send(b"a")
    for _ in range(3):
        assert others.poll(LONG_SECONDS) == [(apart.fileno(), READABLE)]
        assert apart.take_turn() == [(pair.source.fileno(), READABLE)]
        assert not others.poll(0)
        apart.end_turn()


def test_who_waited_just_now_stays_the_pair_and_who_did_long_ago_is_among_the_others_again(
    others: select.epoll, apart: Aside, pair: Pair, another: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "KEPT_SECONDS", LONG_SECONDS)
    assert apart.take(pair.watched, pair.sink)
    assert not apart.take(another.watched, another.sink)
    assert apart.take(pair.watched, pair.sink)
    monkeypatch.setattr(aside, "KEPT_SECONDS", 0)
    # What it is watched for by then.
    assert apart.change(pair.source, 0)
    assert apart.change(pair.sink, READABLE | WRITABLE)
    assert apart.take(another.watched, another.sink)
    assert not apart.change(pair.source, READABLE)
    for each in (pair, another):
        each.client.send(b"a")
    assert sorted(others.poll(LONG_SECONDS)) == sorted([(pair.sink.fileno(), WRITABLE), (apart.fileno(), READABLE)])
    assert apart.take_turn() == [(another.source.fileno(), READABLE)]


def test_it_is_watched_for_what_it_is_to_be_watched_for(apart: Aside, pair: Pair) -> None:
    assert apart.take(pair.watched, pair.sink)
    pair.client.send(b"a")
    assert apart.change(pair.source, 0)
    assert apart.take_turn() == []
    assert apart.change(pair.sink, WRITABLE)
    assert apart.take_turn() == [(pair.sink.fileno(), WRITABLE)]
    assert apart.change(pair.source, READABLE)
    assert apart.change(pair.sink, READABLE)
    assert apart.take_turn() == [(pair.source.fileno(), READABLE)]


def test_what_is_closed_is_nobodys(others: select.epoll, apart: Aside, pair: Pair, another: Pair) -> None:
    assert apart.take(pair.watched, pair.sink)
    for sock in pair.watched:
        apart.forget(sock)
        sock.close()
    assert apart.take_turn() == []
    apart.end_turn()
    # And stands in nobody's way.
    apart._used_at = 0.0
    assert apart.take(another.watched, another.sink)
    another.client.send(b"a")
    assert others.poll(LONG_SECONDS) == [(apart.fileno(), READABLE)]


def test_its_room_is_widened_where_the_machine_lets_and_never_narrowed(
    apart: Aside, pair: Pair, another: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "KEPT_SECONDS", 0)
    before = pair.sink.getsockopt(SOL_SOCKET, SO_SNDBUF)
    monkeypatch.setattr(aside, "_most_that_may_be_asked_for", lambda: before)
    monkeypatch.setattr(aside, "ROOM_BYTES", before // 4)
    assert apart.take(pair.watched, pair.sink)
    assert pair.sink.getsockopt(SOL_SOCKET, SO_SNDBUF) == before
    another.sink.setsockopt(SOL_SOCKET, SO_SNDBUF, before // 8)
    assert apart.take(another.watched, another.sink)
    assert another.sink.getsockopt(SOL_SOCKET, SO_SNDBUF) == before // 2


async def test_within_the_set_it_is_served_like_anybody_who_only_forwards() -> None:
    with EpollSet() as epoll_set:
        made, heard = Pair(), list[bytes]()
        for sock, events in made.watched.items():
            epoll_set.watch(sock, events, partial(hears, sock, heard))
        # Whoever may speak for a member stays in its lane.
        assert not epoll_set.has_room(made.sink, made.watched)
        assert not epoll_set._aside._pair
        for sock in made.watched:
            epoll_set.put_in_lane(sock, None)
        epoll_set.has_room(made.sink, made.watched)
        assert epoll_set._aside._pair == made.watched
        async with trio.open_nursery() as tasks:
            tasks.start_soon(epoll_set.run)
            for number in range(5):
                made.client.send(b"%d" % number)
                made.broker.send(b"answer")
                with trio.fail_after(LONG_SECONDS):
                    while len(heard) < 2 * (number + 1):  # noqa: ASYNC110 (nobody tells)
                        await trio.sleep(0.001)
            tasks.cancel_scope.cancel()
        assert sorted(heard) == [b"0", b"1", b"2", b"3", b"4", *[b"answer"] * 5]
        for sock in made.watched:
            epoll_set.forget(sock)
        made.close()


def hears(sock: socket, heard: list[bytes], _events: int) -> None:
    heard.append(sock.recv(100))


@contextlib.contextmanager
def room_comes_soon(pair: Pair) -> Iterator[None]:
    room = Timer(SOON_SECONDS, pair.makes_room)
    room.start()
    yield
    room.join()


@contextlib.contextmanager
def turn(apart: Aside, others: select.epoll) -> Iterator[None]:
    assert others.poll(LONG_SECONDS) == [(apart.fileno(), READABLE)]
    assert apart.take_turn()
    yield
    apart.end_turn()
