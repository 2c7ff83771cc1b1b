"""Bytes from socket to socket without passing through this process: `splice`, by way of a pipe.

One pipe serves all connections as long as the receiving sockets take what it holds. Where one doesn't, the pipe stays
with that socket, bytes and all, until it does, and another pipe takes its place. Reading them out instead would cost more
than the splice has saved: fresh memory, two copies. But there are only so many pipes: each holds up to a megabyte, and
unprivileged users may have 64 of that size (pipe(7)).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from socket import socket

PIPE_BYTES = 1024 * 1024
MOST_KEPT = 32
MOST_SPARE = 4
FLAGS = os.SPLICE_F_MOVE | os.SPLICE_F_NONBLOCK


class Pipe:
    def __init__(self) -> None:
        self.filled = 0
        self._out, self._in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.fcntl(self._in, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            # Unprivileged processes may be filled to less; then each move is smaller.
            pass

    def close(self) -> None:
        os.close(self._in)
        os.close(self._out)

    def fill(self, source: socket, limit: int) -> int:
        """Take up to `limit` bytes from a socket; 0 at its end. BlockingIOError when there is nothing."""
        size = os.splice(source.fileno(), self._in, limit, flags=FLAGS)
        self.filled += size
        return size

    def empty(self, sink: socket, more: bool = False) -> None:
        """Give what is filled to a socket, or as much as it takes. `more` is to follow: it need not go at once."""
        flags = FLAGS | os.SPLICE_F_MORE if more else FLAGS
        with contextlib.suppress(BlockingIOError):
            self.filled -= os.splice(self._out, sink.fileno(), self.filled, flags=flags)

    def read(self) -> bytes:
        taken = b""
        while self.filled:
            piece = os.read(self._out, self.filled)
            self.filled -= len(piece)
            taken += piece
        return taken


class Pipes:
    """The one in use, and those that stay with sockets."""

    def __init__(self) -> None:
        self.current = Pipe()
        self._spare: list[Pipe] = []
        self._kept = 0

    def close(self) -> None:
        for pipe in (self.current, *self._spare):
            pipe.close()

    def keep(self) -> Pipe | None:
        """The one in use, for a socket that did not take all it holds. None: there are too many of those."""
        if self._kept >= MOST_KEPT:
            return None
        try:
            another = self._spare.pop() if self._spare else Pipe()
        except OSError:
            # Out of descriptors.
            return None
        kept, self.current = self.current, another
        self._kept += 1
        return kept

    def give_back(self, pipe: Pipe) -> None:
        """Bytes that it still holds are lost with it."""
        self._kept -= 1
        if pipe.filled or len(self._spare) >= MOST_SPARE:
            pipe.close()
        else:
            self._spare.append(pipe)
