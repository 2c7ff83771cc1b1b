"""A native member by hand: each verb is one heartbeat, and `answer` is what came of the last."""

from __future__ import annotations

from typing import Protocol

from simulation.errors import Error
from translation.group_heartbeat import GroupHeartbeat, GroupHeartbeatAnswer, TopicPartition

GROUP = "g"
REBALANCE_TIMEOUT_MS = 60_000


class Clock:
    now = 0


class Time(Protocol):
    """That clock, or a world's."""

    @property
    def now(self) -> int: ...


class Heartbeats(Protocol):
    def heartbeat(self, request: GroupHeartbeat, now: int) -> GroupHeartbeatAnswer: ...


class Native:
    def __init__(
        self, coordinator: Heartbeats, clock: Time, member_id: str, instance_id: str | None = None, *topics: str
    ) -> None:
        self.coordinator, self.clock = coordinator, clock
        self.member_id, self.instance_id = member_id, instance_id
        self.topics = topics or ("foo",)
        self.epoch = 0
        self.assigned: frozenset[TopicPartition] = frozenset()
        self.answer = GroupHeartbeatAnswer()

    def joins(self, assignor: str | None = None) -> Native:
        return self._send(
            member_epoch=0,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            subscribed_topic_names=self.topics,
            server_assignor=assignor,
            owned=(),
        )

    def joins_by(self, expression: str, *topics: str) -> Native:
        """As the Java client does with a `SubscriptionPattern`, but that names no topics beside it."""
        return self._send(
            member_epoch=0,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            subscribed_topic_names=topics,
            subscribed_topic_regex=expression,
            owned=(),
        )

    def beats(self) -> Native:
        return self._send(member_epoch=self.epoch)

    def acknowledges(self) -> Native:
        return self.reports(*self.assigned)

    def reports(self, *owned: TopicPartition, epoch: int | None = None) -> Native:
        return self._send(member_epoch=self.epoch if epoch is None else epoch, owned=owned)

    def says_all(self) -> Native:
        return self._send(
            member_epoch=self.epoch,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            subscribed_topic_names=self.topics,
            owned=tuple(self.assigned),
        )

    def subscribes(self, *topics: str) -> Native:
        self.topics = topics
        return self._send(member_epoch=self.epoch, subscribed_topic_names=topics)

    def subscribes_by(self, expression: str, *topics: str) -> Native:
        return self._send(
            member_epoch=self.epoch, subscribed_topic_names=topics, subscribed_topic_regex=expression, owned=None
        )

    def leaves(self, epoch: int = -1) -> Native:
        return self._send(member_epoch=epoch)

    def is_at(self, epoch: int, *partitions: int) -> Native:
        assert (self.answer.error_code, self.epoch) == (0, epoch), self.answer
        assert sorted(each.partition for each in self.assigned) == sorted(partitions)
        return self

    def is_refused(self, error: Error) -> Native:
        assert Error(self.answer.error_code) is error, self.answer
        assert (self.answer.member_epoch, self.answer.assignment) == (0, None)
        return self

    def _send(self, **fields: object) -> Native:
        request = GroupHeartbeat(
            group_id=GROUP,
            member_id=self.member_id,
            instance_id=self.instance_id,
            **fields,  # type: ignore[arg-type]
        )
        self.answer = self.coordinator.heartbeat(request, self.clock.now)
        if self.answer.error_code == 0:
            self.epoch = self.answer.member_epoch
            if self.answer.assignment is not None:
                self.assigned = frozenset(self.answer.assignment)
        return self
