"""When can partitions change hands? Nothing is gained when a member lets go before the receiver can take.

Who will receive is in the targets of a description. A receiver behind this proxy is told once all that it gets is free,
so those who give to it are asked at one time, when the last of them can hear it: each earlier one would only let its
partitions lie. A native one that passes through is paced, and takes at once. A direct native member takes at its next
beat, and so does one that passes where natives are not paced: so the clients are asked just before one of the receivers'
beats, whichever leaves partitions with nobody for the least time in all.

Where such native members take part, some of what a newcomer gets may be theirs to give, at beats of theirs that are far
apart. So one that has nothing yet is not kept waiting for the last: who can hear it at once is asked at once, and the
newcomer begins with that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from translation.events import HandOverPlanned
from translation.group import Described, Group, Known
from translation.group_heartbeat import TopicPartition

# Between two descriptions further apart than this, nobody can say when a member beat.
TRUST_MS = 1000
# What lies with nobody is worth all of its time, and what its receiver does not have yet a part.
WAIT_PART = 0.25
# The margin is for clients that take long to let go; the usual one needs this part of it.
USUAL_PART = 0.25
# Beats before which it is tried.
MOST_TRIED = 16
NOBODY = Known()


class Gift(NamedTuple):
    """A partition that is to change hands."""

    giver: str
    hears_at: int  # its client, at the earliest
    receiver: str  # "": nobody


def plans(group: Group, described: Described, now: int) -> Iterator[tuple[str, HandOverPlanned]]:
    """When to ask the clients here that must give up something: each party of them at one time, but for who gives to a
    newcomer.

    What a member has been told to give up its client has still: we know that of our own (losses), for brokers before 4.3
    describe it as nobody's. What another has not been told yet is in the description: assigned, and not in its target.
    """
    losers = frozenset(name for name in group.locals if group.members[name].losses)
    if not losers:
        return
    gifts = _gifts(group, described)
    hungry = _hungry(group, described)
    prompt = {gift.giver for gift in gifts if gift.receiver in hungry and gift.hears_at <= now}
    idle = _idle(group, described)
    for party in _parties(group, gifts):
        givers = sorted(losers.intersection(gift.giver for gift in party))
        later = [gift for gift in party if gift.giver not in prompt]
        plan = best_plan(group, later, sum(len(idle[name]) for name in givers), now)
        yield from ((name, HandOverPlanned(at=now) if name in prompt else plan) for name in givers)


def _parties(group: Group, gifts: Sequence[Gift]) -> Iterable[list[Gift]]:
    """What clients here give to each other hangs together: who gets something is told when all of it is free, and rejoins
    once for that and for what it gives itself. Who gives to natives only goes by their beats, whatever others do."""
    here, leader = frozenset(group.locals), dict[str, str]()

    def led_by(name: str) -> str:
        while (follows := leader.get(name, name)) != name:
            # Chains grow as long as the group is large: each look halves its own.
            leader[name] = name = leader.get(follows, follows)
        return name

    for gift in gifts:
        if gift.receiver in here:
            leader[led_by(gift.giver)] = led_by(gift.receiver)
    parties: dict[str, list[Gift]] = {}
    for gift in gifts:
        parties.setdefault(led_by(gift.giver), []).append(gift)
    return parties.values()


def on_its_way(
    group: Group, described: Described, planned: Mapping[str, HandOverPlanned], now: int
) -> dict[str, list[int]]:
    """For each receiver, when partitions will reach it whose givers are asked already and have yet to let go. All others
    keep what they have until their receiver can take it, even if it is told sooner of what it can have now."""
    asked = {name for name, plan in planned.items() if plan.at <= now < group.members[name].gives_at}
    coming: dict[str, list[int]] = {}
    for gift in _gifts(group, described) if asked else ():
        if gift.giver in asked:
            coming.setdefault(gift.receiver, []).append(group.members[gift.giver].gives_at)
    return coming


def rest_from(group: Group, described: Described, planned: Mapping[str, HandOverPlanned], now: int) -> dict[str, int]:
    """For each member that asks: the earliest time at which anything that it lacks can reach it."""
    if described.group_epoch > described.assignment_epoch or not group.wishers:
        return {}
    asking = [member for member in described.members if member.member_id in group.wishers]
    lacking = {m.member_id: lacks for m in asking if (lacks := set(m.target) - set(m.assigned))}
    if not lacking:
        return {}
    having = {tp: member.member_id for member in described.members for tp in member.assigned}
    having |= _givers(group, described)
    return {
        name: min(_gives_from(group, having.get(tp, ""), planned, now) for tp in lacks)
        for name, lacks in lacking.items()
    }


def _gives_from(group: Group, name: str, planned: Mapping[str, HandOverPlanned], now: int) -> int:
    """What nobody has, and what a paced native has, may come at once. When a direct native will beat may not be known: then
    in half an interval, as likely as not."""
    known = group.members.get(name)
    if known is None or _is_paced(group, known):
        return now
    if known.local:
        return max(now, known.hears_at, planned[name].at if name in planned else now)
    if known.beat_at is None:
        return now + group.heartbeat_ms // 2
    return _earliest_beat(group, known.beat_at, now - TRUST_MS)


def _hungry(group: Group, described: Described) -> set[str]:
    """Newcomers here that have nothing, and might have to wait for natives."""
    if not any(_is_slow(group, member) for member in group.members.values()):
        return set()
    return {member.member_id for member in described.members if not member.assigned} & set(group.locals)


def _gifts(group: Group, described: Described) -> list[Gift]:
    givers = _givers(group, described)
    receivers = {tp: member.member_id for member in described.members for tp in member.target}
    return [Gift(givers[tp], group.members[givers[tp]].hears_at, receivers.get(tp, "")) for tp in sorted(givers)]


def _givers(group: Group, described: Described) -> dict[TopicPartition, str]:
    """All that the clients here have or will have to give up, and who of them has it."""
    here = frozenset(group.locals)
    changing = [m for m in described.members if m.member_id in here and m.assigned != m.target]
    untold = {tp: member.member_id for member in changing for tp in set(member.assigned) - set(member.target)}
    return untold | {tp: name for name in group.locals for tp in group.members[name].losses}


def _idle(group: Group, described: Described) -> dict[str, set[TopicPartition]]:
    """Partitions that nobody consumes until one of those clients rejoins: granted to it and not told, or meant for it and
    held by nobody."""
    asked = {name for name in group.locals if group.members[name].losses}
    taken = held(group, described)
    targets = {member.member_id: member.target for member in described.members}
    return {name: (set(targets.get(name, ())) - taken) | group.members[name].gains for name in asked}


def held(group: Group, described: Described) -> set[TopicPartition]:
    """What somebody has: as described, and what clients here have yet to give up (brokers before 4.3 describe no such)."""
    losses = (group.members[name].losses for name in group.locals)
    return set[TopicPartition]().union(*losses, *(member.assigned for member in described.members))


def best_plan(group: Group, gifts: Sequence[Gift], idle: int, now: int) -> HandOverPlanned:
    """Now, or when the last of the givers hears, or a margin before some receiver's beat after either, whichever costs
    least: what is given up lies idle until its receiver takes it, and what lies idle already does so until then. And a
    native that waits for more than it has is worth a little: it could begin with that at any beat."""
    receivers = [group.members[gift.receiver] for gift in gifts if gift.receiver in group.members]
    slow = [receiver for receiver in receivers if _is_slow(group, receiver)]
    waiting = idle + WAIT_PART * len(slow)

    def cost(plan: HandOverPlanned) -> tuple[float, int]:
        return _idle_ms(group, gifts, plan.at) + waiting * (plan.at - now), plan.at

    starts = {now, max((now, *(_hear_at(group, gift) for gift in gifts)))}
    beats = _a_few({receiver.beat_at for receiver in slow if receiver.beat_at is not None})
    by_beats = [_before(group, beat_at, start) for beat_at in beats for start in starts]
    return min([*by_beats, *(HandOverPlanned(at=start) for start in starts)], key=cost)


def _a_few(beats: Iterable[int]) -> list[int]:
    """Among many one is like the next, and each that is tried costs as much as there are gifts."""
    in_order = sorted(beats)
    return in_order[:: -(-len(in_order) // MOST_TRIED) or 1]


def _before(group: Group, beat_at: int, start: int) -> HandOverPlanned:
    """A margin before the first of those beats that leaves one."""
    margin_ms = group.pacing.margin_ms
    due_at = _earliest_beat(group, beat_at, start + margin_ms)
    return HandOverPlanned(at=due_at - margin_ms, beat_at=due_at)


def _is_paced(group: Group, known: Known) -> bool:
    return known.passing and group.pacing.paces_natives


def _is_slow(group: Group, known: Known) -> bool:
    return not known.local and not _is_paced(group, known)


def _idle_ms(group: Group, gifts: Sequence[Gift], at: int) -> int:
    """How long, in all, these partitions have nobody when their givers are asked at `at`."""
    whole: dict[str, int] = {}
    for gift in gifts:
        whole[gift.receiver] = max(whole.get(gift.receiver, at), _hear_at(group, gift))
    return sum(_taken_at(group, gift, at, whole[gift.receiver]) - max(at, gift.hears_at) for gift in gifts)


def _hear_at(group: Group, gift: Gift) -> int:
    """Both its giver and its receiver, if that one lives here."""
    return max(gift.hears_at, group.members.get(gift.receiver, NOBODY).hears_at)


def _taken_at(group: Group, gift: Gift, at: int, whole_at: int) -> int:
    given_at = max(at, gift.hears_at)
    receiver = group.members.get(gift.receiver, NOBODY)
    if _is_paced(group, receiver):
        return given_at
    if receiver.local:
        return whole_at
    return _likely_beat(group, receiver, given_at)


def _earliest_beat(group: Group, beat_at: int, from_: int) -> int:
    """The first beat that is wholly at or after `from_`, of one that was seen to beat at `beat_at` or later."""
    interval_ms = group.heartbeat_ms
    return beat_at + -(-max(from_ - beat_at, 0) // interval_ms) * interval_ms


def _likely_beat(group: Group, receiver: Known, given_at: int) -> int:
    """The mean of when it takes what is given then. It was seen to beat within a while after `beat_at`, at any moment of it
    as likely as at any other: the longer that was, the less is known, and the less is gained by waiting for the next."""
    if receiver.beat_at is None:
        return given_at
    interval_ms = group.heartbeat_ms
    within_ms = max(1, min(receiver.beat_within_ms, interval_ms))
    free_at = given_at + int(USUAL_PART * group.pacing.margin_ms)
    rounds, past_ms = divmod(max(free_at - receiver.beat_at, 0), interval_ms)
    missed_ms = interval_ms * min(past_ms, within_ms) // within_ms
    return receiver.beat_at + rounds * interval_ms + within_ms // 2 + missed_ms
