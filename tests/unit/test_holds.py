"""What was waiting behind a Heartbeat that was held: the host looks once that is answered, and tells its member."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest

from kafka_protocol.messages import keys
from proxy.connections import Connection
from proxy.groups.holding import BEHIND_MS, LONG_HOLD_MS, MUCH_BETWEEN, Holds
from proxy.groups.host import Host
from proxy.groups.line import Line, Taker
from proxy.groups.requests import Requests
from translation import events as ev
from translation.actions import AnswerHeartbeat
from translation.holding import STRIKES
from translation.member import Member

KEY = ("g", "m")


class Held:
    """A member whose Heartbeat, number 5, came at 0; what it is told is in `fed`."""

    def __init__(self) -> None:
        self.now_ms = 0
        self.fed: list[ev.AnyEvent] = []
        self.conversation = SimpleNamespace(requests=1, ahead=SimpleNamespace(is_seen=False))
        self._later: list[tuple[int, Callable[[], None]]] = []
        request = SimpleNamespace(key=keys.HEARTBEAT, body=SimpleNamespace(group_id="g", member_id="m"))
        self.line = cast(
            Any,
            SimpleNamespace(number=5, connection=SimpleNamespace(conversation=self.conversation)),
        )
        waiting = SimpleNamespace(line=self.line, request=request, at_ms=0)
        requests = SimpleNamespace(waiting=lambda number: waiting, answer_order=lambda order, write: None)
        clock = SimpleNamespace(at=lambda ms, then: self._later.append((ms, then)))
        host = SimpleNamespace(clock=clock, feed=lambda key, event: self.fed.append(event))
        self._clock = clock
        self.holds = Holds(cast(Host, host), cast(Requests, requests))

    def answered_at(self, now_ms: int) -> None:
        self._clock.now_ms = now_ms
        self.holds.answer(KEY, AnswerHeartbeat(5))

    def looks(self) -> None:
        later, self._later = self._later, []
        for _, then in later:
            then()


def test_what_comes_the_moment_a_held_heartbeat_is_answered_had_waited_for_it() -> None:
    held = Held()
    held.answered_at(LONG_HOLD_MS)
    assert [ms for ms, _ in held._later] == [LONG_HOLD_MS + BEHIND_MS]
    held.conversation.requests += 1
    held.looks()
    assert held.fed == [ev.HoldHurt()]


def test_where_nothing_comes_nothing_had() -> None:
    held = Held()
    held.answered_at(LONG_HOLD_MS)
    held.looks()
    assert not held.fed


def test_of_who_has_asked_for_more_behind_a_held_heartbeat_before_it_is_chance() -> None:
    """Among the thousands of commits of a client that lives for weeks, some come just then."""
    held = Held()
    held.holds.interrupted(held.line)
    held.answered_at(LONG_HOLD_MS)
    held.conversation.requests += 1
    held.looks()
    assert held.fed == [ev.HoldInterrupted(request=5)]


# --- beforehand ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("others", "would_hurt"), [(MUCH_BETWEEN - 1, False), (MUCH_BETWEEN, True)])
def test_where_much_is_asked_between_two_heartbeats_a_hold_would_not_last(others: int, would_hurt: bool) -> None:
    """A connection may have many members, and beat for each."""
    here = line()
    assert here.beats() == -1
    here.connection.conversation.requests += 1 + others
    assert Holds(cast(Host, None), cast(Requests, None)).would_hurt(here) is would_hurt
    here.connection.conversation.requests += 1
    assert not Holds(cast(Host, None), cast(Requests, None)).would_hurt(here), (
        "of what came before that beat nothing counts"
    )


def test_who_reads_nothing_else_while_it_waits_would_be_hurt() -> None:
    assert Holds(cast(Host, None), cast(Requests, None)).would_hurt(line(waits=True))


# --- kin -------------------------------------------------------------------------------------------------------------


def line(software: str = "", waits: bool = False) -> Line:
    connection = SimpleNamespace(
        client="10.0.0.1:5000",
        conversation=SimpleNamespace(ahead=SimpleNamespace(keeps_itself_waiting=waits), requests=0),
    )
    return Line(cast(Connection, connection), cast(Taker, None), (software, "1"))


def hurt_kin(newcomer: Line, *neighbours: tuple[Member, Line]) -> bool:
    names = [f"m{number}" for number in range(len(neighbours))]
    host = SimpleNamespace(
        members={("g", name): member for name, (member, _) in zip(names, neighbours, strict=True)},
        lines={("g", name): theirs for name, (_, theirs) in zip(names, neighbours, strict=True)},
        together=SimpleNamespace(here=lambda group_id: tuple(names)),
    )
    return Holds(cast(Host, host), cast(Requests, None)).hurt_kin("g", newcomer)


FINE = Member(group_id="g")
HURT = Member(group_id="g", hurt_by_holds=STRIKES, beat_ms=3_000)
LATE = Member(group_id="g", late_after_hold=STRIKES, beat_ms=3_000)


def test_a_newcomer_is_as_most_of_its_kind_are() -> None:
    assert not hurt_kin(line())
    assert hurt_kin(line(), (HURT, line()))
    assert hurt_kin(line(), (HURT, line()), (LATE, line()), (FINE, line()))
    assert hurt_kin(line(), (FINE, line(waits=True)))
    assert not hurt_kin(line(), (HURT, line()), (FINE, line()))


def test_whose_rhythm_is_yet_to_be_seen_without_a_hold_shows_nothing() -> None:
    """It may have a slow timer."""
    assert not hurt_kin(line(), (msgspec.structs.replace(LATE, beat_ms=None), line()))


def test_what_other_software_stands_is_no_concern_of_it() -> None:
    assert not hurt_kin(line("a"), (HURT, line("b")))
    assert hurt_kin(line("a"), (HURT, line("a")), (FINE, line("b")), (FINE, line("b")))
