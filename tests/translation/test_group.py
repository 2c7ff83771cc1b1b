"""What the members of one group that live behind one proxy know together."""

from __future__ import annotations

import msgspec
import pytest

from tests.translation.facts import PACING, QUIET, Timed, changed, described, gone, member, of_locals, told
from tests.translation.playbook import tps
from translation.events import (
    BeatPlaced,
    BeatWanted,
    LullWanted,
    MotionSeen,
    TargetLearned,
    TargetUnknown,
)
from translation.group import (
    AGAIN_MS,
    Describe,
    DescriptionFailed,
    DescriptionWanted,
    Group,
    GroupOrder,
    Known,
    NativeBeat,
    NativePutOff,
    Tell,
    TimePassed,
    native_due_at,
    native_interval_ms,
    native_put_off_ms,
)
from translation.motion import group_step, is_deserted
from translation.rules import Pacing
from translation.states import Phase, Standing


def test_native_members_that_ended_without_a_word_are_forgotten() -> None:
    group = Group(group_id="g")
    for number in range(3):
        beat = NativeBeat(member_id=f"n{number}", epoch_sent=3, epoch_answered=3)
        group, _ = group_step(group, beat, number * 40_000)
    assert sorted(group.members) == ["n1", "n2"]


def test_so_are_those_whom_nobody_comes_after() -> None:
    """A thousand crash, and are back under other names within a minute: they were paced as two thousand, and each of their
    heartbeats looked through the dead, for as long as nobody else came."""
    group = Group(group_id="g")
    for at, name in ((0, "old"), (30_000, "new"), (70_000, "new")):
        group, _ = group_step(group, NativeBeat(member_id=name, epoch_sent=3, epoch_answered=3), at)
    assert set(group.members) == {"new"}


def test_a_native_member_that_passes_no_more_but_is_described_still_is_one_past_us() -> None:
    group, _ = told([(0, NativeBeat(member_id="x", epoch_sent=3, epoch_answered=3))], QUIET)
    view = described(member("x", 3, (0,), (0,)), epoch=3)
    assert told([(60_000, view)], group)[0].members["x"].passing
    assert not told([(60_001, view)], group)[0].members["x"].passing


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


@pytest.mark.parametrize(("interval_ms", "until"), [(0, 6_000), (1_000, 6_000), (15_000, 16_000)])
def test_a_group_moves_for_a_beat_of_members_that_beat_seldom(interval_ms: int, until: int) -> None:
    news = msgspec.structs.replace(changed("m", epoch=3), interval_ms=interval_ms)
    assert told([(0, news)], of_locals("m"))[0].moving_until == until


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


def lulls(orders: list[GroupOrder]) -> list[int]:
    return [order.event.until for order in orders if isinstance(order, Tell) and isinstance(order.event, LullWanted)]


def test_many_who_leave_at_once_cost_each_of_the_others_one_word() -> None:
    """A word to each of those who stay for each of those who leave held the whole proxy up for seconds: where three hundred
    were restarted at once, and sixty stopped of six hundred."""
    names = [f"m{number:03}" for number in range(200)]
    group, orders = told([(100, gone(name)) for name in names[:100]], of_locals(*names))
    heard, now = lulls(orders), 100
    # They leave on, so that the lull is to last on.
    for name in names[100:]:
        now += 5
        group, orders = group_step(group, gone(name), now)
        heard += lulls(orders)
    assert len(heard) < 2 * len(names)


def test_who_is_told_of_a_lull_hears_in_time_that_it_lasts_longer() -> None:
    group, orders = told([(100, gone("m")), (600, gone("n"))], of_locals("m", "n", "o"))
    assert (lulls(orders), group.wake_at) == ([], 1_000)
    group, orders = group_step(group, TimePassed(), 1_000)
    assert (orders, group.wake_at) == ([Tell("o", LullWanted(until=1_600))], 1_600)


