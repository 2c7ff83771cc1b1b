"""A KIP-848 group coordinator, small enough to read: who is let in, who is fenced, what each heartbeat is answered.

It follows Kafka's GroupMetadataManager: a request is validated, the member found or made, its wishes noted (group
epoch), the target computed if it is time (assignment epoch), the member brought one step nearer to it (member epoch).
Nothing happens by itself but the two deadlines, session and rebalance: call `expire` when `wake_at` has come.
"""

from __future__ import annotations

from simulation.brokers import V4_4, BrokerLine, GroupSettings
from simulation.description import GroupDescription, describe
from simulation.errors import Error, Refused
from simulation.group import NEVER, Group, GroupMember
from simulation.offsets import Commit, check_commit
from simulation.reconciliation import MemberState
from simulation.topics import Topics
from simulation.validation import check_request
from translation.group_heartbeat import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    GroupHeartbeat,
    GroupHeartbeatAnswer,
    TopicPartition,
)

LEAVING = (LEAVE_EPOCH, STATIC_LEAVE_EPOCH)


class Coordinator:
    def __init__(self, topics: Topics, line: BrokerLine = V4_4, settings: GroupSettings | None = None) -> None:
        self.topics = topics
        self.line = line
        self.settings = settings or GroupSettings()
        self.groups: dict[str, Group] = {}
        self.offsets: dict[str, dict[TopicPartition, int]] = {}
        self.wake_at = NEVER

    def heartbeat(
        self, request: GroupHeartbeat, now: int, client_id: str = "", client_host: str = ""
    ) -> GroupHeartbeatAnswer:
        try:
            check_request(request)
            group = self._group(request)
            if request.member_epoch in LEAVING:
                return self._leave(group, request)
            member = self._member(group, request)
            member.client_id, member.client_host = client_id, client_host
            answer = self._beat(group, member, request, now)
            group.look_for_topics(now)
            return answer
        except Refused as refusal:
            return GroupHeartbeatAnswer(error_code=refusal.error, error_message=refusal.why)

    def commit(self, commit: Commit) -> Error:
        group = self.groups.get(commit.group_id)
        if group is None and commit.epoch >= 0:
            return Error.GROUP_ID_NOT_FOUND
        try:
            if group is not None:
                check_commit(group, commit, self.line)
        except Refused as refusal:
            return refusal.error
        self.offsets.setdefault(commit.group_id, {}).update(commit.offsets)
        return Error.NONE

    def committed(self, group_id: str) -> dict[TopicPartition, int]:
        return dict(self.offsets.get(group_id, {}))

    def describe(self, group_id: str) -> GroupDescription:
        return describe(group_id, self.groups.get(group_id), self.line)

    def expire(self, now: int) -> None:
        """Fences every member whose session or rebalance timeout has passed."""
        if now < self.wake_at:
            return
        for group in self.groups.values():
            group.remove([m for m in group.members.values() if min(m.session_deadline, m.rebalance_deadline) <= now])
        members = [member for group in self.groups.values() for member in group.members.values()]
        self.wake_at = min((min(m.session_deadline, m.rebalance_deadline) for m in members), default=NEVER)

    def fail_over(self, now: int) -> None:
        """Another broker has loaded the group: what was written is there, the timers begin anew."""
        for group in self.groups.values():
            for member in group.members.values():
                self._keep_alive(member, now)
                self._await_revocation(member, now)

    # -------------------------------------------------------------------------------------------- joining and beating

    def _group(self, request: GroupHeartbeat) -> Group:
        group = self.groups.get(request.group_id)
        if group is not None:
            return group
        if request.member_epoch != JOIN_EPOCH:
            raise Refused(Error.GROUP_ID_NOT_FOUND, request.group_id)
        group = self.groups[request.group_id] = Group(request.group_id, self.line, self.topics)
        return group

    def _beat(self, group: Group, member: GroupMember, request: GroupHeartbeat, now: int) -> GroupHeartbeatAnswer:
        granted = member.holding.assigned.keys()
        resubscribed = self._note_wishes(group, member, request)
        group.assign(now)
        before = member.holding
        owned = None if request.owned is None else frozenset(request.owned)
        group.reconcile(member, owned, resubscribed)
        if member.holding is not before:
            self._await_revocation(member, now)
        self._keep_alive(member, now)
        tell = _is_full(request) or member.holding.assigned.keys() != granted
        return GroupHeartbeatAnswer(
            member_id=member.member_id,
            member_epoch=member.epoch,
            heartbeat_interval_ms=self.settings.heartbeat_interval_ms,
            assignment=tuple(sorted(member.holding.assigned)) if tell else None,
        )

    def _member(self, group: Group, request: GroupHeartbeat) -> GroupMember:
        if request.member_epoch == JOIN_EPOCH:
            self._check_room(group, request)
        if request.instance_id is not None:
            return self._static_member(group, request, request.instance_id)
        member = group.members.get(request.member_id)
        if member is not None:
            _check_epoch(member, request, self.line)
            return member
        if request.member_epoch != JOIN_EPOCH:
            raise Refused(Error.UNKNOWN_MEMBER_ID, request.member_id)
        return _join(group, request)

    def _static_member(self, group: Group, request: GroupHeartbeat, instance_id: str) -> GroupMember:
        registered = group.instances.get(instance_id)
        if request.member_epoch != JOIN_EPOCH:
            member = group.members[_check_instance(registered, request)]
            _check_epoch(member, request, self.line)
            return member
        if registered is None:
            known = group.members.get(request.member_id)
            return _join(group, request) if known is None else group.rename(known, instance_id)
        old = group.members[registered]
        # Even for the very same member id: only epoch −2 frees an instance (KAFKA-19233 left this as it was).
        if old.epoch != STATIC_LEAVE_EPOCH:
            raise Refused(Error.UNRELEASED_INSTANCE_ID, f"{instance_id} is held by {registered}")
        return group.hand_over(old, request.member_id)

    def _check_room(self, group: Group, request: GroupHeartbeat) -> None:
        known = request.member_id in group.members or (
            self.line.known_instance_fits_full_group and request.instance_id in group.instances
        )
        if len(group.members) >= self.settings.max_size and not known:
            raise Refused(Error.GROUP_MAX_SIZE_REACHED, str(self.settings.max_size))

    def _note_wishes(self, group: Group, member: GroupMember, request: GroupHeartbeat) -> bool:
        before = (set(member.topic_names), member.topic_regex)
        if request.rack_id is not None:
            member.rack_id = request.rack_id
        if request.rebalance_timeout_ms != -1:
            member.rebalance_timeout_ms = request.rebalance_timeout_ms
        group.subscribe(member, request.subscribed_topic_names, request.subscribed_topic_regex, request.server_assignor)
        return (set(member.topic_names), member.topic_regex) != before

    # ------------------------------------------------------------------------------------------- leaving and deadlines

    def _leave(self, group: Group, request: GroupHeartbeat) -> GroupHeartbeatAnswer:
        member_id = request.member_id
        if request.instance_id is not None:
            member_id = _check_instance(group.instances.get(request.instance_id), request)
        member = group.members.get(member_id)
        if member is None:
            raise Refused(Error.UNKNOWN_MEMBER_ID, member_id)
        if request.member_epoch == STATIC_LEAVE_EPOCH:
            group.leave_for_a_while(member)
            member.rebalance_deadline = NEVER
        else:
            group.remove([member])
        return GroupHeartbeatAnswer(member_id=member_id, member_epoch=request.member_epoch)

    def _keep_alive(self, member: GroupMember, now: int) -> None:
        member.session_deadline = now + self.settings.session_timeout_ms
        self.wake_at = min(self.wake_at, member.session_deadline)

    def _await_revocation(self, member: GroupMember, now: int) -> None:
        member.rebalance_deadline = NEVER
        if member.holding.state is MemberState.UNREVOKED_PARTITIONS:
            member.rebalance_deadline = now + member.rebalance_timeout_ms
            self.wake_at = min(self.wake_at, member.rebalance_deadline)


