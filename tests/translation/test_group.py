"""What the members of one group that live behind one proxy know together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest

from tests.translation.playbook import joins, tps
from translation.admission import why_not_translated
from translation.events import (
    AssignorAgreed,
    BeatPlaced,
    BeatWanted,
    HandOverPlanned,
    LullWanted,
    MotionSeen,
    Protocol,
    TargetLearned,
    TargetUnknown,
)
from translation.group import (
    AnyGroupFact,
    Describe,
    Described,
    DescribedMember,
    DescriptionFailed,
    DescriptionWanted,
    Group,
    GroupOrder,
    Known,
    MemberChanged,
    NativeBeat,
    Tell,
    TimePassed,
    native_interval_ms,
    native_waits_until,
)
from translation.handover import Gift, best_plan
from translation.member import LONG_AGO, Contract
from translation.motion import group_step, is_deserted
from translation.rules import Pacing
from translation.states import Phase, Standing
from translation.transition import Transition

PACING = Pacing(native_moving_ms=300, native_quiet_ms=2_000, grace_ms=1_000, describe_from=2, poll_ms=200)
QUIET = Group(group_id="g", pacing=PACING)
NO_VOTE = Contract()


def changed(
    member_id: str = "m", epoch: int = 2, before: int = 2, contract: Contract = NO_VOTE, **more: object
) -> MemberChanged:
    fields: dict[str, object] = {
        "group_id": "g",
        "member_id": member_id,
        "instance_id": None,
        "client_id": "c",
        "at": 0,
        "cause": "",
        "phase_before": Phase.STABLE,
        "phase": Phase.STABLE,
        "standing_before": Standing.STABLE,
        "standing": Standing.STABLE,
        "epoch_before": before,
        "epoch": epoch,
        "generation_before": 2,
        "generation": 2,
    }
    return MemberChanged(transition=Transition(**(fields | more)), contract=contract)  # type: ignore[arg-type]


def gone(member_id: str = "m") -> MemberChanged:
    return changed(member_id, phase=Phase.ABSENT, standing=Standing.LEAVING, request=7)


def member(
    name: str, epoch: int, assigned: tuple[int, ...], target: tuple[int, ...], hears_at: int = LONG_AGO
) -> DescribedMember:
    return DescribedMember(member_id=name, epoch=epoch, assigned=tps(*assigned), target=tps(*target), hears_at=hears_at)


def described(*members: DescribedMember, epoch: int = 2, behind: int = 0) -> Described:
    return Described(group_epoch=epoch, assignment_epoch=epoch - behind, members=members)


Timed = tuple[int, AnyGroupFact]


def told(facts: Sequence[Timed], group: Group = QUIET) -> tuple[Group, list[GroupOrder]]:
    """The orders of the last fact."""
    orders: list[GroupOrder] = []
    for now, fact in facts:
        group, orders = group_step(group, fact, now)
    return group, orders


def of_locals(*names: str) -> Group:
    members = {name: Known(epoch=2, local=True) for name in names}
    return msgspec.structs.replace(QUIET, members=members, locals=tuple(sorted(names)))


def test_native_members_that_ended_without_a_word_are_forgotten() -> None:
    group = Group(group_id="g")
    for number in range(3):
        beat = NativeBeat(member_id=f"n{number}", epoch_sent=3, epoch_answered=3)
        group, _ = group_step(group, beat, number * 40_000)
    assert sorted(group.members) == ["n1", "n2"]


@pytest.mark.parametrize(
    ("known", "is_left"),
    [
        (Known(), True),
        (Known(local=True), False),
        (Known(passing=True, beat_at=40_000), False),
        (Known(passing=True, beat_at=0), True),
    ],
)
def test_a_group_is_deserted_when_nobody_of_it_lives_here_or_passes(known: Known, is_left: bool) -> None:
    group = msgspec.structs.replace(QUIET, members={"direct": Known(), "m": known})
    assert is_deserted(group, 90_000) is is_left
    assert is_deserted(QUIET, 0)


def test_who_has_gone_wishes_no_description_any_more() -> None:
    """Nor does its wish have the group look for a way to the coordinator for ever, where there is none."""
    group, _ = told([(100, DescriptionWanted(member_id="m"))], of_locals("m"))
    group, _ = told([(110, gone()), (120, DescriptionFailed(for_good=False))], group)
    assert (group.wishers, group.describe_at) == (frozenset(), None)


def test_a_member_seen_to_move_makes_its_fellows_look() -> None:
    group, orders = told([(100, changed("m", epoch=3))], of_locals("m", "n"))
    assert orders == [Tell("m", MotionSeen(until=6_100)), Tell("n", MotionSeen(until=6_100))]
    assert group.is_moving(6_099)
    assert not group.is_moving(6_100)


def test_a_change_that_moves_no_epoch_is_no_sign() -> None:
    assert told([(100, changed("m"))], of_locals("m"))[1] == []
    absent = changed("m", phase_before=Phase.ABSENT)
    assert told([(100, absent)], of_locals("m"))[1] == [Tell("m", MotionSeen(until=6_100))]


def test_a_client_that_must_give_up_something_is_a_sign_of_motion() -> None:
    """Who is to receive it, and who else must give, would learn of it with the next beat."""
    must_give = changed("m", owned=tps(0, 1), assigned=tps(0))
    group, orders = told([(100, must_give)], of_locals("m"))
    assert orders == [Tell("m", MotionSeen(until=6_100))]
    assert told([(200, must_give)], group)[1] == []


def test_the_members_here_take_turns_to_beat() -> None:
    group = QUIET
    parts = []
    for name in "abcd":
        group, orders = told([(0, changed(name))], group)
        parts += [order.event.part for order in orders if isinstance(order.event, BeatPlaced)]
    assert parts == [0, 0.5, 0.25, 0.75]
    assert told([(0, changed("b"))], group)[1] == []
    assert told([(0, gone("b")), (0, changed("e"))], group)[1][0] == Tell("e", BeatPlaced(part=0.5))


def test_after_a_leave_nobody_is_hurried_for_a_while() -> None:
    group, orders = told([(100, gone("m"))], of_locals("m", "n"))
    assert orders == [Tell("n", LullWanted(until=1_100))]
    assert group.wake_at == 1_100
    assert group_step(group, TimePassed(), 1_100)[1] == [Tell("n", MotionSeen(until=7_100))]


def test_a_leave_is_one_sign_and_its_aftermath_none() -> None:
    group, _ = told([(100, gone("m"))], of_locals("m"))
    assert told([(200, gone("m"))], group)[0] == group


def test_nobody_waits_for_a_replacement_of_one_whose_session_has_ended() -> None:
    """Its process is long dead; another, if there is one, has joined meanwhile."""
    ended = changed(phase=Phase.ABSENT, standing=Standing.LEAVING)
    assert told([(100, ended)], of_locals("m", "n"))[1] == [Tell("n", MotionSeen(until=6_100))]


def test_a_newcomer_ends_the_grace() -> None:
    orders = told([(100, gone("m")), (200, changed("x", phase_before=Phase.ABSENT))], of_locals("m", "n"))[1]
    assert orders == [
        Tell("x", BeatPlaced(part=0.5)),
        Tell("n", MotionSeen(until=6_200)),
        Tell("x", MotionSeen(until=6_200)),
    ]


def test_native_members_that_pass_through_are_signs_too() -> None:
    joined = NativeBeat(member_id="x", epoch_sent=0, epoch_answered=3)
    quiet = NativeBeat(member_id="x", epoch_sent=3, epoch_answered=3)
    left = NativeBeat(member_id="x", epoch_sent=-1, epoch_answered=-1)
    group, orders = told([(100, joined)], of_locals("n"))
    assert orders == [Tell("n", MotionSeen(until=6_100))]
    group, orders = told([(200, quiet)], group)
    assert orders == []
    assert group.members["x"] == Known(epoch=3, passing=True, beat_at=200)
    group, orders = told([(300, left)], group)
    assert (orders, group.wake_at) == ([Tell("n", LullWanted(until=1_300))], 1_300)
    assert "x" not in group.members


@pytest.mark.parametrize(("moving", "asked_ms", "told_ms"), [(True, 5_000, 300), (False, 5_000, 2_000), (False, 1, 1)])
def test_natives_that_pass_through_are_paced_and_never_slowed_down(moving: bool, asked_ms: int, told_ms: int) -> None:
    group = msgspec.structs.replace(QUIET, moving_until=100 if moving else 0)
    assert native_interval_ms(group, asked_ms, now=50) == told_ms


def test_pacing_can_be_switched_off() -> None:
    off = msgspec.structs.replace(QUIET, pacing=Pacing(native_moving_ms=0, native_quiet_ms=0))
    assert native_interval_ms(off, 5_000, now=0) == 5_000


# --- descriptions --------------------------------------------------------------------------------------------------


def test_the_wishes_of_many_are_one_description() -> None:
    group, orders = told([(100, DescriptionWanted(member_id="m"))], of_locals("m", "n"))
    assert orders == [Describe()]
    group, orders = told([(110, DescriptionWanted(member_id="n"))], group)
    assert orders == []
    both = described(member("m", 2, (0,), (0, 1)), member("n", 2, (1,), ()), member("x", 2, (), ()))
    group, orders = told([(120, both)], group)
    assert orders == [
        Tell("m", TargetLearned(group_epoch=2, assignment_epoch=2, member_epoch=2, target=tps(0, 1), rest_from=120)),
        Tell("n", TargetLearned(group_epoch=2, assignment_epoch=2, member_epoch=2, target=(), rest_from=120)),
    ]
    assert told([(130, DescriptionWanted(member_id="m"))], group)[1] == [Describe()]


def test_long_descriptions_are_as_far_apart_as_they_are_long() -> None:
    dear = msgspec.structs.replace(PACING, describe_us=100_000)
    group = msgspec.structs.replace(of_locals("m", "n", "o"), pacing=dear)
    view = described(*(member(name, 2, (), ()) for name in "mno"))
    group, orders = told([(100, DescriptionWanted(member_id="m")), (120, view)], group)
    assert orders == [
        Tell("m", TargetLearned(group_epoch=2, assignment_epoch=2, member_epoch=2, target=(), rest_from=120))
    ]
    group, orders = told([(130, DescriptionWanted(member_id="m")), (140, DescriptionWanted(member_id="n"))], group)
    assert (orders, group.wake_at) == ([], 120 + 3 * 100)
    group, orders = told([(420, TimePassed())], group)
    assert orders == [Describe()]
    moving, _ = told([(430, changed("m", epoch=3)), (440, view)], group)
    assert moving.wake_at == 440 + 3 * 100


def test_a_description_that_does_not_come_is_asked_for_again() -> None:
    group, _ = told([(100, DescriptionWanted(member_id="m"))], of_locals("m"))
    assert group.wake_at == 2_100
    assert told([(2_099, TimePassed())], group)[1] == []
    assert told([(2_100, TimePassed())], group)[1] == [Describe()]


def test_a_description_that_was_lost_is_asked_for_again_soon_while_somebody_wants_it() -> None:
    wanted: list[Timed] = [(100, DescriptionWanted(member_id="m")), (150, DescriptionFailed(for_good=False))]
    group, orders = told(wanted, of_locals("m"))
    assert (orders, group.wake_at) == ([], 350)
    assert told([(350, TimePassed())], group)[1] == [Describe()]
    assert told([(150, DescriptionFailed(for_good=False))], of_locals("m"))[0].wake_at is None


def test_a_group_that_cannot_be_described_is_said_so_to_who_wanted_it() -> None:
    wanted: list[Timed] = [(100, DescriptionWanted(member_id="m")), (150, DescriptionFailed(for_good=True))]
    group, orders = told(wanted, of_locals("m", "n"))
    assert orders == [Tell("m", TargetUnknown())]
    assert group.wake_at is None


def test_many_members_are_watched_by_one_description_that_names_those_who_should_look() -> None:
    group, orders = told(
        [(100, changed("a", epoch=3))], of_locals("a", "b", "behind, and waits", "behind, and all is well", "c", "d")
    )
    assert orders == [Describe()]
    view = described(
        member("a", 3, (0,), (0,)),
        member("b", 2, (1, 5), (1,)),
        member("behind, and waits", 2, (6,), (6, 4)),
        member("behind, and all is well", 2, (7,), (7,)),
        member("c", 3, (2,), (2, 3)),
        member("d", 3, (4,), (4, 1)),
        member("native", 2, (), (9,)),
        epoch=3,
    )
    group, orders = told([(120, view)], group)
    assert orders == [Tell("b", BeatWanted()), Tell("c", BeatWanted())]
    assert group.wake_at == 320
    group, orders = told([(6_200, view)], group)
    assert (orders, group.wake_at) == ([], None)


@pytest.mark.parametrize("for_good", [True, False])
def test_a_few_members_look_for_themselves_where_their_moving_group_cannot_be_described(for_good: bool) -> None:
    group, orders = told([(100, changed("a", epoch=3))], of_locals("a", "b", "c"))
    assert orders == [Describe()]
    failed = DescriptionFailed(for_good=for_good)
    assert told([(120, failed)], group)[1] == [Tell(name, MotionSeen(until=6_100)) for name in "abc"]
    # Not when all is over, nor right after a leave.
    assert told([(6_100, failed)], group)[1] == []
    assert told([(110, gone("c")), (120, failed)], group)[1] == []


def test_many_members_are_not_let_loose_when_a_description_is_lost_it_is_asked_for_again() -> None:
    group, _ = told([(100, changed("a", epoch=3))], of_locals("a", "b", "c", "d", "e"))
    lost, orders = told([(120, DescriptionFailed(for_good=False))], group)
    assert (orders, lost.wake_at) == ([], 320)
    refused, orders = told([(120, DescriptionFailed(for_good=True))], group)
    assert (orders, refused.wake_at) == ([], None)
    assert told([(6_200, DescriptionFailed(for_good=False))], group)[0].wake_at is None


def test_somebody_of_many_beats_where_a_target_has_yet_to_be_computed() -> None:
    group, _ = told([(100, changed("a", epoch=3))], of_locals("a", "b", "c", "d"))
    at_rest = [member(name, 3, (number,), (number,)) for number, name in enumerate("abcd")]
    assert told([(120, described(*at_rest, epoch=4, behind=1))], group)[1] == [Tell("a", BeatWanted())]
    assert told([(120, described(*at_rest, epoch=3))], group)[1] == []
    assert told([(110, gone("d")), (120, described(*at_rest[:3], epoch=4, behind=1))], group)[1] == []


# --- hand-over -----------------------------------------------------------------------------------------------------


def losing() -> Group:
    return told([(0, changed("m", owned=tps(0, 1), assigned=tps(0)))], of_locals("m", "n"))[0]


def test_partitions_for_a_member_behind_this_proxy_change_hands_at_once() -> None:
    view = described(member("m", 2, (0, 1), (0,)), member("n", 2, (), (1,)))
    assert told([(100, view)], losing())[1] == [Tell("m", HandOverPlanned(at=100))]


def test_partitions_for_a_direct_native_member_are_given_up_just_before_its_beat() -> None:
    before = described(member("m", 2, (0, 1), (0, 1)), epoch=2)
    view = described(member("m", 2, (0, 1), (0,)), member("x", 3, (), (1,)), epoch=3)
    group, _ = told([(100, before), (300, view)], losing())
    assert group.members["x"] == Known(epoch=3, beat_at=100, beat_within_ms=200)
    assert told([(1_000, view)], group)[1] == [Tell("m", HandOverPlanned(at=5_100 - 400, beat_at=5_100))]
    assert told([(5_300, view)], group)[1] == [Tell("m", HandOverPlanned(at=10_100 - 400, beat_at=10_100))]


def seated(*names: str, epoch: int = 2) -> Group:
    """Of members that take turns to beat, at rest."""
    members = {name: Known(epoch=epoch, local=True, seat=seat) for seat, name in enumerate(names)}
    return msgspec.structs.replace(QUIET, members=members, locals=tuple(sorted(names)), epoch=epoch)


@pytest.mark.parametrize(
    ("names", "since"),
    [("m", 11_300 - 5_000), ("mn", 10_000 + 2_500 - 5_000), ("nm", 10_000), ("mnop", 10_000 + 1_250)],
)
def test_what_made_the_epoch_rise_came_after_somebody_here_last_looked(names: str, since: int) -> None:
    """Turns are at 0, 2.5, 1.25 and 3.75 s of each 5: whose beat saw it did not see it before."""
    group = told([(11_300, changed("m", epoch=3))], seated(*names))[0]
    assert (group.rose_at, group.rose_within_ms) == (since, 11_300 - since)


def test_the_first_sign_of_it_is_that_a_member_here_has_to_give() -> None:
    """It says the epoch that it had. The look that saw it is not the one that saw nothing; the next sign is of the same."""
    signs = [(11_000, changed("m", owned=tps(0, 1), assigned=tps(0))), (11_200, changed("n", owned=tps(2)))]
    group, _ = told([*signs, (11_300, described(member("x", 3, (), (1, 2)), epoch=3))], seated("m", "n"))
    assert group.members["x"] == Known(epoch=3, beat_at=7_500, beat_within_ms=3_500)
    lagging = (11_400, changed("n", owned=tps(2, 3)))
    assert told([lagging, (21_000, changed("m", epoch=4, before=3))], group)[0].rose_at == 17_500


def test_a_client_that_says_it_has_more_than_it_may_is_no_sign_of_a_rise() -> None:
    said = changed("m", owned=tps(0, 1), assigned=tps(0), request=7)
    group, _ = told([(11_000, said), (19_000, changed("n", epoch=3))], seated("m", "n"))
    assert group.rose_at == 15_000


def test_while_the_group_moves_somebody_looked_just_before() -> None:
    moving = told([(11_000, changed("m", epoch=3))], seated("m"))[0]
    assert told([(12_000, changed("m", epoch=4))], moving)[0].rose_at == 12_000 - 200 - 1_000


def test_a_newcomer_that_was_not_looked_at_just_before_beat_when_the_epoch_rose_at_the_earliest() -> None:
    group, _ = told([(11_000, changed("n", epoch=3))], seated("m", "n"))
    newest, older = member("x", 3, (), (1,)), member("y", 2, (), ())
    group, _ = told([(14_000, described(newest, older, epoch=3))], group)
    assert (group.members["x"].beat_at, group.members["y"].beat_at) == (10_000, None)


def test_a_description_may_be_the_first_to_say_that_the_epoch_rose() -> None:
    group, _ = told([(11_000, described(member("x", 3, (), (1,)), epoch=3))], seated("m", "n"))
    assert (group.epoch, group.members["x"].beat_at) == (3, 10_000)


def test_who_gives_up_something_is_asked_when_the_receiver_is_about_to_beat() -> None:
    seen = described(member("x", 2, (), ()), epoch=2)
    view = described(member("m", 2, (0,), (0,)), member("x", 3, (), (1,)), epoch=3)
    assert told([(100, seen), (200, view)], losing())[1] == [Tell("m", HandOverPlanned(at=5_100 - 400, beat_at=5_100))]


def test_who_gives_up_something_is_asked_at_once_when_idle_partitions_could_be_taken_here() -> None:
    view = described(member("m", 2, (0,), (0, 2)), member("x", 3, (), (1,)), epoch=3)
    assert told([(100, view)], losing())[1] == [Tell("m", HandOverPlanned(at=100))]


def test_a_beat_that_was_seen_is_remembered_until_the_epoch_moves_again() -> None:
    at_three = described(member("x", 3, (), ()), epoch=3)
    at_four = described(member("x", 4, (), ()), epoch=4)
    seen: list[Timed] = [(100, described()), (300, at_three), (500, at_three)]
    group, _ = told(seen)
    assert group.members["x"] == Known(epoch=3, beat_at=100, beat_within_ms=200)
    group, _ = told([(700, at_four)], group)
    assert group.members["x"] == Known(epoch=4, beat_at=500, beat_within_ms=200)


def test_whose_epoch_moved_while_nobody_looked_keeps_the_rhythm_that_it_was_seen_to_have() -> None:
    at_three, at_four = (described(member("x", epoch, (), ()), epoch=epoch) for epoch in (3, 4))
    group, _ = told([(100, described()), (300, at_three), (9_000, at_four)])
    assert group.members["x"] == Known(epoch=4, beat_at=100, beat_within_ms=200)


def gifts(*receivers: str, hears_at: int = 0) -> list[Gift]:
    return [Gift("giver", hears_at, receiver) for receiver in receivers]


def best_at(group: Group, given: list[Gift], idle: int, now: int) -> int:
    return best_plan(group, given, idle, now).at


def company(**members: Known) -> Group:
    return msgspec.structs.replace(QUIET, members=members)


@pytest.mark.parametrize(("within_ms", "at"), [(0, 5_100), (2_000, 5_100), (4_000, 1_000), (60_000, 1_000)])
def test_the_less_is_known_of_a_beat_the_less_is_waited_for_the_next(within_ms: int, at: int) -> None:
    """It came at 500, or so long after that, and comes again 5 s later; the giver can hear of it at 2,000."""
    group = company(x=Known(beat_at=500, beat_within_ms=within_ms))
    assert best_at(group, gifts("x", hears_at=2_000), idle=0, now=1_000) == at


def test_who_waits_for_more_than_it_has_is_worth_a_little() -> None:
    """A little late for an early beat: waiting for the next would spare a second of nobody's time, and take five."""
    group = company(x=Known(beat_at=1_000, beat_within_ms=1_000))
    assert best_at(group, gifts("x", hears_at=840), idle=0, now=500) == 500


