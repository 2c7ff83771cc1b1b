"""Losing things: answers, coordinators, clients, proxies."""

from __future__ import annotations

import msgspec
import pytest

from tests.translation.playbook import (
    LEARNED,
    LOST,
    NOW,
    RULES,
    Is,
    Playbook,
    after,
    beat,
    beats,
    commits,
    granted,
    joined,
    joining,
    joins,
    leaves,
    refused,
    stable,
    subscription,
    synced,
    syncs,
    target,
    tps,
    wait,
)
from tests.translation.test_happy_path import remembered
from tests.translation.test_syncing import HOLDING, rhythmic
from translation import Rules
from translation import errors as e
from translation.actions import (
    AnswerCommit,
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    AnswerSync,
    DescribeGroup,
    Forget,
    SendCommit,
)
from translation.adopting import still_valid
from translation.events import (
    BeatWanted,
    ClientEvent,
    CommitAnswered,
    CommitLost,
    CommitRequested,
    DeadlinePassed,
    JournalEntry,
    MemberAdopted,
    Protocol,
    ProxyStopping,
    SeenElsewhere,
    TargetUnknown,
    TopicsLearned,
)

CAUTIOUS = msgspec.structs.replace(RULES, farewell_ms=2_000)

# --- answers lost --------------------------------------------------------------------------------------------------


def test_after_a_lost_answer_everything_is_said_again_at_the_old_epoch_with_what_is_owned() -> None:
    """The lost-response rule: a stale epoch is forgiven if the owned partitions are there, and granted."""
    play = Playbook(stable(), NOW) >> wait(10_000) << beat(2)
    play >> LOST << Is("stable/stable E2 g2")
    play >> wait(1_000)
    play >> beats() << beat(2, owned=[0, 1])
    play >> granted(3, [0, 1]) << Is("stable/stable E3 g2")
    play >> wait(500) << AnswerHeartbeat(3)
    assert play >> wait(4_500) << beat(3)


def test_a_lost_join_is_asked_for_again_at_epoch_0() -> None:
    play = Playbook(joining()) >> LOST << AnswerJoin(1, e.NOT_COORDINATOR, member_id="m")
    play << Is("completing-rebalance/joining E0 g-1")
    play >> joins(2) << beat(0, owned=())
    assert play >> granted(2, []) << DescribeGroup()


def test_a_newcomer_that_never_heard_its_id_is_not_left_behind() -> None:
    play = Playbook(joining(member_id="", version=3)) >> LOST
    play << AnswerJoin(1, e.NOT_COORDINATOR, member_id="c-1") << beat(-1, member_id="c-1")
    assert play >> refused(e.UNKNOWN_MEMBER_ID) << Forget() << Is("absent/absent E0 g-1")


def test_a_rejoin_whose_answer_is_lost_must_be_made_again() -> None:
    play = Playbook(stable(), NOW) >> joins(6, owned=[0]) << beat(2, owned=[0])
    play >> LOST << AnswerJoin(6, e.NOT_COORDINATOR, member_id="m")
    play << Is("prepare-rebalance/acknowledging E2 g2")
    play >> wait(500) >> joins(7, owned=[0]) << beat(2, owned=[0])
    assert play >> granted(2, [0, 1]) << joined(7) << Is("completing-rebalance/stable E2 g2")


