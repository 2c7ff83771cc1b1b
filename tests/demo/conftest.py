from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import trio

from demo.cluster import Cluster, open_cluster
from simulation.brokers import GroupSettings
from tests.demo.asking import Asker, Asking

# Members of the tests should not wait for five seconds before they say what they know.
QUICK = GroupSettings(heartbeat_interval_ms=300)


@pytest.fixture
async def cluster() -> AsyncIterator[Cluster]:
    async with open_cluster(nodes=3, topics={"orders": 4}, settings=QUICK) as cluster:
        yield cluster


@pytest.fixture
async def asker() -> AsyncIterator[Asking]:
    streams = []

    async def connect(cluster: Cluster, node: int = 1, client_id: str = "by hand") -> Asker:
        streams.append(await trio.open_tcp_stream("127.0.0.1", cluster.nodes[node].port))
        return Asker(streams[-1], client_id)

    yield connect
    for stream in streams:
        await stream.aclose()