def test_a_lull_that_nobody_was_told_of_in_time_is_over() -> None:
    """The process stood still; or its members would be told for ever."""
    group, _ = told([(100, gone("m")), (600, gone("n"))], of_locals("m", "n", "o"))
    group, orders = group_step(group, TimePassed(), 9_000)
    assert (lulls(orders), group.wake_at) == ([], None)


def test_who_was_hurried_hears_of_the_next_lull() -> None:
    newcomer = changed("x", phase_before=Phase.ABSENT)
    group, _ = told([(100, gone("m")), (200, newcomer)], of_locals("m", "n"))
    _, orders = group_step(group, gone("x"), 300)
    assert orders == [Tell("n", LullWanted(until=1_300))]


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


@pytest.mark.parametrize("epoch", [3, 0])
def test_a_static_native_that_leaves_for_a_while_moves_nothing(epoch: int) -> None:
    """It keeps what it has. Its fellows looked for it six seconds long, and what was to change hands waited for the grace.
    (One that was here before a proxy restarted is not known.)"""
    there = Known(epoch=epoch, passing=True, beat_at=0)
    group = msgspec.structs.replace(of_locals("n"), epoch=3, members={"n": Known(epoch=3, local=True), "x": there})
    left, orders = told([(100, NativeBeat(member_id="x", epoch_sent=-2, epoch_answered=-2))], group)
    assert (orders, left.is_moving(100), left.quiet_until, "x" in left.members) == ([], False, 0, False)


def test_but_what_it_had_yet_to_give_up_is_free_and_looked_for_at_once() -> None:
    group, _ = told([(0, beats("x")), (10_000, changed("n", epoch=4)), (20_000, TimePassed())], of_locals("n"))
    _, orders = told([(20_100, NativeBeat(member_id="x", epoch_sent=-2, epoch_answered=-2))], group)
    assert orders == [Tell("n", MotionSeen(until=26_100))]


@pytest.mark.parametrize(("moving", "asked_ms", "told_ms"), [(True, 5_000, 300), (False, 5_000, 2_000), (False, 1, 1)])
def test_natives_that_pass_through_are_paced_and_never_slowed_down(moving: bool, asked_ms: int, told_ms: int) -> None:
    group = msgspec.structs.replace(QUIET, moving_until=100 if moving else 0)
    assert native_interval_ms(group, asked_ms, now=50) == told_ms


def test_natives_are_told_no_less_than_a_heartbeat_may_take_for_librdkafka_gives_it_up_after_the_interval() -> None:
    group = of_locals("n")
    for at, answered_after_ms in ((0, 100), (1_000, 200), (2_000, 50)):
        beat = NativeBeat(member_id="x", epoch_sent=3, epoch_answered=4, answered_after_ms=answered_after_ms)
        group, _ = group_step(group, beat, at)
    assert native_interval_ms(group, 5_000, now=2_000) == 4 * 200
    assert native_interval_ms(group, 700, now=2_000) == 700
    beat = NativeBeat(member_id="x", epoch_sent=3, epoch_answered=4, answered_after_ms=10)
    group, _ = group_step(group, beat, 31_000)
    assert native_interval_ms(group, 5_000, now=31_000) == PACING.native_moving_ms


def test_many_natives_that_pass_through_leave_their_coordinator_time_for_others() -> None:
    natives = {f"n{number}": Known(passing=True) for number in range(400)}
    group = msgspec.structs.replace(QUIET, members=natives, moving_until=100)
    assert native_interval_ms(group, 5_000, now=50) == 400
    assert native_interval_ms(group, 350, now=50) == 350
    assert native_interval_ms(group, 5_000, now=200) == 2_000


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


