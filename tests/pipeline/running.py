"""The command as a process of its own, to be killed with everything it has started; or one process for many commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from tests.pipeline.quick import in_words, quick

MODEST = ("--master", "local[2]", "--conf", "spark.driver.memory=1g")
# Words in, a line each; what was said and what it ended with out. Java stays, and with it what it has compiled.
ONE_BY_ONE = """
import contextlib, io, json, sys
from pipeline.cli import main
for line in sys.stdin:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(json.loads(line))
    print(json.dumps([code, out.getvalue(), err.getvalue()]), flush=True)
"""
Done = subprocess.CompletedProcess[str]


class Commands:
    """One after the other in one process, each with a session of its own."""

    def __init__(self, log: Path) -> None:
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-c", ONE_BY_ONE],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                start_new_session=True,
            )

    def run(self, *words: str) -> Done:
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        print(json.dumps([*words, *MODEST, *in_words(quick())]), file=to, flush=True)
        return Done(words, *json.loads(back.readline()))

    def end(self) -> None:
        self._process.communicate()


class Command:
    def __init__(self, *words: str, log: Path) -> None:
        self._log = log.open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pipeline", *words, *MODEST, *in_words(quick())],
            stdout=self._log,
            stderr=self._log,
            start_new_session=True,
        )

    def __enter__(self) -> Command:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        self._log.close()

    @property
    def is_running(self) -> bool:
        return self.process.poll() is None

    def kill(self) -> None:
        """-9, the JVM with it."""
        if self.is_running:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