def test_a_receiver_that_lives_here_gains_nothing_by_being_told_in_parts() -> None:
    """One waits for nine that come later, and is told with them."""
    group = company(here=Known(local=True))
    given = gifts("here") + gifts(*["here"] * 9, hears_at=2_000)
    assert best_at(group, given, idle=0, now=1_000) == 2_000


EARLY_AND_LATE = company(early=Known(beat_at=1_000), late=Known(beat_at=4_000))


def test_natives_that_pass_through_are_never_waited_for() -> None:
    group = company(p=Known(passing=True, beat_at=0), l=Known(local=True), n=Known())
    assert best_at(group, gifts("p", "l", "n", "nobody"), idle=0, now=77) == 77


def test_among_several_receivers_the_moment_with_the_least_idle_time_is_chosen() -> None:
    """Two of the three partitions go to the one that beats at 4 s: waiting for it leaves 1 x 2 s idle, not 2 x 3 s."""
    assert best_at(EARLY_AND_LATE, gifts("early", "late", "late"), idle=0, now=0) == 4_000 - 400
    assert best_at(EARLY_AND_LATE, gifts("early", "early", "late"), idle=0, now=0) == 1_000 - 400


def test_what_lies_idle_meanwhile_is_weighed_against_what_would() -> None:
    """One partition idle for 3.6 s until the receiver's beat, or two for 4 s each from now on."""
    assert best_at(EARLY_AND_LATE, gifts("late", "late"), idle=1, now=0) == 4_000 - 400
    assert best_at(EARLY_AND_LATE, gifts("late"), idle=2, now=0) == 0


