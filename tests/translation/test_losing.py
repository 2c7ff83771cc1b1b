"""Losing things: answers, the coordinator's goodwill, and clients that leave."""

from __future__ import annotations

import msgspec
import pytest

from tests.translation.playbook import (
    LOST,
    NOW,
    Is,
    Playbook,
    after,
    beat,
    beats,
    granted,
    joined,
    joining,
    joins,
    leaves,
    refused,
    stable,
    syncs,
    wait,
)
from tests.translation.test_holding import rhythmic
from translation import errors as e
from translation.actions import (
    AnswerHeartbeat,
    AnswerJoin,
    AnswerLeave,
    AnswerSync,
    DescribeGroup,
    Forget,
)
from translation.events import (
    BeatWanted,
    MotionSeen,
)

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


@pytest.mark.parametrize("code", [e.NOT_COORDINATOR, e.COORDINATOR_NOT_AVAILABLE])
def test_what_a_coordinator_refuses_because_it_goes_may_have_been_heard(code: int) -> None:
    """It has written it, and its successor has that: as with an answer that is lost."""
    play = after(Playbook(stable(), NOW), wait(10_000)) >> refused(code)
    play >> wait(500)
    assert play >> beats() << beat(2, owned=[0, 1])


def test_one_that_loads_has_heard_nothing_yet() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000)) >> refused(e.COORDINATOR_LOAD_IN_PROGRESS)
    assert play >> wait(500) << beat(2)


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


def barred() -> Playbook:
    """While a Heartbeat was held, its principal's right to read the group was withdrawn."""
    play = after(rhythmic(), wait(4_000), beats(5), wait(2_000), BeatWanted()) >> refused(e.GROUP_AUTHORIZATION_FAILED)
    return play << AnswerHeartbeat(5, e.GROUP_AUTHORIZATION_FAILED) << Is("stable/stable E2 g2")


def test_who_may_not_read_the_group_any_more_is_told_so_and_goes_on_when_it_may_again() -> None:
    play = barred()
    # Whatever it says is refused: that there is news is no reason to say more.
    play >> BeatWanted() >> MotionSeen(until=play.now + 4_000) >> wait(4_999)
    play >> wait(1) << beat(2) >> refused(e.GROUP_AUTHORIZATION_FAILED)
    play >> beats(6) << beat(2) >> granted(3, [0, 1])
    play >> wait(1_000)
    assert play >> BeatWanted() << beat(3)


def test_who_may_not_read_the_group_any_more_leaves_when_its_session_is_over() -> None:
    play = after(barred(), wait(5_000), refused(e.GROUP_AUTHORIZATION_FAILED))
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    play >> wait(94_999)
    play >> wait(1) << beat(-1) << Is("absent/leaving E2 g-1")
    assert play.transitions[-1].cause == "session ended"
    assert play >> granted(-1) << Forget() << Is("absent/absent E2 g-1")


def test_what_a_client_has_let_go_of_is_said_when_it_may_read_the_group_again() -> None:
    play = after(Playbook(stable(), NOW), joins(6)) >> refused(e.GROUP_AUTHORIZATION_FAILED)
    play << AnswerJoin(6, e.GROUP_AUTHORIZATION_FAILED, member_id="m") << Is("prepare-rebalance/acknowledging E2 g2")
    assert play >> joins(7) << beat(2, owned=())


def test_a_leave_that_is_not_listened_to_is_said_again_by_somebody_else() -> None:
    """The client hears what a broker would say. To it the member is there until its session ends, be it that of 45 s."""
    play = Playbook(stable(), NOW) >> leaves() << beat(-1) << Is("absent/leaving E2 g-1")
    play >> refused(e.GROUP_AUTHORIZATION_FAILED) << AnswerLeave(4, e.GROUP_AUTHORIZATION_FAILED) << beat(-1)
    play >> refused(e.GROUP_AUTHORIZATION_FAILED) >> wait(4_999)
    assert play >> wait(1) << beat(-1) >> granted(-1) << Forget() << Is("absent/absent E2 g-1")


def test_a_leave_that_nobody_may_say_ends_with_the_session() -> None:
    play = after(Playbook(stable(), NOW), leaves(), refused(e.GROUP_AUTHORIZATION_FAILED), wait(100_000))
    assert play >> refused(e.GROUP_AUTHORIZATION_FAILED) << Forget() << Is("absent/absent E2 g-1")


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
