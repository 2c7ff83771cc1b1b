"""A stream is asked to end: by Ctrl-C, or by SIGTERM, as whoever ends a service says it.

An exception in the midst of a call to Spark leaves the connection to its JVM unusable, now and then, and what a stream still
has to do goes over that. So it is only noted, for who looks between two calls. Whoever asks twice will not wait.
"""

from __future__ import annotations

import signal
from types import FrameType, TracebackType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Ending:
    def __init__(self) -> None:
        self._is_asked_for = False
        self._before: list[object] = []

    def __enter__(self) -> Ending:
        self._before = [signal.signal(number, self._asked) for number in SIGNALS]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for number, before in zip(SIGNALS, self._before, strict=True):
            signal.signal(number, before)  # type: ignore[arg-type]

    def _asked(self, number: int, frame: FrameType | None) -> None:
        if self._is_asked_for:
            raise KeyboardInterrupt
        self._is_asked_for = True

    def is_asked_for(self) -> bool:
        return self._is_asked_for
