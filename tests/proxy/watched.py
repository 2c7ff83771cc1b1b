"""A proxy that says what it holds on to: `python -m tests.proxy.watched serve …` is `python -m proxy serve …`, and for each
SIGUSR2 writes how many there are of each of our classes, and of which only the garbage collector could let go.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
from collections import Counter
from pathlib import Path

import msgspec

from proxy.__main__ import main
from tests.kafka.admin import until
from tests.proxy.running import Running

# Whose objects are counted, as long as they live.
OURS = ("proxy.", "translation.", "socket.")


class Held(msgspec.Struct, frozen=True):
    """How many, by class: of ours those that live, of any those that nothing but the collector would have found."""

    alive: dict[str, int]
    garbage: dict[str, int]


class Watched(Running):
    def __init__(self, upstream: str, *arguments: str, processes: int = 1) -> None:
        super().__init__(upstream, *arguments, program="tests.proxy.watched", processes=processes)

    def held(self) -> Held:
        """By all its processes. Garbage is that of the time since this was last asked."""
        alive, garbage = Counter[str](), Counter[str]()
        for pid in self.pids() or [self.process.pid]:
            held = _held_by(pid)
            alive.update(held.alive)
            garbage.update(held.garbage)
        return Held(alive, garbage)


def _held_by(pid: int) -> Held:
    said = _said_by(pid)
    os.kill(pid, signal.SIGUSR2)
    until(said.exists, "the proxy says what it holds")
    held = msgspec.json.decode(said.read_bytes(), type=Held)
    said.unlink()
    return held


def _said_by(pid: int) -> Path:
    return Path(tempfile.gettempdir()) / f"held-{pid}.json"


def _say(*_: object) -> None:
    gc.collect()
    garbage = _by_class(gc.garbage)
    _throw_away()
    alive = _by_class(gc.get_objects())
    held = Held(alive={name: alive[name] for name in alive if name.startswith(OURS)}, garbage=garbage)
    said = _said_by(os.getpid())
    unfinished = said.with_suffix(".part")
    unfinished.write_bytes(msgspec.json.encode(held))
    unfinished.rename(said)


def _by_class(objects: list[object]) -> dict[str, int]:
    kinds = Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in objects)
    return dict(kinds)


def _throw_away() -> None:
    """What was kept to be counted is garbage still, and would be kept again."""
    gc.set_debug(0)
    gc.garbage.clear()
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)


if __name__ == "__main__":
    gc.set_debug(gc.DEBUG_SAVEALL)
    signal.signal(signal.SIGUSR2, _say)
    sys.exit(main())
