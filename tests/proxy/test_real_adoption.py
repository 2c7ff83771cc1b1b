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
from tests.proxy.differences import Native
from tests.proxy.running import Running
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
        assert proxy.disconnects("our_mistake") == 0
