"""A process that dies with the one that started it, however that ends."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

STOP_SECONDS = 20


class TiedProcess:
    """Beside the process, a shell reads a pipe whose other end only we hold: the kernel closes it whatever kills us, and
    the shell then kills the process. (PR_SET_PDEATHSIG needs no shell, but counts the death of the *thread* that started
    the process, and trio's worker threads die after ten idle seconds.) Both have sessions of their own, so that Ctrl-C
    reaches only pytest, which then ends them in order.
    """

    def __init__(self, command: list[str], log: Path) -> None:
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self._guard = subprocess.Popen(
            ["sh", "-c", 'cat; kill -9 "$0"', str(self._process.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        return self._process.poll()

    def wait(self) -> int:
        code = self._process.wait()
        self._release()
        return code

    def send(self, how: signal.Signals) -> None:
        self._process.send_signal(how)

    def end(self, how: signal.Signals) -> None:
        """Sends the signal and waits; a process that does not heed it is killed."""
        self.send(how)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._release()

    def _release(self) -> None:
        self._guard.kill()
        self._guard.communicate()
