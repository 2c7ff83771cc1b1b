"""What members are doing now, and who held which partition when: the state behind the status page and its JSON.

A picture is drawn from observations alone. Every change takes the next number of one count (`version`), and everything
shown bears the number of its last change; so whoever has seen version n asks for what changed since, and no reader costs
a queue. Everything is bounded: members by those that the host keeps, spans and passers-by by the limits below.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec

from proxy.observations import Changed, Client, GroupPasses, Observation, PassesNoMore, RequestArrived
from translation.group_heartbeat import TopicPartition
from translation.states import Phase, Standing

# Spans that have ended, over all groups: an hour of a group of ten that moves once a minute, or the last upgrade of 1,000.
ENDED_SPANS = 5_000
# Members that were gone, as they are told to readers; one that lags further behind is told everything anew.
DEPARTURES = 2_000
PASSING_MEMBERS = 2_000

# A member speaks on the connection of these; commits may come on a producer's.
OWN_WORDS = frozenset({"JoinGroup", "SyncGroup", "Heartbeat"})

Partition = tuple[str, int]
Key = tuple[str, str]
Kind = Literal["holds", "phase"]


class Member(msgspec.Struct, kw_only=True):
    """A member as it is shown. `waiting_for`: what is assigned to it, and its client does not hold yet; `letting_go`: what
    its client holds, and is assigned to it no more."""

    group_id: str
    member_id: str
    version: int
    since_ns: int
    # When its client last asked something; none: it passes, and is not listened to.
    heard_ns: int | None = None
    client: Client
    instance_id: str | None = None
    node: int | None = None
    phase: Phase = Phase.ABSENT
    standing: Standing = Standing.ABSENT
    epoch: int = 0
    generation: int = 0
    owned: tuple[Partition, ...] = ()
    waiting_for: tuple[Partition, ...] = ()
    letting_go: tuple[Partition, ...] = ()
    cause: str = ""
    # Why its requests are handed to the broker as they are; none: they are translated.
    passes: str | None = None


class Span(msgspec.Struct, kw_only=True):
    """A member held a partition, or was in a phase (`what` says which), from then until then; no end: it still is."""

    number: int
    version: int
    group_id: str
    member_id: str
    kind: Kind
    what: str
    from_ns: int
    until_ns: int | None = None


class Departure(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    group_id: str
    member_id: str


class Picture:
    def __init__(self) -> None:
        self.version = 0
        self.members: dict[Key, Member] = {}
        self._passing: OrderedDict[Key, Member] = OrderedDict()
        self._open: dict[Key, dict[tuple[Kind, str], Span]] = {}
        self._ended: deque[Span] = deque(maxlen=ENDED_SPANS)
        self._departures: deque[Departure] = deque(maxlen=DEPARTURES)
        self._spans_begun = 0

    # ------------------------------------------------------------------------------------------------------ drawing

    def observe(self, observation: Observation) -> None:
        """Requests that moved nobody show when they came, but are no change; heartbeats are counted elsewhere."""
        if isinstance(observation, RequestArrived):
            self._heard(observation)
        elif isinstance(observation, Changed):
            self._changed(observation)
        elif isinstance(observation, GroupPasses):
            self._passed(observation)
        elif isinstance(observation, PassesNoMore):
            self._passes_no_more((observation.group_id, observation.member_id))

    def _heard(self, seen: RequestArrived) -> None:
        member = self.members.get((seen.group_id, seen.member_id))
        if member is None:
            return
        member.heard_ns = seen.at_ns
        if seen.api in OWN_WORDS and member.client != seen.client:
            # It has opened another connection.
            self.version += 1
            member.client, member.version = seen.client, self.version

    def _changed(self, seen: Changed) -> None:
        self.version += 1
        key = (seen.transition.group_id, seen.transition.member_id)
        self._passing.pop(key, None)
        before = self.members.get(key)
        member = self._drawn(seen, before)
        if member.phase is Phase.ABSENT:
            self._draw_spans(key, (), Phase.ABSENT, seen.at_ns)
            self._gone(key)
        else:
            self._draw_spans(key, member.owned, member.phase, seen.at_ns)
            self.members[key] = member

    def _drawn(self, seen: Changed, before: Member | None) -> Member:
        moved = seen.transition
        owned, assigned = frozenset(moved.owned), frozenset(moved.assigned)
        face = (moved.phase, moved.standing)
        still = before is not None and (before.phase, before.standing) == face
        return Member(
            group_id=moved.group_id,
            member_id=moved.member_id,
            version=self.version,
            since_ns=before.since_ns if before is not None and still else seen.at_ns,
            heard_ns=seen.at_ns if before is None else before.heard_ns,
            client=seen.client,
            instance_id=moved.instance_id,
            node=seen.node,
            phase=moved.phase,
            standing=moved.standing,
            epoch=moved.epoch,
            generation=moved.generation,
            owned=_named(owned, seen.names),
            waiting_for=_named(assigned - owned, seen.names),
            letting_go=_named(owned - assigned, seen.names),
            cause=moved.cause,
        )

    def _passed(self, seen: GroupPasses) -> None:
        key = (seen.group_id, seen.member_id)
        before = self._passing.pop(key, None)
        if before is not None and before.passes == seen.reason:
            self._passing[key] = before
            return
        self.version += 1
        if len(self._passing) >= PASSING_MEMBERS:
            oldest, _ = self._passing.popitem(last=False)
            self._departed(oldest)
        self._passing[key] = Member(
            group_id=seen.group_id,
            member_id=seen.member_id,
            version=self.version,
            since_ns=seen.at_ns,
            client=seen.client,
            passes=seen.reason,
        )

    def _passes_no_more(self, key: Key) -> None:
        if self._passing.pop(key, None) is not None:
            self.version += 1
            self._departed(key)

    def _gone(self, key: Key) -> None:
        if self.members.pop(key, None) is not None:
            self._departed(key)

    def _departed(self, key: Key) -> None:
        self._departures.append(Departure(version=self.version, group_id=key[0], member_id=key[1]))

    # -------------------------------------------------------------------------------------------------------- spans

    def _draw_spans(self, key: Key, holds: tuple[Partition, ...], phase: Phase, at_ns: int) -> None:
        """What is no longer so ends; what is new begins."""
        now: set[tuple[Kind, str]] = {("holds", f"{topic}-{partition}") for topic, partition in holds}
        if phase is not Phase.ABSENT:
            now.add(("phase", phase.value))
        lasting = self._open.pop(key, {})
        for fact in sorted(lasting.keys() - now):
            self._end(lasting.pop(fact), at_ns)
        for fact in sorted(now - lasting.keys()):
            lasting[fact] = self._begin(key, fact, at_ns)
        if lasting:
            self._open[key] = lasting

    def _begin(self, key: Key, fact: tuple[Kind, str], at_ns: int) -> Span:
        self._spans_begun += 1
        return Span(
            number=self._spans_begun,
            version=self.version,
            group_id=key[0],
            member_id=key[1],
            kind=fact[0],
            what=fact[1],
            from_ns=at_ns,
        )

    def _end(self, span: Span, at_ns: int) -> None:
        span.until_ns, span.version = at_ns, self.version
        self._ended.append(span)

    # ------------------------------------------------------------------------------------------------------ reading

    def everyone(self) -> Iterator[Member]:
        yield from self.members.values()
        yield from self._passing.values()

    def of_group(self, group_id: str) -> Iterator[Member]:
        return (member for member in self.everyone() if member.group_id == group_id)

    def spans(self, group_id: str | None = None) -> list[Span]:
        """In the order in which they began, of one group or of all."""
        lasting = (span for spans in self._open.values() for span in spans.values())
        found = [span for span in (*self._ended, *lasting) if group_id in (None, span.group_id)]
        return sorted(found, key=lambda span: span.number)

    def groups(self) -> list[dict[str, Any]]:
        """A line for each group, by name."""
        by_group: dict[str, list[Member]] = {}
        for member in self.everyone():
            by_group.setdefault(member.group_id, []).append(member)
        return [_group_line(group_id, members) for group_id, members in sorted(by_group.items())]

    def group(self, group_id: str) -> dict[str, Any] | None:
        """One group with its members and its timeline; None where nobody of it is known here, nor was of late."""
        members = sorted(self.of_group(group_id), key=lambda member: member.member_id)
        spans = self.spans(group_id)
        if not members and not spans:
            return None
        return {**_group_line(group_id, members), "members": [shown(m) for m in members], "timeline": plain(spans)}

    def since(self, version: int) -> dict[str, Any]:
        """What changed after that version. `whole`: it is everything, for the reader has fallen behind (or begins)."""
        oldest = self._departures[0].version if len(self._departures) == DEPARTURES else 0
        whole = version < oldest or version == 0 or version > self.version
        after = 0 if whole else version
        return {
            "version": self.version,
            "whole": whole,
            "members": [shown(member) for member in self.everyone() if member.version > after],
            "gone": [] if whole else plain([gone for gone in self._departures if gone.version > after]),
            "spans": plain([span for span in self.spans() if span.version > after]),
        }


def shown(member: Member) -> dict[str, Any]:
    row = plain(member)
    assert isinstance(row, dict)
    return row


def plain(value: object) -> Any:
    return msgspec.to_builtins(value)


def _group_line(group_id: str, members: list[Member]) -> dict[str, Any]:
    here = [member for member in members if member.passes is None]
    reasons = sorted({member.passes for member in members if member.passes is not None})
    return {
        "group_id": group_id,
        "members": len(members),
        "translated": len(here),
        "passing": len(members) - len(here),
        "passes_because": reasons,
        "settled": all(_settled(member) for member in here),
        "epoch": max((member.epoch for member in here), default=0),
    }


def _settled(member: Member) -> bool:
    return (member.phase, member.standing) == (Phase.STABLE, Standing.STABLE) and not member.waiting_for


def _named(partitions: frozenset[TopicPartition], names: Mapping[str, str | None]) -> tuple[Partition, ...]:
    """By topic name; a topic whose name is not known yet by its id."""
    return tuple(sorted((names.get(tp.topic_id) or tp.topic_id, tp.partition) for tp in partitions))
