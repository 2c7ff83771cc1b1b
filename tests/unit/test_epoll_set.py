"""Waiting for many sockets: asleep, or awake while one thing follows another. Real sockets, no brokers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from socket import SOCK_DGRAM, socketpair

import pytest
import trio

from proxy.epoll_set import FIRST, LONGEST_TRAIN, READABLE, TRAIN, EpollSet

# Longer than it takes to ask again, on a slow machine too.
LONG_US = 1_000_000


class Echo:
    """What arrives on its end goes back."""

    def __init__(self, epoll_set: EpollSet) -> None:
        self.own, self.theirs = socketpair(type=SOCK_DGRAM)
        self.theirs.settimeout(30)
        self.set = epoll_set
        self.was_awake: list[bool] = []
        self.bulky = False
        # Who is asked something too, in the midst of the request of that number.
        self.at_once: dict[int, list[Echo]] = {}
        self.at_each: Callable[[], None] = lambda: None
        epoll_set.watch(self.own, READABLE, self.ready)

    def ready(self, _events: int) -> None:
        self.was_awake.append(self.set.is_awake)
        if self.bulky:
            self.set.bulk()
        for each in self.at_once.get(len(self.was_awake), ()):
            each.theirs.send(b"x")
        self.at_each()
        self.own.send(self.own.recv(100))

    async def asked(self, times: int) -> None:
        """From a thread: trio's other tasks have no turn while the set waits for the next thing itself."""
        await trio.to_thread.run_sync(self._asked, times)

    def _asked(self, times: int) -> None:
        for _ in range(times):
            self.theirs.send(b"x")
            assert self.theirs.recv(100) == b"x"

    def close(self) -> None:
        self.set.forget(self.own)
        self.theirs.close()


@asynccontextmanager
async def echo(spin_us: int) -> AsyncIterator[Echo]:
    with EpollSet(spin_us) as epoll_set:
        async with trio.open_nursery() as tasks:
            one = Echo(epoll_set)
            tasks.start_soon(epoll_set.run)
            yield one
            tasks.cancel_scope.cancel()
        one.close()


async def test_who_is_asked_again_and_again_is_awake_and_all_is_answered() -> None:
    async with echo(LONG_US) as one:
        await one.asked(3 * TRAIN)
        # The first of all comes after nothing.
        assert one.was_awake == [False] * TRAIN + [True] * (2 * TRAIN)


async def test_without_a_time_to_spin_it_always_sleeps() -> None:
    async with echo(0) as one:
        await one.asked(3 * TRAIN)
        assert not any(one.was_awake)


async def test_a_pause_ends_a_short_train_and_not_a_long_one() -> None:
    async with echo(LONG_US) as one:
        for times, stays in ((2 * TRAIN - 2, False), (LONGEST_TRAIN, True)):
            await one.asked(times)
            assert one.was_awake[-1]
            await trio.sleep(1.5 * LONG_US / 1e6)
            await one.asked(1)
            assert one.was_awake[-1] is stays


async def test_what_moves_much_is_no_part_of_a_train() -> None:
    async with echo(LONG_US) as one:
        one.bulky = True
        await one.asked(3 * TRAIN)
        assert not any(one.was_awake)


async def test_several_at_a_time_are_no_train() -> None:
    async with echo(LONG_US) as one:
        another = Echo(one.set)
        one.at_once = {2 * TRAIN - 2: [one, another]}
        await one.asked(2 * TRAIN - 2)
        await trio.to_thread.run_sync(another.theirs.recv, 100)
        assert one.was_awake[2 * TRAIN - 3]
        assert not another.was_awake[0]
        another.close()


async def test_whoever_else_can_go_on_has_its_turn_before_the_next_thing() -> None:
    async with echo(LONG_US) as one:
        asked_when_it_had_its_turn = []

        async def another() -> None:
            asked_when_it_had_its_turn.append(len(one.was_awake))

        async with trio.open_nursery() as tasks:
            one.at_each = lambda: tasks.start_soon(another)
            await one.asked(3 * TRAIN)
        assert asked_when_it_had_its_turn == [*range(1, 3 * TRAIN + 1)]


async def served(epoll_set: EpollSet, names: str, at_once: Callable[[Echo], None] = lambda _: None) -> str:
    """All are asked at the same time, in this order. In which order were they served? Capitals go first; of others each
    letter is a lane, and who is called "?" is unknown."""
    order, each_once = "", len(names)
    echoes = [Echo(epoll_set) for _ in names]
    for name, one in zip(names, echoes, strict=True):

        def note(name: str = name, one: Echo = one) -> None:
            nonlocal order
            order += name
            at_once(one)

        one.at_each = note
        if name != "?":
            epoll_set.put_in_lane(one.own, FIRST if name.isupper() else name)
        one.theirs.send(b"x")
    async with trio.open_nursery() as tasks:
        tasks.start_soon(epoll_set.run)
        while len(order) < each_once:
            await trio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    for one in echoes:
        one.close()
    return order


async def test_who_only_forwards_is_served_before_members_and_members_of_each_group_in_turn() -> None:
    with EpollSet() as epoll_set:
        assert await served(epoll_set, "aaaa?bAB?b") == "ABa?ba?baa"


async def test_nobody_waits_for_more_than_a_moment_for_hundreds_of_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of these takes as long as all in lanes may: whoever else is asked meanwhile is answered before the next."""
    monkeypatch.setattr("proxy.epoll_set.LANES_SECONDS", 0.0)
    answered = 0
    with EpollSet() as epoll_set:
        plain = Echo(epoll_set)
        epoll_set.put_in_lane(plain.own, FIRST)
        plain.theirs.send(b"x")

        def is_answered(_: Echo) -> None:
            nonlocal answered
            plain.theirs.setblocking(False)
            answered += len(plain.theirs.recv(100))
            plain.theirs.send(b"x")

        assert await served(epoll_set, "a" * 300, is_answered) == "a" * 300
        assert answered == 300
        plain.close()


async def test_who_is_left_over_is_served_before_those_who_ask_on_and_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proxy.epoll_set.LANES_SECONDS", 0.0)

    had_its_turn: list[Echo] = []

    def again(one: Echo) -> None:
        had_its_turn.append(one)
        one.theirs.send(b"x")

    with EpollSet() as epoll_set:
        await served(epoll_set, "aaaaa", again)
        assert len(set(had_its_turn[:5])) == 5
        assert await served(epoll_set, "abaacaa", again) == "abcabca"


async def test_a_lane_ends_with_its_socket() -> None:
    """Its number may be the next one's."""
    with EpollSet() as epoll_set:
        before = dict(epoll_set._first)
        assert await served(epoll_set, "Aa") == "Aa"
        assert (epoll_set._first, epoll_set._lanes) == (before, {})
