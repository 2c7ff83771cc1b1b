"""A bare member: it beats every 50 ms until it is given partitions. Past the proxy nobody can have them sooner."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

import trio

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.kafka import Cluster

COORDINATOR = 1
BEAT_SECONDS = 0.05
GRANTED_WITHIN_SECONDS = 60


async def seconds_to_partitions(kafka: Cluster, group: str, topic: str) -> float:
    began = time.monotonic()
    with _member(kafka, group) as member, trio.fail_after(GRANTED_WITHIN_SECONDS):
        while True:
            if await trio.to_thread.run_sync(member.beats, topic):
                return time.monotonic() - began
            await trio.sleep(BEAT_SECONDS)


@contextmanager
def _member(kafka: Cluster, group: str) -> Iterator[_Member]:
    member = _Member(kafka, group)
    try:
        yield member
    finally:
        member.leaves()


class _Member:
    def __init__(self, kafka: Cluster, group: str) -> None:
        self._kafka = kafka
        self._group, self._id, self._epoch = group, uuid.uuid4().hex, 0

    def beats(self, topic: str) -> bool:
        """Whether it has been given anything."""
        if self._epoch:
            return self._has_partitions(self._said())
        joining = self._said()
        joining.rebalance_timeout_ms, joining.subscribed_topic_names, joining.topic_partitions = 60_000, [topic], []
        return self._has_partitions(joining)

    def leaves(self) -> None:
        self._epoch = -1
        self._ask(self._said())

    def _said(self) -> m.ConsumerGroupHeartbeatRequest:
        return m.ConsumerGroupHeartbeatRequest(group_id=self._group, member_id=self._id, member_epoch=self._epoch)

    def _has_partitions(self, request: m.ConsumerGroupHeartbeatRequest) -> bool:
        answer = self._ask(request)
        self._epoch = answer.member_epoch
        return answer.assignment is not None and bool(answer.assignment.topic_partitions)

    def _ask(self, request: m.ConsumerGroupHeartbeatRequest) -> m.ConsumerGroupHeartbeatResponse:
        answer: m.ConsumerGroupHeartbeatResponse = self._kafka.ask(
            COORDINATOR, keys.CONSUMER_GROUP_HEARTBEAT, 1, request
        )
        if answer.error_code:
            raise RuntimeError(f"the coordinator refused: {answer.error_code} {answer.error_message}")
        return answer
