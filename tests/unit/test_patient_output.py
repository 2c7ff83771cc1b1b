"""Who stops reading is not waited for, and misses nothing for which there is room. Real pipes."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import TextIO

import pytest

from proxy.patient_output import MOST_WAITING, PATIENCE_SECONDS, PatientOutput

PIPE_BYTES = 4096
# A pipe has room for a few of them.
LINE = "x" * 1000 + "{}\n"


class Pipe:
    def __init__(self) -> None:
        self.reader, self.descriptor = os.pipe()
        fcntl.fcntl(self.descriptor, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.out: TextIO = open(self.descriptor, "w")  # noqa: SIM115 (closed by the fixture)

    def read(self, count: int) -> list[str]:
        pieces: list[bytes] = []
        while count > 0:
            pieces.append(os.read(self.reader, 65_536))
            count -= pieces[-1].count(b"\n")
        return b"".join(pieces).decode().splitlines(keepends=True)


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    made = Pipe()
    yield made
    os.close(made.reader)
    made.out.close()


def written(out: PatientOutput, *lines: str) -> list[bool]:
    """Within no time: a writer that waits would wait for ever."""
    taken: list[bool] = []
    writing = threading.Thread(target=lambda: taken.extend(map(out.write, lines)), daemon=True)
    writing.start()
    writing.join(30)
    assert not writing.is_alive(), "it waits"
    return taken


def test_what_there_is_room_for_is_there_at_once(pipe: Pipe) -> None:
    PatientOutput(pipe.out).write("ü\n")
    os.set_blocking(pipe.reader, False)
    assert pipe.read(1) == ["ü\n"]


@pytest.mark.parametrize("blocking", [True, False])
def test_a_reader_that_stalls_gets_every_line_in_order_once_it_reads(pipe: Pipe, blocking: bool) -> None:
    os.set_blocking(pipe.descriptor, blocking)
    lines = [LINE.format(number) for number in range(100)]
    lines[50] = "long" * 10_000 + "\n"
    assert all(written(PatientOutput(pipe.out), *lines))
    assert pipe.read(100) == lines


def test_what_is_too_much_is_refused_until_all_that_waited_is_read(pipe: Pipe) -> None:
    out = PatientOutput(pipe.out)
    taken = written(out, *[LINE.format(number) for number in range(MOST_WAITING + 100)])
    kept = taken.count(True)
    assert MOST_WAITING <= kept < MOST_WAITING + 10
    assert taken == [True] * kept + [False] * (len(taken) - kept)
    first = pipe.read(1)
    assert written(out, LINE) == [False]
    assert len(first + pipe.read(kept - len(first))) == kept
    deadline = time.monotonic() + 30
    while written(out, "again\n") == [False]:
        assert time.monotonic() < deadline
    assert pipe.read(1) == ["again\n"]


def test_a_reader_that_has_gone_is_no_error() -> None:
    reader, descriptor = os.pipe()
    os.close(reader)
    with open(descriptor, "w") as gone:
        assert written(PatientOutput(gone), "nobody\n", "reads\n") == [True, True]


PROGRAM = f"""
import sys
from proxy.logs import Log
from proxy.patient_output import PatientOutput
log = Log(out=PatientOutput(sys.stderr))
for number in range(20):
    log.info({"x" * 1000!r}, number=number)
"""


@pytest.mark.parametrize("reads", [True, False])
def test_at_its_end_a_process_waits_a_moment_for_its_last_lines_to_be_read(pipe: Pipe, reads: bool) -> None:
    began = time.monotonic()
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=pipe.out) as process:
        if reads:
            time.sleep(PATIENCE_SECONDS / 4)
            assert [line.rpartition("=")[2] for line in pipe.read(20)] == [f"{number}\n" for number in range(20)]
        assert process.wait(30) == 0
    assert reads or time.monotonic() - began > PATIENCE_SECONDS
