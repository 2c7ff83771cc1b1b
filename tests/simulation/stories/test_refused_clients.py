"""What clients do when they are refused or cut off: some keep their id, some drop it, some begin a new life. Whatever it is,
the group comes to rest, and nobody is left behind in it.
"""

from __future__ import annotations

from typing import Any

import pytest

from simulation.brokers import BrokerLine, GroupSettings
from simulation.errors import Error
from simulation.story import Legacy, Story
from tests.simulation.stories.by_hand import ByHand
from tests.simulation.stories.test_losing_things import COOPERATIVE, LINES


def refused_for_its_generation() -> tuple[Story, ByHand]:
    story = Story(foo=4)
    member = ByHand(story, "member", session_timeout_ms=6_000).enters()
    assert member.beats(generation=99) is Error.ILLEGAL_GENERATION
    return story, member


def test_java_librdkafka_and_kafkajs_keep_their_id_after_illegal_generation() -> None:
    story, member = refused_for_its_generation()
    member_id, member.generation = member.member_id, -1
    assert member.joins().member_id == member_id
    member.syncs()
    member.owns(0, 1, 2, 3)
    assert len(story.world.group.members) == 1


def test_sarama_and_aiokafka_drop_their_id_after_illegal_generation_and_their_old_self_fades() -> None:
    story, member = refused_for_its_generation()
    member.member_id, member.generation = "", -1
    member.enters()
    member.goes_along()
    assert len(story.world.group.members) == 1
    member.owns(0, 1, 2, 3)


def test_kafkajs_restarts_when_it_crashes_in_a_join_and_comes_back_as_somebody_new() -> None:
    story = Story(foo=4)
    kafkajs = story.legacy("kafkajs", assignor="RoundRobinAssigner", session_timeout_ms=30_000).joins().syncs()
    kafkajs.vanishes()
    story.passes(5_000)
    kafkajs.joins()
    story.settles()
    kafkajs.owns(0, 1, 2, 3)


def test_a_client_that_loses_its_socket_while_its_join_is_parked_asks_again_on_another() -> None:
    story = Story(foo=4)
    story.native("slow", revoke_ms=2_000).joins()
    story.settles()
    member = ByHand(story, "member")
    member.joins()
    first = member.asks_to_join()
    story.until(lambda: member.stands, "it is a member")
    member.loses_its_sockets()
    assert member.joins().error_code == Error.NONE
    assert first == []
    member.syncs()
    member.goes_along()


@pytest.mark.parametrize("retry_ms", [100, 900])
def test_a_client_that_a_full_group_refuses_again_and_again_costs_nobody_its_membership(retry_ms: int) -> None:
    """Each attempt looks like one who comes and leaves: members were asked to wait for the end of the grace every time."""
    story = Story(foo=4, settings=GroupSettings(max_size=2))
    alice, bob = story.legacy("alice").joins(), story.legacy("bob").joins()
    story.settles()
    carol = story.legacy("carol", retry_ms=retry_ms).asks_to_join()
    story.passes(2 * GroupSettings().session_timeout_ms)
    assert len(carol.who.refusals) > 50
    alice.was_refused().owns(0, 1)
    bob.was_refused().owns(2, 3)


KAFKA_PYTHON: dict[str, Any] = COOPERATIVE | {"subscription_version": 1, "claims_on": True}


@pytest.mark.parametrize("join_version", [3, 5])
def test_kafka_python_claims_what_it_held_until_it_is_let_in_and_is_let_in(join_version: int) -> None:
    """What goes before a JoinGroup it does once for a rebalance; in this one it hears that it is somebody new."""
    story = Story(foo=4)
    kafka_python = story.legacy("kafka-python", join_version=join_version, **KAFKA_PYTHON).joins().syncs()
    story.world.proxy_restarts(gap_ms=60_000)
    kafka_python.rejoins()
    story.passes(62_000)
    story.settles()
    kafka_python.was_refused(("JoinGroup", Error.UNKNOWN_MEMBER_ID)).owns(0, 1, 2, 3)


@LINES
def test_claims_under_an_id_from_here_are_believed_of_who_was_let_in_with_it_elsewhere(line: BrokerLine) -> None:
    story = Story(line, foo=4)
    story.another_proxy("second")
    alice = story.legacy("alice", revoke_ms=9_000, **KAFKA_PYTHON).asks_to_join()
    story.until(lambda: alice.who.member_id != "", "alice has an id")
    alice.moves_to("second").syncs()
    story.settles()
    story.native("nina").joins()
    alice.moves_to("proxy").rejoins()
    # Whoever is given what she still holds breaks the story.
    story.passes(20_000)
    story.settles()
    alice.was_refused().owns(0, 1)


@LINES
@pytest.mark.parametrize("version", [3, 1])
def test_who_was_let_in_elsewhere_under_an_id_from_here_and_was_missed_drops_what_it_claims(
    line: BrokerLine, version: int
) -> None:
    """All is nina's by then: a commit of it would take her back to what alice had read."""
    story = Story(line, foo=4)
    story.another_proxy("second")
    alice = story.legacy("alice", subscription_version=version, **COOPERATIVE).asks_to_join()
    story.until(lambda: alice.who.member_id != "", "alice has an id")
    alice.moves_to("second").syncs()
    story.native("nina").joins()
    story.settles()
    story.world.proxies["second"].dies()
    alice.loses_its_sockets().rejoins()
    story.passes(60_000)
    alice.moves_to("proxy")
    story.settles()
    alice.was_refused(("JoinGroup", Error.UNKNOWN_MEMBER_ID)).owns(2, 3)


def two_of_whom_one(ends_when_barred: bool) -> tuple[Story, Legacy, Legacy]:
    story = Story(foo=4)
    alice = story.legacy("alice", ends_when_barred=ends_when_barred).joins().syncs()
    bob = story.legacy("bob").joins()
    story.settles()
    return story, alice, bob


def test_who_ends_because_it_may_not_read_the_group_any_more_leaves_what_it_had_to_others() -> None:
    """Its own LeaveGroup is refused, too; and the coordinator would wait for 45 s."""
    _, alice, bob = two_of_whom_one(ends_when_barred=True)
    alice.may_not_read(60_000)
    bob.comes_to_own(0, 1, 2, 3, within_ms=20_000)
    assert not alice.who.alive


def test_who_goes_on_asking_while_it_may_not_read_the_group_is_the_member_that_it_was() -> None:
    story, alice, bob = two_of_whom_one(ends_when_barred=False)
    member_id, joins = alice.who.member_id, alice.who.joins
    alice.may_not_read(6_000)
    story.passes(20_000)
    story.settles()
    assert (alice.who.member_id, alice.who.joins) == (member_id, joins)
    assert not alice.who.partitions & bob.who.partitions
    assert len(alice.who.partitions) == 2


def test_who_is_silent_when_it_may_read_the_group_no_more_has_its_session_and_no_longer() -> None:
    story, alice, bob = two_of_whom_one(ends_when_barred=False)
    alice.may_not_read(60_000)
    alice.vanishes()
    story.passes(9_000)
    bob.owns(2, 3)
    bob.comes_to_own(0, 1, 2, 3, within_ms=5_000)
