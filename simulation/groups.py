"""What the members of a proxy know together, hosted as translation/group says: facts in, orders performed, one timer."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from simulation.description import GroupDescription
from simulation.network import Upstream
from simulation.process import Process
from translation.events import WorldEvent
from translation.group import (
    AnyGroupFact,
    Describe,
    Described,
    DescriptionFailed,
    DescriptionWanted,
    Group,
    MemberChanged,
    NativeBeat,
    NativePutOff,
    Tell,
    TimePassed,
    described_member,
    native_due_at,
    native_interval_ms,
    native_put_off_ms,
)
from translation.group_heartbeat import GroupHeartbeat, GroupHeartbeatAnswer
from translation.member import Member
from translation.motion import group_step
from translation.rules import Pacing
from translation.transition import Transition

Key = tuple[str, str]


class Groups:
    def __init__(
        self,
        process: Process,
        upstream: Upstream,
        pacing: Pacing,
        feed: Callable[[Key, WorldEvent], None],
        member: Callable[[Key], Member | None],
        on_description: Callable[[GroupDescription], None],
    ) -> None:
        self.alive = True
        self._process, self._upstream, self._pacing, self._feed = process, upstream, pacing, feed
        self._member, self._on_description = member, on_description
        self._groups: dict[str, Group] = {}
        self._wakes: dict[str, int] = {}

    def changed(self, transition: Transition, member: Member) -> None:
        fact = MemberChanged(transition=transition, contract=member.contract, interval_ms=member.interval_ms)
        self._tell(transition.group_id, fact)

    def assignor(self, group_id: str) -> str | None:
        group = self._groups.get(group_id)
        return group.assignor if group else None

    def wants_description(self, key: Key) -> None:
        self._tell(key[0], DescriptionWanted(member_id=key[1]))

    def put_off(self, request: GroupHeartbeat) -> int:
        """A native member's heartbeat that says nothing, in the grace after a leave: it is to come again after so long. 0: it
        goes to the coordinator."""
        group, now = self._groups.get(request.group_id), self._process.now
        if not self.alive or group is None:
            return 0
        due_at = native_due_at(group, request.member_id, request.member_epoch, now)
        if due_at <= now:
            return 0
        self._tell(request.group_id, NativePutOff(member_id=request.member_id))
        return native_put_off_ms(group, due_at, now)

    def paced(self, request: GroupHeartbeat, answer: GroupHeartbeatAnswer, after_ms: int) -> GroupHeartbeatAnswer:
        """A native member's heartbeat has passed through: it is told when to come again."""
        if answer.error_code or not self.alive:
            return answer
        beat = NativeBeat(
            member_id=request.member_id,
            epoch_sent=request.member_epoch,
            epoch_answered=answer.member_epoch,
            answered_after_ms=after_ms,
            interval_ms=answer.heartbeat_interval_ms,
        )
        self._tell(request.group_id, beat)
        group = self._groups[request.group_id]
        interval_ms = native_interval_ms(group, answer.heartbeat_interval_ms, self._process.now)
        return msgspec.structs.replace(answer, heartbeat_interval_ms=interval_ms)

    def _tell(self, group_id: str, fact: AnyGroupFact) -> None:
        if not self.alive:
            return
        group = self._groups.get(group_id) or Group(group_id=group_id, pacing=self._pacing)
        self._groups[group_id], orders = group_step(group, fact, self._process.now)
        self._sleep(group_id)
        for order in orders:
            match order:
                case Tell():
                    self._feed((group_id, order.member_id), order.event)
                case Describe():
                    self._describe(group_id)

    def _sleep(self, group_id: str) -> None:
        wake_at = self._groups[group_id].wake_at
        if wake_at is not None and self._wakes.get(group_id, wake_at + 1) > wake_at:
            self._wakes[group_id] = wake_at
            self._process.at(wake_at, lambda: self._wake(group_id, wake_at))

    def _wake(self, group_id: str, wake_at: int) -> None:
        if self._wakes.get(group_id) == wake_at:
            del self._wakes[group_id]
            self._tell(group_id, TimePassed())

    def _describe(self, group_id: str) -> None:
        def described(seen: GroupDescription) -> None:
            if seen.error_code:
                self._tell(group_id, DescriptionFailed(for_good=False))
            elif self.alive:
                self._on_description(seen)
                self._tell(group_id, self._fact(group_id, seen))

        def lost() -> None:
            self._tell(group_id, DescriptionFailed(for_good=False))

        hears = self._process.hears
        self._upstream.describe(group_id, hears(described), hears(lost))

    def _fact(self, group_id: str, seen: GroupDescription) -> Described:
        members = tuple(
            described_member(
                each.member_id, each.epoch, each.assignment, each.target, self._member((group_id, each.member_id))
            )
            for each in seen.members
        )
        return Described(group_epoch=seen.epoch, assignment_epoch=seen.assignment_epoch, members=members)
