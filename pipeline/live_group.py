"""What is a step, what a finding, and what is remembered of a group between two steps? live_rules.py judges by it.

A *situation* is something that goes on, and is a finding once it has lasted: two owners at once, by one clock from the first
nanosecond; a member that waits, after minutes. Spark keeps a Group from one batch to the next, so all of this is plain data.
"""

from __future__ import annotations

import msgspec

from pipeline.audits import BRIEF, CLOCKS_APART_NS, FLAPPING_WITHIN_NS, GAP, LOST_REVOCATION_NS, SECOND, STUCK_NS
from pipeline.life import ELSEWHERE, WORDS
from translation.states import Phase

DOUBLE, LOST, STUCK, FLAPPING = "double ownership", "lost revocation", "stuck in PrepareRebalance", "flapping"
SEVERITY = {
    DOUBLE: "broken",
    LOST: "broken",
    STUCK: "broken",
    FLAPPING: "odd",
    GAP: "odd",
    "epoch backwards": "broken",
    "generation backwards": "broken",
}
LASTS_NS = {DOUBLE: 0, LOST: LOST_REVOCATION_NS, STUCK: STUCK_NS}
# Who has left is remembered so long: its former proxy may still speak of it.
GONE_FOR_NS = 600 * SECOND
# Who flaps again within a day goes on flapping.
FLAPPED_FOR_NS = 86_400 * SECOND
ABSENT, WAITS, JOINED = Phase.ABSENT.value, Phase.PREPARE_REBALANCE.value, Phase.COMPLETING_REBALANCE.value
STABLE = Phase.STABLE.value

# Phase, standing, epoch and generation.
Stands = tuple[str, str, int, int]


class Step(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A transition, as far as rules look at it; named as the columns are."""

    at_ns: int
    at: int
    span_id: str
    member_id: str
    instance_id: str | None
    client_id: str
    client_address: str | None
    proxy: str | None
    cause: str
    phase_before: str
    phase: str
    standing_before: str
    standing: str
    epoch_before: int
    epoch: int
    generation_before: int
    generation: int
    owned: tuple[str, ...]
    assigned: tuple[str, ...]

    @property
    def stood(self) -> Stands:
        return self.phase_before, self.standing_before, self.epoch_before, self.generation_before

    @property
    def stands(self) -> Stands:
        return self.phase, self.standing, self.epoch, self.generation

    @property
    def arrives(self) -> bool:
        return self.phase_before == ABSENT and self.phase != ABSENT

    @property
    def speaks(self) -> bool:
        return self.phase_before != ABSENT and self.cause in WORDS

    @property
    def is_elsewhere(self) -> bool:
        return self.goes and self.cause in ELSEWHERE

    @property
    def joins(self) -> bool:
        return self.phase_before == ABSENT and self.phase == JOINED

    @property
    def goes(self) -> bool:
        return self.phase == ABSENT and self.phase_before != ABSENT

    @property
    def is_gone(self) -> bool:
        return self.phase == ABSENT and not self.owned and not self.assigned


class Finding(msgspec.Struct, frozen=True, array_like=True):
    audit: str
    severity: str
    about: str
    member_id: str
    other_member_id: str | None
    partition: str | None
    from_ns: int
    to_ns: int | None
    detail: str | None
    said_ns: int


class Situation(msgspec.Struct, array_like=True):
    """Something that goes on, and is a finding once it has lasted until `due_ns`."""

    audit: str
    member_id: str
    other_member_id: str | None
    partition: str | None
    from_ns: int
    detail: str | None = None
    is_said: bool = False
    by_one_clock: bool = True

    @property
    def due_ns(self) -> int:
        return self.from_ns + (LASTS_NS[self.audit] if self.by_one_clock else CLOCKS_APART_NS) + 1

    def told(self, now_ns: int, to_ns: int | None) -> Finding:
        about = named(self.audit, self.member_id, self.other_member_id, self.partition, self.from_ns)
        detail = _lasted(self.from_ns, to_ns) if self.audit == STUCK else self.detail
        who = (self.member_id, self.other_member_id, self.partition)
        return Finding(self.audit, SEVERITY[self.audit], about, *who, self.from_ns, to_ns, detail, now_ns)

    def ended(self, now_ns: int) -> Finding | None:
        """What is over before it was due is nothing, or, if two clocks say so, may be nothing."""
        if now_ns >= self.due_ns:
            return self.told(now_ns, now_ns)
        if self.by_one_clock or now_ns == self.from_ns:
            return None
        brief = ", ".join(filter(None, (self.detail, BRIEF)))
        return msgspec.structs.replace(self.told(now_ns, now_ns), severity="odd", detail=brief)


class Member(msgspec.Struct, array_like=True):
    home: str | None = None
    # Who told of its last step, and when.
    proxy: str | None = None
    last_ns: int = 0
    stands: Stands | None = None
    owned: set[str] = msgspec.field(default_factory=set)
    assigned: set[str] = msgspec.field(default_factory=set)
    # What it had when it was last known to be there.
    had: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    left_ns: int | None = None
    # Whose it is, and since when: until it goes.
    came: tuple[str, int] | None = None
    # Its client was elsewhere: its proxy does not know what it has.
    is_back: bool = False


class Flapper(msgspec.Struct, array_like=True):
    """A client, under whatever member ids: when it came and soon was gone again, and since when and how often it came too
    often."""

    came_ns: list[int] = msgspec.field(default_factory=list)
    from_ns: int | None = None
    times: int = 0

    @property
    def counts_until_ns(self) -> int:
        return max(self.came_ns) + (FLAPPING_WITHIN_NS if self.from_ns is None else FLAPPED_FOR_NS)


class Group(msgspec.Struct, array_like=True):
    clock_ns: int = 0
    wake_ms: int | None = None
    ahead: list[Step] = msgspec.field(default_factory=list)
    heard: dict[str, int] = msgspec.field(default_factory=dict)
    members: dict[str, Member] = msgspec.field(default_factory=dict)
    # Partition -> who was told that it has it: since when, and by which proxy.
    owners: dict[str, dict[str, tuple[int, str | None]]] = msgspec.field(default_factory=dict)
    going_on: dict[str, Situation] = msgspec.field(default_factory=dict)
    clients: dict[str, Flapper] = msgspec.field(default_factory=dict)

    @property
    def wakes_ns(self) -> int | None:
        """When there is something to judge, to say or to forget, though no step comes."""
        moments = [
            *(step.at_ns for step in self.ahead),
            *(each.due_ns for each in self.going_on.values() if not each.is_said),
            *(each.left_ns + GONE_FOR_NS for each in self.members.values() if each.left_ns is not None),
        ]
        return min(moments, default=None)


def _lasted(from_ns: int, to_ns: int | None) -> str | None:
    """As Java's %.0f rounds: half a second goes up."""
    return None if to_ns is None else f"{(to_ns - from_ns + SECOND // 2) // SECOND} s"


def named(*words: object) -> str:
    return "/".join(map(str, words))
