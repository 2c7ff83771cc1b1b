"""The audit that tests of groups rely on: it must see a double ownership, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
import trio

from tests.clients.driver import Event, Partition
from tests.clients.ownership import Span, overlaps, shared_out, spans

ORDERS = ("orders", 0)


@dataclass
class Member:
    name: str
    events: list[Event] = field(default_factory=list)
    killed_at_ms: float | None = None

    def says(self, event: str, at_ms: float) -> Member:
        self.events.append({"event": event, "at_ms": at_ms, "partitions": [list(ORDERS)]})
        return self


def test_a_partition_handed_over_has_one_owner_at_a_time() -> None:
    alice = Member("alice").says("assigned", 1).says("revoking", 5).says("revoked", 9)
    bob = Member("bob").says("assigned", 9)
    assert spans(alice) == [Span(ORDERS, "alice", 1, 9)]
    assert spans(bob) == [Span(ORDERS, "bob", 9, float("inf"))]
    assert overlaps([alice, bob]) == []


def test_a_partition_taken_before_it_was_given_up_is_found() -> None:
    alice = Member("alice").says("assigned", 1).says("revoking", 5).says("revoked", 9)
    bob = Member("bob").says("assigned", 7)
    assert overlaps([bob, alice]) == [(spans(alice)[0], spans(bob)[0])]
    assert overlaps([bob, alice], tolerance_ms=3) == []


def test_who_was_killed_or_closed_owns_nothing_afterwards() -> None:
    killed = Member("killed", killed_at_ms=5).says("assigned", 1)
    closed = Member("closed").says("assigned", 5).says("closed", 8)
    heir = Member("heir").says("assigned", 8)
    assert overlaps([killed, closed, heir]) == []


def test_what_is_assigned_again_is_owned_since_the_first_time() -> None:
    assert spans(Member("alice").says("assigned", 1).says("assigned", 4).says("lost", 6)) == [
        Span(ORDERS, "alice", 1, 6)
    ]


@dataclass
class Owner:
    name: str
    owned: set[Partition] = field(default_factory=set)


async def test_a_group_is_shared_out_when_each_has_some_nothing_is_owned_twice_and_nothing_is_missing(
    autojump_clock: trio.abc.Clock,
) -> None:
    alice, bob = Owner("alice", {("orders", 0), ("orders", 1)}), Owner("bob")
    for owned in (set[Partition](), {("orders", 1)}, {("orders", 1), ("orders", 2)}, {("orders", 3)}):
        bob.owned = owned
        with pytest.raises(TimeoutError, match="alice"):
            await shared_out([alice, bob], 4, 1, within=5)
    bob.owned = {("orders", 2), ("orders", 3)}
    began = trio.current_time()
    await shared_out([alice, bob], 4, 1, within=5)
    assert trio.current_time() - began >= 1