class Walked(list[Gift]):
    walks = 0

    def __iter__(self) -> Iterator[Gift]:
        self.walks += 1
        return super().__iter__()


def test_of_many_natives_that_beat_one_after_the_other_a_few_beats_are_tried() -> None:
    """Each costs as much as there are gifts. In a group of 800 that was seconds, for each description."""
    group = company(**{f"native{each}": Known(beat_at=3_000 + each) for each in range(200)})
    given = Walked(gifts(*group.members))
    assert 3_000 <= best_at(group, given, idle=0, now=0) + 400 < 3_200
    assert given.walks < 100


def test_clients_that_give_to_one_member_here_are_asked_when_the_last_of_them_can_hear_it() -> None:
    """It is told when it has them all: what came earlier would only lie."""
    group = company(here=Known(local=True), there=Known(local=True))
    one, other = gifts("here", hears_at=500), gifts("here", hears_at=2_500)
    assert best_at(group, one + other, idle=0, now=1_000) == 2_500
    assert best_at(group, one + gifts("there", hears_at=2_500), idle=0, now=1_000) == 1_000
    assert best_at(group, one + other, idle=2, now=1_000) == 1_000


def test_a_receiver_that_hears_late_is_waited_for() -> None:
    group = company(here=Known(local=True, hears_at=2_500))
    assert best_at(group, gifts("here", hears_at=500), idle=0, now=1_000) == 2_500
    assert best_at(group, gifts("here", hears_at=500), idle=2, now=1_000) == 1_000


