"""Which groups are translated."""

from __future__ import annotations

import pytest

from proxy.groups.passing import GroupRules, dry_run, rules_of
from proxy.settings import GroupRule, Translation
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
    assert dry_run(joins(protocols, protocol_type), Rules()).startswith(f"dry run: {said}")


def joins(
    protocols: list[tuple[str, bytes]], protocol_type: str = "consumer", session_ms: int = 10_000
) -> JoinRequested:
    return JoinRequested(
        request=0,
        version=5,
        member_id="",
        protocols=tuple(Protocol(name, metadata) for name, metadata in protocols),
        session_timeout_ms=session_ms,
        rebalance_timeout_ms=60_000,
        protocol_type=protocol_type,
    )


def test_a_dry_run_says_of_whom_the_session_is_out_of_the_bounds_that_settings_have() -> None:
    rules = rules_of(Translation(min_session_ms=1_000, max_session_ms=3_600_000))
    for session_ms in (1_000, 3_600_000):
        assert "a native member" in dry_run(joins([("range", ORDERS)], session_ms=session_ms), rules)
    for session_ms in (999, 3_600_001):
        assert "it would be refused: a session of" in dry_run(joins([("range", ORDERS)], session_ms=session_ms), rules)
