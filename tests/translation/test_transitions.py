"""The transition record: one for each change, none for quiet, and the same again when the events are replayed."""

from __future__ import annotations

import pytest

import translation.events as ev
from tests.translation.playbook import (
    LEARNED,
    NOW,
    Playbook,
    after,
    beats,
    granted,
    joining,
    joins,
    stable,
    syncs,
    target,
    tps,
    wait,
)
from tests.translation.walks import Walker
from translation import Member, step
from translation.actions import RecordTransition
from translation.states import Phase, Standing
from translation.transition import Transition


def recorded(story: list[tuple[int, ev.AnyEvent]], member: Member) -> list[Transition]:
    transitions = []
    for now, event in story:
        member, actions = step(member, event, now)
        transitions += [action.transition for action in actions if isinstance(action, RecordTransition)]
    return transitions


def test_a_quiet_member_leaves_no_record() -> None:
    play = after(Playbook(stable(), NOW), beats(), wait(10_000), granted(2), LEARNED)
    assert play.transitions == []


def test_a_record_says_who_when_from_where_to_where_and_why() -> None:
    play = Playbook()
    play.now = 77
    after(play, joins(6, reason="started"))
    assert play.transitions == [
        Transition(
            group_id="g",
            member_id="m",
            instance_id=None,
            client_id="c",
            at=77,
            cause="JoinRequested",
            phase_before=Phase.ABSENT,
            phase=Phase.COMPLETING_REBALANCE,
            standing_before=Standing.ABSENT,
            standing=Standing.JOINING,
            epoch_before=0,
            epoch=0,
            generation_before=-1,
            generation=-1,
            request=6,
            reason="started",
        )
    ]


def test_a_record_says_what_the_client_keeps_gains_and_gives_up() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000), granted(2, [0, 4]))
    told = play.transitions[-1]
    assert (told.cause, told.kept, told.assigned) == ("partitions to give up", tps(0, 1), tps(0, 4))
    after(play, joins(6, owned=[0]))
    assert (play.transitions[-1].kept, play.transitions[-1].revoked) == (tps(0), tps(1))
    after(play, granted(3, [0, 4]), target(3, [0, 4]))
    assert (play.transitions[-1].generation_before, play.transitions[-1].generation) == (2, 3)
    after(play, syncs(7, 3))
    synced = play.transitions[-1]
    assert (synced.kept, synced.revoked, synced.gained, synced.owned) == (tps(0), (), tps(4), tps(0, 4))


def test_a_new_cause_is_named_for_new_partitions() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000), granted(3, [0, 1, 2]))
    assert play.transitions[-1].cause == "new partitions to take"


def test_an_epoch_that_moves_in_silence_is_on_record() -> None:
    play = after(Playbook(stable(), NOW), wait(10_000), granted(7))
    assert [(t.epoch_before, t.epoch, t.generation) for t in play.transitions] == [(2, 7, 2)]


@pytest.mark.parametrize("seed", range(20))
def test_recorded_events_replay_to_the_same_transitions(seed: int) -> None:
    walker = Walker(seed)
    start = walker.member
    for _, member in walker.walk():
        if member.phase is Phase.ABSENT and member.standing is Standing.ABSENT:
            break
    read_back = [(now, ev.decode(ev.encode(event))) for now, event in walker.story]
    assert recorded(read_back, start) == recorded(walker.story, start)


def test_a_member_shows_itself_on_one_line() -> None:
    assert repr(Member(group_id="g")) == "<nobody absent/absent E0 g-1 told - assigned ->"
    assert repr(stable()) == "<m stable/stable E2 g2 told a:0,1 assigned a:0,1>"
    assert repr(joining()) == "<m completing-rebalance/joining E0 g-1 told - assigned ->"