def giving(receivers: dict[str, str], **known: Known) -> dict[str, int]:
    """Members here, each of which gives one partition to another: when they are asked."""
    givers = {name: Known(epoch=3, local=True, losses=frozenset(tps(n))) for n, name in enumerate(receivers)}
    group = msgspec.structs.replace(QUIET, members=known | givers, locals=tuple(receivers))
    gains = {name: [n for n, to in enumerate(receivers.values()) if to == name] for name in known | givers}
    kept = {name: 10 + n for n, name in enumerate(gains)}
    view = described(*(member(name, 3, (kept[name],), (kept[name], *gains[name])) for name in gains), epoch=3)
    orders = told([(100, view)], group)[1]
    plans = [(o.member_id, o.event) for o in orders if isinstance(o, Tell)]
    return {name: plan.at for name, plan in plans if isinstance(plan, HandOverPlanned)}


def test_who_gives_to_different_natives_is_asked_by_the_beat_of_each() -> None:
    natives = {"soon": Known(epoch=3, beat_at=-3_000), "later": Known(epoch=3, beat_at=-1_000)}
    assert giving({"m": "soon", "n": "later"}, **natives) == {"m": 2_000 - 400, "n": 4_000 - 400}


def test_members_here_that_give_to_each_other_are_asked_together() -> None:
    """N rejoins once, for what it gets from m and for what it gives; o has nothing to do with them."""
    natives = {"soon": Known(epoch=3, beat_at=-3_000), "later": Known(epoch=3, beat_at=-1_000)}
    asked = giving({"m": "n", "n": "later", "o": "soon"}, **natives)
    assert asked == {"m": 4_000 - 400, "n": 4_000 - 400, "o": 2_000 - 400}


