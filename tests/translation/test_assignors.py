"""What protocols mean to a coordinator, and what the members of a group agree on."""

from __future__ import annotations

import pytest

from translation.assignors import agreed, another_vote, server_assignors
from translation.rules import Rules


@pytest.mark.parametrize(
    ("protocols", "topics", "means"),
    [
        (["range"], ["a"], ("uniform", "range")),
        (["range"], ["a", "a"], ("uniform", "range")),
        (["sticky", "range"], ["a"], ("uniform", "range")),
        (["range"], ["a", "b"], ("range",)),
        (["copartition"], ["a"], ("uniform", "range")),
        (["copartition"], ["a", "b"], ("range",)),
        (["range", "cooperative-sticky"], ["a", "b"], ("range", "uniform")),
        (["cooperative-sticky", "range"], ["a", "b"], ("uniform", "range")),
        (["RoundRobinAssigner", "sticky"], ["a", "b"], ("uniform",)),
        ([], ["a"], ()),
    ],
)
def test_protocols_mean_server_assignors(protocols: list[str], topics: list[str], means: tuple[str, ...]) -> None:
    assert server_assignors(protocols, topics, Rules()) == means


@pytest.mark.parametrize(("rule", "means"), [("range", ("range",)), ("", ())])
def test_a_rule_says_what_all_of_them_mean(rule: str, means: tuple[str, ...]) -> None:
    assert server_assignors(["range", "sticky"], ["a"], Rules(assignor=rule)) == means


RANGE, UNIFORM, EITHER, RATHER_UNIFORM = ("range",), ("uniform",), ("range", "uniform"), ("uniform", "range")


@pytest.mark.parametrize(
    ("offers", "choice"),
    [
        ([], None),
        ([()], None),
        ([RANGE], "range"),
        ([EITHER, UNIFORM], "uniform"),
        ([EITHER, EITHER, RATHER_UNIFORM], "range"),
        ([EITHER, RATHER_UNIFORM], "range"),
        ([RANGE, UNIFORM, UNIFORM], "uniform"),
        ([RANGE, UNIFORM], "range"),
        ([RANGE, ()], "range"),
    ],
    ids=str,
)
def test_a_group_agrees_as_classic_groups_do(offers: list[tuple[str, ...]], choice: str | None) -> None:
    assert agreed(offers) == choice == agreed(reversed(offers))


def test_a_rolling_change_of_the_protocol_ends_with_the_new_one() -> None:
    """First all learn to offer both, then all forget the old one: never is there a choice that somebody does not offer."""
    group: list[tuple[str, ...]] = [RANGE] * 3
    choices = []
    for offer in (RATHER_UNIFORM, UNIFORM):
        for place in range(3):
            group[place] = offer
            choices.append(agreed(group))
    assert choices == ["range", "range", "uniform", "uniform", "uniform", "uniform"]


@pytest.mark.parametrize(
    ("message", "offers", "vote"),
    [
        ("ServerAssignor fair is not supported. Supported assignors: range, uniform.", ("fair",), "uniform"),
        ("ServerAssignor fair is not supported. Supported assignors: range, uniform.", ("fair", "range"), "range"),
        (
            "ServerAssignor fair is not supported. Supported assignors: org.acme.Even.",
            ("fair", "range"),
            "org.acme.Even",
        ),
        ("Supported assignors: fair.", ("fair",), None),
        ("", ("fair",), "uniform"),
    ],
)
def test_instead_of_a_refused_vote_there_is_one_that_the_coordinator_knows(
    message: str, offers: tuple[str, ...], vote: str | None
) -> None:
    assert another_vote(offers, ["fair"], message) == vote