def test_while_the_coordinator_is_out_of_reach_a_heartbeat_tries_again_and_a_held_one_says_so() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000), LOST)
    play >> beats() << beat(2, owned=[0, 1])
    play >> LOST << AnswerHeartbeat(3, e.NOT_COORDINATOR)
    play >> syncs(6) << AnswerSync(6, e.NOT_COORDINATOR) << beat(2, owned=[0, 1])
    play >> beats(7)
    play >> wait(500) << AnswerHeartbeat(7, e.NOT_COORDINATOR)
    play >> beats(8)
    play >> granted(2, [0, 1])
    assert play >> wait(500) << AnswerHeartbeat(8)


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (e.NOT_COORDINATOR, e.NOT_COORDINATOR),
        (e.COORDINATOR_NOT_AVAILABLE, e.NOT_COORDINATOR),
        (e.COORDINATOR_LOAD_IN_PROGRESS, e.COORDINATOR_LOAD_IN_PROGRESS),
        (e.UNKNOWN_SERVER_ERROR, e.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_a_coordinator_that_moves_costs_a_member_nothing(code: int, told: int) -> None:
    play = Playbook(stable(), NOW) >> joins(6, owned=[0, 1]) << beat(2, owned=[0, 1])
    play >> refused(code) << AnswerJoin(6, told, member_id="m")
    play >> joins(7, owned=[0, 1]) << beat(2, owned=[0, 1])
    assert play >> granted(2, [0, 1]) << joined(7, 2)


def test_a_request_the_coordinator_calls_invalid_is_our_own_mistake() -> None:
    with pytest.raises(e.OurMistake, match="invalid"):
        Playbook(joining()) >> refused(e.INVALID_REQUEST)


@pytest.mark.parametrize("event", [granted(2), LOST])
def test_an_answer_to_nothing_is_an_impossible_story(event: object) -> None:
    with pytest.raises(e.ImpossibleStory):
        Playbook(stable(), NOW) >> event


# --- fenced --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [e.UNKNOWN_MEMBER_ID, e.GROUP_ID_NOT_FOUND, e.UNSUPPORTED_VERSION])
def test_a_fenced_client_is_told_that_it_is_unknown_with_whatever_it_asks_next(code: int) -> None:
    play = after(Playbook(stable(), NOW), wait(10_000)) >> refused(code) << Is("absent/fenced E2 g-1")
    assert play >> beats(6) << AnswerHeartbeat(6, e.UNKNOWN_MEMBER_ID) << Forget() << Is("absent/absent E2 g-1")


def test_a_held_heartbeat_tells_of_the_fencing_at_once() -> None:
    play = after(rhythmic(), wait(4_000)) >> beats(5)
    after(play, wait(2_000), BeatWanted())
    assert play >> refused(e.UNKNOWN_MEMBER_ID) << AnswerHeartbeat(5, e.UNKNOWN_MEMBER_ID)


def test_a_fenced_client_that_never_comes_back_is_forgotten_when_its_session_would_have_ended() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000), refused(e.UNKNOWN_MEMBER_ID))
    play >> wait(89_999)
    assert play >> wait(1) << Forget() << Is("absent/absent E2 g-1")


def test_what_is_final_is_told_as_it_is() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000)) >> refused(e.FENCED_INSTANCE_ID) << Is("absent/fatal E2 g-1")
    assert play >> beats() << AnswerHeartbeat(3, e.FENCED_INSTANCE_ID)


def test_who_may_not_read_the_group_any_more_is_told_so_once_and_judged_anew_when_it_speaks() -> None:
    play = after(rhythmic(), wait(4_000), beats(5), wait(2_000), BeatWanted()) >> refused(e.GROUP_AUTHORIZATION_FAILED)
    assert play << AnswerHeartbeat(5, e.GROUP_AUTHORIZATION_FAILED) << Forget() << Is("absent/absent E2 g-1")


def test_a_static_member_fenced_at_epoch_0_releases_itself_and_joins_anew() -> None:
    """Brokers before 4.2 let nobody they know join again."""
    play = Playbook(stable(instance_id="i", member_id=""), NOW)
    play.member = msgspec.structs.replace(play.member, owned=frozenset())
    play >> joins(6, member_id="c-1", instance_id="i") << beat(2, owned=(), member_id="c-1", instance_id="i")
    play >> refused(e.UNKNOWN_MEMBER_ID) << beat(0, owned=(), member_id="c-1", instance_id="i")
    play >> refused(e.FENCED_MEMBER_EPOCH) << beat(-2, member_id="c-1", instance_id="i")
    assert play >> granted(-2) << beat(0, owned=(), member_id="c-1", instance_id="i")


def test_a_parked_client_whose_member_somebody_else_speaks_for_comes_again() -> None:
    play = after(Playbook(stable(), NOW), joins(6)) >> refused(e.FENCED_MEMBER_EPOCH)
    assert play << AnswerJoin(6, e.NOT_COORDINATOR, member_id="m") << Forget()