def told_newcomer(*for_busy: int) -> TargetLearned:
    """It asks. Ready can give it something at once, busy at 2 s; and `for_busy` lies idle until busy has been asked."""
    givers = {name: Known(epoch=3, local=True, losses=frozenset(tps(n))) for n, name in ((1, "busy"), (2, "ready"))}
    members = givers | {"n": Known(epoch=3, local=True)}
    group = msgspec.structs.replace(QUIET, members=members, locals=tuple(members), wishers=frozenset({"n"}))
    busy, ready = member("busy", 3, (), for_busy, hears_at=2_000), member("ready", 3, (), ())
    return learned_by_n(told([(100, described(busy, ready, member("n", 3, (0,), (0, 1, 2)), epoch=3))], group)[1])


def test_who_asks_is_told_what_is_on_its_way_from_clients_that_are_asked_already() -> None:
    learned = told_newcomer(5, 6)
    assert (learned.coming, learned.comes_at) == (1, 2_000)


def test_what_can_still_be_given_up_later_is_not_on_its_way() -> None:
    assert told_newcomer().coming == 0


def rest_from(behind: int = 0, lacking: int = 1, **giver: Any) -> int:
    """A newcomer asks, and lacks one partition, which somebody else has: when it can come at the earliest."""
    members = {"n": Known(epoch=3, local=True), "giver": Known(epoch=3, **giver)}
    locals_ = tuple(name for name, known in members.items() if known.local)
    group = msgspec.structs.replace(QUIET, members=members, locals=locals_, wishers=frozenset({"n"}))
    has_it = member("giver", 3, (1,), (), hears_at=giver.get("hears_at", LONG_AGO))
    view = described(member("n", 3, (0,), (0, lacking)), has_it, epoch=3, behind=behind)
    return learned_by_n(told([(100, view)], group)[1]).rest_from


