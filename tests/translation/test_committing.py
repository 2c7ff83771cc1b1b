"""How commits are answered: at once, after an epoch is known, or with the fate of their member."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.translation.playbook import (
    LOST,
    NAMES,
    NOW,
    Is,
    Playbook,
    Wait,
    after,
    beat,
    commits,
    granted,
    joins,
    leaves,
    refused,
    stable,
    syncs,
    target,
    wait,
)
from translation import errors as e
from translation.actions import (
    AnswerCommit,
    SendCommit,
)
from translation.events import (
    AnyEvent,
    CommitAnswered,
    CommitLost,
    CommitRequested,
)
from translation.step import step


def test_a_commit_is_refused_unless_its_generation_was_told_last() -> None:
    assert Playbook(stable(), NOW) >> commits(5, 1) << AnswerCommit(5, e.ILLEGAL_GENERATION)


def test_what_is_not_held_is_committed_with_the_rest_as_in_a_classic_group() -> None:
    """Applications commit with each commit, and in each revoke callback, all that they ever read."""
    assert Playbook(stable(), NOW) >> commits(5, 2, [0, 9]) << SendCommit(5, 2)
    revoking = after(Playbook(stable(), NOW), wait(10_000), granted(2, [0]))
    revoking << Is("prepare-rebalance/reconciling E2 g2")
    assert revoking >> commits(5, 2, [0, 1, 9]) << SendCommit(5, 2)


class Counted(dict[str, str | None]):
    """Names, and how often one was asked for."""

    asked = 0

    def get(self, *asked: Any) -> Any:
        self.asked += 1
        return super().get(*asked)


def test_a_commit_costs_as_much_as_it_is_long() -> None:
    """And not that much for each of its partitions: clients of 20,000 were seen, and nobody else is served meanwhile."""
    names = Counted(NAMES)
    member = msgspec.structs.replace(stable(partitions=range(200)), names=names)
    step(member, commits(5, 2, list(range(200))), NOW)
    assert 200 <= names.asked <= 10 * 200


def test_a_stale_commit_of_what_was_never_held_too_is_sent_again() -> None:
    play = after(Playbook(stable(), NOW), commits(5, 2, [0, 9]), wait(10_000), granted(3, [0, 1]))
    assert play >> CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH) << SendCommit(5, 3)


def test_a_commit_for_a_topic_that_it_does_not_subscribe_to_goes_upstream() -> None:
    """Within a rebalance too: it has lost none of it to anybody."""
    elsewhere = CommitRequested(request=5, generation=2, partitions=(("apples", 0), ("elsewhere", 7)))
    play = after(Playbook(stable(), NOW), joins(6, owned=[0]))
    assert play >> elsewhere << SendCommit(5, 2)


def test_while_what_it_owns_has_no_name_a_topic_that_cannot_be_placed_may_be_that_one() -> None:
    play = Playbook(msgspec.structs.replace(stable(), names={}), NOW)
    assert play >> commits(5, 2, [0]) << SendCommit(5, 2)


def test_within_a_rebalance_it_commits_nothing_of_a_topic_that_it_subscribes_to_and_holds_nothing_of() -> None:
    play = after(Playbook(stable(), NOW), joins(6, owned=[0], topics=("apples", "bananas")))
    foreign = CommitRequested(request=5, generation=2, partitions=(("bananas", 0),))
    assert play >> foreign << AnswerCommit(5, e.REBALANCE_IN_PROGRESS)


def test_within_a_rebalance_it_commits_what_it_owns_of_a_topic_that_it_does_not_subscribe_to_any_more() -> None:
    play = after(Playbook(stable(), NOW), joins(6, owned=[0], topics=("bananas",)))
    play >> commits(5, 2, [0]) << SendCommit(5, 2)
    assert play >> commits(7, 2, [9]) << AnswerCommit(7, e.REBALANCE_IN_PROGRESS)


def test_a_commit_by_nobody_is_unknown() -> None:
    assert Playbook() >> commits() << AnswerCommit(5, e.UNKNOWN_MEMBER_ID)


def test_an_eager_client_commits_what_stays_its_own_while_it_rejoins() -> None:
    """Nobody else commits that meanwhile. Kafka's own translation takes such commits too."""
    play = after(Playbook(stable(), NOW), joins(6))
    play >> commits(7, 2, [0, 1]) << SendCommit(7, 2)
    after(play, granted(2, [0]))
    play << Is("completing-rebalance/stable E2 g2")
    play >> commits(8, 2, [0]) << SendCommit(8, 2)
    play >> commits(9, 2, [0, 1]) << AnswerCommit(9, e.REBALANCE_IN_PROGRESS)
    after(play, target(2, [0]))
    play >> commits(10, 2, [0]) << SendCommit(10, 2)
    assert play >> commits(11, 2, [1]) << AnswerCommit(11, e.REBALANCE_IN_PROGRESS)


