"""One line for each change of membership."""

from __future__ import annotations

import io

from proxy.logs import Log
from proxy.membership_log import membership_log
from tests.unit.observing import changed
from translation.states import Phase, Standing


def said_of(cause: str) -> list[str]:
    out = io.StringIO()
    absent, phase = Phase.ABSENT, Phase.PREPARE_REBALANCE
    membership_log(Log(out=out))(
        changed(0, cause=cause, phase_before=absent, standing_before=Standing.ABSENT, phase=phase)
    )
    return [line.split(" ", 2)[2] for line in out.getvalue().splitlines()]


def test_who_joins_is_said() -> None:
    who = "group=orders member=alice client=c address=10.0.0.1:5000"
    assert said_of("JoinRequested") == [f"member joins {who} cause=JoinRequested epoch=7"]


def test_who_is_adopted_was_said_when_it_was_recognised() -> None:
    assert said_of("MemberAdopted") == []


def test_who_leaves_because_its_client_has_not_come_back_was_said_when_it_was_asked_to() -> None:
    gone = changed(0, cause="client has not come back", phase=Phase.ABSENT, standing=Standing.ABSENT)
    out = io.StringIO()
    membership_log(Log(out=out))(gone)
    assert out.getvalue() == ""
