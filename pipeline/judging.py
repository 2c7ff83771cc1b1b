"""The query of live rules beside a stream's: begun, watched, begun again when this machine was too slow, and ended.

It ends the run when what it would say could be wrong: rows that came too late, or that Spark has dropped.
"""

from __future__ import annotations

from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from pipeline import live
from pipeline.asking import CannotBeDone
from pipeline.live_rules import LateStep
from pipeline.patience import TRIES, is_slow
from pipeline.writing import Say

AGAIN = "Spark's Python has not started within ten seconds: judging begins again where it was"
HOW_ON = (
    "The facts are whole: remove `live` and `_checkpoint_live`, and allow for more lateness, to have all of them judged"
    " anew"
)


class RowsDropped(CannotBeDone):
    """A stateful operator has thrown rows away: what it says would be wrong, so the run ends."""


class RowsLate(CannotBeDone):
    """Rows came after what follows them had been judged: what was said of their group is not true."""


class Judging:
    def __init__(self, spark: SparkSession, out: str, late_s: float, say: Say) -> None:
        self._spark, self._out, self._late_s, self._say = spark, out, late_s, say
        self._tries = TRIES
        self._query = live.follow(spark, out, late_s)

    def look(self) -> None:
        """Raises what has ended it, and what should."""
        if error := self._query.exception():
            self._again(error)
        complain(self._query.lastProgress)

    def finish(self) -> None:
        """All that is written is judged."""
        while True:
            try:
                return self._query.processAllAvailable()
            except StreamingQueryException as error:
                self._again(error)

    def stop(self) -> None:
        self._query.stop()

    def _again(self, error: StreamingQueryException) -> None:
        """From its checkpoint: nothing is judged twice, and nothing is passed over."""
        self._tries -= 1
        if not (is_slow(error) and self._tries):
            raise _late(error) or error from None
        self._say(AGAIN)
        self._query = live.follow(self._spark, self._out, self._late_s)


def _late(error: StreamingQueryException) -> RowsLate | None:
    said = LateStep.found_in(error)
    return RowsLate(f"{said}. {HOW_ON}") if said else None


def complain(progress: Any) -> None:
    if progress is None:
        return
    for operator in progress["stateOperators"]:
        if dropped := operator["numRowsDroppedByWatermark"]:
            raise RowsDropped(f"{dropped} rows came too late and were dropped")
