"""How SyncGroups are answered."""

from __future__ import annotations

import msgspec
import pytest

from tests.translation.playbook import (
    LEARNED,
    NOW,
    Is,
    Playbook,
    after,
    generation_told,
    granted,
    joined,
    joining,
    number,
    stable,
    subscription,
    synced,
    syncs,
    target,
    text,
    wait,
)
from tests.translation.test_happy_path import remembered
from translation import errors as e
from translation.actions import AnswerSync
from translation.events import (
    Protocol,
    SyncRequested,
    TopicsLearned,
)
from translation.group_heartbeat import TopicPartition


@pytest.mark.parametrize(
    ("sync", "code"),
    [
        (syncs(2, 1), e.ILLEGAL_GENERATION),
        (syncs(2, 3), e.ILLEGAL_GENERATION),
        (syncs(2, protocol_type="connect"), e.INCONSISTENT_GROUP_PROTOCOL),
        (syncs(2, protocol_name="sticky"), e.INCONSISTENT_GROUP_PROTOCOL),
        (syncs(2, instance_id="other"), e.FENCED_INSTANCE_ID),
    ],
)
def test_a_wrong_sync_gets_the_code_a_classic_broker_gives(sync: SyncRequested, code: int) -> None:
    play = generation_told() >> sync << AnswerSync(2, code)
    assert play << Is("completing-rebalance/stable E2 g2")


def test_a_sync_with_the_right_protocol_is_answered() -> None:
    play = generation_told() >> syncs(2, protocol_type="consumer", protocol_name="range") << synced(2) << remembered()
    assert play


@pytest.mark.parametrize("version", [0, 1, 2, 3, 7])
def test_the_assignment_is_written_at_the_members_own_version_and_never_above_3(version: int) -> None:
    protocol = Protocol("range", subscription(version=version))
    play = after(Playbook(joining(protocols=(protocol,))), granted(2, [0, 1]), LEARNED, target(2, [0, 1]))
    after_sync = play >> syncs()
    after_sync << synced(2, [0, 1], version=min(version, 3))
    play.pending.clear()
    assert play


def test_an_empty_assignment_is_well_formed_too() -> None:
    play = after(Playbook(joining()), granted(2, []), target(2, []))
    play >> syncs() << synced(2, []) << remembered(())
    assert play << Is("stable/stable E2 g2")


def test_a_repeated_sync_gets_the_same_answer() -> None:
    play = Playbook(stable(), NOW) >> syncs(6) << synced(6) << remembered(session_ms=100_000)
    assert play << Is("stable/stable E2 g2")


def test_a_sync_during_prepare_rebalance_or_before_the_join_is_answered_asks_for_a_rejoin() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000), granted(2, [0]))
    assert play >> syncs(6) << AnswerSync(6, e.REBALANCE_IN_PROGRESS)
    assert Playbook(joining()) >> syncs(6, -1) << AnswerSync(6, e.REBALANCE_IN_PROGRESS)


def test_a_sync_by_nobody_is_unknown() -> None:
    assert Playbook() >> syncs() << AnswerSync(2, e.UNKNOWN_MEMBER_ID)


def test_partitions_of_a_topic_without_a_name_are_told_when_it_has_one() -> None:
    play = after(Playbook(joining()), granted(2, [0]), wait(12_000), granted(2))
    assert play << Is("completing-rebalance/stable E2 g2")
    play >> syncs() << synced(2, []) << remembered(())
    assert play << Is("stable/stable E2 g2")
    assert play >> LEARNED << Is("prepare-rebalance/reconciling E2 g2")


def test_a_deleted_topic_is_never_told_and_nobody_waits_for_its_name() -> None:
    play = after(Playbook(joining()), granted(2, [0]))
    play >> target(2, [0])
    play >> TopicsLearned(names={"a": None, "z": "not ours"}) << joined()
    play >> syncs() << synced(2, []) << remembered(())
    assert play << Is("stable/stable E2 g2")
    assert play.member.names == {"a": None}


def test_two_topics_are_told_in_one_assignment() -> None:
    play = after(Playbook(joining()), granted(2, [0]), LEARNED)
    both = msgspec.structs.replace(play.member, assigned=play.member.assigned | {TopicPartition("b", 7)})
    play.member = msgspec.structs.replace(both, names={"a": "apples", "b": "bananas"})
    play >> target(2, [0])
    after(play, wait(12_000), granted(2))
    body = number(2) + text("apples") + number(1) + number(0) + text("bananas") + number(1) + number(7)
    play >> syncs() << AnswerSync(2, assignment=b"\0\1" + body + number(0), protocol_name="range")
    play.pending.clear()
    assert play
