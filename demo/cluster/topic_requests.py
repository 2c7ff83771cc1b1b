"""Metadata, CreateTopics, FindCoordinator, ApiVersions: where things are, and what may be asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from demo.cluster.cluster import CLUSTER_ID, Cluster
from demo.cluster.codes import Code, Refused
from demo.cluster.request import Request
from kafka_protocol import messages as m

DEFAULT_PARTITIONS = 1
GROUP_KEY = 0
FIRST_COORDINATOR_BATCH = 4
NO_TOPIC_ID = bytes(16)


def metadata(cluster: Cluster, request: Request) -> Any:
    return m.MetadataResponse(
        brokers=[m.MetadataResponseBroker(node_id=n.number, host=n.host, port=n.port) for n in cluster.nodes.values()],
        cluster_id=CLUSTER_ID,
        controller_id=1,
        topics=[_topic(cluster, request, wanted) for wanted in _wanted(cluster, request)],
    )


def _wanted(cluster: Cluster, request: Request) -> list[Any]:
    """In version 0 an empty list means all topics, later null does."""
    topics = request.body.topics
    if topics is None or (request.version == 0 and not topics):
        return [m.MetadataRequestTopic(name=name) for name in cluster.topics.ids]
    return list(topics)


def _topic(cluster: Cluster, request: Request, wanted: Any) -> Any:
    try:
        request.admit()
        name = _name(cluster, request, wanted)
    except Refused as refused:
        return m.MetadataResponseTopic(error_code=refused.code, name=wanted.name, topic_id=wanted.topic_id)
    topic_id = cluster.topics.ids[name]
    partitions = [
        _partition(cluster.leader(topic_id, each.partition), each.partition) for each in cluster.topics.of([name])
    ]
    return m.MetadataResponseTopic(name=name, topic_id=bytes.fromhex(topic_id), partitions=partitions)


def _name(cluster: Cluster, request: Request, wanted: Any) -> str:
    if wanted.topic_id != NO_TOPIC_ID:
        return cluster.topic_named(wanted.topic_id)
    if wanted.name not in cluster.topics.ids:
        if not (cluster.auto_create_partitions and request.body.allow_auto_topic_creation):
            raise Refused(Code.UNKNOWN_TOPIC_OR_PARTITION)
        cluster.create_topic(wanted.name, cluster.auto_create_partitions)
    return str(wanted.name)


def _partition(leader: int, number: int) -> Any:
    return m.MetadataResponsePartition(
        partition_index=number, leader_id=leader, leader_epoch=0, replica_nodes=[leader], isr_nodes=[leader]
    )


def create_topics(cluster: Cluster, request: Request) -> Any:
    return m.CreateTopicsResponse(topics=[_created(cluster, request, topic) for topic in request.body.topics])


def _created(cluster: Cluster, request: Request, topic: Any) -> Any:
    partitions = topic.num_partitions if topic.num_partitions > 0 else len(topic.assignments) or DEFAULT_PARTITIONS
    try:
        request.admit()
        if topic.name in cluster.topics.ids:
            raise Refused(Code.TOPIC_ALREADY_EXISTS)
    except Refused as refused:
        return m.CreateTopicsResponseCreatableTopicResult(name=topic.name, error_code=refused.code)
    if not request.body.validate_only:
        cluster.create_topic(topic.name, partitions)
    return m.CreateTopicsResponseCreatableTopicResult(
        name=topic.name,
        topic_id=bytes.fromhex(cluster.topics.ids.get(topic.name, "")) or NO_TOPIC_ID,
        num_partitions=partitions,
        replication_factor=1,
    )


def find_coordinator(cluster: Cluster, request: Request) -> Any:
    body = request.body
    keys = body.coordinator_keys if request.version >= FIRST_COORDINATOR_BATCH else [body.key]
    found = [_coordinator(cluster, request, key) for key in keys]
    if request.version >= FIRST_COORDINATOR_BATCH:
        return m.FindCoordinatorResponse(coordinators=found)
    only = found[0]
    return m.FindCoordinatorResponse(
        error_code=only.error_code, node_id=only.node_id, host=only.host, port=only.port, error_message=None
    )


def _coordinator(cluster: Cluster, request: Request, key: str) -> Any:
    try:
        request.admit()
        if request.body.key_type != GROUP_KEY:
            # Transactions and share groups have none here.
            raise Refused(Code.INVALID_REQUEST)
    except Refused as refused:
        return m.FindCoordinatorResponseCoordinator(key=key, node_id=-1, port=-1, error_code=refused.code)
    node = cluster.coordinator_of(key)
    return m.FindCoordinatorResponseCoordinator(key=key, node_id=node.number, host=node.host, port=node.port)


def versions_answer(offered: Mapping[int, tuple[int, int]], code: int = Code.NONE) -> Any:
    """`group.version` 1 is the feature that says: KIP-848 is on."""
    keys = [
        m.ApiVersionsResponseApiVersion(api_key=key, min_version=first, max_version=last)
        for key, (first, last) in offered.items()
    ]
    return m.ApiVersionsResponse(
        error_code=code,
        api_keys=keys,
        supported_features=[
            m.ApiVersionsResponseSupportedFeatureKey(name="group.version", min_version=0, max_version=1)
        ],
        finalized_features_epoch=1,
        finalized_features=[
            m.ApiVersionsResponseFinalizedFeatureKey(name="group.version", max_version_level=1, min_version_level=1)
        ],
    )
