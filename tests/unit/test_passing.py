"""Which groups are translated."""

from __future__ import annotations

import pytest

from proxy.groups.passing import GroupRules, dry_run
from proxy.settings import GroupRule
from translation.events import JoinRequested, Protocol
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


def test_a_bracket_in_a_pattern_stands_for_itself() -> None:
    rules = GroupRules([GroupRule(pattern="team[1]-*", mode="pass")], Rules())
    assert rules.of("team[1]-a").mode == "pass"
    assert rules.of("team1-a").mode == "translate"


ORDERS = b"\x00\x00\x00\x00\x00\x01\x00\x06orders\xff\xff\xff\xff"


@pytest.mark.parametrize(
    ("protocol_type", "protocols", "said"),
    [
        ("consumer", [("range", ORDERS)], "it would be a native member of orders, range as uniform"),
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
    join = JoinRequested(
        request=0,
        version=5,
        member_id="",
        protocols=tuple(Protocol(name, metadata) for name, metadata in protocols),
        session_timeout_ms=10_000,
        rebalance_timeout_ms=60_000,
        protocol_type=protocol_type,
    )
    assert dry_run(join, Rules()).startswith(f"dry run: {said}")