def test_an_epoch_0_that_is_not_known_is_not_repeated_in_a_hurry() -> None:
    play = Playbook(joining()) >> refused(e.UNKNOWN_MEMBER_ID)
    play >> wait(499)
    assert play >> wait(1) << beat(0, owned=())


def test_a_member_for_which_somebody_else_has_spoken_is_forgotten_and_adopted_anew_when_its_client_comes() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000)) >> refused(e.FENCED_MEMBER_EPOCH)
    assert play << Forget() << Is("absent/absent E2 g-1")


# --- the client's deadlines ----------------------------------------------------------------------------------------


def test_a_silent_client_leaves_after_its_own_session_timeout() -> None:
    play = Playbook(stable(), NOW)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    play >> wait(99_999)
    assert play >> wait(1) << beat(-1) << Is("absent/leaving E2 g-1")
    assert play.transitions[-1].cause == "session ended"


def kept_away(rules: Rules) -> Playbook:
    """A client that was heard at 20,000 for the last time; ten seconds later its coordinator was lost."""
    play = after(Playbook(stable(rules=rules), NOW), wait(10_000), LOST)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    return play


def test_a_client_that_had_no_coordinator_has_its_time_anew_from_the_first_word_of_one() -> None:
    """As with a classic coordinator, which has just taken over when it says that word."""
    play = kept_away(CAUTIOUS) >> wait(88_000) << DescribeGroup()
    play >> wait(500) << DescribeGroup() >> target(2) >> wait(97_999)
    play >> wait(1) << DescribeGroup() >> target(2)
    after(play, wait(1_500))
    play >> wait(500) << DescribeGroup()
    assert play >> target(2) << beat(-1)
    assert play.transitions[-1].cause == "session ended"


def test_a_client_that_had_no_coordinator_has_its_time_twice_where_nobody_may_ask() -> None:
    play = kept_away(RULES) >> wait(189_999)
    assert play >> wait(1) << beat(-1)


@pytest.mark.parametrize("rules", [RULES, CAUTIOUS])
def test_a_client_that_had_no_coordinator_has_its_time_to_rejoin_anew(rules: Rules) -> None:
    """Whether it is the member or its client that finds out first that the time is over."""
    play = after(Playbook(stable(rules=rules), NOW), wait(10_000), granted(2, [0]), beats(), wait(5_000), LOST)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    after(play, wait(56_000), beats(), granted(2, [0]))
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    after(play, wait(53_000)) >> beats() << AnswerHeartbeat(3, e.REBALANCE_IN_PROGRESS)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    after(play, wait(7_000))
    assert play.transitions[-1].cause == "rebalance timeout"


def silent() -> Playbook:
    """A client that was heard at 20,000 for the last time, two seconds before its session ends."""
    play = Playbook(stable(rules=CAUTIOUS), NOW)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    return play >> wait(98_000) << DescribeGroup()


def test_before_a_silent_client_is_given_up_another_proxy_may_say_that_it_has_it() -> None:
    """Two proxies, one group: the one that lost the client must not leave on its behalf."""
    assert silent() >> SeenElsewhere() << Forget() << Is("absent/absent E2 g-1")


def test_a_silent_client_that_nobody_else_has_leaves_when_its_session_ends() -> None:
    play = silent() >> target(2)
    after(play, wait(1_999)) >> target(2)
    play >> wait(1) << DescribeGroup()
    assert play >> target(2) << beat(-1) << Is("absent/leaving E2 g-1")
    assert play.transitions[-1].cause == "session ended"


def test_a_coordinator_that_comes_back_at_the_end_of_a_session_is_not_believed_at_once() -> None:
    """Whoever has the client now has been cut off too, and has not beaten yet."""
    play = after(silent(), wait(3_000)) >> target(2)
    after(play, wait(1_499)) >> target(2)
    after(play, wait(1))
    assert play >> target(2) << beat(-1)


@pytest.mark.parametrize("lost", [False, True])
def test_a_silent_client_whose_epoch_somebody_else_has_moved_is_not_left_for(lost: bool) -> None:
    """Unless it may have been us: an answer of ours was lost."""
    play = after(silent(), target(2), wait(2_000))
    play.member = msgspec.structs.replace(play.member, must_say_all=lost)
    assert play >> target(3) << (beat(-1) if lost else Forget())


