"""What can be said of a group while it happens? A part of batch's audits, as rules over one group's steps in order.

Theory. Steps come in any order; they are judged in the order of time (life.IN_ORDER), and only up to a moment before which
nothing more is expected (the watermark). So what is said stays said. A *situation* has a beginning and, from `due_ns` on,
is a finding: two owners at once, by one clock from the first nanosecond; a member that waits, after minutes. It is said
once while it is open and once when it has ended; the last that was said of a thing (`about`) is what holds.

A group's clock is what it has been judged up to: the last step, or the last moment at which silence meant something. A
step from before that would make what was said untrue, so it ends the run.

Pure: no clock, no Spark. `advance` takes a group, new steps and the moment, and gives what is to be said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from operator import attrgetter

import msgspec

from pipeline.audits import BRIEF, CLOCKS_APART_NS, FLAPPING_WITHIN_NS, FLAPS, GAP, LOST_REVOCATION_NS, SECOND, STUCK_NS
from pipeline.life import BACK, ELSEWHERE, JOIN, WORDS
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
# Exporters repeat what they are not sure of within seconds; a repetition that is older than this counts as late.
REPEATED_WITHIN_NS = 120 * SECOND
# Who has left is remembered so long: its former proxy may still speak of it.
GONE_FOR_NS = 600 * SECOND
# Who flaps again within a day goes on flapping.
FLAPPED_FOR_NS = 86_400 * SECOND
ABSENT, WAITS, JOINED = Phase.ABSENT.value, Phase.PREPARE_REBALANCE.value, Phase.COMPLETING_REBALANCE.value
STABLE = Phase.STABLE.value


# Phase, standing, epoch and generation.
Stands = tuple[str, str, int, int]


class LateStep(Exception):
    """What was said of a group would not have been said had this step come in time."""

    @classmethod
    def found_in(cls, error: BaseException) -> str | None:
        """What it said. From a worker, Spark hands on no exception but its text, at the end of a trace."""
        said = re.search(rf"{cls.__name__}: (.*)", str(error))
        return said[1] if said else None


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
        about = _about(self.audit, self.member_id, self.other_member_id, self.partition, self.from_ns)
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


def advance(group: Group, steps: Iterable[Step], until_ns: int) -> list[Finding]:
    _take_in(group, steps)
    ready = sorted((step for step in group.ahead if step.at_ns <= until_ns), key=attrgetter("at_ns", "at", "span_id"))
    group.ahead = [step for step in group.ahead if step.at_ns > until_ns]
    said = [finding for step in ready for finding in _judged(group, step)]
    said += _due(group, until_ns)
    _forget(group, until_ns)
    return said


def _take_in(group: Group, steps: Iterable[Step]) -> None:
    for step in steps:
        if step.span_id in group.heard:
            continue
        if step.at_ns < group.clock_ns:
            late_s = (group.clock_ns - step.at_ns) / SECOND
            raise LateStep(f"a step of {step.member_id} came after {late_s:.3f} s that followed it had been judged")
        group.heard[step.span_id] = step.at_ns
        group.ahead.append(step)


def _judged(group: Group, step: Step) -> Iterator[Finding]:
    group.clock_ns = step.at_ns
    member = group.members.setdefault(step.member_id, Member())
    if (step.arrives or step.speaks) and step.proxy is not None:
        member.home = step.proxy
    if member.home is not None and member.home != step.proxy:
        return
    if step.is_elsewhere:
        member.home, step = None, _living_on(member, step)
    step = _known(member, step)
    yield from _gap(member, step)
    yield from _backwards(member, step)
    yield from _owned(group, member, step)
    yield from _lost(group, member, step)
    yield from _waits(group, step)
    yield from _flapping(group, member, step)
    member.proxy, member.last_ns, member.stands = step.proxy, step.at_ns, step.stands
    member.owned, member.assigned = set(step.owned), set(step.assigned)
    member.left_ns = step.at_ns if step.is_gone else None


def _living_on(member: Member, step: Step) -> Step:
    """Whose client is at another proxy has not ended: there it has what it had, and nobody asks it to rejoin."""
    there = {"phase": STABLE, "standing": step.standing_before, "generation": step.generation_before}
    return msgspec.structs.replace(step, **there, owned=tuple(member.owned), assigned=tuple(member.assigned))


def _known(member: Member, step: Step) -> Step:
    """What one has that was elsewhere and is back its proxy does not know before it has joined again."""
    if step.arrives or step.goes or step.cause in (BACK, JOIN):
        member.is_back = step.cause == BACK
    if not member.is_back or member.stands is None:
        return step
    return msgspec.structs.replace(step, owned=tuple(member.owned), assigned=tuple(member.assigned))


def _begins(member: Member, step: Step) -> bool:
    return step.arrives or member.proxy != step.proxy


def _gap(member: Member, step: Step) -> Iterator[Finding]:
    if member.stands in (None, step.stood) or _begins(member, step):
        return
    phase, _, epoch, _ = member.stands
    said = f"{phase} in epoch {epoch}, and then {step.phase_before} in epoch {step.epoch_before}"
    about = _about(GAP, step.member_id, step.span_id)
    yield Finding(GAP, SEVERITY[GAP], about, step.member_id, None, None, member.last_ns, step.at_ns, said, step.at_ns)


def _backwards(member: Member, step: Step) -> Iterator[Finding]:
    if member.stands is None or step.phase_before == ABSENT or _begins(member, step):
        return
    *_, epoch, generation = member.stands
    for what, was, now in (("epoch", epoch, step.epoch), ("generation", generation, step.generation)):
        if was > now > 0:
            audit = f"{what} backwards"
            about = _about(audit, step.member_id, step.span_id)
            found = (step.member_id, None, None, step.at_ns, None, f"{was} -> {now}", step.at_ns)
            yield Finding(audit, SEVERITY[audit], about, *found)


def _owned(group: Group, member: Member, step: Step) -> Iterator[Finding]:
    """As told. Batch computes it too from consecutive lists, and believes no `gained` and no `revoked`."""
    owned = set(step.owned)
    for partition in member.owned - owned:
        group.owners[partition].pop(step.member_id)
        for other in group.owners[partition]:
            yield from _ends(group, _pair(partition, step.member_id, other), step.at_ns)
        if not group.owners[partition]:
            del group.owners[partition]
    for partition in owned - member.owned:
        owners = group.owners.setdefault(partition, {})
        owners[step.member_id] = (step.at_ns, step.proxy)
        for other in owners.keys() - {step.member_id}:
            group.going_on[_pair(partition, step.member_id, other)] = _overlap(partition, owners, step.member_id, other)


def _overlap(partition: str, owners: dict[str, tuple[int, str | None]], *two: str) -> Situation:
    """The later of the two, by start and then by name, is said to intrude upon the earlier."""
    earlier, later = sorted(two, key=lambda member_id: (owners[member_id][0], member_id))
    (_, first), (from_ns, then) = owners[earlier], owners[later]
    proxies = None if first is None or then is None else f"{then} and {first}"
    return Situation(DOUBLE, later, earlier, partition, from_ns, proxies, by_one_clock=first == then)


def _lost(group: Group, member: Member, step: Step) -> Iterator[Finding]:
    """Upstream has taken it away, and the client still holds it."""
    before, now = member.owned - member.assigned, set(step.owned).difference(step.assigned)
    for partition in before - now:
        yield from _ends(group, _about(LOST, step.member_id, partition), step.at_ns)
    for partition in now - before:
        situation = Situation(LOST, step.member_id, None, partition, step.at_ns)
        group.going_on[_about(LOST, step.member_id, partition)] = situation


def _waits(group: Group, step: Step) -> Iterator[Finding]:
    """Without a break: a wait that was called off is over, and who is adopted begins anew."""
    going_on = _about(STUCK, step.member_id)
    if going_on in group.going_on and not step.phase_before == step.phase == WAITS:
        yield from _ends(group, going_on, step.at_ns)
    if step.phase == WAITS and going_on not in group.going_on:
        group.going_on[going_on] = Situation(STUCK, step.member_id, None, None, step.at_ns)


def _flapping(group: Group, member: Member, step: Step) -> Iterator[Finding]:
    """A client that comes again and again: its name and host stay, its member id and its port do not. It comes again when
    it was gone: others may have its name and host."""
    if step.goes and member.came is not None:
        _went(group, *member.came, step.at_ns)
        member.came = None
    if not step.joins:
        return
    who = _about(step.client_id, _host(step.client_address), step.instance_id)
    member.came = who, step.at_ns
    client = group.clients.get(who, Flapper())
    times = 1 + sum(step.at_ns - each <= FLAPPING_WITHIN_NS for each in client.came_ns)
    if times < FLAPS:
        return
    client.from_ns = client.from_ns or step.at_ns
    client.times = max(client.times, times)
    said = f"{step.client_id} joined {client.times} times within 5 minutes"
    about = _about(FLAPPING, who, client.from_ns)
    found = (step.member_id, None, None, client.from_ns, step.at_ns, said, step.at_ns)
    yield Finding(FLAPPING, SEVERITY[FLAPPING], about, *found)


def _went(group: Group, who: str, came_ns: int, now_ns: int) -> None:
    """Who has stayed for a while did not flap."""
    if now_ns - came_ns <= FLAPPING_WITHIN_NS:
        client = group.clients.setdefault(who, Flapper())
        client.came_ns = [each for each in client.came_ns if now_ns - each <= FLAPPING_WITHIN_NS] + [came_ns]


def _host(address: str | None) -> str | None:
    """10.0.0.1:47544, [::1]:47544: each connection has a port of its own."""
    return None if address is None else re.sub(r":\d+$", "", address)


def _ends(group: Group, going_on: str, at_ns: int) -> Iterator[Finding]:
    ended = group.going_on.pop(going_on).ended(at_ns)
    if ended is not None:
        yield ended


def _due(group: Group, until_ns: int) -> Iterator[Finding]:
    """Silence means something: what has not ended until now has lasted."""
    for situation in group.going_on.values():
        if not situation.is_said and situation.due_ns <= until_ns:
            situation.is_said = True
            group.clock_ns = max(group.clock_ns, situation.due_ns)
            yield situation.told(group.clock_ns, None)


def _forget(group: Group, until_ns: int) -> None:
    """Members by everybody's time, for their group may never say a word again; the rest by the group's own."""
    for member_id, member in list(group.members.items()):
        if member.left_ns is not None and member.left_ns + GONE_FOR_NS <= until_ns:
            del group.members[member_id]
            group.clock_ns = max(group.clock_ns, member.left_ns + GONE_FOR_NS)
    now_ns = group.clock_ns
    group.heard = {name: at_ns for name, at_ns in group.heard.items() if at_ns + REPEATED_WITHIN_NS > now_ns}
    group.clients = {name: each for name, each in group.clients.items() if each.counts_until_ns > now_ns}


def _lasted(from_ns: int, to_ns: int | None) -> str | None:
    """As Java's %.0f rounds: half a second goes up."""
    return None if to_ns is None else f"{(to_ns - from_ns + SECOND // 2) // SECOND} s"


def _pair(partition: str, *two: str) -> str:
    return _about(DOUBLE, partition, *sorted(two))


def _about(*words: object) -> str:
    return "/".join(map(str, words))
