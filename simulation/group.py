"""A consumer group: its members, its three kinds of epoch, and who holds which partition.

    group epoch G       moves when something asks for a new assignment
    assignment epoch A  the group epoch the target was computed for; behind G until somebody's heartbeat computes it
    member epoch E      the target epoch a member has reached

A partition is *held* by the member it is granted to, or wanted back from; nobody else gets it meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import Enum

import msgspec

from simulation.assignors import ASSIGNORS, DEFAULT_ASSIGNOR, NOTHING, Candidate, Target
from simulation.brokers import BrokerLine
from simulation.expressions import Expressions
from simulation.reconciliation import Goal, Holding, MemberState, reconcile, strip
from simulation.topics import Topics
from translation.group_heartbeat import STATIC_LEAVE_EPOCH, TopicPartition

NEVER = 2**62


class GroupState(Enum):
    EMPTY = "Empty"
    ASSIGNING = "Assigning"
    RECONCILING = "Reconciling"
    STABLE = "Stable"
    DEAD = "Dead"


class GroupMember(msgspec.Struct):
    """A native member as the coordinator stores it. The two deadlines are the only part a failover forgets."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topic_names: tuple[str, ...] = ()
    topic_regex: str = ""
    assignor: str | None = None
    rebalance_timeout_ms: int = -1
    previous_epoch: int = 0
    holding: Holding = Holding()
    session_deadline: int = NEVER
    rebalance_deadline: int = NEVER

    @property
    def epoch(self) -> int:
        return self.holding.epoch

    def reached(self, epoch: int) -> bool:
        return self.holding.state is MemberState.STABLE and self.holding.epoch == epoch


