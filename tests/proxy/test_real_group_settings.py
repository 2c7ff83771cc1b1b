"""KIP-848, "Dynamic Group Configuration": what an operator sets of a group that runs holds from the next heartbeat on."""

from __future__ import annotations

import threading
import time
import uuid
from contextlib import closing

import pytest

from tests.kafka import Cluster
from tests.kafka.admin import until
from tests.proxy.by_hand import REBALANCE_IN_PROGRESS, ByHand
from tests.proxy.running import Running
from tests.proxy.scene import Native

pytestmark = pytest.mark.broker

# A broker's default, and what is set instead of it.
USUAL_SECONDS, SET_SECONDS = 5, 9
# So long before its beat at the most, and no later, if the machine is not slow.
BEFORE_SECONDS, SLOW_SECONDS = 1.5, 1


def beats_for(seconds: float, member: ByHand) -> None:
    until_then = time.monotonic() + seconds
    while time.monotonic() < until_then:
        assert member.beat() == 0


def test_who_is_to_beat_less_often_than_before_is_given_to_just_before_it_does(
    cluster: Cluster, proxy: Running
) -> None:
    """A direct native member takes at its own heartbeats alone: until then a client here reads on what it shall give."""
    group = f"group-settings-{uuid.uuid4()}"
    cluster.create_topic(group, partitions=4)
    at = ("127.0.0.1", proxy.port_of(cluster.coordinator(group)))
    with closing(ByHand(at, group, group)) as one, closing(ByHand(at, group, group)) as two:
        one.joins()
        cluster.set_group_config(group, consumer_heartbeat_interval_ms=str(SET_SECONDS * 1_000))
        beats_for(USUAL_SECONDS + 1, one)
        # The group moves, so that it is seen when the native one comes.
        joining = threading.Thread(target=two.joins)
        joining.start()
        until(lambda: one.beat() == REBALANCE_IN_PROGRESS, "the first is asked to rejoin")
        one.joins()
        joining.join(60)
        Native(cluster, group, group)
        began = time.monotonic()
        until(lambda: REBALANCE_IN_PROGRESS in (one.beat(), two.beat()), "one of them is to give")
        assert SET_SECONDS - BEFORE_SECONDS < time.monotonic() - began < SET_SECONDS + SLOW_SECONDS
