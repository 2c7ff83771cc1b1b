"""What the report makes of what proxies say."""

from __future__ import annotations

from typing import Any

from proxy.report import needs_of, open_connections


def connection(groups: list[str], *relies_on: tuple[str | None, str], gone: bool = False) -> dict[str, Any]:
    client = {"software": "", "software_version": ""}
    asked = [{"group_id": group_id, "asked": what} for group_id, what in relies_on]
    return {"client": client, "groups": groups, "gone": gone, "relies_on": asked}


def test_what_was_asked_that_brokers_have_dropped_is_told_of_its_group() -> None:
    """A commit says of which; it may come on any connection. What says none is told of those whose members speak there."""
    proxies = [
        {"connections": [connection(["orders", "bills"], (None, "ListOffsets v0")), connection(["stock"])]},
        {"connections": [connection([], ("orders", "OffsetCommit v1"), ("alone", "OffsetCommit v0"))]},
        {"connections": [connection(["stock"], (None, "ListOffsets v0"), gone=True)]},
    ]
    told = {group["group_id"]: group["relies_on"] for group in needs_of([], open_connections(proxies))}
    assert told == {
        "alone": ["OffsetCommit v0"],
        "bills": ["ListOffsets v0"],
        "orders": ["ListOffsets v0", "OffsetCommit v1"],
        "stock": [],
    }


def test_a_proxy_of_before_that_can_be_asked_too() -> None:
    older = connection(["orders"])
    del older["relies_on"]
    assert [group["relies_on"] for group in needs_of([], [older])] == [[]]
