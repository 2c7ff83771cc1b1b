"""One line an event, as text or JSON, on standard error.

Much of what is logged was said by clients, so control characters are escaped, values cut, and an event that repeats is
held to a few lines a second: nobody fills the disk by connecting badly. What was held back is counted: on the event's next
line, or, where none follows, on a line of its own.
Whoever reads may stall, and is not waited for: lines beyond what is kept for it are lost, and counted once it reads again.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Literal, Protocol

Level = Literal["debug", "info", "warning", "error"]
LEVELS: tuple[Level, ...] = ("debug", "info", "warning", "error")

LINES_PER_SECOND = 20
LONGEST_VALUE = 2_000
REMIND_SECONDS = 60.0


class Output(Protocol):
    def write(self, line: str, /) -> object:
        """False: it was not taken."""


class _Said:
    """One event: how often in the second it was last said in, and how often it was to be said, and was not."""

    __slots__ = ("held_back", "level", "second", "times")

    def __init__(self, level: Level) -> None:
        self.level = level
        self.second = self.times = self.held_back = 0


class Log:
    def __init__(
        self,
        level: Level = "info",
        form: Literal["text", "json"] = "text",
        out: Output | None = None,
        clock: Callable[[], float] = time.time,
        process: int | None = None,
    ) -> None:
        """`process`: which of several of one proxy."""
        self._process = {} if process is None else {"process": process}
        self.least = LEVELS.index(level)
        self._write = self._as_json if form == "json" else self._as_text
        self._out = out or sys.stderr
        self._clock = clock
        self._lost = 0
        self._said: dict[str, _Said] = {}

    def debug(self, event: str, **facts: object) -> None:
        if self.least == 0:
            self._say(0, event, facts)

    def info(self, event: str, **facts: object) -> None:
        if self.least <= 1:
            self._say(1, event, facts)

    def warning(self, event: str, **facts: object) -> None:
        if self.least <= 2:
            self._say(2, event, facts)

    def error(self, event: str, **facts: object) -> None:
        self._say(3, event, facts)

    def _say(self, level: int, event: str, facts: dict[str, object]) -> None:
        now = self._clock()
        said = self._said.setdefault(event, _Said(LEVELS[level]))
        if said.second != int(now):
            said.second, said.times = int(now), 0
        said.times += 1
        if said.times > LINES_PER_SECOND:
            said.held_back += 1
            return
        if said.held_back:
            facts, said.held_back = {**facts, "suppressed": said.held_back}, 0
        if self._lost and self._put(now, "warning", "lines of the log were lost", {"lines": self._lost}):
            self._lost = 0
        if not self._put(now, LEVELS[level], event, facts):
            self._lost += 1

    def catch_up(self) -> None:
        """To be called each second, and at the end: an event of which lines were held back may never be said again."""
        # A copy: exporters of traces have threads, and say something too.
        for event, said in list(self._said.items()):
            told = {"of": event, "lines": said.held_back}
            if said.held_back and self._put(self._clock(), said.level, "lines held back", told):
                said.held_back = 0

    def _put(self, now: float, level: Level, event: str, facts: dict[str, object]) -> bool:
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03d}Z"
        return self._out.write(self._write(at, level, event, {**facts, **self._process}) + "\n") is not False

    def _as_text(self, at: str, level: str, event: str, facts: dict[str, object]) -> str:
        return " ".join([at, level, event, *(f"{name}={_word(value)}" for name, value in facts.items() if value != "")])

    def _as_json(self, at: str, level: str, event: str, facts: dict[str, object]) -> str:
        plain = {
            name: value if isinstance(value, int | float | None) else _cut(str(value)) for name, value in facts.items()
        }
        return json.dumps({"time": at, "level": level, "event": event, **plain})


class Hearing(logging.Handler):
    """What a library logs, as an event of ours without its traces: at once, and then each minute with how often."""

    def __init__(self, log: Log, event: str, clock: Callable[[], float] = time.monotonic, **facts: object) -> None:
        super().__init__()
        self._log = log
        self._event = event
        self._facts = facts
        self._clock = clock
        self._times = 0
        self._remind_at = 0.0

    def of(self, name: str) -> None:
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [self], False

    def emit(self, record: logging.LogRecord) -> None:
        self._times += 1
        if self._clock() >= self._remind_at:
            self._log.error(self._event, **self._facts, times=self._times, reason=record.getMessage())
            self._times, self._remind_at = 0, self._clock() + REMIND_SECONDS


def hear_python(log: Log) -> None:
    """What Python can raise to nobody, it writes to standard error itself, however often, and waits where there is no room:
    what a thread did not catch, or a finalizer, or what OpenSSL called, which may be a stranger's doing."""

    def say(of: object, failure: BaseException | None) -> None:
        log.error("raised to nobody", of=repr(of), trace="".join(traceback.format_exception(failure)))

    sys.unraisablehook = lambda said: say(said.object, said.exc_value)
    threading.excepthook = lambda said: say(said.thread, said.exc_value)


def _cut(text: str) -> str:
    """In the middle: what went wrong is the last line of a trace."""
    if len(text) <= LONGEST_VALUE:
        return text
    half = LONGEST_VALUE // 2
    return f"{text[:half]}… ({len(text)} characters) …{text[-half:]}"


def _word(value: object) -> str:
    """Bare when it can be read as one word, quoted and escaped otherwise."""
    text = _cut(str(value))
    plain = text.isprintable() and not any(mark in text for mark in ' "=')
    # JSON leaves this one control character as it is.
    return text if plain else json.dumps(text, ensure_ascii=not text.isprintable()).replace("\x7f", "\\u007f")
