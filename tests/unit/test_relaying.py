"""What is passed on between a stream with TLS and the process that has its group."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest
import trio

from proxy.relaying import lent, pair, relay
from proxy.socket_stream import SocketStream
from proxy.swallowed import AT_ONCE
from tests.unit.test_link import PATIENCE_SECONDS, received


class Ends:
    """A peer, whose stream is relayed, and the far end, which another process would have."""

    def __init__(self, opened: ExitStack) -> None:
        self.peer, inner = map(opened.enter_context, pair())
        near, self.far = map(opened.enter_context, pair())
        self.relay = partial(relay, SocketStream(inner), SocketStream(near))
        for each in (self.peer, self.far):
            each.settimeout(PATIENCE_SECONDS)


@pytest.fixture
def ends() -> Iterator[Ends]:
    with ExitStack() as opened:
        yield Ends(opened)


async def hears(sock: socket.socket, expected: bytes) -> None:
    await trio.to_thread.run_sync(received, sock, expected)


async def test_all_that_either_says_arrives_and_the_other_process_ends_it(ends: Ends) -> None:
    large = os.urandom(4_000_000)
    was_rude: list[bool] = []

    async def relays() -> None:
        was_rude.append(await ends.relay())

    async with trio.open_nursery() as tasks:
        tasks.start_soon(relays)
        for source, sink in ((ends.peer, ends.far), (ends.far, ends.peer)):
            tasks.start_soon(partial(trio.to_thread.run_sync, source.sendall, large))
            await hears(sink, large)
        ends.far.sendall(b"the last of it")
        ends.far.close()
        await hears(ends.peer, b"the last of it")
    assert was_rude == [False]


async def test_a_stream_that_ends_says_so_and_is_still_told(ends: Ends) -> None:
    async with trio.open_nursery() as tasks:
        tasks.start_soon(ends.relay)
        ends.peer.sendall(b"asked")
        ends.peer.shutdown(socket.SHUT_WR)
        await hears(ends.far, b"asked")
        assert await trio.to_thread.run_sync(ends.far.recv, 1) == b""
        ends.far.sendall(b"answered")
        await hears(ends.peer, b"answered")
        ends.far.close()


async def test_a_reset_by_the_other_process_is_told_from_an_end(ends: Ends) -> None:
    """By that it throws away what a silent broker has not heard."""
    ends.far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    ends.far.close()
    assert await ends.relay() is True


async def test_to_a_stream_that_has_failed_nothing_more_is_said(ends: Ends) -> None:
    ends.peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
    ends.peer.close()
    async with trio.open_nursery() as tasks:
        tasks.start_soon(ends.relay)
        assert await trio.to_thread.run_sync(ends.far.recv, 1) == b""
        ends.far.sendall(b"to nobody")
    assert ends.far.recv(1) == b""


def test_what_nobody_takes_is_closed() -> None:
    offered: list[socket.socket] = []

    def refuses(*ends: socket.socket) -> bool:
        offered.extend(ends)
        return False

    assert lent(refuses) is None
    assert [each.fileno() for each in offered] == [-1, -1]


def test_without_descriptors_nothing_is_lent(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[socket.socket, ...]] = []

    def pair_once() -> Any:
        if made:
            raise OSError
        made.append(pair())
        return made[0]

    monkeypatch.setattr("proxy.relaying.pair", pair_once)
    assert lent(lambda client, broker: True) is None
    assert [each.fileno() for each in made[0]] == [-1, -1]
