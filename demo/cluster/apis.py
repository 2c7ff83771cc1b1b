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
    1: Served((4, 13), record_requests.fetch, record_requests.wait_for_records),
    2: Served((1, 7), record_requests.list_offsets),
    3: Served((0, 13), topic_requests.metadata),
    8: Served((2, 9), offset_requests.commit),
    9: Served((1, 9), offset_requests.fetch_offsets),
    10: Served((0, 4), topic_requests.find_coordinator),
    11: Served((0, 9), group_requests.join_classic),
    12: Served((0, 4), group_requests.heartbeat_classic),
    13: Served((0, 5), group_requests.leave_classic),
    14: Served((0, 5), group_requests.sync_classic),
    15: Served((0, 6), group_requests.describe_classic),
    16: Served((0, 5), group_requests.list_groups),
    keys.API_VERSIONS: Served((0, 4), api_versions),
    19: Served((2, 7), topic_requests.create_topics),
    22: Served((0, 4), record_requests.init_producer_id),
    68: Served((0, 1), group_requests.heartbeat),
    69: Served((0, 1), group_requests.describe),
}
OFFERED = {key: served.versions for key, served in SERVED.items()}