def learned_by_n(orders: list[GroupOrder]) -> TargetLearned:
    (learned,) = [o.event for o in orders if isinstance(o, Tell) and o.member_id == "n"]
    assert isinstance(learned, TargetLearned)
    return learned


def test_what_a_direct_native_has_comes_after_its_beat() -> None:
    """Who was to beat within the last second may do so now; and of whom nothing is known, in half an interval, on average."""
    assert rest_from(beat_at=-2_000) == 3_000
    assert rest_from(beat_at=-5_850) == -850
    assert rest_from() == 2_600


def test_what_a_client_here_has_comes_when_it_can_hear_that_it_must_give_it() -> None:
    assert rest_from(local=True, hears_at=2_000) == 2_000
    assert rest_from(local=True) == 100


def test_what_passes_through_or_is_nobodys_or_is_yet_to_be_computed_may_come_at_once() -> None:
    assert rest_from(passing=True, beat_at=-2_000) == 100
    assert rest_from(beat_at=-2_000, lacking=7) == 100
    assert rest_from(beat_at=-2_000, behind=1) == 100


def test_who_lacks_nothing_waits_for_nothing() -> None:
    assert rest_from(beat_at=-2_000, lacking=0) == 100


def test_what_a_client_here_is_to_give_later_comes_later() -> None:
    """With what it gives to a native, just before that one's beat."""
    members = {
        "giver": Known(epoch=3, local=True, losses=frozenset(tps(1, 2))),
        "n": Known(epoch=3, local=True),
        "native": Known(epoch=3, beat_at=-3_000),
    }
    group = msgspec.structs.replace(QUIET, members=members, locals=("giver", "n"), wishers=frozenset({"n"}))
    others = member("giver", 3, (), ()), member("native", 3, (5,), (2, 5))
    orders = told([(100, described(member("n", 3, (0,), (0, 1)), *others, epoch=3))], group)[1]
    assert learned_by_n(orders).rest_from == 2_000 - 400