def test_a_silent_client_is_let_be_while_nobody_can_say_who_has_it_and_then_forgotten() -> None:
    play = silent() >> wait(499) >> DeadlinePassed()
    play >> wait(1) << DescribeGroup()
    after(play, wait(101_499)) >> DeadlinePassed()
    assert play >> wait(1) << Forget() << Is("absent/absent E2 g-1")


def overslept() -> Playbook:
    """The proxy stood still for more than two sessions: what the client said meanwhile may not have been read yet."""
    play = Playbook(stable(rules=CAUTIOUS), NOW)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    play.now += 230_000
    return play >> DeadlinePassed() << DescribeGroup()


def test_who_was_not_asked_about_in_time_is_asked_about_before_it_is_given_up() -> None:
    play = after(overslept(), target(2), wait(1_499)) >> target(2)
    after(play, wait(1))
    assert play >> target(2) << beat(-1) << Is("absent/leaving E2 g-1")


def test_who_was_overslept_stays_if_it_is_heard_now() -> None:
    assert overslept() >> beats() << AnswerHeartbeat(3) << beat(2, owned=[0, 1]) << Is("stable/stable E2 g2")


def test_who_waits_for_the_answer_to_a_heartbeat_that_was_held_all_the_time_is_there() -> None:
    play = Playbook(stable(rules=msgspec.structs.replace(CAUTIOUS, hold_beat_part=0.9)), NOW)
    after(play, beats(3), wait(3_000), beats(4), wait(3_000), beats(5))
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    play.now += 100_000
    play >> DeadlinePassed() << AnswerHeartbeat(5)
    assert play >> wait(97_999) << Is("stable/stable E2 g2")


def test_who_was_overslept_is_let_be_for_a_session_from_now_if_nobody_can_say() -> None:
    play = after(overslept(), wait(99_999)) >> DeadlinePassed()
    assert play >> wait(1) << Forget() << Is("absent/absent E2 g-1")


def test_where_nobody_may_ask_a_silent_client_leaves_when_its_session_ends() -> None:
    play = silent() >> TargetUnknown() >> wait(1_999)
    assert play >> wait(1) << beat(-1)


def test_a_silent_client_that_was_to_rejoin_is_given_up_at_its_rebalance_timeout() -> None:
    play = after(Playbook(stable(rules=CAUTIOUS), NOW), wait(10_000), granted(2, [0]))
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    play >> wait(58_000) << DescribeGroup() >> target(2)
    after(play, wait(2_000))
    assert play >> target(2) << beat(-1)
    assert play.transitions[-1].cause == "rebalance timeout"


def test_a_client_that_speaks_at_the_last_moment_stays() -> None:
    play = Playbook(stable(rules=CAUTIOUS), NOW)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    after(play, wait(99_999))
    play >> beats() << AnswerHeartbeat(3) << beat(2, owned=[0, 1])
    assert play >> wait(1_000) << Is("stable/stable E2 g2")


def test_a_client_that_does_not_rejoin_in_its_rebalance_timeout_is_out() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000), granted(2, [0]))
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    play >> wait(59_999) << Is("prepare-rebalance/reconciling E2 g2")
    play >> wait(1) << beat(-1) << Is("absent/leaving E2 g-1")
    play >> beats() << AnswerHeartbeat(3, e.UNKNOWN_MEMBER_ID)
    play >> granted(-1) << Forget()
    assert play.transitions[-2].cause == "rebalance timeout"


def test_a_client_that_does_not_sync_in_its_rebalance_timeout_is_out() -> None:
    play = after(Playbook(stable(), NOW), joins(6), granted(2, [0, 1]))
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    assert play >> wait(60_000) << beat(-1) << Is("absent/leaving E2 g-1")


# --- leaving -------------------------------------------------------------------------------------------------------


def test_a_leave_by_nobody_is_unknown_and_in_anothers_name_is_fenced() -> None:
    assert Playbook() >> leaves() << AnswerLeave(4, e.UNKNOWN_MEMBER_ID)
    assert Playbook(stable(), NOW) >> leaves(instance_id="i") << AnswerLeave(4, e.UNKNOWN_MEMBER_ID)
    static = Playbook(stable(instance_id="i", member_id=""), NOW)
    assert static >> leaves(instance_id="j") << AnswerLeave(4, e.FENCED_INSTANCE_ID)


