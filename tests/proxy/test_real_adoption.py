"""A classic member that a broker has told to rejoin, and that does so at the proxy: its old life is not held against it.

A coordinator that says "rejoin" to a classic member of a consumer group waits for its JoinGroup as long as its rebalance
may take, and then removes it, whoever speaks for it by then.
"""

from __future__ import annotations

import time
import uuid
from contextlib import closing

import pytest

from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.proxy.by_hand import REBALANCE_IN_PROGRESS, ByHand
from tests.proxy.running import Running
from tests.proxy.scene import Native
from tests.proxy.settled import describe

pytestmark = pytest.mark.broker

PARTITIONS = 4
REBALANCE_MS = 3_000
# As the coordinator describes a member.
NATIVE = 1


@pytest.mark.parametrize("instance_id", [None, "one"])
def test_who_was_told_to_rejoin_by_a_broker_stays_when_it_rejoins_here(kafka: Cluster, instance_id: str | None) -> None:
    group = f"told-to-rejoin-{uuid.uuid4()}"
    kafka.create_topic(group, PARTITIONS)
    node = kafka.coordinator(group)
    direct = ("127.0.0.1", kafka.nodes[node].client_port)
    with (
        Running(kafka.bootstrap) as proxy,
        closing(ByHand(direct, group, group, instance_id=instance_id)) as member,
    ):
        member.rebalance_timeout_ms = REBALANCE_MS
        member.join()
        member.leads(notes=b"")
        native = Native(kafka, group, group)
        until(lambda: member.beat() == REBALANCE_IN_PROGRESS, "the broker, which translates now, tells it to rejoin")

        before = member.member_id
        member.address = ("127.0.0.1", proxy.ready().port_of(node))
        member.on_new_socket()
        member.joins()
        told = 0
        until_removed = time.monotonic() + 2 * REBALANCE_MS / 1000
        while time.monotonic() < until_removed:
            native.beats()
            if member.beat() == REBALANCE_IN_PROGRESS:
                told += 1
                member.joins()
            time.sleep(0.1)

        assert member.member_id == before
        assert member.beat() == 0
        types = {each.member_id: each.member_type for each in describe(kafka, group).members}
        assert (len(types), types[before]) == (2, NATIVE)
        assert len(member.owned[group]) == PARTITIONS // 2
        assert told <= 2
        assert proxy.mistakes() == 0


def test_a_member_of_a_classic_group_stays_one_until_it_begins_anew(kafka: Cluster) -> None:
    """It may hold what nobody could grant it here."""
    group = f"classic-{uuid.uuid4()}"
    kafka.create_topic(group, PARTITIONS)
    node = kafka.coordinator(group)
    with (
        Running(kafka.bootstrap) as proxy,
        closing(ByHand(("127.0.0.1", kafka.nodes[node].client_port), group, group)) as member,
    ):
        member.join()
        member.leads(notes=b"")
        before = member.member_id, member.generation
        member.address = ("127.0.0.1", proxy.ready().port_of(node))
        member.on_new_socket()
        # The broker's own answer names a leader.
        assert member.join().leader == member.member_id
        assert (member.member_id, member.generation) == (before[0], before[1] + 1)
        member.leads(notes=b"")
        assert member.beat() == 0
        assert proxy.log.read_text().count('reason="it is a member of a classic group"') == 1

        member.leave()
        member.member_id = ""
        assert member.joins().owned == {group: list(range(PARTITIONS))}
        assert [each.member_type for each in describe(kafka, group).members] == [NATIVE]