def test_who_asks_again_where_nobody_here_has_moved_has_time() -> None:
    """Others may wish for the same one meanwhile."""
    first: list[Timed] = [
        (100, DescriptionWanted(member_id="m")),
        (120, described(member("m", 2, (), ()), member("n", 2, (), ()))),
    ]
    group, _ = told(first, of_locals("m", "n"))
    group, orders = told([(125, DescriptionWanted(member_id="m")), (135, DescriptionWanted(member_id="n"))], group)
    assert (orders, group.wake_at) == ([], 120 + AGAIN_MS)
    assert told([(120 + AGAIN_MS, TimePassed())], group)[1] == [Describe()]


def test_who_asks_when_somebody_here_has_moved_since_has_it_at_once() -> None:
    first: list[Timed] = [
        (100, DescriptionWanted(member_id="m")),
        (120, described(member("m", 2, (), ()), member("n", 2, (), ()))),
    ]
    group, _ = told(first, of_locals("m", "n"))
    group, _ = told([(122, changed("n", epoch=3))], group)
    assert Describe() in told([(125, DescriptionWanted(member_id="m"))], group)[1]


def test_that_others_have_come_since_all_was_given_to_one_is_told() -> None:
    group, _ = told([(100, DescriptionWanted(member_id="m"))], of_locals("m", "n"))
    all_of_it, nothing = member("m", 2, (0, 1), (0, 1)), member("n", 2, (), ())
    assert begins(told([(120, described(all_of_it, nothing, epoch=4, behind=1))], group)[1])
    assert not begins(told([(120, described(all_of_it, nothing, epoch=4))], group)[1])
    assert not begins(told([(120, described(all_of_it, epoch=4, behind=1))], group)[1])
    both = (member("m", 2, (0,), (0,)), member("n", 2, (1,), (1,)), member("x", 2, (), ()))
    assert not begins(told([(120, described(*both, epoch=4, behind=1))], group)[1])


def begins(orders: list[GroupOrder]) -> bool:
    [order] = orders
    assert isinstance(order, Tell)
    assert isinstance(order.event, TargetLearned)
    return order.event.begins


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


def test_so_are_those_that_name_many_topics() -> None:
    """Those of three hundred members with a thousand topics each, one behind the other, left time for nobody else."""
    view = msgspec.structs.replace(described(*(member(name, 2, (), ()) for name in "mno")), topics=300_000)
    moving, _ = told([(100, changed("m", epoch=3)), (120, view)], of_locals("m", "n", "o"))
    assert moving.wake_at == 120 + 600


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


def test_who_has_heard_that_it_must_give_up_is_not_asked_to_beat_for_it_again() -> None:
    """Brokers since 4.3 describe what it has to give as its own until it has given it."""
    heard = changed("a", owned=tps(0, 1), assigned=tps(0))
    group, _ = told([(50, heard), (100, changed("b", epoch=3))], of_locals("a", "b", "c"))
    others = member("b", 3, (2,), (2,)), member("c", 2, (), (1,))
    as_heard = described(member("a", 2, (0, 1), (0,)), *others, epoch=3)
    assert asked_to_beat(told([(120, as_heard)], group)[1]) == []
    anew = described(member("a", 2, (0, 1), ()), *others, epoch=3)
    assert asked_to_beat(told([(120, anew)], group)[1]) == ["a"]


def test_what_its_client_has_yet_to_give_up_is_not_free_though_it_is_described_so() -> None:
    heard = changed("a", owned=tps(0, 1), assigned=tps(0))
    group, _ = told([(50, heard), (100, changed("b", epoch=3))], of_locals("a", "b", "c"))
    view = described(member("a", 2, (0,), (0,)), member("b", 3, (2,), (2,)), member("c", 3, (), (1,)), epoch=3)
    assert asked_to_beat(told([(120, view)], group)[1]) == []
    group, _ = told([(130, changed("a", epoch=3, before=2, owned=tps(0), assigned=tps(0)))], group)
    assert asked_to_beat(told([(140, view)], group)[1]) == ["c"]


def asked_to_beat(orders: list[GroupOrder]) -> list[str]:
    return [order.member_id for order in orders if isinstance(order, Tell) and isinstance(order.event, BeatWanted)]


