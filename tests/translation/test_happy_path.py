"""The rows of the mapping table when nothing goes wrong: join, sync, heartbeat, rejoin, leave."""

from __future__ import annotations

from tests.translation.playbook import (
    LEARNED,
    NOW,
    Is,
    Playbook,
    beat,
    beats,
    commits,
    granted,
    joined,
    joins,
    leaves,
    stable,
    synced,
    syncs,
    target,
    tps,
    wait,
)
from translation import errors as e
from translation.actions import (
    AnswerCommit,
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    DescribeGroup,
    Forget,
    LearnTopics,
    Remember,
    SendCommit,
)
from translation.events import CommitAnswered, JournalEntry, TargetUnknown


def remembered(partitions: tuple[int, ...] = (0, 1), generation: int = 2, session_ms: int = 10_000) -> Remember:
    return Remember(
        JournalEntry(
            group_id="g",
            member_id="m",
            instance_id=None,
            generation=generation,
            told=tps(*partitions),
            protocol_name="range",
            subscription_version=1,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=60_000,
            offers=("uniform", "range"),
            assignor="uniform",
        )
    )


def test_a_newcomer_without_an_id_is_given_one_and_nothing_is_kept() -> None:
    play = Playbook() >> joins(member_id="") << AnswerJoin(1, e.MEMBER_ID_REQUIRED, member_id="c-1")
    assert play << Is("absent/absent E0 g-1")
    assert play.member.wake_at is None


def test_a_newcomer_is_parked_until_its_assignment_is_whole_and_then_told_all_of_it_at_once() -> None:
    play = Playbook()
    play >> joins() << beat(0, owned=())
    play >> granted(2, []) << DescribeGroup() << Is("completing-rebalance/stable E2 g-1")
    play >> target(2, [0, 1])
    play >> wait(200) << DescribeGroup() << beat(2)
    play >> granted(2, [0, 1]) << LearnTopics(("a",)) << DescribeGroup()
    play >> LEARNED
    play >> target(2, [0, 1]) << joined()
    play >> syncs() << synced() << remembered()
    assert play << Is("stable/stable E2 g2")


def test_an_old_client_joins_in_one_step_under_the_fresh_id() -> None:
    play = Playbook() >> joins(member_id="", version=3) << beat(0, owned=(), member_id="c-1")
    assert play


def test_a_parked_join_is_answered_with_what_there_is_when_the_limit_passes() -> None:
    play = Playbook()
    play >> joins() << beat(0, owned=())
    play >> granted(2, []) << DescribeGroup()
    play >> TargetUnknown()
    play >> wait(200) << beat(2)
    play >> granted(3)
    play >> wait(1200) << beat(3)
    play >> wait(99)
    play >> wait(1) << joined(generation=3)
    assert play


def test_a_heartbeat_in_stable_is_answered_none_and_upstream_is_asked_in_its_own_rhythm() -> None:
    play = Playbook(stable(), NOW)
    play >> beats() << AnswerHeartbeat(3)
    play >> wait(10_000) << beat(2)
    play >> granted(2)
    assert play >> wait(4_999)
    assert play >> wait(1) << beat(2)


def test_an_epoch_that_moves_nothing_is_never_told() -> None:
    play = Playbook(stable(), NOW)
    play >> wait(10_000) << beat(2)
    play >> granted(7, [0, 1]) << Is("stable/stable E7 g2")
    play >> beats() << AnswerHeartbeat(3)
    play >> commits() << SendCommit(5, 7)
    play >> CommitAnswered(request=5) << AnswerCommit(5, None)
    assert play


def test_partitions_to_give_up_ask_for_one_rejoin_and_are_held_upstream_until_it_comes() -> None:
    play = Playbook(stable(), NOW)
    play >> wait(10_000) << beat(2)
    play >> granted(2, [0]) << Is("prepare-rebalance/reconciling E2 g2")
    play >> wait(5_000) << beat(2)
    play >> granted(2)
    play >> beats() << AnswerHeartbeat(3, e.REBALANCE_IN_PROGRESS)
    play >> joins(6) << beat(2, owned=())
    play >> granted(3, [0]) << DescribeGroup()
    play >> target(3, [0]) << joined(6, 3)
    play >> syncs(7, 3) << synced(7, [0]) << remembered((0,), 3)
    assert play << Is("stable/stable E3 g3")


def test_new_partitions_ask_for_one_rejoin() -> None:
    play = Playbook(stable(), NOW)
    play >> wait(10_000) << beat(2)
    play >> granted(3, [0, 1, 2]) << Is("prepare-rebalance/reconciling E3 g2")
    play >> beats() << AnswerHeartbeat(3, e.REBALANCE_IN_PROGRESS)
    play >> joins(6, owned=[0, 1]) << beat(3, owned=[0, 1])
    play >> granted(3, [0, 1, 2]) << DescribeGroup()
    play >> target(3, [0, 1, 2]) << joined(6, 3)
    play >> syncs(7, 3) << synced(7, [0, 1, 2]) << remembered((0, 1, 2), 3)
    assert play << Is("stable/stable E3 g3")


def test_a_cooperative_client_lets_go_in_one_round_and_takes_in_the_next() -> None:
    play = Playbook(stable(), NOW)
    play >> wait(10_000) << beat(2)
    play >> granted(2, [0])
    play >> beats() << AnswerHeartbeat(3, e.REBALANCE_IN_PROGRESS)
    play >> joins(6, owned=[0, 1]) << beat(2, owned=[0, 1])
    play >> granted(2, [0]) << joined(6, 2)
    play >> syncs(7, 2) << synced(7, [0]) << remembered((0, 1)) << Is("prepare-rebalance/reconciling E2 g2")
    play >> commits(8, 2, [1]) << SendCommit(8, 2)
    play >> CommitAnswered(request=8) << AnswerCommit(8, None)
    play >> joins(9, owned=[0]) << beat(2, owned=[0])
    play >> granted(3, [0, 4]) << DescribeGroup()
    play >> target(3, [0, 4]) << joined(9, 3)
    play >> syncs(10, 3) << synced(10, [0, 4]) << remembered((0, 4), 3)
    assert play << Is("stable/stable E3 g3")


def test_a_leave_is_answered_when_the_coordinator_has_heard_it() -> None:
    play = Playbook(stable(), NOW)
    play >> leaves() << beat(-1) << Is("absent/leaving E2 g-1")
    play >> granted(-1) << AnswerLeave(4) << Forget()
    assert play << Is("absent/absent E2 g-1")
