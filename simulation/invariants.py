"""What must hold after every step, whatever happens. Each check is called where the fact it is about comes to be.

NoDoubleOwnership  no partition is in the hands of two clients whose memberships both stand
MonotonicEpoch     a client is never told a generation below its last, the coordinator never an epoch below the last
HonestGeneration   a commit is accepted exactly when the member holds the partitions it commits
OneHeartbeatInFlight   per member
NoLostCommit       a committed offset never goes back, and who takes a partition over finds all that was acknowledged

A client whose membership has ended without its knowing (fenced after a timeout, its instance taken over) may still
believe that it owns something: no protocol can prevent that, so it does not count, but neither may it commit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

TopicAndNumber = tuple[str, int]


class Broken(AssertionError):
    """An invariant does not hold: its name, and what was seen."""

    def __init__(self, invariant: str, seen: str) -> None:
        super().__init__(f"{invariant}: {seen}")
        self.invariant = invariant


class Owner(Protocol):
    name: str

    @property
    def stands(self) -> bool:
        """Its membership is known to the coordinator."""


class Ledger:
    """Who holds what, in the clients' own eyes; and for how long nobody did (acceptance D1, D2)."""

    def __init__(self) -> None:
        self.holders: dict[TopicAndNumber, Owner] = {}
        self.acknowledged: dict[TopicAndNumber, int] = {}
        self.revocations = 0
        self.revoked = 0
        self.unowned_since: dict[TopicAndNumber, int] = {}
        self.idle_ms = 0

    def takes(self, owner: Owner, partitions: Iterable[TopicAndNumber], now: int) -> None:
        for partition in sorted(partitions):
            holder = self.holders.get(partition)
            if holder is not None and holder is not owner and holder.stands:
                raise Broken("NoDoubleOwnership", f"{owner.name} is given {partition}, which {holder.name} holds")
            self.holders[partition] = owner
            self.idle_ms += now - self.unowned_since.pop(partition, now)

    def lets_go(self, owner: Owner, partitions: Iterable[TopicAndNumber], now: int) -> None:
        for partition in sorted(partitions):
            if self.holders.get(partition) is owner:
                del self.holders[partition]
                self.unowned_since[partition] = now

    def calls_back(self, partitions: Iterable[TopicAndNumber]) -> None:
        """A revocation felt by a client that stays."""
        count = len(set(partitions))
        self.revocations += count > 0
        self.revoked += count

    def commit_accepted(
        self, owner: Owner, offsets: Mapping[TopicAndNumber, int], before: Mapping[TopicAndNumber, int]
    ) -> None:
        """Held by nobody is honest: who hangs up, or dies, right after a commit holds nothing when it arrives."""
        for partition, offset in offsets.items():
            holder = self.holders.get(partition)
            if holder not in (owner, None):
                raise Broken("HonestGeneration", f"{owner.name} commits {partition}, held by {_name(holder)}")
            if offset < before.get(partition, 0):
                raise Broken("NoLostCommit", f"{partition} goes back from {before[partition]} to {offset}")

    def commit_acknowledged(self, offsets: Mapping[TopicAndNumber, int]) -> None:
        for partition, offset in offsets.items():
            self.acknowledged[partition] = max(offset, self.acknowledged.get(partition, 0))

    def starts_at(self, owner: Owner, partition: TopicAndNumber, offset: int) -> None:
        acknowledged = self.acknowledged.get(partition, 0)
        if offset < acknowledged:
            raise Broken(
                "NoLostCommit", f"{owner.name} starts {partition} at {offset}, {acknowledged} was acknowledged"
            )


def rises(who: str, before: int, after: int) -> None:
    if after < before:
        raise Broken("MonotonicEpoch", f"{who} goes from {before} to {after}")


def one_in_flight(who: str, in_flight: int) -> None:
    if in_flight > 1:
        raise Broken("OneHeartbeatInFlight", f"{who} has {in_flight}")


def _name(owner: Owner | None) -> str:
    return "nobody" if owner is None else owner.name
