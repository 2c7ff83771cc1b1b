"""What is asked of a running cluster over the wire, with our own codec, through the INTERNAL listeners."""

from __future__ import annotations

import abc
import time
from collections.abc import Callable
from typing import Any, TypeVar

from kafka_protocol import messages as m
from kafka_protocol.messages import keys

T = TypeVar("T")

WAIT_SECONDS = 60
EARLIEST = -2
ALTER_REASSIGNMENTS = 45
UPGRADE = 1
GROUP_RESOURCE, LITERAL_PATTERN, ALLOW, SET = 32, 3, 3, 0
ACL_RESOURCES = {"topic": 2, "group": 3, "cluster": 4, "transactional_id": 5}
ANY_OPERATION = 1
ACL_OPERATIONS = {
    "all": 2,
    "read": 3,
    "write": 4,
    "create": 5,
    "delete": 6,
    "alter": 7,
    "describe": 8,
    "describe_configs": 10,
    "idempotent_write": 12,
}


class Admin(abc.ABC):
    @abc.abstractmethod
    def ask(self, number: int, key: int, version: int, message: Any) -> Any:
        """The answer of one node."""

    @abc.abstractmethod
    def ask_any(self, key: int, version: int, message: Any) -> Any:
        """The answer of any node that runs; OSError when none does."""

    @abc.abstractmethod
    def ask_all(self, key: int, version: int, message: Any) -> list[Any]:
        """The answers of all nodes that run; OSError when one does not answer."""

    def create_topic(self, name: str, partitions: int = 1, replication: int = 1, **values: str) -> None:
        configs = [
            m.CreateTopicsRequestCreatableTopicConfig(name=setting.replace("_", "."), value=value)
            for setting, value in values.items()
        ]
        topic = m.CreateTopicsRequestCreatableTopic(
            name=name, num_partitions=partitions, replication_factor=replication, configs=configs
        )
        answer = self.ask_any(keys.CREATE_TOPICS, 5, m.CreateTopicsRequest(topics=[topic], timeout_ms=10_000))
        _accepted(answer.topics)
        self._wait_for_leaders(name, partitions)

    def grow_topic(self, name: str, partitions: int) -> None:
        topic = m.CreatePartitionsRequestCreatePartitionsTopic(name=name, count=partitions, assignments=None)
        answer = self.ask_any(keys.CREATE_PARTITIONS, 1, m.CreatePartitionsRequest(topics=[topic], timeout_ms=10_000))
        _accepted(answer.results)
        self._wait_for_leaders(name, partitions)

    def _wait_for_leaders(self, name: str, partitions: int) -> None:
        """In every node's eyes: each learns of a topic in its own time."""
        request = _metadata_of(name)

        def known() -> bool:
            found = [answer.topics[0].partitions for answer in self.ask_all(keys.METADATA, 4, request)]
            return all(sum(each.leader_id >= 0 for each in every) == partitions for every in found)

        until(known, f"topic {name} has leaders")
        until(lambda: all(self._serves(name, *each) for each in self.leaders(name).items()), f"topic {name} is served")

    def _serves(self, topic: str, partition: int, leader: int) -> bool:
        """A leader is named before it has opened the partition, and not every library tries again for long."""
        wanted = m.ListOffsetsRequestListOffsetsPartition(partition_index=partition, timestamp=EARLIEST)
        of_topic = m.ListOffsetsRequestListOffsetsTopic(name=topic, partitions=[wanted])
        answer = self.ask(leader, keys.LIST_OFFSETS, 1, m.ListOffsetsRequest(replica_id=-1, topics=[of_topic]))
        return bool(answer.topics[0].partitions[0].error_code == 0)

    def allow(self, principal: str, resource: str, name: str, *operations: str) -> None:
        """ACLs in words: allow("User:alice", "topic", "orders", "read", "describe"); the name "*" is every name."""
        rules = [
            m.CreateAclsRequestAclCreation(
                resource_type=ACL_RESOURCES[resource],
                resource_name=name,
                resource_pattern_type=LITERAL_PATTERN,
                principal=principal,
                host="*",
                operation=ACL_OPERATIONS[operation],
                permission_type=ALLOW,
            )
            for operation in operations
        ]
        _accepted(self.ask_any(keys.CREATE_ACLS, 2, m.CreateAclsRequest(creations=rules)).results)
        self._wait_for_acls(principal, resource, name, set(operations).issubset)

    def forbid(self, principal: str, resource: str, name: str, *operations: str) -> None:
        """What was allowed is no more."""
        rules = [
            m.DeleteAclsRequestDeleteAclsFilter(
                resource_type_filter=ACL_RESOURCES[resource],
                resource_name_filter=name,
                pattern_type_filter=LITERAL_PATTERN,
                principal_filter=principal,
                host_filter="*",
                operation=ACL_OPERATIONS[operation],
                permission_type=ALLOW,
            )
            for operation in operations
        ]
        found = self.ask_any(keys.DELETE_ACLS, 2, m.DeleteAclsRequest(filters=rules)).filter_results
        _accepted(found)
        assert all(each.matching_acls for each in found), "it was not allowed"
        self._wait_for_acls(principal, resource, name, set(operations).isdisjoint)

    def _wait_for_acls(self, principal: str, resource: str, name: str, wanted: Callable[[set[str]], bool]) -> None:
        """In every node's eyes: the controller has accepted what they have yet to apply, and judge by until then."""
        every = m.DescribeAclsRequest(
            resource_type_filter=ACL_RESOURCES[resource],
            resource_name_filter=name,
            pattern_type_filter=LITERAL_PATTERN,
            principal_filter=principal,
            host_filter="*",
            operation=ANY_OPERATION,
            permission_type=ALLOW,
        )
        words = {number: word for word, number in ACL_OPERATIONS.items()}

        def known(answer: Any) -> set[str]:
            _accepted([answer])
            return {words[acl.operation] for found in answer.resources for acl in found.acls}

        until(
            lambda: all(wanted(known(answer)) for answer in self.ask_all(keys.DESCRIBE_ACLS, 2, every)),
            f"the ACLs of {principal} for {resource} {name} are applied",
        )

    def set_group_config(self, group: str, **values: str) -> None:
        configs = [
            m.IncrementalAlterConfigsRequestAlterableConfig(
                name=name.replace("_", "."), config_operation=SET, value=value
            )
            for name, value in values.items()
        ]
        resource = m.IncrementalAlterConfigsRequestAlterConfigsResource(
            resource_type=GROUP_RESOURCE, resource_name=group, configs=configs
        )
        request = m.IncrementalAlterConfigsRequest(resources=[resource])
        _accepted(self.ask_any(keys.INCREMENTAL_ALTER_CONFIGS, 1, request).responses)

    def finish_upgrade(self) -> None:
        """What `kafka-features.sh upgrade` does when all brokers are new. From then on groups may have native members."""
        asked = m.ApiVersionsRequest(client_software_name="tests", client_software_version="1")
        offered = self.ask_any(keys.API_VERSIONS, 4, asked)
        newest = {each.name: each.max_version for each in offered.supported_features}
        for name in ("metadata.version", "group.version"):
            update = m.UpdateFeaturesRequestFeatureUpdateKey(
                feature=name, max_version_level=newest[name], upgrade_type=UPGRADE
            )
            answer = self.ask_any(keys.UPDATE_FEATURES, 1, m.UpdateFeaturesRequest(feature_updates=[update]))
            _accepted([answer])

    def coordinator(self, group: str) -> int:
        """The node, once all nodes agree on it."""

        def found() -> int | None:
            answers = self.ask_all(keys.FIND_COORDINATOR, 2, m.FindCoordinatorRequest(key=group, key_type=0))
            nodes = {answer.node_id if answer.error_code == 0 else None for answer in answers}
            return nodes.pop() if len(nodes) == 1 else None

        return until(found, f"group {group} has a coordinator")

    def move_coordinator(self, group: str, to: int | None = None) -> int:
        """Another replica (`to`, or the next) of the group's partition of __consumer_offsets is elected leader."""
        now = self.coordinator(group)
        partition = java_hash(group) % len(self.leaders("__consumer_offsets"))
        if to is None:
            to = next(node for node in self.replicas("__consumer_offsets", partition) if node != now)
        self.elect_leader("__consumer_offsets", partition, to)
        until(lambda: self.coordinator(group) == to, f"group {group} moved to node {to}")
        return to

    def elect_leader(self, topic: str, partition: int, to: int) -> None:
        """Makes the node the preferred replica (in the place of another, if it is none), then has it elected."""
        now = self.replicas(topic, partition)
        replicas = [to, *(node for node in now if node != to)][: len(now)]
        wish = m.AlterPartitionReassignmentsRequestReassignablePartition(partition_index=partition, replicas=replicas)
        of_topic = m.AlterPartitionReassignmentsRequestReassignableTopic(name=topic, partitions=[wish])
        reassign = m.AlterPartitionReassignmentsRequest(timeout_ms=10_000, topics=[of_topic])
        [answer] = self.ask_any(ALTER_REASSIGNMENTS, 0, reassign).responses
        _accepted(answer.partitions)
        elected = m.ElectLeadersRequestTopicPartitions(topic=topic, partitions=[partition])
        elect = m.ElectLeadersRequest(election_type=0, topic_partitions=[elected], timeout_ms=9_000)

        def leads() -> bool:
            # Refused until the replica has caught up, so its answer is not looked at.
            self.ask_any(keys.ELECT_LEADERS, 2, elect)
            return self.leaders(topic).get(partition) == to

        until(leads, f"node {to} leads {topic}-{partition}")

    def leaders(self, topic: str) -> dict[int, int]:
        """Partition -> node, of those that have a leader."""
        return {p.partition_index: p.leader_id for p in self._topic(topic).partitions if p.leader_id >= 0}

    def replicas(self, topic: str, partition: int) -> list[int]:
        return next(list(p.replica_nodes) for p in self._topic(topic).partitions if p.partition_index == partition)

    def _topic(self, name: str) -> Any:
        return self.ask_any(keys.METADATA, 4, _metadata_of(name)).topics[0]


def _metadata_of(topic: str) -> m.MetadataRequest:
    return m.MetadataRequest(topics=[m.MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)


def java_hash(text: str) -> int:
    """The absolute value of String.hashCode, modulo whose partitions a group finds its place in __consumer_offsets."""
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return abs(value - 2**32 if value >= 2**31 else value)


def until(probe: Callable[[], T | None], what: str) -> T:
    """Ask again until it is so. A broker that is still starting refuses connections; that is not an error yet."""
    deadline = time.monotonic() + WAIT_SECONDS
    last: object = None
    while time.monotonic() < deadline:
        try:
            found = probe()
            if found:
                return found
            last = found
        except OSError as failure:
            last = failure
        time.sleep(0.05)
    raise TimeoutError(f"not within {WAIT_SECONDS} s: {what} (last: {last!r})")


def _accepted(results: list[Any]) -> None:
    refused = [result for result in results if result.error_code != 0]
    if refused:
        raise RuntimeError(f"the cluster refused: {refused}")