def givers_and_a_newcomer(*natives: str) -> list[GroupOrder]:
    """Ready can hear at once, busy in a while. Both give to the newcomer."""
    members = {
        "ready": Known(epoch=3, local=True, losses=frozenset(tps(1))),
        "busy": Known(epoch=3, local=True, losses=frozenset(tps(2))),
        "newcomer": Known(epoch=3, local=True),
        **{name: Known(epoch=3) for name in natives},
    }
    group = msgspec.structs.replace(QUIET, members=members, locals=("busy", "newcomer", "ready"))
    view = described(
        member("ready", 3, (), ()),
        member("busy", 3, (), (), hears_at=2_000),
        member("newcomer", 3, (), (1, 2)),
        *(member(name, 3, (5,), (5,)) for name in natives),
        epoch=3,
    )
    return told([(100, view)], group)[1]


def test_a_newcomer_gets_all_at_once_from_members_here() -> None:
    assert givers_and_a_newcomer() == [
        Tell("busy", HandOverPlanned(at=2_000)),
        Tell("ready", HandOverPlanned(at=2_000)),
    ]


def test_where_natives_take_part_it_begins_with_what_it_can_have_at_once() -> None:
    """Busy hears of it when it can."""
    assert givers_and_a_newcomer("native") == [
        Tell("busy", HandOverPlanned(at=100)),
        Tell("ready", HandOverPlanned(at=100)),
    ]


