"""How long a replacement is waited for after a leave: as the last one had it."""

from __future__ import annotations

import pytest

from tests.translation.facts import changed, described, gone, member, of_locals, told
from translation.events import BeatPlaced
from translation.group import AnyGroupFact, Describe, Group, NativeBeat, Tell
from translation.states import Phase, Standing

LOCAL = changed("x", phase_before=Phase.ABSENT)
PASSING = NativeBeat(member_id="x", epoch_sent=0, epoch_answered=3)
DIRECT = described(*(member(name, 2, (), ()) for name in ("a", "b", "c", "x")))
LEAVES_PAST_US = NativeBeat(member_id="x", epoch_sent=-1, epoch_answered=-1)


def of_three() -> Group:
    return told([(0, described(*(member(name, 2, (), ()) for name in "abc")))], of_locals("a", "b", "c"))[0]


def waits_ms(group: Group, at: int = 20_000) -> int:
    """For the replacement of who leaves now."""
    return told([(at, gone("b"))], group)[0].quiet_until - at


@pytest.mark.parametrize("newcomer", [LOCAL, PASSING, DIRECT])
def test_the_next_one_is_waited_for_twice_as_long_as_the_last_was_away(newcomer: AnyGroupFact) -> None:
    group, _ = told([(10_000, gone("a")), (10_700, newcomer)], of_three())
    assert waits_ms(group) == 1_400
    # Whoever comes later replaces nobody.
    again, _ = told([(11_900, changed("y", phase_before=Phase.ABSENT))], group)
    assert waits_ms(again) == 1_400


def test_so_it_is_where_the_one_who_left_had_gone_past_us() -> None:
    group, _ = told([(9_000, PASSING), (10_000, LEAVES_PAST_US), (10_900, LOCAL)], of_three())
    assert waits_ms(group) == 1_800


@pytest.mark.parametrize(
    ("away_ms", "next_ms"),
    [(100, 1_000), (500, 1_000), (1_500, 3_000), (1_501, 0), (60_000, 0), (60_001, 1_000)],
)
def test_no_less_than_the_first_but_not_at_all_where_it_would_take_long(away_ms: int, next_ms: int) -> None:
    group, _ = told([(10_000, gone("a")), (10_000 + away_ms, LOCAL)], of_three())
    assert waits_ms(group, at=90_000) == next_ms


def test_of_many_who_leave_together_the_last_is_the_one_who_is_replaced() -> None:
    group = told([(10_000, gone("a")), (10_300, gone("c")), (11_200, LOCAL)], of_locals("a", "b", "c", "d"))[0]
    assert waits_ms(group) == 1_800


@pytest.mark.parametrize(("next_at", "next_ms"), [(21_500, 1_800), (21_501, 1_000)])
def test_who_has_left_for_good_is_no_example(next_at: int, next_ms: int) -> None:
    learnt, _ = told([(10_000, gone("a")), (10_900, LOCAL), (20_000, gone("c"))], of_three())
    assert waits_ms(learnt, at=next_at) == next_ms


@pytest.mark.parametrize(
    "nobody_new",
    [
        changed("b", epoch=3),
        NativeBeat(member_id="x", epoch_sent=3, epoch_answered=4),
        described(*(member(name, 2, (), ()) for name in "bc")),
        changed("x", epoch=0, phase_before=Phase.ABSENT),
    ],
)
def test_who_is_there_already_or_is_not_let_in_replaces_nobody(nobody_new: AnyGroupFact) -> None:
    group, _ = told([(10_000, gone("a")), (10_900, nobody_new)], of_three())
    assert waits_ms(group, at=10_950) == 1_000


def test_those_of_a_first_description_may_have_been_there_for_years() -> None:
    group, _ = told([(10_000, gone("a")), (10_900, DIRECT)], of_locals("a", "b", "c"))
    assert waits_ms(group, at=10_950) == 1_000


def test_who_comes_past_us_is_looked_for_and_ends_the_grace() -> None:
    """Else it was seen when that was over, and the next was waited for twice as long as this one: in a rolling upgrade each
    for longer than the one before."""
    group, orders = told([(10_000, gone("a"))], of_locals("a", "b", "c", "d"))
    assert orders[-1] == Describe()
    view = described(*(member(name, 2, (), ()) for name in "bcd"))
    group, _ = told([(10_010, view), (10_700, described(*view.members, member("x", 3, (), ()), epoch=3))], group)
    assert (group.quiet_until, group.away_ms) == (10_700, 700)


def test_a_description_that_still_names_who_left_says_of_nobody_new_and_ends_no_grace() -> None:
    """It was on its way when the leave was said; and that is told of again when it has been heard."""
    heard = changed("a", phase=Phase.ABSENT, standing=Standing.ABSENT)
    before = described(*(member(name, 2, (), ()) for name in "abc"))
    group, _ = told([(10_000, gone("a")), (10_010, before), (10_020, heard)], of_three())
    assert (group.quiet_until, group.left_at) == (11_000, 10_000)


def test_the_grace_lasts_until_the_newcomer_has_been_heard() -> None:
    """Others were hurried as soon as it asked to join, and one of them was heard before it: then it had to wait for the next
    target, a second, with the partitions that are to be its own idle."""
    joining = changed("x", epoch=0, before=0, phase_before=Phase.ABSENT)
    group, orders = told([(10_000, gone("a")), (10_700, joining)], of_locals("a", "b", "c"))
    assert (group.quiet_until, orders) == (11_000, [Tell("x", BeatPlaced(part=0.5))])
    group, _ = told([(10_710, changed("x", epoch=3, before=0))], group)
    assert (group.quiet_until, group.away_ms) == (10_710, 710)
