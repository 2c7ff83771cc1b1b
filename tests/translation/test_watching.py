"""When the coordinator is asked: often while the group moves, in turn when it rests."""

from __future__ import annotations

from tests.translation.playbook import (
    NOW,
    Is,
    Playbook,
    after,
    beat,
    granted,
    stable,
    wait,
)
from translation.events import (
    BeatPlaced,
    BeatWanted,
    DeadlinePassed,
    MotionSeen,
)


def test_after_a_sign_of_motion_the_coordinator_is_asked_often_and_then_as_before() -> None:
    play = Playbook(stable(), NOW)
    play >> MotionSeen(until=NOW + 500)
    for _ in range(3):
        play >> wait(200) << beat(2)
        play >> granted(2)
    play >> wait(4_999)
    assert play >> wait(1) << beat(2)


def test_at_rest_a_member_beats_in_its_turn_of_each_interval() -> None:
    """Turns are at 2.5 s of each 5: soon after the motion, and then an interval apart, however late the answers are."""
    play = after(Playbook(stable(), NOW), BeatPlaced(part=0.5), wait(10_000), granted(2))
    play >> wait(2_499)
    play >> wait(1) << beat(2)
    play >> wait(40) >> granted(2) >> wait(4_959)
    play >> wait(1) << beat(2)
    play >> MotionSeen(until=play.now + 300) >> granted(2) >> wait(200) << beat(2)
    assert play >> granted(2) >> wait(200) << beat(2)


def test_motion_and_wishes_do_not_hurry_who_is_absent_or_due_anyway() -> None:
    assert Playbook() >> MotionSeen(until=99) >> BeatWanted() << Is("absent/absent E0 g-1")
    due = Playbook(stable(), 29_950) >> MotionSeen(until=40_000)
    assert due >> wait(50) << beat(2)
    in_flight = after(Playbook(stable(), NOW), wait(10_000)) >> MotionSeen(until=40_000)
    assert in_flight >> granted(2) >> wait(200) << beat(2)


def test_waking_early_does_nothing() -> None:
    play = Playbook(stable(), NOW) >> DeadlinePassed()
    assert play.member == stable()
