"""The core of the matrix, all rows at once; `python -m tests.matrix` is all of it."""

from __future__ import annotations

import pytest
import trio

from tests.kafka import Cluster
from tests.matrix.rows import QUICK, Row
from tests.matrix.walk import Seen, walks, warm
from tests.proxy.running import Running

pytestmark = pytest.mark.broker

# aiokafka says it at every classic rebalance, whoever coordinates.
SAID_EVERYWHERE = {"Heartbeat failed for group · because it is rebalancing"}


async def test_clients_walk_the_whole_way_without_loss_or_complaint(kafka: Cluster) -> None:
    found: dict[str, Seen] = {}

    async def one(row: Row, bootstrap: str) -> None:
        found[row.name] = await walks(kafka, bootstrap, row)

    await warm(kafka)
    with Running(kafka.bootstrap) as proxy:
        bootstrap = proxy.ready().bootstrap
        async with trio.open_nursery() as nursery:
            for row in QUICK:
                nursery.start_soon(one, row, bootstrap)
        # A broker's own translation may look as good: each row brings four legacy members at least.
        assert proxy.metric("translations_total", api="JoinGroup", outcome="ok") >= 4 * len(QUICK)
    assert {name: seen.failed for name, seen in found.items()} == dict.fromkeys(found)
    assert {name: (seen.lost, seen.overlapping) for name, seen in found.items()} == dict.fromkeys(found, (0, 0))
    assert set().union(*(seen.complaints for seen in found.values())) <= SAID_EVERYWHERE
