"""One answer for all who want to know the same at the same time.

After a restart each client of a group has the group described, and its topics named; and a description is as long as the
group is large. But no answer may be older than its question: a client may have been told more at another proxy, a moment
before it came here. So whoever asks while a question is under way waits for the next one.

It is asked on the connection of one of them. An answer that need not be the others' too (its client may not know, its broker
is no coordinator, it has gone) is its own, and they ask each for itself; and nobody waits for long on another's connection.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, TypeVar

from proxy.groups.clock import Clock
from proxy.groups.line import Line
from proxy.groups.native import Ask

What = TypeVar("What", bound=Hashable)
Said = TypeVar("Said")

# As long as a coordinator takes that is slow, or a Fetch that is waited for.
PATIENCE_MS = 1_000


class Asker(NamedTuple):
    line: Line
    heard: Callable[[Any], None]


class Shared(Generic[What, Said]):
    def __init__(
        self,
        clock: Clock,
        question: Callable[[What, Line], Ask],
        read: Callable[[Any], Said | None],
        is_for_all: Callable[[What, Said], bool],
    ) -> None:
        self._clock = clock
        self._question = question
        self._read = read
        self._is_for_all = is_for_all
        # Who hears an answer that is under way, beside whoever asked for it; and who came too late for that.
        self._hearing: dict[What, list[Asker]] = {}
        self._waiting: dict[What, list[Asker]] = {}

    def ask(self, what: What, line: Line, heard: Callable[[Said | None], None]) -> None:
        """`heard` is called once: with an answer that was asked for after this, or with None when there will be none."""
        self._waiting.setdefault(what, []).append(Asker(line, heard))
        if what not in self._hearing:
            self._ask(what)

    def _ask(self, what: What) -> None:
        askers = self._waiting.pop(what)
        asker = next((each for each in askers if each.line.is_free), askers[0])
        others = self._hearing[what] = [each for each in askers if each is not asker]

        def heard(said: Said | None) -> None:
            heard_by = others.copy()
            self._is_over(what, others)
            for each in heard_by:
                if said is not None and self._is_for_all(what, said):
                    _tell(each, said)
                else:
                    self._ask_alone(what, each, each.heard)
            asker.heard(said)

        self._clock.at(self._clock.now_ms + PATIENCE_MS, lambda: self._lose_patience(what, others))
        self._ask_alone(what, asker, heard)

    def _ask_alone(self, what: What, asker: Asker, heard: Callable[[Said | None], None]) -> None:
        question = self._question(what, asker.line)
        asker.line.ask(question, lambda answer: heard(None if answer is None else self._read(answer)))

    def _lose_patience(self, what: What, others: list[Asker]) -> None:
        """They ask anew, with all who came since; it is answered to whoever asked."""
        if others:
            self._waiting[what] = others + self._waiting.get(what, [])
        self._is_over(what, others)

    def _is_over(self, what: What, others: list[Asker]) -> None:
        others.clear()
        if self._hearing.get(what) is others:
            del self._hearing[what]
            if what in self._waiting:
                self._ask(what)


def _tell(asker: Asker, said: object) -> None:
    """When its turn comes, for they are many. What is wrong then is wrong with its connection only."""
    asker.line.soon(lambda: asker.heard(said if asker.line.open else None))
