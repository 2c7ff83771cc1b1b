"""What `check` reads of a broker's own bounds of sessions; that real ones say them: tests/proxy/test_cli_check.py."""

from __future__ import annotations

from kafka_protocol import messages as m
from proxy.groups import native

Result = m.DescribeConfigsResponseDescribeConfigsResult
Config = m.DescribeConfigsResponseDescribeConfigsResourceResult
CLUSTER_AUTHORIZATION_FAILED = 31


def said(*results: Result) -> tuple[int, int] | None:
    return native.session_bounds_of(m.DescribeConfigsResponse(results=[*results]))


def test_both_are_needed() -> None:
    least, most = (
        Config(name=name, value=value) for name, value in zip(native.SESSION_BOUNDS, ("1", "2"), strict=True)
    )
    assert said(Result(configs=[most, least])) == (1, 2)
    assert said(Result(configs=[least])) is None


def test_who_may_not_ask_is_told_nothing() -> None:
    assert said(Result(error_code=CLUSTER_AUTHORIZATION_FAILED)) is None
    assert said() is None
