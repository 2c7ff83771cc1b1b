"""When partitions change hands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from tests.translation.facts import QUIET, Timed, changed, described, member, of_locals, told
from tests.translation.playbook import tps
from translation.events import BeatWanted, HandOverPlanned, TargetLearned
from translation.group import (
    Group,
    GroupOrder,
    Known,
    MemberChanged,
    NativeBeat,
    Tell,
)
from translation.handover import Gift, best_plan
from translation.member import LONG_AGO
from translation.rules import Pacing
from translation.states import Phase


def losing() -> Group:
    return told([(0, changed("m", owned=tps(0, 1), assigned=tps(0)))], of_locals("m", "n"))[0]


def test_partitions_for_a_member_behind_this_proxy_change_hands_at_once() -> None:
    view = described(member("m", 2, (0, 1), (0,)), member("n", 2, (), (1,)))
    assert told([(100, view)], losing())[1] == [Tell("m", HandOverPlanned(at=100))]


def test_who_has_been_asked_is_not_told_again_when_to_ask() -> None:
    view = described(member("m", 2, (0, 1), (0,)), member("n", 2, (), (1,)))
    asked = changed("m", owned=tps(0, 1), assigned=tps(0), phase=Phase.PREPARE_REBALANCE)
    group, _ = told([(50, asked)], losing())
    assert told([(100, view)], group)[1] == []
    group, _ = told([(150, changed("m", owned=tps(0, 1), assigned=tps(0)))], group)
    assert told([(200, view)], group)[1] == [Tell("m", HandOverPlanned(at=200))]


def test_partitions_for_a_direct_native_member_are_given_up_just_before_its_beat() -> None:
    before = described(member("m", 2, (0, 1), (0, 1)), epoch=2)
    view = described(member("m", 2, (0, 1), (0,)), member("x", 3, (), (1,)), epoch=3)
    group, _ = told([(100, before), (300, view)], losing())
    assert group.members["x"] == Known(epoch=3, beat_at=100, beat_within_ms=200)
    assert told([(1_000, view)], group)[1] == [Tell("m", HandOverPlanned(at=5_100 - 400, beat_at=5_100))]
    assert told([(5_300, view)], group)[1] == [Tell("m", HandOverPlanned(at=10_100 - 400, beat_at=10_100))]


HEARD_HERE = changed("m", owned=tps(0, 1), assigned=tps(0))
HEARD_ON_ITS_WAY = NativeBeat(member_id="p", epoch_sent=2, epoch_answered=2)


@pytest.mark.parametrize("heard", [HEARD_HERE, HEARD_ON_ITS_WAY])
@pytest.mark.parametrize(("interval_ms", "due_at"), [(0, 5_100), (2_000, 2_100), (15_000, 15_100)])
def test_it_beats_as_often_as_its_coordinator_has_told_any_member_to(
    heard: MemberChanged | NativeBeat, interval_ms: int, due_at: int
) -> None:
    wish = msgspec.structs.replace(heard, interval_ms=interval_ms)
    before = described(member("m", 2, (0, 1), (0, 1)), epoch=2)
    view = described(member("m", 2, (0, 1), (0,)), member("x", 3, (), (1,)), epoch=3)
    group, _ = told([(0, wish), (50, changed("n")), (100, before), (300, view)], losing())
    assert told([(1_000, view)], group)[1] == [Tell("m", HandOverPlanned(at=due_at - 400, beat_at=due_at))]


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


def test_who_is_to_look_seldom_has_not_looked_for_long() -> None:
    rare = msgspec.structs.replace(seated("m", "n"), interval_ms=15_000)
    assert told([(21_000, changed("m", epoch=3))], rare)[0].rose_at == 7_500


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
    assert told([(100, view)], losing())[1] == [Tell("m", HandOverPlanned(at=100)), Tell("m", BeatWanted())]


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


UNPACED = msgspec.structs.replace(QUIET.pacing, native_moving_ms=0)


def test_natives_that_pass_and_are_not_paced_take_at_a_beat_of_theirs_like_direct_ones() -> None:
    """They were asked for at once, and what was given lay until then: nine partition-seconds instead of two, each time."""
    group = msgspec.structs.replace(QUIET, pacing=UNPACED)
    group, _ = told([(500, NativeBeat(member_id="p", epoch_sent=3, epoch_answered=3, interval_ms=5_000))], group)
    assert best_at(group, gifts("p"), idle=0, now=1_000) == 5_500 - 400


def test_such_a_one_beats_when_the_coordinator_wishes() -> None:
    group = msgspec.structs.replace(QUIET, pacing=UNPACED)
    group, _ = told([(500, NativeBeat(member_id="p", epoch_sent=3, epoch_answered=3, interval_ms=10_000))], group)
    assert best_at(group, gifts("p"), idle=0, now=1_000) == 10_500 - 400
    assert best_at(group, gifts("p", hears_at=10_450), idle=0, now=1_000) == 20_500 - 400


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


def told_newcomer(*for_busy: int, busy_takes_ms: int = 0, ready_gives_at: int = LONG_AGO) -> TargetLearned:
    """It asks. Ready can give it something at once, busy at 2 s; and `for_busy` lies idle until busy has been asked."""
    givers = {name: Known(epoch=3, local=True, losses=frozenset(tps(n))) for n, name in ((1, "busy"), (2, "ready"))}
    members = givers | {"n": Known(epoch=3, local=True)}
    group = msgspec.structs.replace(QUIET, members=members, locals=tuple(members), wishers=frozenset({"n"}))
    busy = member("busy", 3, (), for_busy, hears_at=2_000, takes_ms=busy_takes_ms)
    ready = msgspec.structs.replace(member("ready", 3, (), ()), gives_at=ready_gives_at)
    return learned_by_n(told([(100, described(busy, ready, member("n", 3, (0,), (0, 1, 2)), epoch=3))], group)[1])


def test_who_asks_is_told_what_is_on_its_way_from_clients_that_are_asked_already() -> None:
    learned = told_newcomer(5, 6)
    assert (learned.coming, learned.comes_at) == (1, 2_000)


def test_so_it_is_from_one_that_has_heard_and_takes_its_time_and_as_late_as_that() -> None:
    """Sarama waits for a Fetch first, others deal with what they have polled."""
    assert told_newcomer(5, 6, busy_takes_ms=700).comes_at == 2_700
    assert [told_newcomer(5, 6, ready_gives_at=at).coming for at in (100, 101)] == [1, 2]


def test_what_can_still_be_given_up_later_is_not_on_its_way() -> None:
    assert told_newcomer().coming == 0


def rest_from(behind: int = 0, lacking: int = 1, pacing: Pacing = QUIET.pacing, **giver: Any) -> int:
    """A newcomer asks, and lacks one partition, which somebody else has: when it can come at the earliest."""
    members = {"n": Known(epoch=3, local=True), "giver": Known(epoch=3, **giver)}
    locals_ = tuple(name for name, known in members.items() if known.local)
    group = Group(group_id="g", pacing=pacing, members=members, locals=locals_, wishers=frozenset({"n"}))
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


def test_so_does_what_a_native_has_that_passes_and_is_not_paced() -> None:
    assert rest_from(pacing=UNPACED, passing=True, beat_at=-2_000) == 3_000


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