def test_a_static_member_is_removed_by_its_instance_id() -> None:
    play = Playbook(stable(instance_id="i", member_id=""), NOW) >> leaves(instance_id="i", reason="admin")
    play << beat(-1, member_id="c-1", instance_id="i")
    assert play.transitions[-1].reason == "admin"
    assert play


def test_a_repeated_leave_is_answered_with_the_first() -> None:
    play = after(Playbook(stable(), NOW), leaves(4), leaves(5))
    assert play >> granted(-1) << AnswerLeave(4) << AnswerLeave(5) << Forget()


def test_a_client_need_not_wait_for_a_coordinator_that_cannot_be_reached_to_leave() -> None:
    play = after(Playbook(stable(), NOW), leaves())
    play >> LOST << AnswerLeave(4)
    play >> wait(500) << beat(-1)
    play >> refused(e.NOT_COORDINATOR)
    play >> wait(100_000) << beat(-1)
    assert play >> LOST << Forget() << Is("absent/absent E2 g-1")


def test_a_leave_in_the_middle_of_a_beat_goes_out_after_its_answer_whatever_that_says() -> None:
    for answer in (granted(3, [0]), refused(e.UNKNOWN_MEMBER_ID)):
        play = after(Playbook(stable(), NOW), wait(10_000), leaves())
        assert play >> answer << beat(-1)


def test_a_leave_releases_a_held_heartbeat_without_an_error() -> None:
    play = rhythmic() >> beats(5)
    assert play >> leaves() << AnswerHeartbeat(5) << beat(-1)


# --- commits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("generation", "partitions", "code"), [(1, None, e.ILLEGAL_GENERATION), (2, [0, 9], e.ILLEGAL_GENERATION)]
)
def test_a_commit_is_refused_unless_its_generation_was_told_last_and_its_partitions_are_held(
    generation: int, partitions: list[int] | None, code: int
) -> None:
    play = Playbook(stable(), NOW) >> commits(5, generation, partitions) << AnswerCommit(5, code)
    assert play


def test_a_commit_for_a_topic_that_it_does_not_subscribe_to_goes_upstream() -> None:
    """It has lost none of it to anybody: what it says of it is meant, and classic brokers take it."""
    elsewhere = CommitRequested(request=5, generation=2, partitions=(("apples", 0), ("elsewhere", 7)))
    assert Playbook(stable(), NOW) >> elsewhere << SendCommit(5, 2)


def test_while_what_it_owns_has_no_name_a_topic_that_cannot_be_placed_may_be_that_one() -> None:
    play = Playbook(msgspec.structs.replace(stable(), names={}), NOW)
    assert play >> commits(5, 2, [0]) << SendCommit(5, 2)


def test_of_a_topic_that_it_subscribes_to_it_commits_nothing_while_it_holds_nothing() -> None:
    reads_both = stable()
    contract = msgspec.structs.replace(reads_both.contract, topics=("apples", "bananas"))
    foreign = CommitRequested(request=5, generation=2, partitions=(("bananas", 0),))
    play = Playbook(msgspec.structs.replace(reads_both, contract=contract), NOW)
    assert play >> foreign << AnswerCommit(5, e.ILLEGAL_GENERATION)


def test_what_is_owned_of_a_topic_that_it_does_not_subscribe_to_any_more_is_all_that_it_may_commit_of_that() -> None:
    stays = stable()
    stays = msgspec.structs.replace(stays, contract=msgspec.structs.replace(stays.contract, topics=("bananas",)))
    assert Playbook(stays, NOW) >> commits(5, 2, [0]) << SendCommit(5, 2)
    assert Playbook(stays, NOW) >> commits(5, 2, [9]) << AnswerCommit(5, e.ILLEGAL_GENERATION)


def test_a_commit_by_nobody_is_unknown() -> None:
    assert Playbook() >> commits() << AnswerCommit(5, e.UNKNOWN_MEMBER_ID)


