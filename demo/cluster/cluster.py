"""What is so in the cluster: its nodes, topics, logs and groups. Nothing here reads a socket."""

from __future__ import annotations

import zlib
from itertools import count
from typing import NamedTuple

import trio

from demo.cluster.codes import Code, Refused
from demo.cluster.faults import Faults
from demo.cluster.log import PartitionLog
from simulation.brokers import V4_4, BrokerLine, GroupSettings
from simulation.coordinator import Coordinator
from simulation.topics import Topics

CLUSTER_ID = "kip848-embedded-cluster"
HOST = "127.0.0.1"


class Node(NamedTuple):
    number: int
    port: int
    host: str = HOST

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"


class Cluster:
    def __init__(
        self,
        ports: list[int],
        line: BrokerLine = V4_4,
        settings: GroupSettings | None = None,
        auto_create_partitions: int = 0,
    ) -> None:
        """`auto_create_partitions`: what a topic has that Metadata asked for and nobody made; 0: it is unknown."""
        self.nodes = {number: Node(number, port) for number, port in enumerate(ports, 1)}
        self.topics = Topics()
        self.faults = Faults()
        self.auto_create_partitions = auto_create_partitions
        self.producer_ids = count(1)
        # Set, and replaced, whenever a record was appended anywhere.
        self.appended = trio.Event()
        self.connections: dict[trio.CancelScope, int] = {}
        self._logs: dict[tuple[str, int], PartitionLog] = {}
        self._coordinator = Coordinator(self.topics, line, settings)

    @property
    def bootstrap(self) -> str:
        return ",".join(node.address for node in self.nodes.values())

    @property
    def now_ms(self) -> int:
        return int(trio.current_time() * 1000)

    @property
    def coordinator(self) -> Coordinator:
        """Whoever looks sees no member whose time is over: that is all the clock there is."""
        self._coordinator.expire(self.now_ms)
        return self._coordinator

    # -------------------------------------------------------------------------------------------------------- topics

    def create_topic(self, name: str, partitions: int) -> str:
        topic_id = self.topics.create(name, partitions)
        self.grow_topic(name, partitions)
        return topic_id

    def grow_topic(self, name: str, partitions: int) -> None:
        self.topics.grow(name, partitions)
        for number in range(partitions):
            self._logs.setdefault((self.topics.ids[name], number), PartitionLog())

    def delete_topic(self, name: str) -> None:
        self.topics.delete(name)

    def topic_named(self, topic_id: bytes) -> str:
        name = self.topics.names.get(topic_id.hex())
        if name is None or self.topics.ids.get(name) != topic_id.hex():
            raise Refused(Code.UNKNOWN_TOPIC_ID)
        return name

    def log(self, topic: str, partition: int) -> PartitionLog:
        log = self._logs.get((self.topics.ids.get(topic, ""), partition))
        if log is None:
            raise Refused(Code.UNKNOWN_TOPIC_OR_PARTITION)
        return log

    def leader(self, topic_id: str, partition: int) -> int:
        return 1 + (int(topic_id, 16) + partition) % len(self.nodes)

    def led(self, node: int, topic: str, partition: int) -> PartitionLog:
        log = self.log(topic, partition)
        if self.leader(self.topics.ids[topic], partition) != node:
            raise Refused(Code.NOT_LEADER_OR_FOLLOWER)
        return log

    def announce_records(self) -> None:
        self.appended.set()
        self.appended = trio.Event()

    # -------------------------------------------------------------------------------------------------------- groups

    def coordinator_of(self, group_id: str) -> Node:
        return self.nodes[1 + zlib.crc32(group_id.encode()) % len(self.nodes)]

    def coordinated(self, node: int, group_id: str) -> Coordinator:
        if self.coordinator_of(group_id).number != node:
            raise Refused(Code.NOT_COORDINATOR)
        return self.coordinator

    # --------------------------------------------------------------------------------------------------- connections

    def cut_connections(self, node: int | None = None) -> None:
        for scope, at in self.connections.items():
            if node in (None, at):
                scope.cancel()
