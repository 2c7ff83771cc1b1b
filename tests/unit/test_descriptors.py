"""No more connections than there are descriptors for, and it is said."""

from __future__ import annotations

import io

import pytest

from proxy.descriptors import OTHERS, TooFewDescriptors, within
from proxy.logs import Log
from proxy.settings import Limits

LIMITS = Limits(max_connections=100)
ENOUGH = OTHERS + 2 * LIMITS.max_connections


def test_with_enough_descriptors_the_limit_is_the_settings() -> None:
    out = io.StringIO()
    assert within(LIMITS, ENOUGH, Log(out=out)) == LIMITS
    assert out.getvalue() == ""


def test_with_fewer_there_are_fewer_connections_and_the_log_has_the_numbers() -> None:
    out = io.StringIO()
    assert within(LIMITS, ENOUGH - 3, Log(out=out)).max_connections == 98
    assert f"max_connections=100 connections=98 descriptors={ENOUGH - 3} remedy=" in out.getvalue()
    assert f"ulimit -n, at {ENOUGH}" in out.getvalue()


def test_without_any_it_is_refused_with_the_remedy() -> None:
    with pytest.raises(TooFewDescriptors, match=f"may have {OTHERS + 1} descriptors.*ulimit -n, at {ENOUGH}"):
        within(LIMITS, OTHERS + 1, Log(out=io.StringIO()))
