"""What is seen while the demo runs: on a terminal, and where there is none."""

from __future__ import annotations

import io

from demo.ledger import Ledger
from demo.screen import Screen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def ledger() -> Ledger:
    made = Ledger(4)
    made.enters("alice", "kafka-python", "classic")
    made.enters("bob", "confluent-kafka", "consumer")
    made.heard("alice", {"event": "assigned", "at_ms": 0, "partitions": [0, 3]})
    return made


def test_a_terminal_shows_who_owns_what_now() -> None:
    out = Terminal()
    Screen(out).show(ledger(), moved=1, to_move=4)
    assert "0 · · 3" in out.getvalue()
    assert "1 of 4 native" in out.getvalue()


def test_what_happens_is_told_above_who_owns_what() -> None:
    out = Terminal()
    screen = Screen(out)
    screen.show(ledger(), moved=0, to_move=4)
    height = out.getvalue().count("\n")
    screen.say("bob starts")
    assert f"\x1b[{height}A\x1b[J" in out.getvalue()
    assert out.getvalue().endswith("bob starts\n")


def test_who_is_gone_is_shown_no_more() -> None:
    seen = ledger()
    seen.heard("alice", {"event": "closed", "at_ms": 1})
    out = Terminal()
    Screen(out).show(seen, moved=1, to_move=4)
    assert "alice" not in out.getvalue()


def test_without_a_terminal_there_are_plain_lines_only() -> None:
    out = io.StringIO()
    screen = Screen(out)
    screen.show(ledger(), moved=0, to_move=4)
    screen.say("bob starts")
    assert out.getvalue().endswith(" s  bob starts\n")
    assert out.getvalue().count("\n") == 1