def test_what_has_gone_and_come_back_meanwhile_it_has_let_go_of() -> None:
    play = after(Playbook(stable(), NOW), joins(6), granted(3, []), wait(200), granted(3, [0]))
    assert play >> commits(7, 2, [0]) << AnswerCommit(7, e.REBALANCE_IN_PROGRESS)


@pytest.mark.parametrize("unheard", [(LOST, wait(1_000), joins(8)), (refused(e.UNKNOWN_MEMBER_ID), wait(1_000))])
def test_so_may_have_what_is_its_own_again_after_a_word_that_was_not_heard(
    unheard: tuple[AnyEvent | Wait, ...],
) -> None:
    play = after(Playbook(stable(), NOW), joins(6), *unheard, granted(3, [0, 1]))
    assert play >> commits(9, 2, [0]) << AnswerCommit(9, e.REBALANCE_IN_PROGRESS)


def test_once_it_has_synced_its_generation_tells() -> None:
    play = after(Playbook(stable(), NOW), joins(6), granted(2, [0]), target(2, [0]), syncs())
    assert not play.member.spared


def test_a_cooperative_client_commits_what_it_keeps_while_its_join_is_parked() -> None:
    play = after(Playbook(stable(), NOW), joins(6, owned=[0]))
    assert play >> commits(7, 2, [0]) << SendCommit(7, 2)


def test_the_answer_to_a_commit_is_the_brokers_own() -> None:
    for code in (e.NONE, 3, e.UNKNOWN_SERVER_ERROR):
        play = after(Playbook(stable(), NOW), commits())
        assert play >> CommitAnswered(request=5, error_code=code) << AnswerCommit(5, None)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (e.UNKNOWN_MEMBER_ID, e.UNKNOWN_MEMBER_ID),
        (e.FENCED_MEMBER_EPOCH, e.UNKNOWN_MEMBER_ID),
        (e.GROUP_ID_NOT_FOUND, e.UNKNOWN_MEMBER_ID),
        (e.NOT_COORDINATOR, e.NOT_COORDINATOR),
        (e.COORDINATOR_LOAD_IN_PROGRESS, e.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_a_refused_commit_is_told_in_the_words_of_the_classic_protocol(code: int, told: int) -> None:
    play = after(Playbook(stable(), NOW), commits())
    assert play >> CommitAnswered(request=5, error_code=code) << AnswerCommit(5, told)


@pytest.mark.parametrize("stale", [e.STALE_MEMBER_EPOCH, e.ILLEGAL_GENERATION])
def test_a_stale_commit_goes_again_under_the_newer_epoch_that_is_known(stale: int) -> None:
    play = after(Playbook(stable(), NOW), commits(), wait(10_000), granted(3, [0, 1]))
    play >> CommitAnswered(request=5, error_code=stale) << SendCommit(5, 3)
    assert play >> CommitAnswered(request=5) << AnswerCommit(5, None)


def test_a_stale_commit_waits_for_a_newer_epoch_and_fetches_it() -> None:
    play = after(Playbook(stable(), NOW), commits())
    play >> CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH) << beat(2)
    assert play >> granted(3, [0, 1]) << SendCommit(5, 3)


def test_a_stale_commit_whose_successors_are_on_their_way_is_not_sent_again_and_its_client_comes_back() -> None:
    play = after(Playbook(stable(), NOW), commits())
    play >> CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH, is_final=True)
    assert play << AnswerCommit(5, e.COORDINATOR_LOAD_IN_PROGRESS) << beat(2)


