"""One line an event, whatever clients put into it."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading

import pytest

from proxy.logs import LINES_PER_SECOND, REMIND_SECONDS, Hearing, Log, hear_python


def lines(level: str = "info", form: str = "text", clock: float = 0.25) -> tuple[Log, io.StringIO]:
    out = io.StringIO()
    return Log(level, form, out, lambda: clock), out  # type: ignore[arg-type]


def test_a_line_is_time_level_event_and_facts() -> None:
    log, out = lines()
    log.info("listening", address="127.0.0.1:9092", node=3, detail="")
    assert out.getvalue() == "1970-01-01T00:00:00.250Z info listening address=127.0.0.1:9092 node=3\n"


def test_what_a_client_says_can_not_start_a_line_of_its_own() -> None:
    log, out = lines()
    log.warning("odd", client='a\nfake line level=error "\x1b[31m\x7f')
    assert out.getvalue().count("\n") == 1
    assert "\x1b" not in out.getvalue()
    assert "\x7f" not in out.getvalue()
    assert '\\nfake line level=error \\"\\u001b[31m' in out.getvalue()


def test_json_is_one_object_a_line() -> None:
    log, out = lines(form="json")
    log.error("failed", reason="ü\n", count=2)
    said = json.loads(out.getvalue())
    assert said == {
        "time": "1970-01-01T00:00:00.250Z",
        "level": "error",
        "event": "failed",
        "reason": "ü\n",
        "count": 2,
    }


def test_below_the_level_nothing_is_said() -> None:
    log, out = lines("error")
    log.debug("a")
    log.info("b")
    log.warning("c")
    assert out.getvalue() == ""


def test_an_event_that_repeats_is_held_back_and_counted() -> None:
    now = [1.0]
    out = io.StringIO()
    log = Log(out=out, clock=lambda: now[0])
    for _ in range(LINES_PER_SECOND + 30):
        log.info("disconnected")
    log.info("another")
    assert out.getvalue().count("disconnected") == LINES_PER_SECOND
    assert "another" in out.getvalue()
    now[0] = 2.0
    log.info("disconnected")
    assert out.getvalue().endswith("disconnected suppressed=30\n")


def test_what_was_held_back_is_said_though_the_event_is_not_said_again() -> None:
    out = io.StringIO()
    log = Log(out=out, clock=lambda: 1.0)
    for _ in range(LINES_PER_SECOND + 30):
        log.info("member joins")
    log.warning("odd")
    for _ in range(2):
        log.catch_up()
    assert out.getvalue().count("odd") == 1
    assert out.getvalue().endswith('info lines held back of="member joins" lines=30\n')
    assert out.getvalue().count("held back") == 1


def test_what_was_held_back_is_said_once_lines_are_taken_again() -> None:
    stalling = Stalling()
    log = Log(out=stalling, clock=lambda: 1.0)
    for _ in range(LINES_PER_SECOND + 1):
        log.info("odd")
    for stalling.takes in (False, True, True):
        log.catch_up()
    assert stalling.taken[LINES_PER_SECOND:] == ["1970-01-01T00:00:01.000Z info lines held back of=odd lines=1\n"]


def test_a_long_value_is_cut_in_its_middle() -> None:
    """A trace begins with where it was, and ends with what it was."""
    log, out = lines()
    log.info("long", value=f"begins{'x' * 100_000}ends")
    assert len(out.getvalue()) < 3_000
    assert 'value="beginsx' in out.getvalue()
    assert out.getvalue().endswith('xends"\n')
    assert "(100010 characters)" in out.getvalue()


def test_lines_that_are_not_taken_are_counted_once_lines_are_taken_again() -> None:
    stalling = Stalling()
    log = Log(out=stalling, clock=lambda: 0.25)
    for stalling.takes in (True, False, False, True, True):
        log.warning("odd")
    assert [line.partition(" ")[2] for line in stalling.taken] == [
        "warning odd\n",
        "warning lines of the log were lost lines=2\n",
        "warning odd\n",
        "warning odd\n",
    ]


class Stalling:
    takes = True

    def __init__(self) -> None:
        self.taken: list[str] = []

    def write(self, line: str) -> bool:
        if self.takes:
            self.taken.append(line)
        return self.takes


def test_what_a_library_logs_is_one_line_a_minute_without_its_trace() -> None:
    log, out = lines()
    now = [0.0]
    hearing = Hearing(log, "accepting paused", lambda: now[0], address="127.0.0.1:9090")
    hearing.of("some.library")
    for now[0] in (0.0, 1.0, REMIND_SECONDS - 1, REMIND_SECONDS):
        try:
            raise OSError("no descriptors")
        except OSError:
            logging.getLogger("some.library").error("accept returned %s", "EMFILE", exc_info=True)
    first, again = [line.partition(" ")[2] for line in out.getvalue().splitlines()]
    assert first == 'error accepting paused address=127.0.0.1:9090 times=1 reason="accept returned EMFILE"'
    assert again == first.replace("times=1", "times=3")


class Clumsy:
    def __del__(self) -> None:
        self.fall()

    def fall(self) -> None:
        raise ValueError("it falls")


def test_what_python_can_raise_to_nobody_is_an_event_like_any_other(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """It writes that itself otherwise, whether there is room for it or not."""
    # As they are, to be put back.
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(threading, "excepthook", threading.excepthook)
    log, out = lines()
    hear_python(log)
    falling = threading.Thread(target=Clumsy.fall, args=[None], name="tightrope")
    falling.start()
    falling.join()
    for _ in range(LINES_PER_SECOND):
        Clumsy()
    thread, *finalizers = out.getvalue().splitlines()
    assert 'error raised to nobody of="<Thread(tightrope' in thread
    assert all("Clumsy.__del__" in line and "ValueError: it falls" in line for line in finalizers)
    assert len(finalizers) == LINES_PER_SECOND - 1
    assert capfd.readouterr().err == ""
