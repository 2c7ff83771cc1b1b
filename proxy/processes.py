"""A proxy of several processes (`processes`): who starts them, starts them again, and ends them.

The parent serves nobody. It forks the others, each of which runs the whole proxy (`server.py`) beside its siblings
(`siblings.py`), and waits for signals: what SIGTERM, SIGINT and SIGHUP ask for it passes on. One that ends though nobody has
asked it to is started again, a second later: the kernel gives newcomers to the others meanwhile, and connections on their way
to it wait. One that can't even start ends all of them. Should the parent itself be killed, they drain and end.
"""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Callable, Collection
from pathlib import Path

import msgspec

from proxy.addresses import parse_address
from proxy.logs import Log
from proxy.settings import Settings
from proxy.siblings import AT_ONCE, Ports, Siblings

AGAIN_SECONDS = 1.0
PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
AWAITED = {signal.SIGCHLD, *PASSED_ON}
# Whoever fails so soon lacks something: a port, a file, descriptors.
TRIAL_SECONDS = 10.0


def own(settings: Settings, number: int) -> Settings:
    """Those of one of the processes: what it has to itself differs."""
    admin = settings.admin and str(_beyond(settings.admin, number))
    journal, file = settings.translation.journal, settings.traces.file
    return msgspec.structs.replace(
        settings,
        admin=admin,
        translation=msgspec.structs.replace(settings.translation, journal=journal and _beside(journal, number)),
        traces=msgspec.structs.replace(settings.traces, file=file and _beside(file, number)),
    )


def admins(settings: Settings) -> list[str]:
    """Where all of them are asked."""
    found = [own(settings, number).admin for number in range(settings.processes)]
    return [each for each in found if each is not None]


def _beyond(admin: str, number: int) -> object:
    address = parse_address(admin)
    return address._replace(port=address.port + number)


def _beside(file: str, number: int) -> str:
    """The first has the name that a lone process has: with it the journal outlives a change of `processes`."""
    path = Path(file)
    return str(path.with_name(f"{path.stem}.{number}{path.suffix}")) if number else file


class Parent:
    def __init__(self, count: int, log: Log) -> None:
        self._log = log
        self._ports = Ports()
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(count)]
        for pair in pairs:
            for each in pair:
                each.setblocking(False)
        self._inboxes, self._queues = zip(*pairs, strict=True)
        # It can be read from once nobody holds the other end, which is ours alone.
        self._lives, self._held = os.pipe()
        # By the number of its process, and its own.
        self._running: dict[int, int] = {}
        # When each that has ended is started again.
        self._due = dict.fromkeys(range(count), 0.0)
        # Those that have yet to show that they can start at all, and until when.
        self._on_trial = dict.fromkeys(range(count), time.monotonic() + TRIAL_SECONDS)
        self._was_reloaded = False
        # The signal to end that came first.
        self._told: signal.Signals | None = None
        self._code = 0

    def run(self, serve: Callable[[int, Siblings], int]) -> int:
        """The exit code: of this process, and, in each that it forks, of that one. `serve` runs one of them to its end."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, AWAITED)
        while self._running or self._due:
            for number in [number for number, at in self._due.items() if at <= time.monotonic()]:
                del self._due[number]
                if self._fork(number):
                    return self._become(number, before, serve)
            self._heed(self._next_signal())
        return self._code

    def _fork(self, number: int) -> bool:
        """Whether this is the child."""
        pid = os.fork()
        if pid == 0:
            return True
        self._running[pid] = number
        if self._was_reloaded:
            # It knows the rules as they were when the parent began.
            os.kill(pid, signal.SIGHUP)
        return False

    def _become(self, number: int, signals: Collection[int], serve: Callable[[int, Siblings], int]) -> int:
        # Ctrl-C is for the parent, who passes it on: heard twice, it would mean to stop at once.
        os.setpgid(0, 0)
        os.close(self._held)
        signal.pthread_sigmask(signal.SIG_SETMASK, signals)
        return serve(number, Siblings(number, self._ports, self._inboxes, self._queues, self._lives))

    def _next_signal(self) -> signal.Signals | None:
        """None: it is time to start one again."""
        if not self._due:
            return signal.Signals(signal.sigwait(AWAITED))
        soon = max(0.0, min(self._due.values()) - time.monotonic())
        found = signal.sigtimedwait(AWAITED, soon)
        return None if found is None else signal.Signals(found.si_signo)

    def _heed(self, number: signal.Signals | None) -> None:
        if number == signal.SIGCHLD:
            self._bury()
        elif number is not None:
            self._tell(number)

    def _tell(self, number: signal.Signals) -> None:
        if number != signal.SIGHUP and self._told is None:
            self._told = number
            self._due.clear()
            # Not by a signal: a supervisor may have sent them one itself, and heard twice it means to stop at once.
            os.close(self._held)
            return
        self._was_reloaded |= number == signal.SIGHUP
        for pid in self._running:
            os.kill(pid, number if number == signal.SIGHUP else AT_ONCE)

    def _bury(self) -> None:
        while self._running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            self._ended(self._running.pop(pid), pid, os.waitstatus_to_exitcode(status))

    def _ended(self, number: int, pid: int, code: int) -> None:
        if self._told is not None:
            # Who had yet to begin to heed signals ends of one.
            self._code = self._code if code in (0, -self._told, -AT_ONCE) else 1
        elif code > 0 and self._on_trial.pop(number, 0.0) > time.monotonic():
            # It has said why. So it would be with the others, or one would lack.
            self._code = 1
            self._tell(signal.SIGTERM)
        else:
            how = signal.Signals(-code).name if code < 0 else code
            self._log.error("a process ended", process=number, pid=pid, by=how, again_in_seconds=AGAIN_SECONDS)
            self._due[number] = time.monotonic() + AGAIN_SECONDS
