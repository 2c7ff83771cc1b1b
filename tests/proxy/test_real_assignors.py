"""A broker that comes back without an assignor that members have voted for: before a real one."""

from __future__ import annotations

import uuid
from contextlib import ExitStack, closing

import pytest

from tests.kafka import Cluster
from tests.proxy.by_hand import ByHand
from tests.proxy.running import Running
from tests.proxy.settled import describe

pytestmark = pytest.mark.broker

MEMBERS = 3
UNKNOWN_MEMBER_ID = 25


def test_members_vote_anew_where_the_brokers_have_lost_what_they_voted_for() -> None:
    """To whoever has such a vote the coordinator says UNKNOWN_SERVER_ERROR, from the group's next change on."""
    topic = f"revoted-{uuid.uuid4()}"
    with Cluster.start() as kafka, Running(kafka.bootstrap) as proxy, ExitStack() as ends:
        door = ("127.0.0.1", proxy.ready().port_of(kafka.coordinator(topic)))
        topics = [f"{topic}-{number}" for number in range(MEMBERS)]
        for each in topics:
            kafka.create_topic(each, 1)
        members = [ends.enter_context(closing(ByHand(door, topic, each))).joins() for each in topics]
        with (kafka.folder / "node-1.properties").open("a") as said:
            said.write("group.consumer.assignors=range\n")
        kafka.restart(1)
        kafka.grow_topic(topics[0], 2)
        present = list(members)
        proxy.wait_for(lambda: _beat(present) and describe(kafka, topic).assignor_name == "range", "they vote anew", 25)
        for member in members:
            if member not in present:
                member.member_id = ""
                assert member.join().error_code == 0
        assert len(describe(kafka, topic).members) == MEMBERS


def _beat(present: list[ByHand]) -> bool:
    """Whoever is outvoted by old votes hears that it is none."""
    for member in list(present):
        try:
            if member.beat() == UNKNOWN_MEMBER_ID:
                present.remove(member)
        except (OSError, EOFError):
            member.on_new_socket()
    return True
