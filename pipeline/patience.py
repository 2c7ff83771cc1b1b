"""Spark gives each process of Python that it starts beside its driver ten seconds to come, and nobody can lengthen them. On a
busy machine that is not enough, and says nothing about what was asked: it is begun again."""

from __future__ import annotations

from collections.abc import Callable

from pyspark.errors import PySparkException
from pyspark.sql.streaming.query import StreamingQuery

TRIES = 5


def is_slow(error: PySparkException) -> bool:
    return "Python worker failed to connect back" in str(error)


def begun(begin: Callable[[], StreamingQuery]) -> StreamingQuery:
    for _ in range(TRIES - 1):
        try:
            return begin()
        except PySparkException as error:
            if not is_slow(error):
                raise
    return begin()
