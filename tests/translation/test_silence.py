"""A silent client may be at another proxy; an adopted one may still have a proxy that does not know; a leave wants quiet."""

from __future__ import annotations

import msgspec
import pytest

from tests.translation.playbook import (
    LEARNED,
    LOST,
    NOW,
    Is,
    Playbook,
    after,
    beat,
    beats,
    commits,
    granted,
    joins,
    refused,
    stable,
    subscription,
    syncs,
    target,
    tps,
    wait,
)
from tests.translation.test_adopting import adopted
from tests.translation.test_farewell import CAUTIOUS
from translation import Member
from translation import errors as e
from translation.actions import AnswerHeartbeat, AnswerJoin, DescribeGroup, SendCommit
from translation.events import (
    BeatWanted,
    ClientLeft,
    CommitAnswered,
    CoordinatorLost,
    LullWanted,
    MotionSeen,
    Protocol,
)
from translation.member import Rejoin
from translation.states import Standing

# --- silence -------------------------------------------------------------------------------------------------------


def rhythmic(**fields: object) -> Member:
    """Beats every three seconds, so after six it may be anywhere."""
    return msgspec.structs.replace(stable(), beat_ms=3_000, beat_seen_at=NOW, **fields)


def test_the_member_of_a_silent_client_beats_rarely_and_only_to_keep_its_place() -> None:
    play = Playbook(rhythmic(heartbeat_at=NOW + 6_000), NOW)
    play >> wait(14_999)
    play >> wait(1) << beat(2)
    play >> granted(2)
    play >> wait(1) >> MotionSeen(until=NOW + 60_000) >> BeatWanted()
    play >> wait(14_998)
    assert play >> wait(1) << beat(2)


@pytest.mark.parametrize("due_ms", [5_001, 6_000])
def test_it_beats_once_at_least_before_it_fades_so_that_a_lost_coordinator_is_noticed(due_ms: int) -> None:
    """With a session as short as this the client counts as silent when its member's next beat is due."""
    contract = msgspec.structs.replace(stable().contract, session_timeout_ms=10_000)
    play = Playbook(msgspec.structs.replace(stable(rules=CAUTIOUS), contract=contract, heartbeat_at=NOW + due_ms), NOW)
    play >> wait(6_664)
    play >> wait(1) << beat(2)
    play >> LOST << DescribeGroup()
    after(play, wait(1_335), wait(2_500)) >> target(2)
    play >> wait(7_999) << Is("stable/stable E2 g2")
    assert play >> wait(1) << DescribeGroup()


def test_a_client_that_speaks_in_time_is_not_silent() -> None:
    play = after(Playbook(rhythmic(heartbeat_at=NOW + 8_000), NOW), wait(5_999), beats())
    assert play >> wait(2_001) << beat(2)


def test_what_a_client_holds_is_said_when_it_speaks_and_not_before() -> None:
    """It may have gone to another proxy, and hold more by now. What is left out of all that is said counts as free."""
    play = Playbook(rhythmic(heartbeat_at=NOW + 1_000), NOW) >> wait(1_000) << beat(2)
    play >> CoordinatorLost() >> wait(13_999)
    play >> wait(1) << beat(2)
    play >> granted(2) << Is("stable/stable E2 g2")
    assert play >> beats() << AnswerHeartbeat(3) << beat(2, owned=[0, 1])


def test_nothing_is_let_go_of_in_the_name_of_a_silent_client() -> None:
    """Another proxy may have told it what we never did."""
    silent = rhythmic(
        heartbeat_at=NOW + 15_000, must_say_all=True, assigned=frozenset(tps(0, 1, 2)), rejoin=Rejoin(NOW + 90_000)
    )
    play = Playbook(silent, NOW)
    play >> wait(15_000) << beat(2)
    play >> granted(2, [0, 1]) << Is("stable/acknowledging E2 g2")
    assert play >> beats() << AnswerHeartbeat(3) << beat(2, owned=[0, 1])