def test_who_waits_among_many_need_not_look_for_itself_and_is_asked_to_beat_when_it_is_behind() -> None:
    group = msgspec.structs.replace(of_locals("m", "n", "o"), pacing=msgspec.structs.replace(PACING, look_ms=150))
    group, _ = told([(100, changed("o", epoch=3)), (110, DescriptionWanted(member_id="n"))], group)
    view = described(member("m", 2, (0,), (0,)), member("n", 2, (1,), (1,)), member("o", 3, (2,), (2,)), epoch=3)
    learned, wanted = told([(120, view)], group)[1]
    assert isinstance(learned, Tell)
    assert isinstance(learned.event, TargetLearned)
    assert (learned.member_id, learned.event.look_ms) == ("n", 150 - 4 * 20)
    assert wanted == Tell("n", BeatWanted())
    # What it has heard of itself is newer than what was described.
    group, _ = told([(115, changed("n", epoch=3))], group)
    assert len(told([(120, view)], group)[1]) == 1


def test_who_waits_as_the_only_one_here_is_asked_to_beat_too() -> None:
    """It does not look before anything is likely to come; but a native member past us may let go at any time."""
    group, _ = told([(100, changed("m", epoch=3)), (110, DescriptionWanted(member_id="m"))], of_locals("m"))
    has_it = described(member("m", 3, (), (0,)), member("native", 2, (0, 1), (1,)), epoch=3)
    group, orders = told([(120, has_it)], group)
    (learned,) = orders
    assert isinstance(learned, Tell)
    assert isinstance(learned.event, TargetLearned)
    assert learned.event.rest_from > 1_000
    has_let_go = described(member("m", 3, (), (0,)), member("native", 3, (1,), (1,)), epoch=3)
    assert asked_to_beat(told([(200, has_let_go)], group)[1]) == ["m"]


@pytest.mark.parametrize(
    ("members", "took_ms", "look_ms"),
    [(2, 0, 1_000), (2, 100, 600), (2, 500, 20), (50, 100, 600), (50, 500, 500), (200, 500, 1_000)],
)
def test_where_descriptions_take_long_a_few_who_wait_look_for_themselves(
    members: int, took_ms: int, look_ms: int
) -> None:
    names = [f"m{number}" for number in range(members)]
    group = msgspec.structs.replace(of_locals(*names), pacing=Pacing(), asked_at=100)
    group, _ = told([(100, DescriptionWanted(member_id="m1"))], group)
    view = described(*(member(name, 2, (), ()) for name in names))
    (learned,) = told([(100 + took_ms, view)], group)[1]
    assert isinstance(learned, Tell)
    assert isinstance(learned.event, TargetLearned)
    assert learned.event.look_ms == look_ms


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


def test_a_newcomer_that_was_refused_leaves_nothing_and_makes_nobody_wait() -> None:
    group, _ = told([(0, changed("m", epoch=0, before=0, phase_before=Phase.ABSENT))], of_locals("n"))
    assert told([(100, gone("m"))], group)[1] == []
    assert group.locals == ("m", "n")


# --- natives that pass, after a leave ------------------------------------------------------------------------------


def beats(member_id: str, epoch: int = 3) -> NativeBeat:
    return NativeBeat(member_id=member_id, epoch_sent=epoch, epoch_answered=3, interval_ms=5_000)


