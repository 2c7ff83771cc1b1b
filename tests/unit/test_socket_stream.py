"""A socket as a stream: who need not wait goes on, but not for ever. Real sockets."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator

import pytest
import trio
import trio.testing

from proxy.socket_stream import MOST_IN_A_ROW, SocketStream

# More than two sockets hold.
MUCH = bytes(range(256)) * 64 * 1024
PIECES = 3 * MOST_IN_A_ROW

Ends = tuple[SocketStream, socket.socket]


@pytest.fixture
def ends() -> Iterator[Ends]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        far = socket.create_connection(listening.getsockname())
        near, _ = listening.accept()
    with near, far:
        yield SocketStream(near), far


async def test_who_has_much_to_read_lets_all_others_go_first_now_and_then(ends: Ends) -> None:
    stream, far = ends
    far.sendall(b"x" * PIECES)
    # Of each turn of another task: how much was read before.
    turns: list[int] = []
    read = 0

    async def another() -> None:
        while True:
            turns.append(read)
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(another)
        while read < PIECES:
            read += len(await stream.receive_some(1))
        nursery.cancel_scope.cancel()
    # Which of two goes first of whom all others let go first is drawn.
    assert turns[0] in (MOST_IN_A_ROW, 2 * MOST_IN_A_ROW)
    assert {before % MOST_IN_A_ROW for before in turns} == {0}


async def test_all_is_sent_however_slowly_it_is_taken(ends: Ends) -> None:
    stream, far = ends
    taken = bytearray()

    def take() -> None:
        while len(taken) < len(MUCH):
            taken.extend(far.recv(1_000_000))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(stream.send_all, MUCH)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(trio.to_thread.run_sync, take)
    assert taken == MUCH


async def test_a_wait_that_is_given_up_loses_nothing(ends: Ends) -> None:
    stream, far = ends
    with trio.move_on_after(0.01) as patience:
        await stream.receive_some()
    assert patience.cancelled_caught
    far.sendall(b"late")
    assert await stream.receive_some() == b"late"
    far.close()
    assert await stream.receive_some() == b""


async def test_who_waits_for_it_hears_that_it_was_closed(ends: Ends) -> None:
    stream, _ = ends

    async def waits() -> None:
        with pytest.raises(trio.ClosedResourceError):
            await stream.receive_some()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(waits)
        await trio.testing.wait_all_tasks_blocked()
        await stream.aclose()
    with pytest.raises(trio.ClosedResourceError):
        await stream.receive_some()
    with pytest.raises(trio.ClosedResourceError):
        await stream.send_all(b"x")
    await stream.aclose()


async def test_a_reset_is_said_to_whoever_reads_or_writes(ends: Ends) -> None:
    stream, far = ends
    far.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    far.close()
    with pytest.raises(trio.BrokenResourceError, match="reset"):
        await stream.receive_some()
    with pytest.raises(trio.BrokenResourceError):
        await stream.send_all(b"x")
