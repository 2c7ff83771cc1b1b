"""What the programs said, added up: who held which partition when, and which records were written, read, lost, doubled.

A record is *lost* when its write was acknowledged and nobody read it, *doubled* for every time it was read again. A member
is *disturbed* when, in a group that has formed, partitions are taken from it before it is told to leave. Its *silence* is
the longest time between two of its records: the steady producer makes every pause visible.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec


class Span(msgspec.Struct):
    """A member held a partition from then until then; None: still."""

    member: str
    partition: int
    since_ms: float
    until_ms: float | None = None


class MemberStory(msgspec.Struct):
    name: str
    library: str
    protocol: str
    owned: set[int] = msgspec.field(default_factory=set)
    records: int = 0
    disturbances: int = 0
    partitions_taken: int = 0
    longest_silence_ms: float = 0
    last_record_ms: float | None = None
    is_leaving: bool = False
    is_gone: bool = False

    @property
    def is_native(self) -> bool:
        return self.protocol == "consumer"


class Step(msgspec.Struct, frozen=True):
    """A moment worth a line in the picture."""

    at_ms: float
    text: str


class Ledger:
    def __init__(self, partitions: int) -> None:
        self.partitions = partitions
        self.members: dict[str, MemberStory] = {}
        self.spans: list[Span] = []
        self.steps: list[Step] = []
        self.errors: list[tuple[str, str]] = []
        self.written: set[tuple[int, int]] = set()
        self.read: Counter[tuple[int, int]] = Counter()
        self.has_formed = False

    def enters(self, name: str, library: str, protocol: str) -> None:
        self.members[name] = MemberStory(name, library, protocol)

    def heard(self, name: str, event: Mapping[str, Any]) -> None:
        match event["event"]:
            case "produced":
                self.written.update((partition, offset) for partition, offset in event["records"])
            case "consumed":
                self._consumed(self.members[name], event)
            case "assigned":
                self._assigned(self.members[name], event["partitions"], event["at_ms"])
            case "revoked":
                self._revoked(self.members[name], event["partitions"], event["at_ms"])
            case "leaving":
                self.members[name].is_leaving = True
            case "closed" if name in self.members:
                self._closed(self.members[name], event["at_ms"])
            case "error":
                self.errors.append((name, event["message"]))
            case _:
                # The producer has nothing else to say.
                pass

    # ------------------------------------------------------------------------------------------------------- questions

    @property
    def lost(self) -> set[tuple[int, int]]:
        return self.written - self.read.keys()

    @property
    def doubled(self) -> int:
        return sum(times - 1 for times in self.read.values())

    @property
    def present(self) -> list[MemberStory]:
        return [member for member in self.members.values() if not member.is_gone]

    @property
    def is_settled(self) -> bool:
        """Every partition has one owner, and everybody present owns something."""
        staying = [member for member in self.present if not member.is_leaving]
        owned = sorted(partition for member in self.present for partition in member.owned)
        return owned == list(range(self.partitions)) and all(member.owned for member in staying)

    def held_twice(self) -> int:
        """How often somebody was given a partition that another one still held."""
        last: dict[int, float] = {}
        overlaps = 0
        for span in sorted(self.spans, key=lambda span: span.since_ms):
            overlaps += span.since_ms < last.get(span.partition, 0)
            end = float("inf") if span.until_ms is None else span.until_ms
            last[span.partition] = max(end, last.get(span.partition, 0))
        return overlaps

    # -------------------------------------------------------------------------------------------------------- hearing

    def _consumed(self, member: MemberStory, event: Mapping[str, Any]) -> None:
        self.read.update((partition, offset) for partition, offset in event["records"])
        member.records += len(event["records"])
        if member.last_record_ms is not None:
            member.longest_silence_ms = max(member.longest_silence_ms, event["at_ms"] - member.last_record_ms)
        member.last_record_ms = event["at_ms"]

    def _assigned(self, member: MemberStory, partitions: Iterable[int], at_ms: float) -> None:
        for partition in sorted(set(partitions) - member.owned):
            member.owned.add(partition)
            self.spans.append(Span(member.name, partition, at_ms))

    def _revoked(self, member: MemberStory, partitions: Iterable[int], at_ms: float) -> None:
        taken = member.owned & set(partitions)
        member.owned -= taken
        if taken and self.has_formed and not member.is_leaving:
            member.disturbances += 1
            member.partitions_taken += len(taken)
        for span in self.spans:
            if span.member == member.name and span.partition in taken and span.until_ms is None:
                span.until_ms = at_ms

    def _closed(self, member: MemberStory, at_ms: float) -> None:
        member.is_leaving = True
        self._revoked(member, set(member.owned), at_ms)
        member.is_gone = True
