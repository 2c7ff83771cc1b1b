"""What an old tool is told of groups that a broker calls Dead, as far as the broker says more of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from kafka_protocol import decode_response, encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.groups import classic, describing
from proxy.groups.describing import PAINTED_AT_ONCE
from proxy.groups.line import Line
from proxy.groups.native import Ask
from translation import errors as e

VERSION = 5


class Coordinator:
    """A line to it. All groups are Dead in the classic way; described as consumer groups, these codes, or (None) nothing."""

    versions = {keys.CONSUMER_GROUP_DESCRIBE: (0, 1)}  # noqa: RUF012

    def __init__(self, *codes: int | None) -> None:
        self._codes = {f"g{number}": code for number, code in enumerate(codes)}
        self.told: list[Any] = []

    def tool_asks(self) -> list[tuple[str, int, str]]:
        body = m.DescribeGroupsRequest(groups=[*self._codes])
        frame = encode_request(keys.DESCRIBE_GROUPS, VERSION, 1, "tool", body)
        describing.taken(cast(Line, self), classic.read(frame))
        return [(group.group_id, group.error_code, group.group_state) for group in self.told]

    # As a line.

    def know_versions(self, then: Callable[[], None]) -> None:
        then()

    def offers(self, key: int) -> bool:
        return key in self.versions

    def answer(self, frame: bytes) -> None:
        self.told += decode_response(keys.DESCRIBE_GROUPS, VERSION, frame)[1].groups

    def ask(self, ask: Ask, heard: Callable[[Any], None]) -> None:
        if ask.key == keys.DESCRIBE_GROUPS:
            dead = [m.DescribeGroupsResponseDescribedGroup(group_id=each, group_state="Dead") for each in self._codes]
            heard(m.DescribeGroupsResponse(groups=dead))
        else:
            said = [self._said(group_id) for group_id in ask.body.group_ids]
            heard(m.ConsumerGroupDescribeResponse(groups=said) if None not in said else None)

    def _said(self, group_id: str) -> Any:
        code = self._codes[group_id]
        if code is None:
            return None
        state = "Reconciling" if code == e.NONE else ""
        return m.ConsumerGroupDescribeResponseDescribedGroup(group_id=group_id, error_code=code, group_state=state)


def test_each_is_told_for_itself() -> None:
    codes = (e.NONE, e.GROUP_ID_NOT_FOUND, e.NOT_COORDINATOR)
    assert Coordinator(*codes).tool_asks() == [
        ("g0", e.NONE, "CompletingRebalance"),
        ("g1", e.NONE, "Dead"),
        ("g2", e.NOT_COORDINATOR, ""),
    ]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (e.GROUP_ID_NOT_FOUND, (e.NONE, "Dead")),
        (e.UNSUPPORTED_VERSION, (e.NONE, "Dead")),
        (e.COORDINATOR_LOAD_IN_PROGRESS, (e.COORDINATOR_LOAD_IN_PROGRESS, "")),
        (e.GROUP_AUTHORIZATION_FAILED, (e.GROUP_AUTHORIZATION_FAILED, "")),
        # Of which no old tool has heard.
        (e.TOPIC_AUTHORIZATION_FAILED, (e.GROUP_AUTHORIZATION_FAILED, "")),
        (e.UNKNOWN_SERVER_ERROR, (e.UNKNOWN_SERVER_ERROR, "")),
        (None, (e.NOT_COORDINATOR, "")),
    ],
)
def test_what_may_live_is_not_called_dead(said: int | None, told: tuple[int, str]) -> None:
    """Who cleans up after dead groups would take its offsets."""
    assert Coordinator(said).tool_asks() == [("g0", *told)]


def test_nor_is_what_would_have_been_asked_about_next() -> None:
    told = Coordinator(*[e.NONE] * PAINTED_AT_ONCE, None, *[e.NONE] * PAINTED_AT_ONCE).tool_asks()
    assert {code for _, code, _ in told[:PAINTED_AT_ONCE]} == {e.NONE}
    assert {code for _, code, _ in told[PAINTED_AT_ONCE:]} == {e.NOT_COORDINATOR}
