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

VERSION, LIST_VERSION = 5, describing.FIRST_LIST_WITH_STATES
VERSIONS = {keys.DESCRIBE_GROUPS: VERSION, keys.LIST_GROUPS: LIST_VERSION}


# Of KIP-848's consumer groups, in the words that tools of before know.
STATES = pytest.mark.parametrize(
    ("state", "classic_state"),
    [
        ("Empty", "Empty"),
        ("Assigning", "PreparingRebalance"),
        ("Reconciling", "CompletingRebalance"),
        ("Stable", "Stable"),
        ("Dead", "Dead"),
    ],
)


class Coordinator:
    """A line to it. All groups are Dead in the classic way; described as consumer groups, these codes, or (None) nothing."""

    versions = {keys.CONSUMER_GROUP_DESCRIBE: (0, 1)}  # noqa: RUF012

    def __init__(self, *codes: int | None, state: str = "Reconciling") -> None:
        self._codes = {f"g{number}": code for number, code in enumerate(codes)}
        self._state = state
        self.told: list[Any] = []

    def tool_asks(self) -> list[tuple[str, int, str]]:
        body = m.DescribeGroupsRequest(groups=[*self._codes])
        self._tool_says(keys.DESCRIBE_GROUPS, body)
        return [(group.group_id, group.error_code, group.group_state) for group in self.told]

    def tool_lists(self, *states: str) -> list[str]:
        """The states of the groups that it finds so."""
        body = m.ListGroupsRequest(states_filter=[*states])
        self._tool_says(keys.LIST_GROUPS, body)
        return [group.group_state for group in self.told]

    def _tool_says(self, key: int, body: Any) -> None:
        self._asked = key
        describing.taken(cast(Line, self), classic.read(encode_request(key, VERSIONS[key], 1, "tool", body)))

    # As a line.

    def know_versions(self, then: Callable[[], None]) -> None:
        then()

    def offers(self, key: int) -> bool:
        return key in self.versions

    def answer(self, frame: bytes) -> None:
        self.told += decode_response(self._asked, VERSIONS[self._asked], frame)[1].groups

    def ask(self, ask: Ask, heard: Callable[[Any], None]) -> None:
        if ask.key == keys.LIST_GROUPS:
            heard(m.ListGroupsResponse(groups=self._listed(ask.body.states_filter)))
        elif ask.key == keys.DESCRIBE_GROUPS:
            dead = [m.DescribeGroupsResponseDescribedGroup(group_id=each, group_state="Dead") for each in self._codes]
            heard(m.DescribeGroupsResponse(groups=dead))
        else:
            said = [self._said(group_id) for group_id in ask.body.group_ids]
            heard(m.ConsumerGroupDescribeResponse(groups=said) if None not in said else None)

    def _said(self, group_id: str) -> Any:
        code = self._codes[group_id]
        if code is None:
            return None
        state = self._state if code == e.NONE else ""
        return m.ConsumerGroupDescribeResponseDescribedGroup(group_id=group_id, error_code=code, group_state=state)

    def _listed(self, states: list[str]) -> list[Any]:
        """As brokers do it: in any case, and without the blanks (GroupMetadataManager.listGroups)."""
        is_wanted = not states or self._state.lower() in {each.strip().lower() for each in states}
        group = m.ListGroupsResponseListedGroup(group_id="g0", protocol_type="consumer", group_state=self._state)
        return [group] if is_wanted else []


@STATES
def test_the_states_of_a_consumer_group_are_told_in_classic_words(state: str, classic_state: str) -> None:
    assert Coordinator(e.NONE, state=state).tool_asks() == [("g0", e.NONE, classic_state)]
    assert Coordinator(e.NONE, state=state).tool_lists() == [classic_state]


@STATES
def test_and_found_by_them(state: str, classic_state: str) -> None:
    for said in (classic_state, classic_state.lower(), f" {classic_state.upper()} "):
        assert Coordinator(e.NONE, state=state).tool_lists("Unknown", said) == [classic_state]
    others = {"Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead"} - {classic_state}
    assert Coordinator(e.NONE, state=state).tool_lists(*sorted(others)) == []


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
