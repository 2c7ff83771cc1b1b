"""The tables: what is illegal, refusals in the narrow vocabulary, and documentation that says the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.translation.playbook import NOW, RULES, Playbook, after, beats, joins, refused, stable, wait
from translation import errors as e
from translation import step
from translation.actions import AnswerHeartbeat, AnswerJoin
from translation.events import BeatWanted
from translation.protocol_page import page
from translation.refusals import OTHER, REFUSALS, Refusal, Then, refusal
from translation.states import Phase, Standing, check_joint, check_standing


def test_what_the_tables_do_not_say_is_refused() -> None:
    with pytest.raises(e.IllegalMove, match="standing fenced -> leaving"):
        check_standing(Standing.FENCED, Standing.LEAVING)
    with pytest.raises(e.IllegalMove, match="phase absent while joining"):
        check_joint(Phase.ABSENT, Standing.JOINING)


INSIDE = {Then.ANOTHER_VOTE, Then.RELEASE, Then.FILTER}
JOIN_CODES = {
    e.UNKNOWN_MEMBER_ID,
    e.NOT_COORDINATOR,
    e.COORDINATOR_LOAD_IN_PROGRESS,
    e.FENCED_INSTANCE_ID,
    e.GROUP_MAX_SIZE_REACHED,
    e.GROUP_AUTHORIZATION_FAILED,
}
OTHER_CODES = {
    e.NONE,
    e.UNKNOWN_MEMBER_ID,
    e.NOT_COORDINATOR,
    e.COORDINATOR_LOAD_IN_PROGRESS,
    e.FENCED_INSTANCE_ID,
    e.GROUP_AUTHORIZATION_FAILED,
}


@pytest.mark.parametrize("row", [*REFUSALS.values(), OTHER])
def test_clients_hear_only_words_that_each_library_survives(row: Refusal) -> None:
    assert row.join in JOIN_CODES
    assert {row.sync, row.heartbeat} <= OTHER_CODES - {e.COORDINATOR_LOAD_IN_PROGRESS}
    assert row.commit is None or row.commit in OTHER_CODES


# What is dealt with inside is told when the client has waited long enough: test_joining.py.
TOLD_AT_ONCE = [code for code, row in REFUSALS.items() if row.then not in INSIDE]


@pytest.mark.parametrize("code", TOLD_AT_ONCE)
def test_a_member_that_waits_hears_what_its_row_says(code: int) -> None:
    """With partitions, and a JoinGroup that is parked or a Heartbeat that is held."""
    parked = after(Playbook(stable(), NOW), joins(6, owned=[0, 1]))
    held = after(
        Playbook(stable(rules=msgspec.structs.replace(RULES, hold_beat_part=0.8)), NOW), beats(5), BeatWanted()
    )
    assert [each.error_code for each in heard(parked, code, AnswerJoin)] == [refusal(code).join]
    assert [each.error_code for each in heard(held, code, AnswerHeartbeat)] == [refusal(code).heartbeat]


@pytest.mark.parametrize("code", TOLD_AT_ONCE)
def test_it_stands_where_its_row_says(code: int) -> None:
    member, _ = step(after(Playbook(stable(), NOW), wait(10_000)).member, refused(code), NOW + 10_000)
    word = refusal(code).then.value.split(";")[0]
    if refusal(code).then is Then.PASS_THROUGH:
        # "(fenced, if it was a member)"
        word = "fenced"
    assert (member.standing.value if member.phase is Phase.ABSENT else "kept") == word


def heard(play: Playbook, code: int, kind: type[Any]) -> list[Any]:
    _, actions = step(play.member, refused(code), play.now)
    return [action for action in actions if isinstance(action, kind)]


@pytest.mark.parametrize("then", Then)
def test_every_consequence_has_a_cause(then: Then) -> None:
    assert any(row.then is then for row in REFUSALS.values())


def test_an_error_of_the_future_is_retried() -> None:
    assert refusal(9_999).then is Then.RETRY


def test_the_documentation_is_printed_from_the_tables() -> None:
    """To print it: python -m translation.protocol_page > docs/protocol.md"""
    assert Path("docs/protocol.md").read_text() == page()
