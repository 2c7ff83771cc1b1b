"""The native member of a group of legacy ones: it beats as often as the coordinator wishes, and lets go at once."""

from __future__ import annotations

import uuid
from typing import Any

import trio

from bench.members.crowd import REBALANCE_MS, exchange
from kafka_protocol import decode_response, encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys

VERSION = 1
JOIN_EPOCH, LEAVE_EPOCH = 0, -1


class Native:
    def __init__(self, address: tuple[str, int], group: str, topic: str) -> None:
        self.owned: list[int] = []
        self._address = address
        self._group, self._topic = group, topic
        self._id, self._epoch = uuid.uuid4().hex, JOIN_EPOCH

    async def live(self) -> None:
        async with await trio.open_tcp_stream(*self._address) as stream:
            joining: dict[str, Any] = {"rebalance_timeout_ms": REBALANCE_MS, "subscribed_topic_names": [self._topic]}
            answer = await self._beat(stream, topic_partitions=[], **joining)
            while True:
                if answer.assignment is None:
                    await trio.sleep(answer.heartbeat_interval_ms / 1000)
                    answer = await self._beat(stream)
                else:
                    granted = [
                        m.ConsumerGroupHeartbeatRequestTopicPartitions(topic_id=of.topic_id, partitions=of.partitions)
                        for of in answer.assignment.topic_partitions
                    ]
                    self.owned = [number for of in granted for number in of.partitions]
                    answer = await self._beat(stream, topic_partitions=granted)

    async def leaves(self) -> None:
        self._epoch = LEAVE_EPOCH
        async with await trio.open_tcp_stream(*self._address) as stream:
            await self._beat(stream)

    async def _beat(self, stream: trio.SocketStream, **more: Any) -> m.ConsumerGroupHeartbeatResponse:
        request = m.ConsumerGroupHeartbeatRequest(
            group_id=self._group, member_id=self._id, member_epoch=self._epoch, **more
        )
        frame = encode_request(keys.CONSUMER_GROUP_HEARTBEAT, VERSION, 1, "native", request)
        answered = await exchange(stream, len(frame).to_bytes(4, "big") + frame)
        answer: m.ConsumerGroupHeartbeatResponse = decode_response(keys.CONSUMER_GROUP_HEARTBEAT, VERSION, answered)[1]
        if answer.error_code:
            raise RuntimeError(f"the coordinator refused: {answer.error_code} {answer.error_message}")
        self._epoch = answer.member_epoch
        return answer
