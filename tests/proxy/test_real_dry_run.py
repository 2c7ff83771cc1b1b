"""C6: before a real broker, a dry run changes nothing, and says of each member what would become of it."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
import trio

from tests.clients import Client
from tests.kafka import Cluster
from tests.proxy.running import Running
from tests.proxy.settled import describe

pytestmark = pytest.mark.broker

GROUP_ID_NOT_FOUND = 69
WOULD_BE = {
    "range": "dry run: it would be a native member of {topic}, range as uniform",
    "roundrobin": "dry run: it would be a native member of {topic}, roundrobin as uniform",
}


async def test_a_dry_run_says_what_would_become_of_each_member_and_the_group_stays_classic(
    kafka: Cluster, tmp_path: Path
) -> None:
    config = tmp_path / "proxy.toml"
    config.write_text('[[groups]]\npattern = "*"\nmode = "dry-run"\n')
    with Running(kafka.bootstrap, "--config", str(config)) as proxy:
        await trio.to_thread.run_sync(proxy.ready)
        async with trio.open_nursery() as nursery:
            for strategy in WOULD_BE:
                nursery.start_soon(dry, kafka, proxy, strategy)


async def dry(kafka: Cluster, proxy: Running, strategy: str) -> None:
    topic = f"dry-{uuid.uuid4()}"
    await trio.to_thread.run_sync(kafka.create_topic, topic, 4)
    async with (
        await Client.start("confluent-kafka", proxy.bootstrap, name="alice") as alice,
        await Client.start("kafka-python", proxy.bootstrap, name="bob") as bob,
    ):
        for client in (alice, bob):
            client.subscribe(topic, topic, strategy=strategy, session_timeout_ms=10_000)
        await alice.until(lambda: len(alice.owned) == len(bob.owned) == 2)
        await alice.produce(topic, 40)
        await alice.until(lambda: len(alice.values) + len(bob.values) >= 40)
        assert (await trio.to_thread.run_sync(describe, kafka, topic)).error_code == GROUP_ID_NOT_FOUND
        said = [line for line in proxy.log.read_text().splitlines() if WOULD_BE[strategy].format(topic=topic) in line]
        assert all(any(f"client={name}" in line for line in said) for name in ("alice", "bob"))
