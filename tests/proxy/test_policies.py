"""A5: whatever a cluster thinks of classic members among native ones, ours are none: they are native members."""

from __future__ import annotations

import uuid
from functools import partial

import pytest
import trio

from tests.clients import Client, overlaps
from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running
from tests.proxy.settled import describe
from tests.proxy.test_members import NATIVE, seen

pytestmark = pytest.mark.broker

PARTITIONS = 4
PATIENCE_SECONDS = 60
# Of a direct classic JoinGroup to a group with native members.
ADMITTED, INCONSISTENT_GROUP_PROTOCOL = 0, 23
POLICIES = {
    "disabled": INCONSISTENT_GROUP_PROTOCOL,
    "upgrade": ADMITTED,
    "downgrade": ADMITTED,
    "bidirectional": ADMITTED,
}
BY_DEFAULT = "bidirectional"


async def test_a_legacy_and_a_native_member_share_a_group_under_every_policy(kafka: Cluster) -> None:
    """And when the native one goes, the group stays one of native members, and its partitions find an owner."""
    async with trio.open_nursery() as nursery:
        for policy in POLICIES:
            nursery.start_soon(_under, policy, kafka)


async def _under(policy: str, kafka: Cluster) -> None:
    """Side by side, for most of the time is waiting."""
    try:
        if policy == BY_DEFAULT:
            return await _shared(kafka, policy)
        start = partial(Cluster.start, overrides={"group.consumer.migration.policy": policy})
        with await trio.to_thread.run_sync(start) as cluster:
            await _shared(cluster, policy)
    except Exception as failure:
        failure.add_note(f"under the policy {policy}")
        raise


async def _shared(cluster: Cluster, policy: str) -> None:
    topic = f"policy-{uuid.uuid4()}"
    await trio.to_thread.run_sync(cluster.create_topic, topic, PARTITIONS)
    every = {(topic, number) for number in range(PARTITIONS)}
    with await trio.to_thread.run_sync(Running, cluster.bootstrap) as proxy:
        await trio.to_thread.run_sync(proxy.ready)
        async with (
            await Client.start("kafka-python", proxy.bootstrap, name="old") as old,
            await Client.start("confluent-kafka", cluster.bootstrap, name="new") as new,
        ):
            comes = {
                old: partial(old.subscribe, topic, topic, session_timeout_ms=30_000),
                new: partial(new.subscribe, topic, topic, protocol="consumer"),
            }
            # Where brokers admit no classic member, ours is the first of all.
            first, second = (old, new) if policy == "disabled" else (new, old)
            comes[first]()
            await first.until(lambda: first.owned == every, PATIENCE_SECONDS)
            assert await trio.to_thread.run_sync(direct_join, cluster, topic) == POLICIES[policy]

            comes[second]()
            await old.until(lambda: len(old.owned) == len(new.owned) == 2, PATIENCE_SECONDS)
            group = await seen(cluster, topic, lambda group: len(group.members) == 2, PATIENCE_SECONDS)
            assert {member.member_type for member in group.members} == {NATIVE}
            await new.produce(topic, 40, settings={"enable.idempotence": True})
            await old.until(lambda: len(old.values) + len(new.values) >= 40, PATIENCE_SECONDS)

            await new.close()
            await old.until(lambda: old.owned == every, PATIENCE_SECONDS)
            group = await seen(cluster, topic, lambda group: len(group.members) == 1, PATIENCE_SECONDS)
            assert group.error_code == 0
            assert [member.member_type for member in group.members] == [NATIVE]
            assert overlaps([old, new]) == []
        assert proxy.mistakes() == 0


def direct_join(cluster: Cluster, group: str) -> int:
    """What a classic member hears from the broker itself; it leaves again, if it was let in."""
    one = ByHand(("127.0.0.1", cluster.nodes[cluster.coordinator(group)].client_port), group, group)
    code = int(one.join().error_code)
    if code == ADMITTED:
        one.leave()
        until(lambda: len(describe(cluster, group).members) == 1, "it has left")
    one.close()
    return code
