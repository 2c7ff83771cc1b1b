"""Which groups are translated."""

from __future__ import annotations

import pytest

from proxy.groups.passing import GroupRules, foreign
from proxy.settings import GroupRule
from translation.rules import Rules


def test_the_first_rule_that_fits_counts_and_others_are_translated() -> None:
    rules = GroupRules(
        [
            GroupRule(pattern="orders-eu-*", mode="refuse"),
            GroupRule(pattern="orders-*", mode="pass"),
            GroupRule(pattern="sums-?", assignor="uniform"),
        ],
        Rules(park_ms=7),
    )
    assert rules.of("orders-eu-1").mode == "refuse"
    assert rules.of("orders-us").mode == "pass"
    assert rules.of("sums-1") == ("translate", Rules(park_ms=7, assignor="uniform"))
    assert rules.of("sums-10") == ("translate", Rules(park_ms=7))


@pytest.mark.parametrize(
    ("protocol_type", "assignors", "why"),
    [
        ("consumer", ["range", "cooperative-sticky"], None),
        ("connect", ["sessioned"], "protocol type 'connect'"),
        ("sr", ["v0"], "protocol type 'sr'"),
        ("consumer", ["stream"], "an assignor of Kafka Streams"),
    ],
)
def test_groups_of_other_kinds_are_none_of_ours(protocol_type: str, assignors: list[str], why: str | None) -> None:
    assert foreign(protocol_type, assignors) == why
