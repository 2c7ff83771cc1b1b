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

from pipeline.audits import FLAPPING_WITHIN_NS, FLAPS, GAP, SECOND
from pipeline.life import BACK, JOIN
from pipeline.live_group import (
    ABSENT,
    DOUBLE,
    FLAPPING,
    GONE_FOR_NS,
    LOST,
    SEVERITY,
    STABLE,
    STUCK,
    WAITS,
    Finding,
    Flapper,
    Group,
    Member,
    Situation,
    Step,
    named,
)

# Exporters repeat what they are not sure of within seconds; a repetition that is older than this counts as late.
REPEATED_WITHIN_NS = 120 * SECOND


class LateStep(Exception):
    """What was said of a group would not have been said had this step come in time."""

    @classmethod
    def found_in(cls, error: BaseException) -> str | None:
        """What it said. From a worker, Spark hands on no exception but its text, at the end of a trace."""
        said = re.search(rf"{cls.__name__}: (.*)", str(error))
        return said[1] if said else None


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
    if step.phase != ABSENT:
        member.had = step.owned, step.assigned
    member.left_ns = step.at_ns if step.is_gone else None


def _living_on(member: Member, step: Step) -> Step:
    """Whose client is at another proxy has not ended: there it has what it had, and nobody asks it to rejoin."""
    there = {"phase": STABLE, "standing": step.standing_before, "generation": step.generation_before}
    return msgspec.structs.replace(step, **there, owned=tuple(member.owned), assigned=tuple(member.assigned))


def _known(member: Member, step: Step) -> Step:
    """What one has that was elsewhere and is back its proxy does not know before it has joined again: it is what it had last.
    That it was refused there, it never heard."""
    if step.arrives or step.goes or step.cause in (BACK, JOIN):
        member.is_back = step.cause == BACK
    if not member.is_back or member.stands is None:
        return step
    owned, assigned = member.had
    return msgspec.structs.replace(step, owned=owned, assigned=assigned)


def _begins(member: Member, step: Step) -> bool:
    return step.arrives or member.proxy != step.proxy


def _gap(member: Member, step: Step) -> Iterator[Finding]:
    if member.stands in (None, step.stood) or _begins(member, step):
        return
    phase, _, epoch, _ = member.stands
    said = f"{phase} in epoch {epoch}, and then {step.phase_before} in epoch {step.epoch_before}"
    about = named(GAP, step.member_id, step.span_id)
    yield Finding(GAP, SEVERITY[GAP], about, step.member_id, None, None, member.last_ns, step.at_ns, said, step.at_ns)


def _backwards(member: Member, step: Step) -> Iterator[Finding]:
    if member.stands is None or step.phase_before == ABSENT or _begins(member, step):
        return
    *_, epoch, generation = member.stands
    for what, was, now in (("epoch", epoch, step.epoch), ("generation", generation, step.generation)):
        if was > now > 0:
            audit = f"{what} backwards"
            about = named(audit, step.member_id, step.span_id)
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
        yield from _ends(group, named(LOST, step.member_id, partition), step.at_ns)
    for partition in now - before:
        situation = Situation(LOST, step.member_id, None, partition, step.at_ns)
        group.going_on[named(LOST, step.member_id, partition)] = situation


def _waits(group: Group, step: Step) -> Iterator[Finding]:
    """Without a break: a wait that was called off is over, and who is adopted begins anew."""
    going_on = named(STUCK, step.member_id)
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
    who = named(step.client_id, _host(step.client_address), step.instance_id)
    member.came = who, step.at_ns
    client = group.clients.get(who, Flapper())
    times = 1 + sum(step.at_ns - each <= FLAPPING_WITHIN_NS for each in client.came_ns)
    if times < FLAPS:
        return
    client.from_ns = client.from_ns or step.at_ns
    client.times = max(client.times, times)
    said = f"{step.client_id} joined {client.times} times within 5 minutes"
    about = named(FLAPPING, who, client.from_ns)
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


def _pair(partition: str, *two: str) -> str:
    return named(DOUBLE, partition, *sorted(two))