def test_a_giver_that_hears_late_gives_to_the_beat_after_that() -> None:
    """Asked at once, it would give at 3.95 s, too late to be taken at 4 s: better at the next but one, all of it then."""
    assert best_at(EARLY_AND_LATE, gifts("late", "late", hears_at=3_950), idle=0, now=0) == 9_000 - 400


def test_what_has_a_part_of_its_margin_is_likely_to_be_in_time() -> None:
    assert best_at(EARLY_AND_LATE, gifts("late", "late", hears_at=3_900), idle=0, now=0) == 0


# --- admission -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("join", "why"),
    [
        (joins(), None),
        (joins(protocol_type="connect"), "protocol type 'connect'"),
        (joins(protocol_type="sr"), "protocol type 'sr'"),
        (joins(protocols=(Protocol("range", b""), Protocol("stream", b""))), "a Kafka Streams assignor"),
    ],
)
def test_what_is_not_a_plain_consumer_group_is_not_translated(join: object, why: str | None) -> None:
    assert why_not_translated(join) == why  # type: ignore[arg-type]


def test_a_newcomer_that_was_refused_leaves_nothing_and_makes_nobody_wait() -> None:
    group, _ = told([(0, changed("m", epoch=0, before=0, phase_before=Phase.ABSENT))], of_locals("n"))
    assert told([(100, gone("m"))], group)[1] == []
    assert group.locals == ("m", "n")


# --- one vote for all ----------------------------------------------------------------------------------------------


def voter(member_id: str, *offers: str, vote: str | None = "") -> MemberChanged:
    return changed(member_id, contract=Contract(offers=offers, assignor=offers[0] if vote == "" else vote))


def asked_to_vote(orders: list[GroupOrder]) -> dict[str, str]:
    return {
        o.member_id: o.event.assignor for o in orders if isinstance(o, Tell) and isinstance(o.event, AssignorAgreed)
    }


def test_members_that_can_vote_with_all_others_are_asked_to_and_once() -> None:
    group, orders = group_step(QUIET, voter("a", "range", "uniform"), 0)
    assert (group.assignor, asked_to_vote(orders)) == ("range", {})
    group, orders = group_step(group, voter("b", "uniform"), 0)
    assert (group.assignor, asked_to_vote(orders)) == ("uniform", {"a": "uniform"})
    assert asked_to_vote(group_step(group, voter("b", "uniform"), 0)[1]) == {}


def test_who_has_no_vote_is_asked_nothing_and_keeps_nobody_from_agreeing() -> None:
    group, _ = group_step(QUIET, voter("a", "range", vote=None), 0)
    group, orders = group_step(group, voter("b", "uniform"), 0)
    assert (group.assignor, asked_to_vote(orders)) == ("uniform", {})


def test_when_the_last_who_needed_it_has_gone_the_others_vote_as_they_like() -> None:
    group, _ = group_step(QUIET, voter("a", "range"), 0)
    group, orders = group_step(group, voter("b", "uniform", "range"), 0)
    assert asked_to_vote(orders) == {"b": "range"}
    group, orders = group_step(group, gone("a"), 0)
    assert asked_to_vote(orders) == {"b": "uniform"}


# --- natives that pass, after a leave ------------------------------------------------------------------------------


def test_a_quiet_native_heartbeat_waits_for_the_replacement_but_no_longer_than_the_grace() -> None:
    group, _ = group_step(QUIET, changed("m"), 10_000)
    assert native_waits_until(group, 10_000, 10_000) == 10_000
    group, _ = group_step(group, gone("m"), 20_000)
    assert native_waits_until(group, 20_300, 20_300) == 21_000
    assert native_waits_until(group, 19_500, 20_300) == 20_500
    group, _ = group_step(group, NativeBeat(member_id="new", epoch_sent=0, epoch_answered=3), 20_400)
    assert native_waits_until(group, 20_300, 20_400) == 20_400


def test_when_the_last_voter_has_gone_there_is_nothing_to_agree_on() -> None:
    group, _ = group_step(QUIET, voter("a", "range"), 0)
    group, orders = group_step(group, gone("a"), 0)
    assert (group.assignor, asked_to_vote(orders)) == (None, {})


def test_a_member_that_leaves_past_us_is_forgotten_altogether() -> None:
    """Its client may have learnt the new protocol and kept its member id."""
    group, _ = group_step(of_locals("m", "n"), NativeBeat(member_id="m", epoch_sent=-1, epoch_answered=-1), 0)
    assert (group.locals, set(group.members)) == (("n",), {"n"})