class Group:
    def __init__(self, group_id: str, line: BrokerLine, topics: Topics) -> None:
        self.group_id = group_id
        self.epoch = line.epoch_before_anyone
        self.assignment_epoch = line.epoch_before_anyone
        self.members: dict[str, GroupMember] = {}
        self.instances: dict[str, str] = {}
        self.target: Target = {}
        self.held: dict[TopicPartition, str] = {}
        self.assignor = DEFAULT_ASSIGNOR
        self._line = line
        self._topics = topics
        self._expressions = Expressions(topics)
        self._assigned_at = -NEVER
        self._known_partitions: tuple[object, ...] = ()
        self._topic_changes_seen = -1

    @property
    def state(self) -> GroupState:
        if not self.members:
            return GroupState.EMPTY
        if self.epoch > self.assignment_epoch:
            return GroupState.ASSIGNING
        if all(member.reached(self.assignment_epoch) for member in self.members.values()):
            return GroupState.STABLE
        return GroupState.RECONCILING

    # -------------------------------------------------------------------------------------------------- who is in it

    def add(self, member: GroupMember) -> None:
        self.members[member.member_id] = member
        if member.instance_id is not None:
            self.instances[member.instance_id] = member.member_id

    def remove(self, members: Iterable[GroupMember]) -> None:
        """One new epoch for all that go; the target is not computed before somebody's next heartbeat."""
        gone = list(members)
        for member in gone:
            self._forget(member)
        if gone:
            self.epoch += 1
        if not self.members and self._line.empty_group_is_assigned:
            self.assignment_epoch = self.epoch

    def hand_over(self, old: GroupMember, member_id: str) -> GroupMember:
        """A static member comes back, perhaps under another id: the same share and holding, and no new epoch."""
        share = self.target.get(old.member_id)
        self._forget(old)
        held = Holding(old.holding.state, 0, old.holding.assigned, old.holding.to_revoke)
        new = msgspec.structs.replace(old, member_id=member_id, holding=Holding(), previous_epoch=0)
        self.add(new)
        if share is not None:
            self.target[member_id] = share
        self._hold(new, held)
        return new

    def rename(self, member: GroupMember, instance_id: str) -> GroupMember:
        """A member that joins again under another instance leaves the one it had; 4.0 would register both."""
        if member.instance_id is not None:
            del self.instances[member.instance_id]
        member.instance_id = instance_id
        self.instances[instance_id] = member.member_id
        return member

    def _forget(self, member: GroupMember) -> None:
        self._hold(member, Holding())
        del self.members[member.member_id]
        self.target.pop(member.member_id, None)
        if member.instance_id is not None:
            del self.instances[member.instance_id]

    # ------------------------------------------------------------------------------------------------ what they want

    def subscribe(
        self, member: GroupMember, topic_names: tuple[str, ...] | None, topic_regex: str | None, assignor: str | None
    ) -> None:
        """Whatever asks for another assignment moves the group epoch, once for all of it. Nobody is at epoch 0."""
        is_torn = self._line.vote_bumps_epoch and self._is_torn(member)
        says_nothing = topic_names is None and topic_regex is None and assignor is None
        if says_nothing and self._topic_changes_seen == self._topics.changes and not is_torn:
            return
        before = self.preferred_assignor()
        changed = topic_names is not None and set(topic_names) != set(member.topic_names)
        # What a new expression means is yet to be found, and is a reason then.
        changed |= topic_regex not in (None, member.topic_regex) and self._expressions.is_known(topic_regex)
        if topic_names is not None:
            member.topic_names = topic_names
        if topic_regex is not None:
            member.topic_regex = topic_regex
        if assignor is not None:
            member.assignor = assignor
        voted = is_torn or (self._line.vote_bumps_epoch and self.preferred_assignor() != before)
        if self._partitions_changed(changed) or changed or voted or self.epoch == 0:
            self.epoch += 1

    def look_for_topics(self, now: int) -> None:
        """That regular expressions mean. Once a heartbeat has been answered: whose it was hears of them with the next."""
        if self._expressions.look({member.topic_regex for member in self.members.values()} - {""}, now):
            self._partitions_changed(True)
            self.epoch += 1

    def _is_torn(self, member: GroupMember) -> bool:
        """One vote against one: 4.4 counts anew without the winner's voter, and takes the other's lead for a change."""
        votes = [each.assignor for each in self.members.values() if each.assignor]
        return len(votes) == 2 and len(set(votes)) == 2 and member.assignor == self.preferred_assignor()

    def preferred_assignor(self) -> str:
        votes = Counter(member.assignor for member in self.members.values() if member.assignor)
        return max(votes, key=votes.__getitem__) if votes else DEFAULT_ASSIGNOR

    def _partitions_changed(self, subscription_changed: bool) -> bool:
        if self._topic_changes_seen == self._topics.changes and not subscription_changed:
            return False
        self._topic_changes_seen = self._topics.changes
        names = {name for member in self.members.values() for name in self._names(member)}
        known = tuple(self._topics.of(names))
        changed, self._known_partitions = known != self._known_partitions, known
        return changed

    # ------------------------------------------------------------------------------------- what they shall have, own

    def assign(self, now: int) -> None:
        """Computes the target if there is a reason, and not too soon after the last time (KIP-1263)."""
        if self.assignment_epoch == self.epoch or now - self._assigned_at < self._line.assignment_interval_ms:
            return
        self.assignor = self.preferred_assignor()
        candidates = [self._candidate(member) for member in self.members.values()]
        self.target = ASSIGNORS[self.assignor](candidates, self._topics.partitions)
        self.assignment_epoch = self.epoch
        self._assigned_at = now

    def reconcile(self, member: GroupMember, owned: frozenset[TopicPartition] | None, resubscribed: bool) -> None:
        if member.reached(self.assignment_epoch) and not resubscribed:
            return
        topic_ids = self._topic_ids(member)
        share = self.target.get(member.member_id, NOTHING)
        if self._line.strips_unsubscribed:
            share = frozenset(partition for partition in share if partition.topic_id in topic_ids)
        goal = Goal(self.assignment_epoch, share)
        holding = reconcile(member.holding, goal, owned, self._taken(member, share), self._line)
        if resubscribed and self._line.strips_unsubscribed:
            holding = strip(holding, topic_ids, owned)
        self._hold(member, holding)

    def _taken(self, member: GroupMember, share: frozenset[TopicPartition]) -> frozenset[TopicPartition]:
        """What this very member was asked to give back is free for itself, on 4.0 not before that is written."""
        free = {None, member.member_id} if self._line.own_revocation_is_free else {None}
        return frozenset(partition for partition in share if self.held.get(partition) not in free)

    def _candidate(self, member: GroupMember) -> Candidate:
        has = self.target.get(member.member_id, NOTHING)
        return Candidate(member.member_id, member.instance_id, self._topic_ids(member), has)

    def _topic_ids(self, member: GroupMember) -> frozenset[str]:
        ids = self._topics.ids
        return frozenset(ids[name] for name in self._names(member) if name in ids)

    def _names(self, member: GroupMember) -> frozenset[str]:
        return self._expressions.means(member.topic_regex).union(member.topic_names)

    def leave_for_a_while(self, member: GroupMember) -> None:
        """Epoch −2: a static member keeps what it holds, under epochs of nobody."""
        assigned = dict.fromkeys(member.holding.assigned, 0)
        self._hold(member, Holding(MemberState.STABLE, STATIC_LEAVE_EPOCH, assigned, {}))

    def _hold(self, member: GroupMember, holding: Holding) -> None:
        """The only place where partitions change hands."""
        before = member.holding
        if holding is before:
            return
        if holding.assigned != before.assigned or holding.to_revoke != before.to_revoke:
            for partition in (*before.assigned, *before.to_revoke):
                self.held.pop(partition, None)
            for partition in (*holding.assigned, *holding.to_revoke):
                self.held[partition] = member.member_id
        member.previous_epoch = before.epoch
        member.holding = holding
