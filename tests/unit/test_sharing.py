"""Who asks what others ask: when it is asked once for all, and when each asks for itself."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import pytest

from proxy.groups.native import Ask
from proxy.groups.sharing import PATIENCE_MS, Shared

WORD, REFUSED = "a word", "refused"


class Clock:
    def __init__(self) -> None:
        self.now_ms = 0
        self._alarms: list[tuple[int, int, Callable[[], None]]] = []

    def at(self, when_ms: int, ring: Callable[[], None]) -> None:
        heapq.heappush(self._alarms, (when_ms, len(self._alarms), ring))

    def passes(self, ms: int) -> None:
        self.now_ms += ms
        while self._alarms and self._alarms[0][0] <= self.now_ms:
            heapq.heappop(self._alarms)[2]()


class Line:
    """What it is asked waits until it is answered; what it is told soon, until the clock rings."""

    is_free = open = True

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.asked: list[Callable[[Any], None]] = []
        self.heard: list[str | None] = []

    def ask(self, _: Ask, heard: Callable[[Any], None]) -> None:
        self.asked.append(heard)

    def soon(self, then: Callable[[], None]) -> None:
        self._clock.at(self._clock.now_ms, then)

    def answers(self, said: str | None) -> None:
        self.asked.pop(0)(said)
        self._clock.passes(0)


class Room:
    def __init__(self, lines: int) -> None:
        self.clock = Clock()
        self.lines = [Line(self.clock) for _ in range(lines)]
        shared: Any = Shared(self.clock, lambda *_: None, str, lambda _, said: said == WORD)  # type: ignore[arg-type]
        self._shared = shared

    def asks(self, *numbers: int, what: str = "group") -> None:
        for number in numbers:
            self._shared.ask(what, self.lines[number], self.lines[number].heard.append)

    @property
    def asked(self) -> list[int]:
        """On which lines something is asked just now."""
        return [number for number, line in enumerate(self.lines) if line.asked]

    @property
    def heard(self) -> list[list[str | None]]:
        return [line.heard for line in self.lines]


def test_of_hundreds_who_ask_at_once_the_first_asks_and_one_for_all_others() -> None:
    room = Room(300)
    room.asks(*range(300))
    assert room.asked == [0]
    room.lines[0].answers(WORD)
    assert room.asked == [1]
    assert room.heard == [[WORD], *[[]] * 299]
    room.lines[1].answers(WORD)
    assert room.asked == []
    assert room.heard == [[WORD]] * 300


def test_no_answer_is_older_than_its_question() -> None:
    """Who comes while one is under way may have been told more than it says."""
    room = Room(3)
    room.asks(0, 1)
    room.lines[0].answers("of before")
    room.asks(2)
    room.lines[1].answers(WORD)
    assert room.heard == [["of before"], [WORD], []]
    room.lines[2].answers(WORD)
    assert room.heard[2] == [WORD]


def test_what_is_asked_about_another_group_waits_for_nobody() -> None:
    room = Room(2)
    room.asks(0)
    room.asks(1, what="another")
    assert room.asked == [0, 1]


@pytest.mark.parametrize("said", [REFUSED, None])
def test_a_refusal_is_for_whoever_asked_and_the_others_ask_for_themselves(said: str | None) -> None:
    """Another principal may describe the group, another connection may lead to its coordinator, or be there still."""
    room = Room(4)
    room.asks(0, 1, 2, 3)
    room.lines[0].answers(WORD)
    room.lines[1].answers(said)
    assert room.heard == [[WORD], [said and REFUSED], [], []]
    assert room.asked == [2, 3]
    room.lines[2].answers(WORD)
    room.lines[3].answers(said)
    assert room.heard == [[WORD], [said], [WORD], [said]]


def test_it_is_asked_where_the_broker_owes_nothing_else() -> None:
    """Its answer might come behind that to a Fetch."""
    room = Room(3)
    room.lines[1].is_free = False
    room.asks(0, 1, 2)
    room.lines[0].answers(WORD)
    assert room.asked == [2]


def test_nobody_waits_for_long_on_anothers_connection() -> None:
    room = Room(4)
    room.asks(0, 1, 2)
    room.lines[0].answers(WORD)
    room.asks(3)
    room.clock.passes(PATIENCE_MS)
    assert room.asked == [1, 2]
    room.lines[2].answers(WORD)
    assert room.heard == [[WORD], [], [WORD], [WORD]]
    room.lines[1].answers("late")
    assert room.heard == [[WORD], ["late"], [WORD], [WORD]]
    room.clock.passes(PATIENCE_MS)
    assert room.asked == []


def test_who_has_gone_meanwhile_hears_that_there_is_no_answer() -> None:
    room = Room(3)
    room.asks(0, 1, 2)
    room.lines[0].answers(WORD)
    room.lines[2].open = False
    room.lines[1].answers(WORD)
    assert room.heard == [[WORD], [WORD], [None]]
