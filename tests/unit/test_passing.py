"""Which groups are translated."""

from __future__ import annotations

import pytest

from proxy.groups.passing import GroupRules, dry_run, foreign
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


ORDERS = b"\x00\x00\x00\x00\x00\x01\x00\x06orders\xff\xff\xff\xff"


@pytest.mark.parametrize(
    ("protocol_type", "protocols", "said"),
    [
        ("consumer", [("range", ORDERS)], "it would be a native member of orders, range as range"),
        (
            "consumer",
            [("sticky", ORDERS), ("range", ORDERS)],
            "it would be a native member of orders, sticky as uniform",
        ),
        ("connect", [("sessioned", b"")], "it would pass: protocol type 'connect'"),
        ("consumer", [("range", b"\x00")], "it would be refused: malformed subscription"),
        ("consumer", [], "it would be refused: it offers no assignor"),
    ],
)
def test_a_dry_run_says_what_would_become_of_a_client(
    protocol_type: str, protocols: list[tuple[str, bytes]], said: str
) -> None:
    assert dry_run(protocol_type, protocols, Rules()).startswith(f"dry run: {said}")
