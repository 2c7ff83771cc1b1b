"""A classic group member made by hand: one request a call, at any version, over sockets of its own.

The programs of tests/clients show what libraries do; this shows what they may do.
"""

from __future__ import annotations

import socket
import struct
import time
from typing import Any

import msgspec

from kafka_protocol import decode, encode
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.kafka.wire import exchange

# From this version of TxnOffsetCommit on it needs no AddOffsetsToTxn before it (KIP-890).
FIRST_THAT_ADDS = 5
# From these on topics are known by id.
FIRST_COMMIT_BY_ID, FIRST_TRANSACTED_BY_ID = 10, 6

MEMBER_ID_REQUIRED = 79
REBALANCE_IN_PROGRESS = 27
COORDINATOR_IS_COMING = (14, 15, 16)
# The one before it is still being ended.
CONCURRENT_TRANSACTIONS = 51
PATIENCE_SECONDS = 60


class Refused(AssertionError):
    def __init__(self, what: str, code: int) -> None:
        super().__init__(f"{what} is refused with {code}")
        self.code = code


class ByHand:
    def __init__(self, address: tuple[str, int], group: str, *topics: str, instance_id: str | None = None) -> None:
        self.address = address
        self.group = group
        self.topics = topics
        self.instance_id = instance_id
        self.member_id = ""
        self.generation = -1
        self.owned: dict[str, list[int]] = {}
        self.protocol = "range"
        self.subscription_version = 0
        # Of what generation its claims are: libraries say so since version 2 of the subscription.
        self.says_generation = False
        self.rack_id: str | None = None
        # What its assignor says to the leader, and what the leader has noted for it.
        self.user_data: bytes | None = None
        self.notes: bytes | None = None
        # Between two calls a slow machine may take its time.
        self.session_timeout_ms = 30_000
        self.rebalance_timeout_ms = 30_000
        self.client_id = "by-hand"
        self.sock = self.connect()

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=PATIENCE_SECONDS)

    def close(self) -> None:
        self.sock.close()

    def on_new_socket(self) -> None:
        self.sock.close()
        self.sock = self.connect()

    def ask(self, key: int, version: int, message: Any) -> Any:
        return exchange(self.sock, key, version, message, self.client_id)

    # ------------------------------------------------------------------------------------------------------ requests

    def join(self, version: int = 5, claims: dict[str, list[int]] | None = None) -> Any:
        """JoinGroup as a library does it: with the id it is told to use, if it is told one. Returns the answer."""
        answer = self._ask_until_there_is_a_coordinator(keys.JOIN_GROUP, version, self.join_request(claims))
        if answer.error_code == MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            answer = self._ask_until_there_is_a_coordinator(keys.JOIN_GROUP, version, self.join_request(claims))
        if answer.error_code == 0:
            self.member_id, self.generation = answer.member_id, answer.generation_id
        return answer

    def _ask_until_there_is_a_coordinator(self, key: int, version: int, message: Any) -> Any:
        """And until it has done with the transaction before, if it is one of transactions."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            answer = self.ask(key, version, message)
            is_to_wait = answer.error_code in (*COORDINATOR_IS_COMING, CONCURRENT_TRANSACTIONS)
            if not is_to_wait or time.monotonic() > deadline:
                return answer
            time.sleep(0.1)

    def join_request(self, claims: dict[str, list[int]] | None = None) -> m.JoinGroupRequest:
        return m.JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=self.session_timeout_ms,
            rebalance_timeout_ms=self.rebalance_timeout_ms,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            protocol_type="consumer",
            protocols=[m.JoinGroupRequestProtocol(name=self.protocol, metadata=self._subscription(claims or {}))],
        )

    def _subscription(self, claims: dict[str, list[int]]) -> bytes:
        version = self.subscription_version
        owned = [m.ConsumerProtocolSubscriptionTopicPartition(topic=t, partitions=ps) for t, ps in claims.items()]
        said = m.ConsumerProtocolSubscription(
            topics=list(self.topics),
            user_data=self.user_data,
            owned_partitions=owned if version else [],
            rack_id=self.rack_id,
            generation_id=self.generation if self.says_generation and version >= 2 else -1,
        )
        return struct.pack(">h", version) + encode(said, version)

    def sync(self, version: int = 3, assigns: bytes | None = None) -> Any:
        """`assigns`: it is the leader of a group of one, and this is what it assigns itself."""
        mine = m.SyncGroupRequestAssignment(member_id=self.member_id, assignment=assigns or b"")
        request = m.SyncGroupRequest(
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id if version >= 3 else None,
            protocol_type="consumer",
            protocol_name=self.protocol,
            assignments=[] if assigns is None else [mine],
        )
        answer = self.ask(keys.SYNC_GROUP, version, request)
        if answer.error_code == 0:
            (told_version,) = struct.unpack_from(">h", answer.assignment)
            told = decode(m.ConsumerProtocolAssignment, told_version, answer.assignment, 2)
            self.owned = {each.topic: sorted(each.partitions) for each in told.assigned_partitions}
            self.notes = told.user_data
        return answer

    def leads(self, notes: bytes) -> None:
        """A leader takes its first topic's first partition, and its assignor notes something."""
        taken = m.ConsumerProtocolAssignmentTopicPartition(topic=self.topics[0], partitions=[0])
        assignment = m.ConsumerProtocolAssignment(assigned_partitions=[taken], user_data=notes)
        if code := self.sync(assigns=struct.pack(">h", 0) + encode(assignment, 0)).error_code:
            raise Refused("SyncGroup", code)

    def joins(self, version: int = 5, sync_version: int = 3) -> ByHand:
        """JoinGroup and SyncGroup, accepted; again when asked to, for a coordinator may not know a new topic yet."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            if code := self.join(version).error_code:
                raise Refused("JoinGroup", code)
            if code := self.sync(sync_version).error_code:
                raise Refused("SyncGroup", code)
            if self.owned:
                return self
            while self.beat() != REBALANCE_IN_PROGRESS:
                assert time.monotonic() < deadline, "nothing is assigned"
                time.sleep(0.1)

    def beat(self, version: int = 3, generation: int | None = None) -> int:
        return int(self.ask(keys.HEARTBEAT, version, self.alive(version, generation)).error_code)

    def alive(self, version: int = 3, generation: int | None = None) -> m.HeartbeatRequest:
        return m.HeartbeatRequest(
            group_id=self.group,
            generation_id=self.generation if generation is None else generation,
            member_id=self.member_id,
            group_instance_id=self.instance_id if version >= 3 else None,
        )

    def fetch(self, topic: str) -> None:
        """From the beginning of its first partition, whatever there is."""
        each = m.FetchRequestFetchPartition(partition=0, partition_max_bytes=1_000_000)
        wanted = m.FetchRequest(
            max_wait_ms=0, max_bytes=1_000_000, topics=[m.FetchRequestFetchTopic(topic=topic, partitions=[each])]
        )
        assert self.ask(keys.FETCH, 11, wanted).responses

    def leave(self, version: int = 3) -> Any:
        if version < 3:
            return self.ask(
                keys.LEAVE_GROUP, version, m.LeaveGroupRequest(group_id=self.group, member_id=self.member_id)
            )
        leaver = m.LeaveGroupRequestMemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        return self.ask(keys.LEAVE_GROUP, version, m.LeaveGroupRequest(group_id=self.group, members=[leaver]))

    def commit(self, topic: str, partition: int, offset: int, version: int = 7, **more: Any) -> int:
        """The code of the one partition committed."""
        request = msgspec.structs.replace(self.commit_request(topic, partition, offset, version), **more)
        return int(self.ask(keys.OFFSET_COMMIT, version, request).topics[0].partitions[0].error_code)

    def commit_request(self, topic: str, partition: int, offset: int, version: int) -> m.OffsetCommitRequest:
        each = m.OffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
        return m.OffsetCommitRequest(
            group_id=self.group,
            generation_id_or_member_epoch=self.generation if version >= 1 else -1,
            member_id=self.member_id if version >= 1 else "",
            group_instance_id=self.instance_id if version >= 7 else None,
            topics=[m.OffsetCommitRequestTopic(**self._known(topic, version >= FIRST_COMMIT_BY_ID), partitions=[each])],
        )

    def transact(self, topic: str, partition: int, offset: int, version: int, **more: Any) -> int:
        """A transaction with nothing but this commit in it. The code of the one partition committed."""
        name = f"{self.group}-{version}"
        self._granted(keys.FIND_COORDINATOR, 3, m.FindCoordinatorRequest(key=name, key_type=1))
        begin = m.InitProducerIdRequest(transactional_id=name, transaction_timeout_ms=60_000)
        begun = self._granted(keys.INIT_PRODUCER_ID, 4, begin)
        who = {"transactional_id": name, "producer_id": begun.producer_id, "producer_epoch": begun.producer_epoch}
        if version < FIRST_THAT_ADDS:
            self._granted(keys.ADD_OFFSETS_TO_TXN, 3, m.AddOffsetsToTxnRequest(group_id=self.group, **who))
        each = m.TxnOffsetCommitRequestPartition(partition_index=partition, committed_offset=offset)
        request = m.TxnOffsetCommitRequest(
            group_id=self.group,
            generation_id_or_member_epoch=self.generation if version >= 3 else -1,
            member_id=self.member_id if version >= 3 else "",
            group_instance_id=self.instance_id if version >= 3 else None,
            topics=[
                m.TxnOffsetCommitRequestTopic(
                    **self._known(topic, version >= FIRST_TRANSACTED_BY_ID), partitions=[each]
                )
            ],
            **who,
        )
        answer = self.ask(keys.TXN_OFFSET_COMMIT, version, msgspec.structs.replace(request, **more))
        code = int(answer.topics[0].partitions[0].error_code)
        self._granted(keys.END_TXN, 3 if version < FIRST_THAT_ADDS else 5, m.EndTxnRequest(committed=code == 0, **who))
        return code

    def _known(self, topic: str, by_id: bool) -> dict[str, Any]:
        if not by_id:
            return {"name": topic}
        wanted = m.MetadataRequest(topics=[m.MetadataRequestTopic(name=topic)])
        return {"topic_id": self.ask(keys.METADATA, 12, wanted).topics[0].topic_id}

    def versions_of(self, key: int) -> int:
        """How many are offered, of an API that is offered from version 0 on."""
        offered = next(
            each for each in self.ask(keys.API_VERSIONS, 0, m.ApiVersionsRequest()).api_keys if each.api_key == key
        )
        assert offered.min_version == 0
        return int(offered.max_version) + 1

    def _granted(self, key: int, version: int, message: Any) -> Any:
        answer = self._ask_until_there_is_a_coordinator(key, version, message)
        assert answer.error_code == 0, answer
        return answer

    def committed(self, topic: str, partition: int) -> int:
        wanted = m.OffsetFetchRequest(
            group_id=self.group, topics=[m.OffsetFetchRequestTopic(name=topic, partition_indexes=[partition])]
        )
        return int(self.ask(keys.OFFSET_FETCH, 5, wanted).topics[0].partitions[0].committed_offset)
