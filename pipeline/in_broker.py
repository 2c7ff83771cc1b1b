"""The broker's own translation, in the small: what classic members of a KIP-848 group are told when no proxy helps them.

Theory of operation (Kafka 4.4, GroupMetadataManager.classicGroup…ToConsumerGroup). A classic member is a member like any
other, but the coordinator can speak to it only in answers:

    JoinGroup   notes its topics, computes the target if that is due, brings it one step nearer, and answers at once
    SyncGroup   tells what it is assigned now; REBALANCE_IN_PROGRESS if there is a newer target meanwhile
    Heartbeat   REBALANCE_IN_PROGRESS if it is behind the target (even one that gives it what it has), must give
                something up, or waits for something that has come free
    LeaveGroup  takes it out; nobody computes a target then

A classic member's heartbeat computes no target. A native member's does: `native_beats` is one such, every five seconds,
of members that own nothing of these topics, so that the group is what it is while a migration goes on and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from simulation.assignors import NOTHING
from simulation.clock import Clock
from simulation.coordinator import Coordinator
from simulation.errors import Error
from simulation.group import NEVER, Group, GroupMember
from simulation.network import Connection
from simulation.reconciliation import MemberState
from translation import actions as do
from translation import events as ev
from translation.embedded import read_subscription, write_assignment
from translation.group_heartbeat import TopicPartition

NATIVE_BEAT_MS = 5_000
EXPIRY_STEP_MS = 100
FIRST_JOIN_THAT_ASKS_FOR_AN_ID = 4
NONE, UNKNOWN = Error.NONE, Error.UNKNOWN_MEMBER_ID
AGAIN = Error.REBALANCE_IN_PROGRESS
Owned = frozenset[TopicPartition]


class Classic(msgspec.Struct):
    """What is known of a classic member beside its membership: three timers, and the bill."""

    protocol_name: str
    session_timeout_ms: int
    rebalance_timeout_ms: int
    session_deadline: int = NEVER
    join_deadline: int = NEVER
    sync_deadline: int = NEVER
    told: Owned = frozenset()
    # What it had when it was asked to rejoin, until it is at rest again.
    had: Owned | None = None

    @property
    def deadline(self) -> int:
        return min(self.session_deadline, self.join_deadline, self.sync_deadline)


class Felt(msgspec.Struct):
    """By members that were there before: cycles, partitions taken from them, cycles that changed nothing."""

    rebalances: int = 0
    revoked: int = 0
    in_vain: int = 0


class InBroker:
    """Takes a legacy client's requests where a proxy would: `receive` and `serves` are all that its sockets know."""

    serves = True

    def __init__(self, clock: Clock, coordinator: Coordinator, group_id: str) -> None:
        self.felt = Felt()
        self.group = coordinator.groups[group_id] = Group(group_id, coordinator.line, coordinator.topics)
        self._clock, self._coordinator = clock, coordinator
        self._classic: dict[str, Classic] = {}
        self._serial = 0
        self.native_beats()
        self.expire()

    def native_beats(self) -> None:
        if self.group.members:
            self.group.assign(self._clock.now)
        self._clock.after(NATIVE_BEAT_MS, self.native_beats)

    def expire(self) -> None:
        for member_id in [each for each, classic in self._classic.items() if classic.deadline <= self._clock.now]:
            self.fence(member_id)
        self._clock.after(EXPIRY_STEP_MS, self.expire)

    def fence(self, member_id: str) -> None:
        if self._classic.pop(member_id, None) is not None:
            self.group.remove([self.group.members[member_id]])

    def receive(
        self,
        connection: Connection,
        key: tuple[str, str],
        event: ev.ClientEvent,
        reply: Any,
        offsets: Mapping[TopicPartition, int] | None = None,
    ) -> None:
        self._serial += 1
        connection.expect(self._serial, reply)
        connection.answer(self._serial, self._answer(key[1], event, offsets or {}))

    def _answer(self, member_id: str, event: ev.ClientEvent, offsets: Mapping[TopicPartition, int]) -> Any:
        match event:
            case ev.JoinRequested():
                return self._join(event)
            case ev.SyncRequested():
                return self._sync(member_id, event)
            case ev.HeartbeatRequested():
                return do.AnswerHeartbeat(0, self._beat(member_id, event.generation))
            case ev.LeaveRequested():
                known = member_id in self._classic
                self.fence(member_id)
                return do.AnswerLeave(0, NONE if known else UNKNOWN)
            case ev.CommitRequested():
                self._coordinator.offsets.setdefault(self.group.group_id, {}).update(offsets)
                return do.AnswerCommit(0, NONE)

    # ---------------------------------------------------------------------------------------------------------- JoinGroup

    def _join(self, join: ev.JoinRequested) -> do.AnswerJoin:
        fresh_id = f"{join.client_id}-{self._serial}"
        if not join.member_id and join.instance_id is None and join.version >= FIRST_JOIN_THAT_ASKS_FOR_AN_ID:
            return do.AnswerJoin(0, Error.MEMBER_ID_REQUIRED, member_id=fresh_id)
        member = self._member(join, join.member_id or fresh_id)
        classic = self._note(member, join)
        wishes = read_subscription(join.protocols[0].metadata)
        resubscribed = set(wishes.topics) != set(member.topic_names)
        self.group.subscribe(member, tuple(wishes.topics), "", None)
        self.group.assign(self._clock.now)
        self.group.reconcile(member, self._ids(wishes.owned), resubscribed)
        return do.AnswerJoin(0, NONE, member.epoch, member.member_id, classic.protocol_name)

    def _member(self, join: ev.JoinRequested, member_id: str) -> GroupMember:
        """Known, new (under whatever id it comes with), or the successor of a static one: that needs no release."""
        registered = self.group.instances.get(join.instance_id or "")
        if registered is not None and registered != join.member_id:
            classic = self._classic.pop(registered)
            self._classic[member_id] = msgspec.structs.replace(classic, told=frozenset(), had=None)
            return self.group.hand_over(self.group.members[registered], member_id)
        if member_id not in self.group.members:
            self.group.add(GroupMember(member_id=member_id, instance_id=join.instance_id, client_id=join.client_id))
        return self.group.members[member_id]

    def _note(self, member: GroupMember, join: ev.JoinRequested) -> Classic:
        timeouts = {"session_timeout_ms": join.session_timeout_ms, "rebalance_timeout_ms": join.rebalance_timeout_ms}
        before = self._classic.get(member.member_id) or Classic("", 0, 0)
        classic = msgspec.structs.replace(before, protocol_name=join.protocols[0].name, **timeouts)
        self._classic[member.member_id] = classic
        now = self._clock.now
        classic.session_deadline, classic.join_deadline = now + join.session_timeout_ms, NEVER
        classic.sync_deadline = now + join.rebalance_timeout_ms
        return classic

    # ---------------------------------------------------------------------------------------------- SyncGroup and Heartbeat

    def _sync(self, member_id: str, sync: ev.SyncRequested) -> do.AnswerSync:
        classic = self._classic.get(member_id)
        if classic is None:
            return do.AnswerSync(0, UNKNOWN)
        member = self.group.members[member_id]
        if sync.generation != member.epoch:
            return do.AnswerSync(0, Error.ILLEGAL_GENERATION)
        if self.group.assignment_epoch > member.epoch and not _gives_up(member):
            classic.join_deadline = min(classic.join_deadline, self._clock.now + classic.rebalance_timeout_ms)
            return do.AnswerSync(0, AGAIN)
        classic.session_deadline, classic.sync_deadline = self._clock.now + classic.session_timeout_ms, NEVER
        self._bill(classic, frozenset(member.holding.assigned))
        return do.AnswerSync(0, NONE, write_assignment(self._names(classic.told), 1), classic.protocol_name)

    def _beat(self, member_id: str, generation: int) -> Error:
        classic = self._classic.get(member_id)
        if classic is None:
            return UNKNOWN
        member = self.group.members[member_id]
        if generation != member.epoch:
            return Error.ILLEGAL_GENERATION
        classic.session_deadline = self._clock.now + classic.session_timeout_ms
        if not self._must_rejoin(member):
            return NONE
        classic.join_deadline = min(classic.join_deadline, self._clock.now + classic.rebalance_timeout_ms)
        if classic.had is None:
            classic.had = classic.told
        return AGAIN

    def _must_rejoin(self, member: GroupMember) -> bool:
        if member.epoch < self.group.assignment_epoch or _gives_up(member):
            return True
        if member.holding.state is not MemberState.UNRELEASED_PARTITIONS:
            return False
        missing = self.group.target.get(member.member_id, NOTHING) - member.holding.assigned.keys()
        return all(partition not in self.group.held for partition in missing)

    def _bill(self, classic: Classic, assigned: Owned) -> None:
        """A cooperative client that is told less rejoins by itself, to say that it has given it up: no cycle of its own."""
        classic.told = assigned
        if classic.had is None:
            return
        self.felt.rebalances += 1
        self.felt.revoked += len(classic.had - assigned)
        self.felt.in_vain += classic.had == assigned
        classic.had = None

    # --------------------------------------------------------------------------------------------------------------- names

    def _ids(self, partitions: frozenset[tuple[str, int]]) -> Owned:
        ids = self._coordinator.topics.ids
        return frozenset(TopicPartition(ids[topic], number) for topic, number in partitions if topic in ids)

    def _names(self, partitions: Owned) -> frozenset[tuple[str, int]]:
        names = self._coordinator.topics.names
        return frozenset((names[each.topic_id], each.partition) for each in partitions)


def _gives_up(member: GroupMember) -> bool:
    return member.holding.state is MemberState.UNREVOKED_PARTITIONS
