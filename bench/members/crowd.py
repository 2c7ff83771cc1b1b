"""Thousands of legacy members in one process: sockets, JoinGroup, SyncGroup and a Heartbeat every three seconds.

No library is used, for what is measured is the proxy's CPU, and on a machine of few cores the clients must not take it
all. Each member has one connection, to the coordinator, and rejoins whenever it is told to, claiming what it owns, as
cooperative clients do.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from typing import Any

import trio

from kafka_protocol import decode, decode_response, encode, encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys

VERSIONS = {keys.JOIN_GROUP: 5, keys.HEARTBEAT: 3, keys.LEAVE_GROUP: 3, keys.SYNC_GROUP: 3}
MEMBER_ID_REQUIRED, REBALANCE_IN_PROGRESS = 79, 27
GROUP_MEMBERS = 50
# As clients have it by default: Java, librdkafka, kafka-python.
HEARTBEAT_SECONDS = 3.0
SESSION_MS, REBALANCE_MS = 45_000, 300_000
# Newcomers at once, or the brokers' queue of connections that wait to be accepted overflows.
AT_ONCE = 20
PATIENCE_SECONDS = 300.0


class Crowd:
    """`heartbeats` and `joins` count over all members; `told` is when one was last asked to rejoin, or refused."""

    def __init__(
        self, address: tuple[str, int], topic: str, name: str, size: int, group_members: int = GROUP_MEMBERS
    ) -> None:
        self.group_members = group_members
        self.heartbeats = 0
        self.joins = 0
        self.refused = 0
        self.cut_off = 0
        self.told = 0.0
        self.door = trio.CapacityLimiter(AT_ONCE)
        self.members = [
            Member(self, address, topic, f"{name}-{n // group_members}", f"{name}-{n}") for n in range(size)
        ]

    def __repr__(self) -> str:
        return f"<Crowd of {len(self.members)}: {self.joins} joins, {self.refused} refused, {self.cut_off} cut off>"

    @property
    def settled(self) -> bool:
        return all(member.owned is not None for member in self.members)

    async def enter(self, nursery: trio.Nursery) -> None:
        """Returns when all are in, and nobody was disturbed for three heartbeats."""
        for member in self.members:
            nursery.start_soon(member.live, self.door)
        with trio.fail_after(PATIENCE_SECONDS):
            while not self.settled or trio.current_time() - self.told < 3 * HEARTBEAT_SECONDS:  # noqa: ASYNC110
                await trio.sleep(0.5)


class Member:
    def __init__(self, crowd: Crowd, address: tuple[str, int], topic: str, group: str, name: str) -> None:
        self.owned: list[int] | None = None
        self._crowd = crowd
        self._address = address
        self._topic = topic
        self._group = group
        self._name = name
        self._member_id = ""
        self._generation = -1
        self._restart = trio.Event()
        self._has_left = False

    def leave(self) -> None:
        self._has_left = True
        self._restart.set()

    def restart(self) -> None:
        """Leaves, and comes again as another, as a client does in a rolling upgrade."""
        self._restart.set()

    async def live(self, door: trio.CapacityLimiter) -> None:
        while not self._has_left:
            self._restart = trio.Event()
            try:
                async with door:
                    stream = await trio.open_tcp_stream(*self._address)
                async with stream:
                    await self._belong(stream)
                    await self._ask(stream, keys.LEAVE_GROUP, self._goodbye())
                self._member_id, self.owned = "", None
            except (OSError, trio.BrokenResourceError):
                # As any client does: it comes again, as the member that it is.
                self._crowd.cut_off += 1
                self._crowd.told = trio.current_time()
                await trio.sleep(0.5)

    async def _belong(self, stream: trio.SocketStream) -> None:
        while not self._restart.is_set():
            if await self._join(stream) and await self._sync(stream):
                await self._beat(stream)

    async def _join(self, stream: trio.SocketStream) -> bool:
        answer = await self._ask(stream, keys.JOIN_GROUP, self._newcomer())
        if answer.error_code in (0, MEMBER_ID_REQUIRED):
            self._member_id, self._generation = answer.member_id, answer.generation_id
        else:
            await self._refused()
        return bool(answer.error_code == 0)

    async def _sync(self, stream: trio.SocketStream) -> bool:
        """False: again, for it has given something up, which only the next JoinGroup says."""
        answer = await self._ask(stream, keys.SYNC_GROUP, self._ready())
        if answer.error_code == REBALANCE_IN_PROGRESS:
            return False
        if answer.error_code:
            await self._refused()
            return False
        told = decode(m.ConsumerProtocolAssignment, 0, answer.assignment, 2)
        before, self.owned = self.owned, [number for topic in told.assigned_partitions for number in topic.partitions]
        self._told(joins=1)
        return set(before or ()) <= set(self.owned)

    async def _beat(self, stream: trio.SocketStream) -> None:
        """Until told otherwise. The first comes at any moment of the interval: a crowd has no common beat."""
        with trio.move_on_after(random.random() * HEARTBEAT_SECONDS):
            await self._restart.wait()
        alive = self._frame(keys.HEARTBEAT, self._alive())
        while not self._restart.is_set():
            # The error is what the answer ends with; to decode thousands a second would slow the crowd down.
            code = int.from_bytes((await exchange(stream, alive))[-2:], "big")
            self._crowd.heartbeats += 1
            if code == REBALANCE_IN_PROGRESS:
                self._told()
                return
            if code:
                await self._refused()
                return
            with trio.move_on_after(HEARTBEAT_SECONDS):
                await self._restart.wait()

    def _told(self, joins: int = 0) -> None:
        self._crowd.joins += joins
        self._crowd.told = trio.current_time()

    async def _refused(self) -> None:
        """A coordinator that is still loading, or a member that was lost: it begins anew, a little later."""
        self._crowd.refused += 1
        self._crowd.told = trio.current_time()
        self._member_id, self.owned = "", None
        await trio.sleep(0.5)

    # ------------------------------------------------------------------------------------------------------ requests

    def _newcomer(self) -> m.JoinGroupRequest:
        owned = m.ConsumerProtocolSubscriptionTopicPartition(topic=self._topic, partitions=self.owned or [])
        said = m.ConsumerProtocolSubscription(topics=[self._topic], owned_partitions=[owned] if self.owned else [])
        protocol = m.JoinGroupRequestProtocol(
            name="cooperative-sticky", metadata=struct.pack(">h", 1) + encode(said, 1)
        )
        return m.JoinGroupRequest(
            group_id=self._group,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=REBALANCE_MS,
            member_id=self._member_id,
            protocol_type="consumer",
            protocols=[protocol],
        )

    def _ready(self) -> m.SyncGroupRequest:
        return m.SyncGroupRequest(group_id=self._group, generation_id=self._generation, member_id=self._member_id)

    def _alive(self) -> m.HeartbeatRequest:
        return m.HeartbeatRequest(group_id=self._group, generation_id=self._generation, member_id=self._member_id)

    def _goodbye(self) -> m.LeaveGroupRequest:
        leaving = m.LeaveGroupRequestMemberIdentity(member_id=self._member_id)
        return m.LeaveGroupRequest(group_id=self._group, members=[leaving])

    async def _ask(self, stream: trio.SocketStream, key: int, request: Any) -> Any:
        return decode_response(key, VERSIONS[key], await exchange(stream, self._frame(key, request)))[1]

    def _frame(self, key: int, request: Any) -> bytes:
        frame = encode_request(key, VERSIONS[key], 1, self._name, request)
        return len(frame).to_bytes(4, "big") + frame


async def exchange(stream: trio.SocketStream, frame: bytes) -> bytes:
    await stream.send_all(frame)
    answer = b""
    while len(answer) < 4 or len(answer) < 4 + int.from_bytes(answer[:4], "big"):
        arrived = await stream.receive_some(65_536)
        if not arrived:
            raise ConnectionError("the proxy closed the connection")
        answer += arrived
    return answer[4:]


def rolling(crowd: Crowd) -> Iterator[Member]:
    """Members in an order in which neighbours are of different groups."""
    groups = max(1, len(crowd.members) // crowd.group_members)
    while True:
        for first in range(crowd.group_members):
            yield from (crowd.members[n] for n in range(first, len(crowd.members), len(crowd.members) // groups))
