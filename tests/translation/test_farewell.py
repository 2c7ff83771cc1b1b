"""The client's deadlines: its session, its rebalance timeout, and who is asked before it is given up."""

from __future__ import annotations

import msgspec
import pytest

from tests.translation.playbook import (
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
    joins,
    number,
    stable,
    subscription,
    target,
    wait,
)
from translation import Rules
from translation import errors as e
from translation.actions import (
    AnswerCommit,
    AnswerHeartbeat,
    DescribeGroup,
    Forget,
    SendCommit,
)
from translation.events import (
    CommitAnswered,
    CommitLost,
    DeadlinePassed,
    Protocol,
    SeenElsewhere,
    TargetUnknown,
)

CAUTIOUS = msgspec.structs.replace(RULES, farewell_ms=2_000)


def test_a_silent_client_leaves_after_its_own_session_timeout() -> None:
    play = Playbook(stable(), NOW)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    play >> wait(99_999)
    assert play >> wait(1) << beat(-1) << Is("absent/leaving E2 g-1")
    assert play.transitions[-1].cause == "session ended"


def kept_away(rules: Rules) -> Playbook:
    """A client that was heard at 20,000 for the last time; ten seconds later its coordinator was lost."""
    play = Playbook(stable(rules=rules), NOW) >> wait(10_000) << beat(2) >> LOST
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    return play


def test_a_client_that_had_no_coordinator_has_its_time_anew_from_the_first_word_of_one() -> None:
    """As with a classic coordinator, which has just taken over when it says that word."""
    play = kept_away(CAUTIOUS) << DescribeGroup() >> wait(88_000) << DescribeGroup()
    play >> wait(500) << DescribeGroup() >> target(2) >> wait(97_999)
    play >> wait(1) << DescribeGroup() >> target(2)
    after(play, wait(1_500))
    play >> wait(500) << DescribeGroup()
    assert play >> target(2) << beat(-1)
    assert play.transitions[-1].cause == "session ended"


def test_its_time_begins_anew_but_once_and_as_soon_as_anybody_has_found_the_coordinator() -> None:
    play = kept_away(CAUTIOUS) << DescribeGroup() >> wait(5_000) >> target(2)
    play >> wait(10_000) >> target(2)
    play >> wait(87_999)
    assert play >> wait(1) << DescribeGroup()


def test_its_time_begins_anew_when_its_own_heartbeat_is_answered_again() -> None:
    play = Playbook(stable(rules=CAUTIOUS), NOW) >> wait(10_000) << beat(2) >> LOST << DescribeGroup()
    play >> wait(50_000) << beat(2) >> granted(2)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    play >> wait(97_999)
    assert play >> wait(1) << DescribeGroup()


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


def test_what_a_silent_client_was_told_elsewhere_is_claimed_for_it_when_it_rejoins_here() -> None:
    """It reads it until it is told otherwise, and the coordinator may want it back already."""
    assert silent() >> joins(8, owned=[0, 1, 7]) << beat(2, owned=[0, 1, 7])


def test_nor_is_the_number_that_it_was_told_here_a_reason_to_doubt_it() -> None:
    """Nobody heard of it for long: to claim too much for it is better than to let go of what it reads."""
    metadata = subscription(["apples"], [0, 1, 7], 2, generation=2)
    assert silent() >> joins(8, protocols=(Protocol("range", metadata),)) << beat(2, owned=[0, 1, 7])


def test_a_client_that_rejoins_is_told_a_higher_number_than_it_has_from_elsewhere() -> None:
    """Where its subscription says it, as since version 2."""
    metadata = b"\0\2" + subscription(["apples"], version=1)[2:] + number(5)
    play = after(silent(), joins(8, protocols=(Protocol("range", metadata),)), granted(2, [0, 1]), target(2, [0, 1]))
    assert play.member.generation == 6


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


@pytest.mark.parametrize("verdict", [CommitAnswered(request=5), CommitLost(request=5)])
def test_the_session_of_who_waits_for_the_answer_to_a_commit_counts_from_it(
    verdict: CommitAnswered | CommitLost,
) -> None:
    """What else it has to say may wait behind it; until it is answered, however long the proxy stands still."""
    play = Playbook(stable(rules=CAUTIOUS), NOW) >> commits(5) << SendCommit(5, 2)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    play.now += 230_000
    play >> DeadlinePassed()
    after(play, verdict)
    play >> wait(97_999)
    assert play >> wait(1) << DescribeGroup()


def test_its_session_counts_from_a_refusal_too_and_not_from_what_another_had_asked() -> None:
    play = after(Playbook(stable(rules=CAUTIOUS), NOW), commits(5))
    after(play, CommitAnswered(request=5, error_code=e.STALE_MEMBER_EPOCH))
    play >> wait(10_000) >> LOST << DescribeGroup() << AnswerCommit(5, e.NOT_COORDINATOR)
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None, cut=False)
    play >> wait(90_000) >> CommitAnswered(request=4) << AnswerCommit(4)
    play >> wait(7_999)
    assert play >> wait(1) << DescribeGroup()


def test_a_farewell_ends_with_its_reason() -> None:
    """A rebalance that nobody needs any more is called off, and with it the timeout that had passed."""
    play = after(Playbook(stable(rules=CAUTIOUS), NOW), wait(10_000), granted(2, [0]), wait(20_000))
    play >> wait(38_000) << DescribeGroup()
    play >> granted(2, [0, 1]) << Is("stable/stable E2 g2")
    play.member = msgspec.structs.replace(play.member, heartbeat_at=None)
    play >> wait(29_999)
    assert play >> wait(1) << DescribeGroup()


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
