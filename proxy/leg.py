"""One of a connection's two sockets: what it says, and what it has yet to take.

Reading uses one buffer that all legs share, so a leg owns memory only while it is *stuck*: its socket did not take all
it was given. Whoever holds the leg then stops reading what would be sent there.

The inside of a large frame is spliced (link.py), and the kernel need not wake us for every few kilobytes of
it: only for a piece worth moving, or its end (SO_RCVLOWAT, socket(7)). After one of those the next frame is likely to be
as large: so only its beginning is read, enough to be judged by, and the rest is there to be spliced.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import termios
from socket import MSG_MORE, SHUT_WR, SO_RCVLOWAT, SOL_SOCKET, socket

from proxy.answers import Bytes
from proxy.causes import Cause, Disconnect
from proxy.pipe import Pipe, Pipes

# What is read at once. Answers made here may be many times as long as what asks for them; of large frames only the first
# of a train is read so far.
BUFFER_BYTES = 256 * 1024
BEGINNING_BYTES = 4 * 1024
# Below this, copying costs less than the calls that avoid it.
LEAST_TO_SPLICE = 64 * 1024
# Waking for less costs a tenth more CPU when consuming; waiting for more holds back the end of a frame on slow networks.
WORTH_WAKING_BYTES = 128 * 1024

BUFFER = bytearray(BUFFER_BYTES)
VIEW = memoryview(BUFFER)


class Leg:
    __slots__ = (
        "_pipe",
        "_pipes",
        "_reads",
        "_unsent",
        "_wakes_at",
        "ended",
        "ending",
        "failure",
        "lost",
        "sock",
        "stuck",
        "watched",
    )

    def __init__(self, sock: socket, lost: Cause, pipes: Pipes) -> None:
        self.sock = sock
        self.lost = lost
        # What it is registered for in the epoll set.
        self.watched = 0
        # It has not taken all that it was given.
        self.stuck = False
        # What it had to say is read to its end.
        self.ended = False
        # It is to be told that there is no more, once all is sent.
        self.ending = False
        # Why it takes no more, if it does not.
        self.failure = ""
        self._reads = BUFFER_BYTES
        # Of how many bytes the kernel is to tell.
        self._wakes_at = 1
        # What it has yet to take: what is in the pipe, then what is unsent.
        self._pipe: Pipe | None = None
        self._unsent = bytearray()
        self._pipes = pipes

    def receive(self) -> memoryview | None:
        """What arrived, in the shared buffer: good until the next read. Empty at the end, None when there was nothing."""
        try:
            size = self.sock.recv_into(BUFFER, self._reads)
        except OSError as failure:
            self.not_received(failure)
            return None
        self._reads = BUFFER_BYTES
        if self._wakes_at > 1:
            self._wake_at(1)
        return VIEW[:size]

    @property
    def expects_large(self) -> bool:
        """It has just said something large to its end."""
        return self._reads == BEGINNING_BYTES

    @property
    def unread(self) -> bool:
        """It has said something that nobody has looked at yet (SIOCINQ, tcp(7))."""
        return any(fcntl.ioctl(self.sock, termios.FIONREAD, bytes(4)))

    def not_received(self, failure: OSError) -> None:
        if not isinstance(failure, BlockingIOError):
            raise Disconnect(self.lost, str(failure)) from failure

    def send(self, data: Bytes, more: bool = False) -> None:
        """`more` of the same frame is to come: nobody needs to be woken for its beginning."""
        if self.stuck:
            self._unsent += data
            return
        try:
            sent = self.sock.send(data, MSG_MORE if more else 0)
        except OSError as failure:
            sent = self.not_sent(failure, len(data))
        if sent < len(data):
            self.keep(memoryview(data)[sent:])

    def sent(self, data: memoryview, result: int) -> None:
        """How much of it was taken, or below zero the number of an error."""
        if result < 0:
            result = self.not_sent(OSError(-result, os.strerror(-result)), len(data))
        if result < len(data):
            self.keep(data[result:])

    def not_sent(self, failure: OSError, size: int) -> int:
        """How much of it need not be kept. A broker that takes no more may have said something before that: it is read on,
        and its end comes behind."""
        if isinstance(failure, BlockingIOError):
            return 0
        if self.lost is Cause.CLIENT_LOST:
            raise Disconnect(self.lost, str(failure)) from failure
        self.failure = self.failure or str(failure)
        # Whatever it was: nothing may follow what was left out.
        with contextlib.suppress(OSError):
            self.sock.shutdown(SHUT_WR)
        return size

    def keep(self, rest: memoryview) -> None:
        """What it has not taken yet."""
        self._unsent += rest
        self.stuck = True

    def send_rest(self) -> None:
        if self._pipe is not None:
            self._empty(self._pipe)
            if self._pipe.filled:
                return
            self._pipes.give_back(self._pipe)
            self._pipe = None
        unsent, self._unsent = self._unsent, bytearray()
        self.stuck = False
        if unsent:
            self.send(unsent)

    def fill(self, limit: int) -> int:
        """The inside of a large opaque frame need not come into this process. How much of it is in the pipe now."""
        try:
            size = self._pipes.current.fill(self.sock, limit)
        except BlockingIOError:
            return 0
        except OSError as failure:
            raise Disconnect(self.lost, str(failure)) from failure
        if not size:
            raise Disconnect(self.lost, f"ended within a frame, {limit} bytes before its end")
        if size == limit:
            self._reads = BEGINNING_BYTES
        self._wake_at(min(limit - size, WORTH_WAKING_BYTES) or 1)
        return size

    def abandon(self) -> None:
        """It will take no more."""
        if self._pipe is not None:
            self._pipes.give_back(self._pipe)
        self._pipe = None
        self._unsent = bytearray()
        self.stuck = False

    def _wake_at(self, least: int) -> None:
        if least != self._wakes_at:
            self._wakes_at = least
            self.sock.setsockopt(SOL_SOCKET, SO_RCVLOWAT, least)

    def empty_pipe(self, more: bool) -> None:
        """Take what another leg has filled it with."""
        pipe = self._pipes.current
        try:
            self._empty(pipe, more)
        finally:
            if pipe.filled:
                self.stuck = True
                self._pipe = self._pipes.keep()
                if self._pipe is None:
                    self._unsent += pipe.read()

    def _empty(self, pipe: Pipe, more: bool = False) -> None:
        try:
            pipe.empty(self.sock, more)
        except OSError as failure:
            self.not_sent(failure, pipe.filled)
            pipe.read()