def test_an_eager_client_cannot_commit_what_it_has_let_go_of() -> None:
    play = after(Playbook(stable(), NOW), joins(6))
    play >> commits(7) << AnswerCommit(7, e.REBALANCE_IN_PROGRESS)
    after(play, granted(2, [0, 1]))
    assert play >> commits(8, 2, [0]) << AnswerCommit(8, e.REBALANCE_IN_PROGRESS)


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
    play = after(Playbook(stable(), NOW), commits(5, 2, [0]), joins(6))
    assert play >> CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH) << AnswerCommit(5, 27)
    waits = after(Playbook(stable(), NOW), commits(5, 2, [0]))
    after(waits, CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH), joins(6))
    assert waits >> granted(3) << AnswerCommit(5, 27) << beat(3, owned=[])


def test_several_stale_commits_of_what_the_client_has_let_go_of_are_refused_once_each() -> None:
    stale = [CommitAnswered(request=request, error_code=e.STALE_MEMBER_EPOCH) for request in (5, 6)]
    waits = after(Playbook(stable(), NOW), commits(5, 2, [0]), commits(6, 2, [0]), *stale, joins(7))
    assert waits >> granted(3) << AnswerCommit(5, 27) << AnswerCommit(6, 27) << beat(3, owned=[])


def test_a_commit_waits_for_the_verdict_on_an_older_one_and_no_longer() -> None:
    play = after(Playbook(stable(), NOW), commits(5), wait(10_000), granted(3, [0, 1]), commits(6))
    assert play >> CommitAnswered(request=5) << SendCommit(6, 3) << AnswerCommit(5, None)


# --- proxies come and go -------------------------------------------------------------------------------------------

JOURNAL = JournalEntry(
    group_id="g",
    member_id="m",
    instance_id=None,
    generation=7,
    told=tps(0, 1),
    protocol_name="range",
    subscription_version=1,
    session_timeout_ms=10_000,
    rebalance_timeout_ms=60_000,
    offers=("uniform", "range"),
    assignor="uniform",
)


def adopted(epoch: int = 9, journal: JournalEntry | None = JOURNAL, *partitions: int) -> MemberAdopted:
    return MemberAdopted(
        member_id="m",
        member_epoch=epoch,
        assigned=tps(*(partitions or (0, 1))),
        names={"a": "apples"},
        subscribed_topics=("apples",),
        journal=journal,
    )


def test_a_stable_member_comes_through_a_restart_and_its_client_notices_nothing() -> None:
    play = Playbook() >> adopted() << beat(9, owned=[0, 1]) << Is("stable/stable E9 g7")
    play >> granted(9, [0, 1]) << Is("stable/stable E9 g7")
    play >> beats(3, 7) << AnswerHeartbeat(3)
    assert play >> commits(5, 7, [0, 1]) << SendCommit(5, 9)


def test_what_changed_while_the_proxy_was_away_asks_for_one_rejoin() -> None:
    play = after(Playbook(), adopted(), granted(10, [0]))
    assert play << Is("prepare-rebalance/reconciling E10 g7")


def test_a_member_without_a_journal_entry_is_asked_to_rejoin_once_and_may_commit_what_it_holds() -> None:
    play = after(Playbook(), adopted(9, None), granted(9, [0, 1]))
    play << Is("prepare-rebalance/stable E9 g-1")
    play >> commits(5, 7, [0]) << SendCommit(5, 9)
    play >> commits(6, 7, [2]) << AnswerCommit(6, e.REBALANCE_IN_PROGRESS)
    play >> beats(3, 7) << AnswerHeartbeat(3, e.REBALANCE_IN_PROGRESS)
    play >> joins(8, owned=[0, 1]) << beat(9, owned=[0, 1])
    after(play, granted(9, [0, 1]), TargetUnknown(), wait(1_300), granted(9))
    assert (
        play >> syncs(9, 9) << AnswerSync(9, assignment=_apples(0, 1), protocol_name="range") << remembered((0, 1), 9)
    )


def _apples(*partitions: int) -> bytes:

    return synced(0, partitions).assignment


