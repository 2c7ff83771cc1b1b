"""A native member: KIP-848's own client, as the Java and librdkafka clients behave.

It beats at the interval it was told, gives up what it must (its callback takes a while), says so at once, and takes
what it is given. Fenced, it drops everything and joins anew.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from simulation.clock import Clock
from simulation.errors import Error
from simulation.invariants import Broken, Ledger, TopicAndNumber, rises
from simulation.network import Upstream
from simulation.offsets import Commit
from simulation.topics import Topics
from translation.group_heartbeat import (
    JOIN_EPOCH,
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    GroupHeartbeat,
    GroupHeartbeatAnswer,
    TopicPartition,
)

LOOK_MS = 25
FENCED = (Error.FENCED_MEMBER_EPOCH, Error.UNKNOWN_MEMBER_ID)


class NativeStyle(msgspec.Struct, frozen=True, kw_only=True):
    instance_id: str | None = None
    topics: tuple[str, ...] = ("foo",)
    topic_regex: str | None = None
    assignor: str | None = None
    rebalance_timeout_ms: int = 300_000
    revoke_ms: int = 0
    retry_ms: int = 100
    progress_ms: int = 100


class NativeMember:
    """`paced` is what the proxy does to the interval in the answers of those that pass through it, heard or not; `put_off`
    says how soon a heartbeat is to come again that is answered there (0: none is); `is_still`: nothing gets through now."""

    def __init__(
        self,
        name: str,
        group_id: str,
        clock: Clock,
        upstream: Upstream,
        ledger: Ledger,
        style: NativeStyle,
        paced: Callable[[GroupHeartbeat, GroupHeartbeatAnswer, int], GroupHeartbeatAnswer],
        put_off: Callable[[GroupHeartbeat], int],
        is_still: Callable[[], bool],
    ) -> None:
        self.name, self.group_id, self.style = name, group_id, style
        self.member_id = name
        self.epoch = JOIN_EPOCH
        self.owned: frozenset[TopicPartition] = frozenset()
        self.alive = False
        self.refusals: list[Error] = []
        self.heard_at = -1
        self._clock, self._upstream, self._ledger = clock, upstream, ledger
        self._paced, self._put_off, self._is_still = paced, put_off, is_still
        self._lives = 0
        self._full = True
        self._say_owned = True
        self._in_flight = False
        self._life = 0
        self._starts: dict[TopicPartition, int] = {}

    @property
    def stands(self) -> bool:
        group = self._upstream.coordinator.groups.get(self.group_id)
        return self.alive and group is not None and self.member_id in group.members

    @property
    def partitions(self) -> frozenset[TopicAndNumber]:
        return _named(self._upstream.coordinator.topics, self.owned)

    def starts(self) -> None:
        self._lives += 1
        self._life += 1
        self.member_id = f"{self.name}#{self._lives}"
        self.alive, self.epoch, self._full, self._in_flight = True, JOIN_EPOCH, True, False
        self._beat(self._life)

    def stops(self) -> None:
        """Commits, lets go and says goodbye, waiting for nobody."""
        self._commit()
        self._drop()
        self.alive = False
        self._life += 1
        static = self.style.instance_id is not None
        self._send(STATIC_LEAVE_EPOCH if static else LEAVE_EPOCH, self._life)

    def vanishes(self) -> None:
        self._drop()
        self.alive = False
        self._life += 1

    def _beat(self, life: int) -> None:
        if life != self._life or self._in_flight:
            return
        if self._is_still():
            self._clock.after(LOOK_MS, lambda: self._beat(life))
        else:
            self._send(self.epoch, life)

    def _send(self, epoch: int, life: int) -> None:
        style, joining = self.style, epoch == JOIN_EPOCH
        say_all = joining or (self._full and epoch > 0)
        request = GroupHeartbeat(
            group_id=self.group_id,
            member_id=self.member_id,
            member_epoch=epoch,
            instance_id=style.instance_id,
            rebalance_timeout_ms=style.rebalance_timeout_ms if say_all else -1,
            subscribed_topic_names=style.topics if say_all else None,
            subscribed_topic_regex=style.topic_regex if say_all else None,
            server_assignor=style.assignor if say_all else None,
            owned=() if joining else tuple(sorted(self.owned)) if say_all or self._say_owned else None,
        )
        says_nothing = epoch > 0 and not say_all and request.owned is None
        if says_nothing and (again_ms := self._put_off(request)):
            return self._clock.after(again_ms, lambda: self._beat(life))
        self._in_flight = True
        sent = self._clock.now
        self._upstream.heartbeat(
            request,
            self.name,
            self.name,
            lambda answer: self._answered(life, request, answer, sent),
            lambda: self._lost(life),
        )

    def _lost(self, life: int) -> None:
        if life == self._life:
            self._in_flight, self._full = False, True
            self._clock.after(self.style.retry_ms, lambda: self._beat(life))

    def _answered(self, life: int, request: GroupHeartbeat, answer: GroupHeartbeatAnswer, sent: int) -> None:
        answer = self._paced(request, answer, self._clock.now - sent)
        if life != self._life or not self.alive:
            return None
        self._in_flight, self.heard_at = False, self._clock.now
        if answer.error_code:
            return self._refused(life, Error(answer.error_code))
        if request.member_epoch > 0:
            rises(f"epoch of {self.name}", request.member_epoch, answer.member_epoch)
        self.epoch = answer.member_epoch
        self._full = self._say_owned = False
        if answer.assignment is None:
            return self._clock.after(answer.heartbeat_interval_ms, lambda: self._beat(life))
        return self._reconcile(life, frozenset(answer.assignment), answer.heartbeat_interval_ms)

    def _refused(self, life: int, error: Error) -> None:
        self.refusals.append(error)
        self._full = True
        if error in FENCED:
            self._drop()
            self.epoch = JOIN_EPOCH
        elif error in (Error.FENCED_INSTANCE_ID, Error.INVALID_REQUEST, Error.GROUP_MAX_SIZE_REACHED):
            return self.vanishes()
        elif error is Error.GROUP_ID_NOT_FOUND:
            raise Broken("Translatable", f"{self.name}: {error.name}")
        return self._clock.after(self.style.retry_ms, lambda: self._beat(life))

    def _reconcile(self, life: int, assignment: frozenset[TopicPartition], interval_ms: int) -> None:
        lost = self.owned - assignment
        if not lost:
            self._take(assignment)
            return self._clock.after(interval_ms, lambda: self._beat(life))
        self._ledger.calls_back(_named(self._upstream.coordinator.topics, lost))
        return self._clock.after(self.style.revoke_ms, lambda: self._revoked(life, lost, assignment))

    def _revoked(self, life: int, lost: frozenset[TopicPartition], assignment: frozenset[TopicPartition]) -> None:
        """The callback has returned: commit, let go, take the rest, and say so at once."""
        if life != self._life:
            return
        self._commit()
        self._let_go(lost)
        self._take(assignment)
        self._say_owned = True
        self._beat(life)

    def _take(self, assignment: frozenset[TopicPartition]) -> None:
        topics, now = self._upstream.coordinator.topics, self._clock.now
        gained = assignment - self.owned
        self._ledger.takes(self, _named(topics, gained), now)
        committed = self._upstream.coordinator.offsets.get(self.group_id, {})
        for partition in gained:
            self._starts[partition] = committed.get(partition, 0) - now // self.style.progress_ms
            self._ledger.starts_at(
                self, (topics.names[partition.topic_id], partition.partition), committed.get(partition, 0)
            )
        self.owned = assignment

    def _let_go(self, lost: frozenset[TopicPartition]) -> None:
        self._ledger.lets_go(self, _named(self._upstream.coordinator.topics, lost), self._clock.now)
        self.owned -= lost

    def _drop(self) -> None:
        self._let_go(self.owned)

    def _commit(self) -> None:
        """Natives commit in one go here: what is of interest is the legacy side."""
        now = self._clock.now
        offsets = {partition: self._starts[partition] + now // self.style.progress_ms for partition in self.owned}
        if offsets:
            commit = Commit(group_id=self.group_id, member_id=self.member_id, epoch=self.epoch, offsets=offsets)
            self._upstream.commit_now(commit)


def _named(topics: Topics, partitions: frozenset[TopicPartition]) -> frozenset[TopicAndNumber]:
    return frozenset((topics.names[each.topic_id], each.partition) for each in partitions)
