"""When a group is at rest: what a test wants to stay unchanged has to have come about first.

That the clients own every partition is not enough. The coordinator assigns anew after its interval, topics become known
to it a moment after they are made, and a client hears of either at its next heartbeat.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import trio

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.clients import Client
from tests.clients.driver import Partition, partitions
from tests.kafka import Cluster
from tests.kafka.admin import until

# Longer than a coordinator waits before it assigns anew (KIP-1263, 1 s), and than the clients of these tests beat.
CALM_SECONDS = 3
PATIENCE_SECONDS = 90
LOOK_EVERY_SECONDS = 0.2


def describe(kafka: Cluster, group: str) -> Any:
    node = kafka.coordinator(group)
    return kafka.ask(node, keys.CONSUMER_GROUP_DESCRIBE, 1, m.ConsumerGroupDescribeRequest(group_ids=[group])).groups[0]


def noticed(client: Client) -> list[tuple[str, set[Partition]]]:
    """What the application was told of rebalances, by its callbacks."""
    words = ("assigned", "revoking", "revoked", "lost")
    return [(event["event"], partitions(event)) for event in client.events if event["event"] in words]


def assigned(group: Any) -> dict[str, set[Partition]]:
    """Client id -> what the coordinator says that it holds."""
    return {
        member.client_id: {
            (each.topic_name, number) for each in member.assignment.topic_partitions for number in each.partitions
        }
        for member in group.members
    }


async def at_rest(kafka: Cluster, group: str, *clients: Client) -> Any:
    """The description of a group that is Stable, whose clients (named as their client ids) hold what the coordinator says
    they do, and in which nothing has changed for a while."""
    held: Any = None
    since = trio.current_time()
    with trio.fail_after(PATIENCE_SECONDS):
        while held is None or trio.current_time() - since < CALM_SECONDS:
            described = await trio.to_thread.run_sync(until, partial(describe, kafka, group), "it is described")
            owned = {client.name: client.owned for client in clients}
            now = (described.group_epoch, owned, [noticed(client) for client in clients])
            agreed = described.group_state == "Stable" and assigned(described) == owned
            if now != held or not agreed:
                since, held = trio.current_time(), now if agreed else None
            await trio.sleep(LOOK_EVERY_SECONDS)
    return described
