"""A proxy's process, which may be made to stand still: its container is frozen, its machine moved.

What is said to it meanwhile lies in its sockets, and is heard in that order when it wakes. Alarms that it has overslept ring
a moment later (as in proxy/groups/clock.py).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ParamSpec

from simulation.clock import Act, Clock

CATCH_UP_MS = 250
What = ParamSpec("What")


class Process:
    def __init__(self, clock: Clock) -> None:
        self.is_still = False
        self._clock = clock
        self._heard_later: list[Act] = []
        self._overslept: list[Act] = []

    @property
    def now(self) -> int:
        return self._clock.now

    def stands_still(self, ms: int) -> None:
        self.is_still = True
        self._clock.after(ms, self._wakes)

    def at(self, when: int, ring: Act) -> None:
        self._clock.at(when, lambda: self._overslept.append(ring) if self.is_still else ring())

    def hears(self, hear: Callable[What, None]) -> Callable[What, None]:
        """`hear`, but not before it is awake."""

        def hear_awake(*args: What.args, **kwargs: What.kwargs) -> None:
            if self.is_still:
                self._heard_later.append(partial(hear, *args, **kwargs))
            else:
                hear(*args, **kwargs)

        return hear_awake

    def _wakes(self) -> None:
        self.is_still = False
        heard_later, self._heard_later = self._heard_later, []
        overslept, self._overslept = self._overslept, []
        for hear in heard_later:
            hear()
        for ring in overslept:
            self.at(self.now + CATCH_UP_MS, ring)
