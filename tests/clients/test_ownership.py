"""The audit that tests of groups rely on: it must see a double ownership, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.clients.driver import Event
from tests.clients.ownership import Span, overlaps, spans

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