def test_a_static_member_that_had_left_for_a_while_is_taken_back_as_it_was() -> None:
    entry = msgspec.structs.replace(JOURNAL, instance_id="i")
    play = Playbook() >> msgspec.structs.replace(adopted(-2, entry), instance_id="i")
    play << beat(0, owned=(), instance_id="i") << Is("stable/joining E0 g7")
    play >> granted(9, [0, 1])
    assert play >> beats(3, 7) << AnswerHeartbeat(3)


def test_a_static_member_that_is_not_taken_back_is_fenced() -> None:
    play = after(Playbook(), adopted(-2)) >> refused(e.GROUP_ID_NOT_FOUND) << Is("absent/fenced E0 g-1")
    assert play >> beats() << AnswerHeartbeat(3, e.UNKNOWN_MEMBER_ID) << Forget()


def test_claims_of_a_client_that_is_adopted_and_rejoins_at_once_go_upstream() -> None:
    for event in (adopted(9, None), msgspec.structs.replace(adopted(9, None), names={})):
        play = after(Playbook(), event, joins(8, owned=[0]))
        play >> LEARNED
        assert play >> granted(9, [0, 1]) << beat(9, owned=[0])


@pytest.mark.parametrize(
    ("request_", "valid"), [(beats(3, 7), True), (beats(3, 8), False), (joins(), False), (leaves(), False)]
)
def test_a_journal_entry_holds_for_a_client_that_is_where_it_was_told_to_be(request_: ClientEvent, valid: bool) -> None:
    assert still_valid(JOURNAL, request_) is (JOURNAL if valid else None)
    assert still_valid(None, request_) is None


def test_what_an_adopted_client_holds_beyond_its_described_assignment_goes_upstream_too() -> None:
    """Brokers before 4.3 do not describe what a member is asked to give up: until it joins, nothing is said for it."""
    play = Playbook() >> adopted(9, None) << beat(9)
    play >> joins(8, owned=[0, 1, 7])
    assert play >> granted(9) << beat(9, owned=[0, 1, 7])


def test_an_adopted_client_that_holds_what_nobody_can_name_must_drop_it() -> None:
    play = after(Playbook(), adopted(9, None), granted(9))
    metadata = subscription(["apples"], [0], topic="cherries")
    play >> joins(8, protocols=(Protocol("range", metadata),)) << AnswerJoin(8, e.UNKNOWN_MEMBER_ID, member_id="m")
    assert play << beat(-1)


def test_names_that_come_before_an_adopted_client_joins_do_not_displace_those_it_was_adopted_with() -> None:
    event = msgspec.structs.replace(adopted(9, None), names={"a": "apples", "b": "bananas"})
    play = after(Playbook(), event, TopicsLearned(names={"a": "apples"}), granted(9))
    after(play, joins(8, protocols=(Protocol("range", subscription(["apples"], [3], topic="bananas")),)))
    assert play.member.owned == frozenset(tps(3, topic="b"))


def test_nobody_is_adopted_twice() -> None:
    with pytest.raises(e.ImpossibleStory):
        Playbook(stable(), NOW) >> adopted()


def test_a_proxy_that_stops_leaves_nobody_waiting_and_its_members_where_they_are() -> None:
    play = rhythmic() >> beats(5)
    play >> ProxyStopping() << AnswerHeartbeat(5) << remembered(session_ms=100_000)
    assert play << Is("stable/stable E2 g2")
    parked = Playbook(stable(), NOW) >> joins(6, owned=[0, 1]) << beat(2, owned=[0, 1])
    parked >> ProxyStopping() << AnswerJoin(6, e.NOT_COORDINATOR, member_id="m") << remembered()
    assert parked << Is("prepare-rebalance/acknowledging E2 g2")
    assert Playbook() >> ProxyStopping() << Is("absent/absent E0 g-1")


def test_a_proxy_that_leaves_takes_its_members_along_and_static_ones_keep_their_place() -> None:
    assert Playbook(stable(), NOW) >> ProxyStopping(leaving=True) << beat(-1)
    play = Playbook(stable(instance_id="i", member_id=""), NOW) >> ProxyStopping(leaving=True)
    assert play << beat(-2, member_id="c-1", instance_id="i")
    play = after(rhythmic(HOLDING), beats(5)) >> ProxyStopping(leaving=True)
    assert play << AnswerHeartbeat(5, e.UNKNOWN_MEMBER_ID) << beat(-1)
