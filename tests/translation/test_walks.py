"""The tables are what members do, no more and no less."""

from __future__ import annotations

from tests.translation.walks import walk
from translation.states import JOINT, PHASE_MOVES, STANDING_MOVES

WALKS = 1_500


def test_the_tables_say_what_members_do_no_more_and_no_less() -> None:
    """Walks at random, from fixed seeds, through everything a host can say to a member."""
    phases, standings, joint = set(), set(), set()
    for seed in range(WALKS):
        for before, after in walk(seed):
            phases.add((before.phase, after.phase))
            standings.add((before.standing, after.standing))
            joint.add((after.phase, after.standing))
    assert {move for move in phases if move[0] is not move[1]} == set(PHASE_MOVES)
    assert {move for move in standings if move[0] is not move[1]} == set(STANDING_MOVES)
    assert joint == {(phase, standing) for phase, standings in JOINT.items() for standing in standings}
