"""What many sockets are to be sent leaves together.

Who is sent something by a process of its own machine is woken by that, and takes the processor as soon as the sender's
call is over. So of many requests that are passed on one by one each finds a broker that sleeps, is read and answered by
itself, and costs client, proxy and broker a turn each: that is half of what it costs altogether. What is sent by one call
is read together (`io_submit.py`; `bench.dataplane.run --only many`). Where a machine does not have that call, each piece
is sent by itself.

Nothing else is done while anything waits here: whoever does more than to pass something on has all leave first (`fire`).
"""

from __future__ import annotations

import ctypes
from typing import Protocol

from proxy.causes import Disconnect
from proxy.io_submit import Writes
from proxy.leg import BUFFER_BYTES, Leg

MOST_PIECES = 64
MOST_BYTES = 256 * 1024
# Of fewer things that happen at a time hardly two can leave together.
FEWEST_THINGS = 4


class Sender(Protocol):
    def fell_short(self, failure: Disconnect | None) -> None:
        """A leg of it did not take all that it was sent, or takes no more."""


class Volley:
    def __init__(self) -> None:
        # Whether there is enough to do at a time for anything to wait here.
        self.is_open = False
        # Why nothing ever is, if so.
        self.refusal = ""
        self._writes: Writes | None = None
        try:
            self._writes = Writes(MOST_PIECES)
        except OSError as failure:
            self.refusal = str(failure)
        self._slots = [] if self._writes is None else self._writes.writes
        buffer = (ctypes.c_char * (MOST_BYTES + BUFFER_BYTES))()
        self._buffer = memoryview(buffer).cast("B")
        self._address = ctypes.addressof(buffer)
        # Where the next piece is to be read, behind those that wait. It is no larger than what is read at once elsewhere:
        # the inside of what is larger is spliced.
        self.room = self._all_room = self._buffer[:BUFFER_BYTES]
        self._filled = 0
        # Of whom and for which leg, and how large.
        self._pieces: list[tuple[Sender, Leg]] = []
        self._sizes: dict[int, int] = {}

    def close(self) -> None:
        if self._writes is not None:
            self._writes.close()

    def open_for(self, things: int) -> None:
        self.is_open = things >= FEWEST_THINGS and self._writes is not None

    def add(self, sender: Sender, leg: Leg, size: int) -> None:
        """So much of what is in the room now. The leg is not stuck, and nothing of its own waits here."""
        place, filled = len(self._pieces), self._filled
        write = self._slots[place]
        write.descriptor, write.address, write.size = leg.sock.fileno(), self._address + filled, size
        self._pieces.append((sender, leg))
        self._sizes[place] = size
        self._filled = filled = filled + size
        if place + 1 == MOST_PIECES or filled > MOST_BYTES:
            self.fire()
        else:
            self.room = self._buffer[filled : filled + BUFFER_BYTES]

    def fire(self) -> None:
        """All that waits leaves now."""
        if not self._pieces:
            return
        pieces, sizes = self._pieces, self._sizes
        self._pieces, self._sizes, self._filled, self.room = [], {}, 0, self._all_room
        done = self._writes.do(len(pieces)) if self._writes is not None and len(pieces) > 1 else {}
        if done != sizes:
            self._fell_short(pieces, sizes, done)

    def _fell_short(self, pieces: list[tuple[Sender, Leg]], sizes: dict[int, int], done: dict[int, int]) -> None:
        # Each leg has what it is still owed before anybody hears of that: who does may have more to say to another.
        short: list[tuple[Sender, Disconnect | None]] = []
        end = 0
        for place, (sender, leg) in enumerate(pieces):
            start, end = end, end + sizes[place]
            piece, failure = self._buffer[start:end], None
            try:
                leg.sent(piece, done[place]) if place in done else leg.send(piece)
            except Disconnect as its_end:
                failure = its_end
            if leg.stuck or failure is not None:
                short.append((sender, failure))
        for sender, failure in short:
            sender.fell_short(failure)
