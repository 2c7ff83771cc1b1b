"""Sockets of clients that are closed here, and whose last answers are still on their way.

A socket that is closed while something of its client's lies unread is reset by the kernel (RFC 1122, 4.2.2.13), and a reset
takes with it what the client has yet to receive: the answer that a drain was waiting for. So a socket with undelivered bytes
says that no more will come, throws away what still arrives, and is closed when all is delivered, when its client ends, or
when it has had its time.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from fcntl import ioctl
from functools import partial
from socket import SHUT_WR, socket
from termios import TIOCOUTQ

from proxy.epoll_set import READABLE, EpollSet

PATIENCE_SECONDS = 30.0
# Nobody reads it. Not what links read into: one may end because of what another has just read.
DISCARDED = bytearray(64 * 1024)


class Partings:
    def __init__(self, epoll_set: EpollSet) -> None:
        self._epoll_set = epoll_set
        # Until when each client may take what is on its way to it.
        self._until: dict[socket, float] = {}

    def __len__(self) -> int:
        return len(self._until)

    def take(self, sock: socket, now: float) -> None:
        """It is this one's to close from now on. Nobody watches it any more."""
        sock.setblocking(False)
        if self._discard(sock) and _undelivered(sock):
            with suppress(OSError):
                # If it has failed already, its end is what is heard next.
                sock.shutdown(SHUT_WR)
            self._until[sock] = now + PATIENCE_SECONDS
            self._epoll_set.watch(sock, READABLE, partial(self._arrived, sock))
        else:
            self._epoll_set.forget(sock)

    def sweep(self, now: float) -> None:
        for sock, until in list(self._until.items()):
            # Read before it is closed: what lies unread then is answered by a reset.
            if not self._discard(sock) or now > until or not _undelivered(sock):
                self._end(sock)

    def end(self) -> None:
        for sock in list(self._until):
            self._end(sock)

    def _arrived(self, sock: socket, _events: int) -> None:
        if not self._discard(sock):
            self._end(sock)

    @staticmethod
    def _discard(sock: socket) -> bool:
        """What has arrived. False when there will be no more."""
        try:
            return sock.recv_into(DISCARDED) > 0
        except BlockingIOError:
            return True
        except OSError:
            return False

    def _end(self, sock: socket) -> None:
        del self._until[sock]
        self._epoll_set.forget(sock)


def _undelivered(sock: socket) -> int:
    """How many bytes its peer's kernel has yet to say that it has; our end counts as one."""
    return int.from_bytes(ioctl(sock, TIOCOUTQ, bytes(4)), sys.byteorder)
