"""A group with a native member in it, of which a legacy member asks something: the broker, or a proxy before it."""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from typing import Any

from kafka_protocol import messages as m
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.proxy.by_hand import REBALANCE_IN_PROGRESS, ByHand
from tests.proxy.running import Running
from translation.errors import NAMES

GROUP_HEARTBEAT, GROUP_DESCRIBE = 68, 69
JOIN_EPOCH = 0
PARTITIONS = 4


class Native:
    """A native member that lives in the requests we make for it, past every proxy."""

    def __init__(self, kafka: Cluster, group: str, topic: str) -> None:
        self._kafka = kafka
        self._group = group
        joins = m.ConsumerGroupHeartbeatRequest(
            group_id=group,
            member_epoch=JOIN_EPOCH,
            rebalance_timeout_ms=60_000,
            subscribed_topic_names=[topic],
            topic_partitions=[],
        )
        answer = until(lambda: self._accepted(joins), "the native member joins")
        self._member_id, self._epoch = answer.member_id, answer.member_epoch

    def _accepted(self, request: m.ConsumerGroupHeartbeatRequest) -> Any:
        answer = self._kafka.ask(self._kafka.coordinator(self._group), GROUP_HEARTBEAT, 0, request)
        return answer if answer.error_code == 0 else None

    def beats(self) -> None:
        """An assignment that waits for its interval is made when a native member beats, and not before."""
        beat = m.ConsumerGroupHeartbeatRequest(
            group_id=self._group, member_id=self._member_id, member_epoch=self._epoch
        )
        answer = self._accepted(beat)
        self._epoch = answer.member_epoch if answer is not None else self._epoch


class Scene:
    """One group of its own: a native member on another topic, and whoever else the question wants."""

    def __init__(self, kafka: Cluster, proxy: Running | None, exits: ExitStack) -> None:
        self.kafka = kafka
        self.topic, self.elsewhere = f"asked-{uuid.uuid4()}", f"elsewhere-{uuid.uuid4()}"
        kafka.create_topic(self.topic, partitions=PARTITIONS)
        kafka.create_topic(self.elsewhere)
        node = kafka.coordinator(self.topic)
        port = kafka.nodes[node].client_port if proxy is None else proxy.port_of(node)
        self._address = ("127.0.0.1", port)
        self._exits = exits
        self.natives = [Native(kafka, self.topic, self.elsewhere)]

    def member(self, **how: Any) -> ByHand:
        one = ByHand(self._address, self.topic, self.topic, **how)
        # It does nothing while a question waits for others.
        one.session_timeout_ms = one.rebalance_timeout_ms = 60_000
        self._exits.callback(one.close)
        return one

    def settled(self, *members: ByHand) -> None:
        """All partitions are held, and the members that were asked to rejoin have."""

        def at_rest() -> bool:
            for native in self.natives:
                native.beats()
            for one in members:
                if not one.owned or one.beat() == REBALANCE_IN_PROGRESS:
                    one.join()
                    one.sync()
            group = self.described()
            held = sum(len(one.owned.get(self.topic, [])) for one in members)
            is_stable = group.group_state == "Stable" and group.group_epoch == group.assignment_epoch
            return held == PARTITIONS and bool(is_stable)

        until(at_rest, "the group is at rest")

    def settled_member(self) -> ByHand:
        one = self.member()
        self.settled(one)
        return one

    def described(self) -> Any:
        request = m.ConsumerGroupDescribeRequest(group_ids=[self.topic])
        return self.kafka.ask(self.kafka.coordinator(self.topic), GROUP_DESCRIBE, 0, request).groups[0]

    def another_native_comes(self) -> None:
        """The epoch moves, and nothing with it for members of the other topic."""
        before = self.described().group_epoch
        self.natives.append(Native(self.kafka, self.topic, self.elsewhere))

        def assigned() -> bool:
            for native in self.natives:
                native.beats()
            group = self.described()
            return bool(group.assignment_epoch == group.group_epoch > before)

        until(assigned, "the newcomer is reckoned with")


def word(code: int) -> str:
    return {3: "UNKNOWN_TOPIC_OR_PARTITION"}.get(code) or NAMES.get(code, str(code))
