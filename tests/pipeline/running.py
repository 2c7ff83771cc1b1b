"""The command as a process of its own, to be killed with everything it has started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

MODEST = ("--master", "local[2]", "--conf", "spark.driver.memory=1g", "--conf", "spark.sql.shuffle.partitions=1")
QUICK = ("--conf", "spark.sql.codegen.wholeStage=false", "--conf", "spark.sql.adaptive.enabled=false")


class Command:
    def __init__(self, *words: str, log: Path) -> None:
        self._log = log.open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pipeline", *words, *MODEST, *QUICK],
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
