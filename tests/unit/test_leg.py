"""A socket that does not take all it is given, and the pipes that wait with it. Real sockets, no brokers."""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from proxy.causes import Cause, Disconnect
from proxy.leg import WORTH_WAKING_BYTES, Leg
from proxy.pipe import MOST_KEPT, Pipes

# More than a pair of sockets and a pipe hold.
FRAME = bytes(range(256)) * 32 * 1024


@pytest.fixture
def pipes() -> Iterator[Pipes]:
    with contextlib.closing(Pipes()) as found:
        yield found


def splice(source: Leg, sink: Leg, limit: int) -> int:
    """As a link does it."""
    if moved := source.fill(limit):
        sink.empty_pipe(moved < limit)
    return moved


class Passage:
    """A source that has a frame to say and a sink that nobody reads yet, joined by splicing."""

    def __init__(self, pipes: Pipes) -> None:
        self.speaker, source = socket.socketpair()
        sink, self.listener = socket.socketpair()
        for sock in (self.speaker, source, sink, self.listener):
            sock.setblocking(False)
        self.source = Leg(source, Cause.CLIENT_LOST, pipes)
        self.sink = Leg(sink, Cause.BROKER_LOST, pipes)
        self.said = self.spliced = 0

    def splice_until_stuck(self) -> None:
        while not self.sink.stuck:
            with contextlib.suppress(BlockingIOError):
                self.said += self.speaker.send(FRAME[self.said :])
            self.spliced += splice(self.source, self.sink, len(FRAME) - self.spliced)

    def heard(self) -> bytes:
        """All that comes out at the end once somebody listens."""
        heard = b""
        while True:
            with contextlib.suppress(BlockingIOError):
                while piece := self.listener.recv(1_000_000):
                    heard += piece
            if not self.sink.stuck:
                return heard
            self.sink.send_rest()

    def close(self) -> None:
        self.sink.abandon()
        for sock in (self.speaker, self.listener, self.source.sock, self.sink.sock):
            sock.close()


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_what_a_socket_does_not_take_leaves_later_and_before_what_is_sent_behind_it(pipes: Pipes) -> None:
    with contextlib.closing(Passage(pipes)) as path:
        path.splice_until_stuck()
        # There is room for more, but not its turn.
        heard = path.listener.recv(100_000)
        path.sink.send(b"behind")
        assert heard + path.heard() == FRAME[: path.spliced] + b"behind"


def test_stuck_sockets_do_not_mix_their_bytes_however_many_there_are(pipes: Pipes) -> None:
    with contextlib.ExitStack() as stack:
        paths = [stack.enter_context(contextlib.closing(Passage(pipes))) for _ in range(MOST_KEPT + 2)]
        for path in paths:
            path.splice_until_stuck()
        for path in paths:
            assert path.heard() == FRAME[: path.spliced]


def test_connections_that_end_stuck_leave_no_descriptors_behind(pipes: Pipes) -> None:
    before = descriptors()
    for _ in range(3):
        paths = [Passage(pipes) for _ in range(4)]
        for path in paths:
            path.splice_until_stuck()
        for path in paths:
            path.close()
    assert descriptors() == before


def test_a_source_that_ends_within_a_frame_is_lost(pipes: Pipes) -> None:
    with contextlib.closing(Passage(pipes)) as path:
        path.speaker.close()
        with pytest.raises(Disconnect, match="ended within a frame"):
            splice(path.source, path.sink, 100_000)


def test_of_what_a_broker_takes_no_more_nothing_is_kept_nor_left_in_the_pipe_for_others(pipes: Pipes) -> None:
    """What it said before is still to be read: a failure to send is not its end."""
    with contextlib.closing(Passage(pipes)) as path, contextlib.closing(Passage(pipes)) as other:
        path.splice_until_stuck()
        path.listener.close()
        path.sink.send_rest()
        path.sink.send(b"behind")
        splice(path.source, path.sink, 100_000)
        assert not path.sink.stuck
        assert path.sink.failure
        other.splice_until_stuck()
        assert other.heard() == FRAME[: other.spliced]


def test_a_client_that_takes_no_more_is_lost(pipes: Pipes) -> None:
    near, far = socket.socketpair()
    far.close()
    with near, pytest.raises(Disconnect, match="client_lost"):
        Leg(near, Cause.CLIENT_LOST, pipes).send(b"an answer")


@pytest.fixture
def tcp() -> Iterator[tuple[socket.socket, socket.socket]]:
    with socket.create_server(("127.0.0.1", 0)) as door, socket.create_connection(door.getsockname()) as speaker:
        source, _ = door.accept()
        source.setblocking(False)
        with source:
            yield speaker, source


class Tcp(NamedTuple):
    """A source that is a real connection, for the kernel is told about it; and what the kernel tells."""

    speaker: socket.socket
    source: Leg
    path: Passage
    told: select.epoll


@pytest.fixture
def passage(pipes: Pipes, tcp: tuple[socket.socket, socket.socket]) -> Iterator[Tcp]:
    speaker, sock = tcp
    with contextlib.closing(Passage(pipes)) as path, select.epoll() as told:
        told.register(sock, select.EPOLLIN)
        yield Tcp(speaker, Leg(sock, Cause.CLIENT_LOST, pipes), path, told)


def test_within_a_large_frame_only_a_piece_worth_moving_or_its_end_is_told(passage: Tcp) -> None:
    speaker, source, path, told = passage
    left = 4 + WORTH_WAKING_BYTES + 8 + 1
    for size, is_told in ((4, True), (8, False), (WORTH_WAKING_BYTES - 8, True), (4, False), (5, True)):
        speaker.sendall(bytes(size))
        assert bool(told.poll(10 if is_told else 0.05)) is is_told
        if is_told:
            left -= splice(source, path.sink, left)
            path.listener.recv(1_000_000)
    assert left == 0
    speaker.sendall(b"?")
    assert told.poll(10)


def test_after_the_end_of_a_frame_that_was_read_the_next_byte_is_told(passage: Tcp) -> None:
    speaker, source, path, told = passage
    speaker.sendall(b"beginning")
    assert told.poll(10)
    splice(source, path.sink, 9 + 3)
    speaker.sendall(b"end")
    assert told.poll(10)
    assert bytes(source.receive() or b"") == b"end"
    speaker.sendall(b"?")
    assert told.poll(10)
