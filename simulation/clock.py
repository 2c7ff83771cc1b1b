"""One clock for everybody. Time passes only by performing what is due, in order of time, then of arrival."""

from __future__ import annotations

import heapq
from collections.abc import Callable

Act = Callable[[], None]


class Clock:
    def __init__(self) -> None:
        self.now = 0
        self._due: list[tuple[int, int, Act]] = []
        self._serial = 0

    def at(self, when: int, act: Act) -> None:
        self._serial += 1
        heapq.heappush(self._due, (max(when, self.now), self._serial, act))

    def after(self, ms: int, act: Act) -> None:
        self.at(self.now + ms, act)

    def run(self, until: int) -> None:
        due = self._due
        while due and due[0][0] <= until:
            self.now, _, act = heapq.heappop(due)
            act()
        self.now = until

    def run_while(self, goes_on: Callable[[], bool], until: int) -> bool:
        """Performs one act after the other while `goes_on`; False if `until` came first."""
        due = self._due
        while goes_on():
            if not due or due[0][0] > until:
                self.now = until
                return False
            self.now, _, act = heapq.heappop(due)
            act()
        return True
