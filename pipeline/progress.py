"""How far is it? A line for each thing begun, and for one that lasts, now and then the tasks done of those there are."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, NamedTuple, TextIO, cast

from pyspark.sql import SparkSession

# A thing that is done before this needs no further word.
EVERY_S = 5.0


class Tasks(NamedTuple):
    """Of the stages that run now; an empty one: nothing does."""

    done: int = 0
    total: int = 0


class Progress:
    """Says lines; between them, while entered, a thread says how far the last thing is."""

    def __init__(self, how_far: Callable[[], Tasks], to: TextIO | None = None, every_s: float = EVERY_S) -> None:
        self._how_far, self._to, self._every_s = how_far, to or sys.stderr, every_s
        self._began = time.monotonic()
        self._doing = ""
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="progress", daemon=True)

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def __call__(self, said: str) -> None:
        self._print(said)
        self._doing = said

    def _watch(self) -> None:
        said: object = None
        while not self._over.wait(self._every_s):
            doing = self._doing
            if not doing:
                # Nothing has begun.
                continue
            now = (doing, self._how_far())
            if now[1].total and now != said:
                self._print(f"{doing}: {now[1].done} of {now[1].total} tasks")
            said = now

    def _print(self, line: str) -> None:
        print(f"{time.monotonic() - self._began:7.1f} s  {line}", file=self._to, flush=True)


def tasks_of(spark: SparkSession) -> Callable[[], Tasks]:
    """A classic session is asked; Spark Connect tells by itself."""
    if "connect" not in type(spark).__module__:
        tracker = spark.sparkContext.statusTracker()
        return lambda: _classic([tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()])
    told = [Tasks()]

    def take(stages: Any, inflight_tasks: int, operation_id: str | None, done: bool) -> None:
        told[0] = Tasks() if done else _connect(list(stages or ()))

    spark.registerProgressHandler(cast(Any, take))
    return lambda: told[0]


def _classic(stages: list[Any]) -> Tasks:
    """A stage may have gone between the two questions."""
    known = [stage for stage in stages if stage is not None]
    return Tasks(sum(stage.numCompletedTasks for stage in known), sum(stage.numTasks for stage in known))


def _connect(stages: list[Any]) -> Tasks:
    running = [stage for stage in stages if not stage.done]
    return Tasks(sum(stage.num_completed_tasks for stage in running), sum(stage.num_tasks for stage in running))
