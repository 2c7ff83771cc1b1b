"""A19: KIP-848's case study "Online Migration" on a real broker, member by member and epoch by epoch.

The text converts a classic group of three that are upgraded one by one. Behind the proxy all of them are native members
already, so each step costs the two epochs that the text counts: one for who leaves, one for who comes in its place.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest
import trio

from tests.clients import Client, overlaps
from tests.kafka import Cluster
from tests.proxy.running import Running
from tests.proxy.settled import at_rest, noticed

pytestmark = pytest.mark.broker

EVERY = 6


@pytest.fixture
def proxy(kafka: Cluster) -> Iterator[Running]:
    with Running(kafka.bootstrap) as running:
        yield running.ready()
        assert running.mistakes() == 0


def shares(*members: Client) -> list[int]:
    return [len(member.owned) for member in members]


async def test_three_legacy_members_become_native_ones_at_the_epochs_of_the_text(
    kafka: Cluster, proxy: Running
) -> None:
    topic = f"migration-{uuid.uuid4()}"
    await trio.to_thread.run_sync(kafka.create_topic, topic, EVERY)
    async with (
        await Client.start("confluent-kafka", proxy.bootstrap, name="old-a") as old_a,
        await Client.start("confluent-kafka", proxy.bootstrap, name="old-b") as old_b,
        await Client.start("confluent-kafka", proxy.bootstrap, name="old-c") as old_c,
        await Client.start("confluent-kafka", kafka.bootstrap, name="a") as a,
        await Client.start("confluent-kafka", kafka.bootstrap, name="b") as b,
        await Client.start("confluent-kafka", kafka.bootstrap, name="c") as c,
    ):
        for member in (old_a, old_b, old_c):
            member.subscribe(topic, topic, strategy="range")
        epoch = (await at_rest(kafka, topic, old_a, old_b, old_c)).group_epoch

        # "A leaves and rejoins with the new protocol": what it had is free, so the others are not disturbed.
        before = [noticed(old_b), noticed(old_c)]
        await old_a.close()
        a.subscribe(topic, topic, protocol="consumer")
        group = await at_rest(kafka, topic, a, old_b, old_c)
        assert (group.group_epoch, shares(a, old_b, old_c)) == (epoch + 2, [2, 2, 2])
        assert [noticed(old_b), noticed(old_c)] == before

        # "B leaves the group": C is told to rebalance, and A heartbeats in its own time.
        await old_b.close()
        group = await at_rest(kafka, topic, a, old_c)
        assert (group.group_epoch, shares(a, old_c)) == (epoch + 3, [3, 3])

        # "B rejoins with the new protocol": both give up one.
        kept = [set(a.owned), set(old_c.owned)]
        b.subscribe(topic, topic, protocol="consumer")
        group = await at_rest(kafka, topic, a, b, old_c)
        assert (group.group_epoch, shares(a, b, old_c)) == (epoch + 4, [2, 2, 2])
        assert (a.owned < kept[0], old_c.owned < kept[1]) == (True, True)

        # And the last one: nobody speaks the classic protocol any more.
        await old_c.close()
        c.subscribe(topic, topic, protocol="consumer")
        group = await at_rest(kafka, topic, a, b, c)
        assert (group.group_epoch, shares(a, b, c)) == (epoch + 6, [2, 2, 2])
        assert {member.member_epoch for member in group.members} == {epoch + 6}
        assert overlaps([old_a, old_b, old_c, a, b, c]) == []
