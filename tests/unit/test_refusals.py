"""Who is turned away here is named once in the log, with what can be done about it."""

from __future__ import annotations

import io

from kafka_protocol import messages as m
from proxy.groups.refusals import Refusals
from proxy.logs import Log
from proxy.observations import Client
from translation import errors as e

CLIENT = Client(address="10.0.0.1:5", client_id="app")


def lines(out: io.StringIO) -> list[str]:
    return out.getvalue().splitlines()


def join(*protocols: str, group_id: str = "orders") -> m.JoinGroupRequest:
    offered = [m.JoinGroupRequestProtocol(name=name, metadata=b"") for name in protocols]
    return m.JoinGroupRequest(group_id=group_id, session_timeout_ms=10, protocols=offered)


def test_a_join_that_is_refused_says_what_it_asked_for_once_a_client_and_error() -> None:
    out = io.StringIO()
    refusals = Refusals(Log(out=out))
    for _ in range(3):
        refusals.of_join(join("range", "sticky"), CLIENT, e.INVALID_SESSION_TIMEOUT)
    refusals.of_join(join(), CLIENT, e.INCONSISTENT_GROUP_PROTOCOL)
    refusals.of_join(join(group_id="sums"), CLIENT, e.INVALID_SESSION_TIMEOUT)
    session, protocol, elsewhere = lines(out)
    assert "group=orders client=app address=10.0.0.1:5 error=INVALID_SESSION_TIMEOUT" in session
    assert "session_ms=10 protocols=range,sticky" in session
    assert "error=INCONSISTENT_GROUP_PROTOCOL" in protocol
    assert "protocols=none" in protocol
    assert "group=sums" in elsewhere


def test_what_is_part_of_every_migration_is_no_news() -> None:
    out = io.StringIO()
    for error in (e.NONE, e.MEMBER_ID_REQUIRED, e.UNKNOWN_MEMBER_ID, e.REBALANCE_IN_PROGRESS, e.NOT_COORDINATOR):
        Refusals(Log(out=out)).of_join(join("range"), CLIENT, error)
    assert lines(out) == []


def test_rules_that_were_exchanged_are_said_again() -> None:
    out = io.StringIO()
    refusals = Refusals(Log(out=out))
    refusals.by_rule("orders", CLIENT)
    refusals.by_rule("orders", CLIENT)
    refusals.ruled_anew()
    refusals.by_rule("orders", CLIENT)
    assert len(lines(out)) == 2