def test_a_commit_that_stays_stale_is_given_up() -> None:
    play = after(Playbook(stable(), NOW), commits())
    for _ in range(3):
        play >> CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH) << beat(2)
        play >> granted(2) << SendCommit(5, 2)
    assert play >> CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH) << AnswerCommit(5, 27)


def test_a_lost_commit_is_not_known_to_have_happened() -> None:
    play = after(Playbook(stable(), NOW), commits(), commits(6))
    play >> CommitLost(request=5) << AnswerCommit(5, e.NOT_COORDINATOR)
    assert [commit.request for commit in play.member.commits] == [6]


def test_a_commit_may_outlive_its_member_and_its_answer_is_told_as_it_is() -> None:
    play = Playbook() >> CommitAnswered(request=5) << AnswerCommit(5, None)
    play >> CommitAnswered(request=6, error_code=e.STALE_MEMBER_EPOCH) << AnswerCommit(6, e.REBALANCE_IN_PROGRESS)
    assert play >> CommitLost(request=7) << AnswerCommit(7, e.NOT_COORDINATOR)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (refused(e.UNKNOWN_MEMBER_ID), e.UNKNOWN_MEMBER_ID),
        (refused(e.UNKNOWN_SERVER_ERROR), e.COORDINATOR_LOAD_IN_PROGRESS),
        (LOST, e.NOT_COORDINATOR),
    ],
)
def test_a_commit_that_waits_shares_the_fate_of_its_member(answer: object, told: int) -> None:
    play = after(Playbook(stable(), NOW), commits(), commits(6))
    after(play, CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH))
    assert play >> answer << AnswerCommit(5, told)
    assert [commit.request for commit in play.member.commits] == [6]


def test_the_answer_to_a_commit_of_a_member_that_is_gone_is_told() -> None:
    play = after(Playbook(stable(), NOW), commits(), leaves())
    assert play >> CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH) << AnswerCommit(5, 27)


def test_a_commit_does_not_overtake_one_that_may_be_sent_again() -> None:
    """Offsets would go back: 4.0 refuses the first as stale when the second, under the newer epoch, is through."""
    play = after(Playbook(stable(), NOW), commits(5), wait(10_000), granted(3, [0, 1]))
    play >> commits(6)
    play >> CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH) << SendCommit(5, 3) << SendCommit(6, 3)
    play >> commits(7) << SendCommit(7, 3)
    assert play >> CommitAnswered(request=5) << AnswerCommit(5, None)


def test_a_stale_commit_of_what_the_client_has_let_go_of_meanwhile_is_not_sent_again() -> None:
    """Somebody else has it by now, and would be set back. (It was on its way when the client lost its socket.)"""
    play = after(Playbook(stable(), NOW), commits(5, 2, [0]), joins(6), granted(3, [1]))
    assert play >> CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH) << AnswerCommit(5, 27)
    waits = after(Playbook(stable(), NOW), commits(5, 2, [0]))
    after(waits, CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH), joins(6))
    after(waits, granted(3, [1]))
    assert [commit.request for commit in waits.member.commits] == []


def test_one_of_what_stays_its_own_is() -> None:
    play = after(Playbook(stable(), NOW), commits(5, 2, [0]), joins(6), granted(3, [0]))
    assert play >> CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH) << SendCommit(5, 3)


def test_several_stale_commits_of_what_the_client_has_let_go_of_are_refused_once_each() -> None:
    stale = [CommitAnswered(request=request, error_code=e.STALE_MEMBER_EPOCH) for request in (5, 6)]
    waits = after(Playbook(stable(), NOW), commits(5, 2, [0]), commits(6, 2, [0]), *stale, joins(7))
    assert waits >> granted(3, [1]) << AnswerCommit(5, 27) << AnswerCommit(6, 27) << beat(3, owned=[])


def test_a_commit_waits_for_the_verdict_on_an_older_one_and_no_longer() -> None:
    play = after(Playbook(stable(), NOW), commits(5), wait(10_000), granted(3, [0, 1]), commits(6))
    assert play >> CommitAnswered(request=5) << AnswerCommit(5, None) << SendCommit(6, 3)