def _join(group: Group, request: GroupHeartbeat) -> GroupMember:
    member = GroupMember(member_id=request.member_id, instance_id=request.instance_id)
    group.add(member)
    return member


def _check_instance(registered: str | None, request: GroupHeartbeat) -> str:
    if registered is None:
        raise Refused(Error.UNKNOWN_MEMBER_ID, f"no instance {request.instance_id}")
    if registered != request.member_id:
        raise Refused(Error.FENCED_INSTANCE_ID, f"{request.instance_id} is {registered}")
    return registered


def _check_epoch(member: GroupMember, request: GroupHeartbeat, line: BrokerLine) -> None:
    """An older epoch is believed only of a member that missed an answer: it says the epoch before, and owns no more
    than it was granted (the lost-response rule)."""
    told = request.member_epoch
    if told == member.epoch or (told == JOIN_EPOCH and line.rejoin_at_epoch_0):
        return
    lost_answer = told == member.previous_epoch and request.owned is not None
    if told > member.epoch or not lost_answer or not member.holding.assigned.keys() >= set(request.owned or ()):
        raise Refused(Error.FENCED_MEMBER_EPOCH, f"{told}, not {member.epoch}")


def _is_full(request: GroupHeartbeat) -> bool:
    """A request that says everything is told everything."""
    wishes = request.subscribed_topic_names is not None or request.subscribed_topic_regex is not None
    says_all = request.rebalance_timeout_ms != -1 and wishes and request.owned is not None
    return request.member_epoch == JOIN_EPOCH or says_all
