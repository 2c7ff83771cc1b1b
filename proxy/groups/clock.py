"""Time for members: milliseconds of the wall clock that never go back, and alarms.

Journals outlive the process, so the count begins at the wall clock's time; from then on it is the monotonic clock's. What
is observed bears the wall clock's time as well (`now_ns`), to be compared with what others saw: that one can be set.

A process that was made to stand still (its container was frozen, its machine moved) wakes to alarms that are over. What was
said meanwhile lies in its sockets: that is read first, or whoever spoke in time would be taken for silent.
"""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable
from time import thread_time
from typing import NamedTuple

import trio

LONGEST_SLEEP_SECONDS = 3600.0
# A busy process is late by some milliseconds.
OVERSLEPT_MS = 1000
CATCH_UP_SECONDS = 0.25
# Of the processor's time, for alarms that are due together.
TURN_SECONDS = 0.005


def _is_raised(failure: Exception) -> None:
    raise failure


class Moment(NamedTuple):
    """By both clocks: where one of them is another moment's, it looks as if somebody had set the wall clock."""

    ms: int
    ns: int


class Clock:
    def __init__(
        self,
        stood_still: Callable[[float], None] = lambda seconds: None,
        mistaken: Callable[[Exception], None] = _is_raised,
    ) -> None:
        """`stood_still` hears for how long at least: since the first alarm that was overslept. `mistaken` hears of an alarm
        that failed: all others still ring, for members of every group go by this clock."""
        self._stood_still = stood_still
        self._mistaken = mistaken
        self._ahead = time.time() - trio.current_time()
        self._alarms: list[tuple[int, int, Callable[[], None]]] = []
        self._serial = itertools.count()
        self._sooner = trio.Event()
        # When those that are due were last looked for, or rung: before that none of them could ring.
        self._rung_at = 0

    @property
    def now_ms(self) -> int:
        return int((trio.current_time() + self._ahead) * 1000)

    @property
    def now_ns(self) -> int:
        return time.time_ns()

    @property
    def now(self) -> Moment:
        return Moment(self.now_ms, self.now_ns)

    def at(self, when_ms: int, ring: Callable[[], None]) -> None:
        """Call `ring` then. Alarms are not taken back: who is called looks whether it still matters."""
        if not self._alarms or when_ms < self._alarms[0][0]:
            self._sooner.set()
        heapq.heappush(self._alarms, (when_ms, next(self._serial), ring))

    def _due(self) -> list[Callable[[], None]]:
        """Alarms that these set, even for a moment that is over, ring in another round: everybody else has a turn between."""
        due, now_ms = [], self.now_ms
        while self._alarms and self._alarms[0][0] <= now_ms:
            due.append(heapq.heappop(self._alarms)[2])
        return due

    async def _ring_all(self, due: list[Callable[[], None]]) -> None:
        """Those of hundreds of members may be due at once: now and then everybody else has a turn."""
        began_at, self._rung_at = thread_time(), self.now_ms
        for ring in due:
            if thread_time() - began_at > TURN_SECONDS:
                await trio.lowlevel.checkpoint()
                began_at, self._rung_at = thread_time(), self.now_ms
            try:
                ring()
            except Exception as failure:
                self._mistaken(failure)

    async def run(self) -> None:
        while True:
            late_ms = self.now_ms - max(self._alarms[0][0], self._rung_at) if self._alarms else 0
            if late_ms > OVERSLEPT_MS:
                self._stood_still(late_ms / 1000)
                await trio.sleep(CATCH_UP_SECONDS)
            await self._ring_all(self._due())
            self._sooner = trio.Event()
            wait = LONGEST_SLEEP_SECONDS
            if self._alarms:
                # A millisecond is rounded down when it is read, so an alarm rings when it is over.
                wait = max(0.0, (self._alarms[0][0] - self.now_ms) / 1000) + 0.0005
            with trio.move_on_after(wait):
                await self._sooner.wait()