def test_a_client_that_comes_back_from_silence_says_and_hears_all_for_a_session() -> None:
    play = Playbook(rhythmic(heartbeat_at=None), NOW) >> wait(20_000)
    play >> beats() << AnswerHeartbeat(3) << beat(2, owned=[0, 1])
    play >> granted(2, [0, 1])
    play >> wait(2_000)
    play >> beats() << AnswerHeartbeat(3)
    play >> wait(3_000) << beat(2, owned=[0, 1])
    late = msgspec.structs.replace(play.member, in_flight=None, must_say_all=False, heartbeat_at=NOW + 125_000)
    late = msgspec.structs.replace(late, heard_at=NOW + 119_999, beaten_at=NOW + 120_000)
    assert after(Playbook(late, NOW + 120_000), beats()) >> wait(5_000) << beat(2)


@pytest.mark.parametrize(("late_ms", "says"), [(1_499, []), (1_500, [0, 1])])
def test_who_beats_twice_a_session_is_back_from_nowhere_if_it_is_on_time(late_ms: int, says: list[int]) -> None:
    """A session of six seconds and the beat that clients have by default: it counts as silent each time. Once, all was said
    of it for ever."""
    contract = msgspec.structs.replace(stable().contract, session_timeout_ms=6_000)
    member = msgspec.structs.replace(rhythmic(heartbeat_at=NOW + 9_000), contract=contract)
    play = Playbook(member, NOW) >> wait(3_000 + late_ms)
    assert play >> beats() << AnswerHeartbeat(3) << (beat(2, owned=says) if says else beat(2))


def test_once_in_a_while_all_is_said_for_what_was_told_in_answer_to_another_proxys_heartbeat() -> None:
    often = msgspec.structs.replace(stable(), heard_at=44_000, beaten_at=44_000, heartbeat_at=45_000)
    play = Playbook(often, 44_500) >> wait(500) << beat(2)
    play >> granted(2) >> wait(1_000)
    assert play >> beats() << AnswerHeartbeat(3) << beat(2, owned=[0, 1])


def test_a_member_without_a_farewell_leaves_without_asking() -> None:
    play = Playbook(stable(), NOW)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    assert play >> wait(100_000) << beat(-1)


def test_a_client_heard_just_now_that_misses_its_rebalance_timeout_needs_no_farewell() -> None:
    play = after(Playbook(stable(rules=CAUTIOUS), NOW), wait(10_000), granted(2, [0]))
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    after(play, wait(30_000), beats())
    after(play, granted(2, [0]), wait(10_000), beats(), wait(19_999))
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None, in_flight=None)
    assert play >> wait(1) << beat(-1)


def test_a_description_of_a_member_that_is_not_in_farewell_ends_nothing() -> None:
    play = Playbook(stable(rules=CAUTIOUS), NOW) >> target(3) << Is("stable/stable E2 g2")
    assert play


def test_a_client_that_speaks_in_its_farewell_after_its_rebalance_timeout_is_out() -> None:
    play = after(Playbook(stable(rules=CAUTIOUS), NOW), wait(10_000), granted(2, [0]))
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    after(play, wait(60_400))
    play >> beats() << AnswerHeartbeat(3, e.UNKNOWN_MEMBER_ID) << beat(-1)
    assert play.transitions[-1].cause == "rebalance timeout"


def test_a_client_that_joins_in_its_farewell_and_holds_nothing_joins_anew() -> None:
    play = after(Playbook(stable(rules=CAUTIOUS), NOW), wait(10_000), granted(2, [0]))
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    after(play, wait(60_400))
    assert play >> joins(3) << beat(0, owned=()) << Is("completing-rebalance/joining E0 g-1")
    assert play.transitions[-1].cause == "rebalance timeout"


# --- shared --------------------------------------------------------------------------------------------------------


def test_an_adopted_member_says_all_until_the_proxy_that_had_it_must_have_missed_its_client() -> None:
    """That one may have been told of an assignment, or an epoch, that was meant for us."""
    play = after(Playbook(), adopted(), granted(9, [0, 1]), LEARNED, wait(4_999), beats(3, 7))
    play >> wait(1) << beat(9)
    after(play, granted(9), wait(3_000))
    play >> beats(3, 7) << AnswerHeartbeat(3) << beat(9, owned=[0, 1])
    late = msgspec.structs.replace(
        play.member, in_flight=None, must_say_all=False, heartbeat_at=49_000, heard_at=44_999
    )
    late = msgspec.structs.replace(late, beaten_at=45_000)
    assert after(Playbook(late, 45_000), beats(3, 7)) >> wait(4_000) << beat(9)


