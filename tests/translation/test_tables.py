"""The tables: what is illegal, refusals in the narrow vocabulary, and documentation that says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from translation import errors as e
from translation.protocol_page import page
from translation.refusals import OTHER, REFUSALS, Refusal, Then, refusal
from translation.states import Phase, Standing, check_joint, check_standing


def test_what_the_tables_do_not_say_is_refused() -> None:
    with pytest.raises(e.IllegalMove, match="standing fenced -> leaving"):
        check_standing(Standing.FENCED, Standing.LEAVING)
    with pytest.raises(e.IllegalMove, match="phase absent while joining"):
        check_joint(Phase.ABSENT, Standing.JOINING)


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


@pytest.mark.parametrize("then", Then)
def test_every_consequence_has_a_cause(then: Then) -> None:
    assert any(row.then is then for row in REFUSALS.values())


def test_an_error_of_the_future_is_retried() -> None:
    assert refusal(9_999).then is Then.RETRY


def test_the_documentation_is_printed_from_the_tables() -> None:
    """To print it: python -m translation.protocol_page > docs/protocol.md"""
    assert Path("docs/protocol.md").read_text() == page()
