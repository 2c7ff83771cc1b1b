"""Lines for somebody who may stop reading: a log shipper that stalls, a terminal that is held.

A pipe that is full makes its writer wait, and with it every connection of the proxy. So a line is written at once only where
there is room for it (a file always has); one that finds none waits for a thread to write it, and those behind it. Only so
many wait: what comes then is refused, until all that waited are written.
"""

from __future__ import annotations

import atexit
import os
import select
from collections import deque
from contextlib import suppress
from threading import Condition, Thread
from typing import TextIO

MOST_WAITING = 2_000
# A pipe that can be written to takes so much without waiting (PIPE_BUF, pipe(7)).
TAKEN_AT_ONCE_BYTES = 4096
# At the end of the process.
PATIENCE_SECONDS = 1.0


class PatientOutput:
    def __init__(self, out: TextIO) -> None:
        # Kept: it closes its descriptor when nobody has it.
        self._out = out
        self._descriptor = out.fileno()
        self._room = select.poll()
        self._room.register(self._descriptor, select.POLLOUT)
        # The first of them may be half written.
        self._waiting: deque[bytes] = deque()
        self._changed = Condition()
        self._is_full = False
        self._has_thread = False

    def write(self, line: str) -> bool:
        """Whether it was taken."""
        data = line.encode(errors="backslashreplace")
        with self._changed:
            if not self._waiting and self._has_room(len(data)):
                self._write(data)
                return True
            self._is_full = self._is_full or len(self._waiting) >= MOST_WAITING
            if not self._is_full:
                self._waiting.append(data)
                self._changed.notify_all()
                self._have_thread()
            return not self._is_full

    def end(self) -> None:
        """Until all is written, for a moment at most."""
        with self._changed:
            self._changed.wait_for(lambda: not self._waiting, PATIENCE_SECONDS)

    def _has_room(self, size: int) -> bool:
        return size <= TAKEN_AT_ONCE_BYTES and bool(self._room.poll(0))

    def _have_thread(self) -> None:
        if not self._has_thread:
            self._has_thread = True
            Thread(target=self._write_waiting, name="log", daemon=True).start()
            atexit.register(self.end)

    def _write_waiting(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                line = self._waiting[0]
            self._write(line)
            with self._changed:
                self._waiting.popleft()
                self._is_full = self._is_full and bool(self._waiting)
                self._changed.notify_all()

    def _write(self, data: bytes) -> None:
        """Waits for room before each piece, for a descriptor that others have made non-blocking too."""
        # An error: nobody reads any more, and the proxy's work goes on.
        with suppress(OSError):
            while data:
                self._room.poll()
                data = data[os.write(self._descriptor, data[:TAKEN_AT_ONCE_BYTES]) :]
