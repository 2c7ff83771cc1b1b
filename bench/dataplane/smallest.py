"""python -m bench.dataplane.smallest PORT HOST:PORT

The least that a forwarder in Python can do: what arrives on one socket is sent to the other. No frames, no limits, no
counting, and one reader that does not read holds up everybody. What it costs is the bound for any forwarder in Python
with a call to the kernel for each piece; what the proxy costs more is the price of being a proxy (`run --smallest`). It
costs less where many say something at a time, for that leaves by one call (`proxy/volley.py`).
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import socket
import sys

# As in proxy/leg.py, proxy/pipe.py and proxy/pacing.py.
BUFFER_BYTES = 256 * 1024
LEAST_TO_SPLICE = 64 * 1024
PIPE_BYTES = 1024 * 1024
UNPACED = b"reno"

_buffer = memoryview(bytearray(BUFFER_BYTES))


class Way:
    """From one socket to the other: small pieces by way of this process, large ones by way of the kernel's pipe."""

    def __init__(self, source: socket.socket, sink: socket.socket) -> None:
        self.source, self.sink = source, sink
        # Its own: what a connection that ends leaves in there is nobody else's.
        self._pipe: tuple[int, int] | None = None
        self._large = False

    def move(self) -> bool:
        """False at the end."""
        size = self._splice() if self._large else self._copy()
        self._large = size >= LEAST_TO_SPLICE
        return size > 0

    def _copy(self) -> int:
        size = self.source.recv_into(_buffer)
        self.sink.sendall(_buffer[:size])
        return size

    def _splice(self) -> int:
        self._pipe = self._pipe or _new_pipe()
        read_end, write_end = self._pipe
        size = left = os.splice(self.source.fileno(), write_end, PIPE_BYTES)
        while left:
            left -= os.splice(read_end, self.sink.fileno(), left)
        return size

    def close(self) -> None:
        self.source.close()
        for descriptor in self._pipe or ():
            os.close(descriptor)


def _new_pipe() -> tuple[int, int]:
    pipe = os.pipe()
    fcntl.fcntl(pipe[1], fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    return pipe


def forward(door: socket.socket, upstream: tuple[str, int]) -> None:
    ways: dict[int, Way] = {}
    epoll = select.epoll()
    epoll.register(door, select.EPOLLIN)
    while True:
        # Who comes in last, lest the number of a socket that was just closed name another while events of it are in hand.
        for descriptor, _ in sorted(epoll.poll(-1, 256), key=lambda event: event[0] == door.fileno()):
            if descriptor == door.fileno():
                client, _ = door.accept()
                broker = socket.socket()
                broker.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, UNPACED)
                broker.connect(upstream)
                for source, sink in ((client, broker), (broker, client)):
                    source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    ways[source.fileno()] = Way(source, sink)
                    epoll.register(source, select.EPOLLIN)
            elif descriptor in ways and not _moves(ways[descriptor]):
                for each in (descriptor, ways[descriptor].sink.fileno()):
                    ways.pop(each).close()


def _moves(way: Way) -> bool:
    with contextlib.suppress(OSError):
        return way.move()
    return False


if __name__ == "__main__":
    host, _, port = sys.argv[2].rpartition(":")
    with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=1024) as listening:
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, UNPACED)
        forward(listening, (host, int(port)))