def test_a_client_that_is_back_with_a_later_generation_has_been_told_things_elsewhere_and_must_rejoin() -> None:
    play = Playbook(rhythmic(heartbeat_at=None), NOW) >> wait(20_000)
    play >> commits(5, 7, [0]) << SendCommit(5, 2) << beat(2) << Is("prepare-rebalance/stable E2 g-1")
    play >> beats(6, 7) << AnswerHeartbeat(6, e.REBALANCE_IN_PROGRESS)
    after(play, granted(2))
    assert play >> joins(8, owned=[0, 5]) << beat(2, owned=[0, 5])


def test_what_it_was_told_there_of_a_topic_that_nobody_here_can_name_it_must_drop() -> None:
    """It is subscribed to it, and nobody has asked what it is called."""
    join = joins(1, topics=["apples", "bananas"], session_timeout_ms=100_000)
    play = after(Playbook(), join, granted(2, [0]), LEARNED, target(2, [0]), syncs(), wait(60_000), beats(5, 3))
    metadata = subscription(["apples", "bananas"], [7], topic="bananas")
    play >> joins(6, protocols=(Protocol("range", metadata),)) << AnswerJoin(6, e.UNKNOWN_MEMBER_ID, member_id="m")
    assert play >> granted(2) << beat(-1)


def test_a_later_generation_is_none_for_whoever_is_to_join_anew() -> None:
    """It has nothing to go on from: its client joins too."""
    play = after(Playbook(stable(), NOW), joins(6, session_timeout_ms=45_000), refused(e.UNKNOWN_MEMBER_ID))
    after(play, ClientLeft(request=6), LOST, wait(24_000))
    assert play.member.standing is Standing.JOINING
    assert play >> beats(9, 7) << AnswerHeartbeat(9, e.ILLEGAL_GENERATION)


def test_a_first_generation_that_was_not_told_here_was_told_elsewhere_and_its_client_must_rejoin() -> None:
    """It left while its JoinGroup waited: what it holds it has from another proxy."""
    play = after(Playbook(), joins(1), granted(2, [0]), ClientLeft(request=1), wait(500))
    play >> beats(3, 7) << AnswerHeartbeat(3, e.REBALANCE_IN_PROGRESS)
    assert play << Is("prepare-rebalance/stable E2 g-1")


def test_any_generation_is_none_for_whoever_left_before_it_was_let_in() -> None:
    play = after(Playbook(), joins(1), ClientLeft(request=1), wait(500))
    assert play.member.standing is Standing.JOINING
    assert play >> beats(3, 7) << AnswerHeartbeat(3, e.ILLEGAL_GENERATION)


# --- a lull --------------------------------------------------------------------------------------------------------


def test_after_a_leave_no_heartbeat_goes_out_that_nobody_waits_for() -> None:
    play = after(Playbook(stable(), NOW), MotionSeen(until=NOW + 6_000)) >> LullWanted(until=NOW + 1_000)
    play >> wait(999)
    assert play >> wait(1) << beat(2)


def test_where_one_lull_follows_the_other_a_member_still_beats_well_within_its_session() -> None:
    """A full group, and a client that it refuses all the time: each attempt is motion, and then a leave."""
    play = Playbook(stable(), NOW)
    for _ in range(11):
        after(play, MotionSeen(until=play.now + 6_000), LullWanted(until=play.now + 1_000), wait(900))
        assert play.member.in_flight is None
    after(play, MotionSeen(until=play.now + 6_000), LullWanted(until=play.now + 1_000))
    assert play >> wait(100) << beat(2)


@pytest.mark.parametrize("word", [MotionSeen(until=NOW + 6_000), BeatWanted()])
def test_a_newcomer_ends_the_lull(word: object) -> None:
    play = Playbook(stable(), NOW) >> LullWanted(until=NOW + 1_000) >> LullWanted(until=NOW + 1_000)
    after(play, word)  # type: ignore[arg-type]
    assert play.member.quiet_until == 0


def test_who_is_waited_for_beats_in_a_lull_too() -> None:
    play = Playbook(stable(), NOW) >> LullWanted(until=NOW + 1_000)
    play >> joins(6, owned=[0, 1]) << beat(2, owned=[0, 1])
    stale = after(Playbook(stable(), NOW), LullWanted(until=NOW + 1_000), commits())
    assert play
    assert stale >> CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH) << beat(2)
