"""Which requests are served, in which versions, and by whom.

Ranges are a broker's (4.x), cut where a version only brings what is not here: topics by id (Produce 13, OffsetCommit 10;
but @platformatic/kafka fetches in no other way), fetches from replicas or leaders named in answers (Produce 10), directories,
tiers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from demo.cluster import group_requests, offset_requests, record_requests, topic_requests
from demo.cluster.cluster import Cluster
from demo.cluster.request import Request
from kafka_protocol.messages import keys


class Served(NamedTuple):
    versions: tuple[int, int]
    answer: Callable[[Cluster, Request], Any]
    # Awaited first, where an answer may have to wait.
    ripe: Callable[[Cluster, Request], Awaitable[None]] | None = None


def api_versions(cluster: Cluster, request: Request) -> Any:
    return topic_requests.versions_answer(OFFERED, request.refusal)


SERVED: dict[int, Served] = {
    # Brokers say 0 here for librdkafka's sake, and refuse what is below 3 (KAFKA-18659).
    keys.PRODUCE: Served((0, 9), record_requests.produce),
    keys.FETCH: Served((4, 13), record_requests.fetch, record_requests.wait_for_records),
    keys.LIST_OFFSETS: Served((1, 7), record_requests.list_offsets),
    keys.METADATA: Served((0, 13), topic_requests.metadata),
    keys.OFFSET_COMMIT: Served((2, 9), offset_requests.commit),
    keys.OFFSET_FETCH: Served((1, 9), offset_requests.fetch_offsets),
    keys.FIND_COORDINATOR: Served((0, 4), topic_requests.find_coordinator),
    keys.JOIN_GROUP: Served((0, 9), group_requests.join_classic),
    keys.HEARTBEAT: Served((0, 4), group_requests.heartbeat_classic),
    keys.LEAVE_GROUP: Served((0, 5), group_requests.leave_classic),
    keys.SYNC_GROUP: Served((0, 5), group_requests.sync_classic),
    keys.DESCRIBE_GROUPS: Served((0, 6), group_requests.describe_classic),
    keys.LIST_GROUPS: Served((0, 5), group_requests.list_groups),
    keys.API_VERSIONS: Served((0, 4), api_versions),
    keys.CREATE_TOPICS: Served((2, 7), topic_requests.create_topics),
    keys.INIT_PRODUCER_ID: Served((0, 4), record_requests.init_producer_id),
    keys.CONSUMER_GROUP_HEARTBEAT: Served((0, 1), group_requests.heartbeat),
    keys.CONSUMER_GROUP_DESCRIBE: Served((0, 1), group_requests.describe),
}
OFFERED = {key: served.versions for key, served in SERVED.items()}
