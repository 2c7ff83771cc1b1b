"""A6, B6: groups that a coordinator does not convert while their members are what they were.

Their members restart one by one, from the broker to the proxy, as in any rolling upgrade: slowly enough for those that
are left to share everything among themselves, so that there is never a moment without assignments.
"""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import trio

from kafka_protocol import decode
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from tests.clients import Client, overlaps
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.proxy.by_hand import REBALANCE_IN_PROGRESS, ByHand
from tests.proxy.running import Running
from tests.proxy.settled import describe
from tests.proxy.test_members import NATIVE, seen

pytestmark = pytest.mark.broker

PARTITIONS = 6
GROUP_ID_NOT_FOUND = 69
PATIENCE_SECONDS = 60


@pytest.mark.parametrize(
    ("library", "strategy"),
    [("confluent-kafka", "cooperative"), ("sarama", "sticky"), ("kafka-go", None), ("platformatic", None)],
)
async def test_a_group_that_a_broker_does_not_convert_moves_behind_the_proxy(
    kafka: Cluster, library: str, strategy: str | None
) -> None:
    topic = f"unconverted-{uuid.uuid4()}"
    await trio.to_thread.run_sync(kafka.create_topic, topic, PARTITIONS)

    async def joins(client: Client, *, beside: tuple[Client, ...]) -> None:
        client.subscribe(topic, topic, strategy=strategy, session_timeout_ms=10_000, heartbeat_interval_ms=500)
        await shared(client, *beside)

    async def shared(*clients: Client) -> None:
        share = PARTITIONS // len(clients)
        await clients[0].until(lambda: all(len(client.owned) == share for client in clients), PATIENCE_SECONDS)

    with await trio.to_thread.run_sync(Running, kafka.bootstrap) as proxy:
        await trio.to_thread.run_sync(proxy.ready)
        async with (
            await Client.start(library, kafka.bootstrap, name="old-1") as old_1,
            await Client.start(library, kafka.bootstrap, name="old-2") as old_2,
            await Client.start(library, proxy.bootstrap, name="new-1") as new_1,
            await Client.start(library, proxy.bootstrap, name="new-2") as new_2,
            await Client.start("confluent-kafka", kafka.bootstrap, name="native") as native,
        ):
            await joins(old_1, beside=())
            await joins(old_2, beside=(old_1,))

            await old_1.close()
            await shared(old_2)
            await joins(new_1, beside=(old_2,))
            assert 'reason="the coordinator says GROUP_ID_NOT_FOUND"' in proxy.log.read_text()
            assert (await trio.to_thread.run_sync(describe, kafka, topic)).error_code == GROUP_ID_NOT_FOUND

            await old_2.close()
            await shared(new_1)
            await joins(new_2, beside=(new_1,))
            native.subscribe(topic, topic, protocol="consumer")
            await shared(new_1, new_2, native)
            group = await seen(kafka, topic, lambda group: len(group.members) == 3, PATIENCE_SECONDS)
            assert {member.member_type for member in group.members} == {NATIVE}
            await native.produce(topic, 60, settings={"enable.idempotence": True})
            readers = (new_1, new_2, native)
            await native.until(lambda: sum(len(each.values) for each in readers) >= 60, PATIENCE_SECONDS)
            assert overlaps(list(readers)) == []
        # Who passed stayed the member it was: no session was left behind.
        log = proxy.log.read_text()
        assert "member adopted" in log
        assert "session ended" not in log
        assert proxy.mistakes() == 0


NOTES = b"abc"


@pytest.mark.parametrize(
    ("group", "assignor", "left"),
    [("converts", "sticky", None), ("converts", "of-their-own", NOTES), ("passes-by-rule", "sticky", NOTES)],
)
def test_a_leaders_notes_are_left_out_where_nobody_needs_them(
    kafka: Cluster, tmp_path: Path, group: str, assignor: str, left: bytes | None
) -> None:
    topic = f"notes-{uuid.uuid4()}"
    group = f"{group}-{topic}"
    kafka.create_topic(topic, 1)
    config = tmp_path / "proxy.toml"
    config.write_text('[[groups]]\npattern = "passes-by-rule-*"\nmode = "pass"\n')
    node = kafka.coordinator(group)
    with (
        Running(kafka.bootstrap, "--config", str(config)) as proxy,
        closing(ByHand(("127.0.0.1", kafka.nodes[node].client_port), group, topic)) as direct,
        closing(ByHand(("127.0.0.1", proxy.ready().port_of(node)), group, topic)) as behind,
        ThreadPoolExecutor() as threads,
    ):
        direct.protocol = behind.protocol = assignor
        direct.join()
        direct.leads(NOTES)
        # Before version 4 nobody is sent away for an id first.
        joined = threads.submit(behind.join, 3)
        until(lambda: direct.beat() == REBALANCE_IN_PROGRESS, "the first is asked to rejoin")
        direct.leave()
        assert joined.result().error_code == 0
        behind.leads(NOTES)
        [said] = direct.ask(keys.DESCRIBE_GROUPS, 5, m.DescribeGroupsRequest(groups=[group])).groups[0].members
        told = decode(m.ConsumerProtocolAssignment, 0, said.member_assignment, 2)
        assert (told.assigned_partitions[0].topic, told.user_data) == (topic, left)
