"""What Spark was too slow for is begun again, and nothing else. No Spark: the errors are of its kind."""

from __future__ import annotations

from typing import cast

import pytest
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from pipeline import patience

SLOW = "Python worker failed to connect back.\n\nJVM stacktrace: …"
BEGUN = cast(StreamingQuery, object())


def begin(outcomes: list[str]) -> StreamingQuery:
    if outcomes:
        raise StreamingQueryException(outcomes.pop(0))
    return BEGUN


def test_who_is_slow_a_few_times_begins_in_the_end() -> None:
    outcomes = [SLOW] * (patience.TRIES - 1)
    assert patience.begun(lambda: begin(outcomes)) is BEGUN


def test_who_is_slow_every_time_is_heard_of() -> None:
    outcomes = [SLOW] * patience.TRIES
    with pytest.raises(PySparkException, match="connect back"):
        patience.begun(lambda: begin(outcomes))
    assert outcomes == []


def test_what_is_wrong_is_said_at_once() -> None:
    outcomes = ["no such topic", SLOW]
    with pytest.raises(PySparkException, match="no such topic"):
        patience.begun(lambda: begin(outcomes))
    assert outcomes == [SLOW]