def test_a_native_member_is_put_off_for_the_replacement_but_no_longer_than_the_grace() -> None:
    group, _ = told([(10_000, beats("x")), (10_000, changed("m"))], QUIET)
    assert native_due_at(group, "x", 3, 10_000) == 10_000
    group, _ = told([(20_000, gone("m"))], group)
    assert native_due_at(group, "x", 3, 20_300) == 21_000
    assert native_due_at(group, "a stranger", 3, 20_300) == native_due_at(group, "x", 2, 20_300) == 20_300
    # Another leaves meanwhile: the grace is longer, and nobody waits for all of that.
    leaves = NativeBeat(member_id="y", epoch_sent=-1, epoch_answered=-1)
    group, _ = told([(20_300, NativePutOff(member_id="x")), (20_400, NativePutOff(member_id="x"))], group)
    group, _ = told([(20_500, beats("y")), (20_600, leaves)], group)
    assert native_due_at(group, "x", 3, 20_700) == 21_300
    # It has been heard, and may be put off anew.
    group, _ = told([(21_400, beats("x")), (21_450, beats("y")), (21_500, leaves)], group)
    assert native_due_at(group, "x", 3, 21_600) == 22_500
    group, _ = group_step(group, beats("new", epoch=0), 21_700)
    assert native_due_at(group, "x", 3, 21_700) == 21_700


@pytest.mark.parametrize(("due_at", "asked_ms", "told_ms"), [(900, 5_000, 900), (100, 5_000, 300), (900, 500, 500)])
def test_who_is_put_off_comes_again_when_it_is_due_and_no_less_often_than_the_coordinator_wishes(
    due_at: int, asked_ms: int, told_ms: int
) -> None:
    beat = NativeBeat(member_id="x", epoch_sent=3, epoch_answered=3, interval_ms=asked_ms)
    assert native_put_off_ms(told([(0, beat)], QUIET)[0], due_at, 0) == told_ms


def test_who_is_put_off_for_a_long_grace_comes_in_the_middle_of_it_too() -> None:
    """The replacement may have come meanwhile, and there may be something to give up for it."""
    group = msgspec.structs.replace(QUIET, away_ms=900, interval_ms=5_000)
    assert native_put_off_ms(group, due_at=1_800, now=0) == 1_000


def test_but_it_is_not_answered_before_that_is_over() -> None:
    group = msgspec.structs.replace(QUIET, away_ms=900)
    group, _ = told([(10_000, beats("x")), (10_000, changed("m")), (20_000, gone("m"))], group)
    group, _ = told([(20_100, NativePutOff(member_id="x")), (21_100, NativePutOff(member_id="x"))], group)
    assert native_due_at(group, "x", 3, 21_100) == 21_800


@pytest.mark.parametrize(("natives", "told_ms"), [(2, 500), (700, 700), (2_000, 1_000)])
def test_those_of_a_crowd_that_are_put_off_do_not_come_at_one_moment_nor_much_later(natives: int, told_ms: int) -> None:
    """Of two thousand each heard two seconds, where half a one was left of the grace."""
    names = {f"x{number}": Known(epoch=3, passing=True) for number in range(natives)}
    group = msgspec.structs.replace(QUIET, members=names, interval_ms=5_000)
    assert native_put_off_ms(group, due_at=500, now=0) == told_ms


def test_nobody_is_put_off_where_natives_are_not_paced() -> None:
    """The interval told to who is put off would be ours. librdkafka takes it for a timeout, and pacing is switched off where
    that is too short."""
    off = msgspec.structs.replace(QUIET, pacing=msgspec.structs.replace(PACING, native_moving_ms=0))
    group, _ = told([(10_000, beats("x")), (10_000, changed("m")), (20_000, gone("m"))], off)
    assert native_due_at(group, "x", 3, 20_300) == 20_300


def test_a_member_that_leaves_past_us_is_forgotten_altogether() -> None:
    """Its client may have learnt the new protocol and kept its member id."""
    group, _ = group_step(of_locals("m", "n"), NativeBeat(member_id="m", epoch_sent=-1, epoch_answered=-1), 0)
    assert (group.locals, set(group.members)) == (("n",), {"n"})


def test_a_native_member_that_becomes_a_legacy_one_takes_when_it_is_told_and_no_sooner() -> None:
    """Under the id that it had, so it is adopted. It was taken for one that takes at its next beat, as long as it stayed."""
    group, _ = told([(0, beats("x")), (10, changed("x"))], of_locals("m"))
    assert (group.members["x"].local, group.members["x"].passing) == (True, False)
