"""Bytes from socket to socket without passing through this process: `splice`, by way of a pipe.

One pipe serves all connections, because it is empty again when `move` returns: what the receiving socket does not take is
read out, and is the caller's to keep.
"""

from __future__ import annotations

import fcntl
import os
from socket import socket

PIPE_BYTES = 1024 * 1024
FLAGS = os.SPLICE_F_MOVE | os.SPLICE_F_NONBLOCK


class Pipe:
    def __init__(self) -> None:
        self._out, self._in = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            fcntl.fcntl(self._in, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            # Unprivileged processes may be held to less; then each move is smaller.
            pass

    def close(self) -> None:
        os.close(self._in)
        os.close(self._out)

    def fill(self, source: socket, limit: int) -> int:
        """Take up to `limit` bytes from a socket; 0 at its end. BlockingIOError when there is nothing."""
        return os.splice(source.fileno(), self._in, limit, flags=FLAGS)

    def empty(self, sink: socket, size: int) -> bytes:
        """Give the `size` bytes within to a socket. What it does not take is returned."""
        while size:
            try:
                size -= os.splice(self._out, sink.fileno(), size, flags=FLAGS)
            except BlockingIOError:
                return self.rest(size)
            except OSError:
                self.rest(size)
                raise
        return b""

    def rest(self, size: int) -> bytes:
        taken = b""
        while len(taken) < size:
            taken += os.read(self._out, size - len(taken))
        return taken
