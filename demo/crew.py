"""The processes of the demo: started in a nursery, heard line by line, gone when it is."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import trio

Hear = Callable[[str, Mapping[str, Any]], None]

PROGRAMS = {"confluent-kafka": "demo.programs.with_confluent", "kafka-python": "demo.programs.with_kafka_python"}
PRODUCER = "demo.programs.producer"
LEAVE_SECONDS = 30
CONNECT_EVERY_SECONDS = 0.05
# The admin port, the proxy's own, and behind it those of the nodes, at port + 1 + node.
PORTS_IN_A_ROW = 12


class ProgramEnded(Exception):
    """It should still be running, or did not end when it was asked to."""


class Program:
    """A producer or a consumer. `leave` is polite: the group is left, everything read is committed."""

    def __init__(self, name: str, process: trio.Process, errors: Path) -> None:
        self.name = name
        self.errors = errors
        self._process = process
        self._is_asked_to_leave = False
        self._has_ended = trio.Event()

    async def listen(self, hear: Hear) -> None:
        """Until it has ended. Cancelled, it kills."""
        assert self._process.stdout is not None
        unfinished = b""
        try:
            async for chunk in self._process.stdout:
                *lines, unfinished = (unfinished + chunk).split(b"\n")
                for line in lines:
                    hear(self.name, json.loads(line))
            await self._process.wait()
        finally:
            self._process.kill()
            self._has_ended.set()
        if not self._is_asked_to_leave or self._process.returncode:
            told = self.errors.read_text(errors="replace")[-2_000:]
            raise ProgramEnded(f"{self.name} ended with {self._process.returncode}\n{told}")

    async def leave(self) -> None:
        """Until it has ended and all that it said is heard."""
        assert self._process.stdin is not None
        self._is_asked_to_leave = True
        await self._process.stdin.aclose()
        with trio.move_on_after(LEAVE_SECONDS) as scope:
            await self._has_ended.wait()
        if scope.cancelled_caught:
            raise ProgramEnded(f"{self.name} did not leave within {LEAVE_SECONDS} s")


async def start(
    tasks: trio.Nursery, name: str, module: str, told: Mapping[str, Any], folder: Path, hear: Hear
) -> Program:
    errors = folder / f"{name}.errors"
    process = await _open([sys.executable, "-m", module, json.dumps(told)], errors, subprocess.PIPE)
    program = Program(name, process, errors)
    tasks.start_soon(program.listen, hear)
    return program


async def _open(command: list[str], errors: Path, pipe: int) -> trio.Process:
    """In a session of its own: Ctrl-C is ours to hear, and theirs to be told in order."""
    with errors.open("wb") as file:
        return await trio.lowlevel.open_process(command, stdin=pipe, stdout=pipe, stderr=file, start_new_session=True)


class ProxyProcess:
    def __init__(self, upstream: str, has_page: bool, log: Path) -> None:
        first = free_ports_in_a_row(PORTS_IN_A_ROW)
        self.admin = first if has_page else None
        self.port = first + 1
        self.log = log
        self._stopping = trio.CancelScope()
        self._stopped = trio.Event()
        admin = "none" if self.admin is None else f"127.0.0.1:{self.admin}"
        self._command = [sys.executable, "-m", "proxy", "serve", "--upstream", upstream]
        self._command += ["--listen", self.bootstrap, "--admin", admin]

    @property
    def bootstrap(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Started when it takes connections. Cancelled, it is told to stop, and drains."""
        with self._stopping:
            await self._run(task_status)
        self._stopped.set()

    async def stop(self) -> None:
        self._stopping.cancel()
        await self._stopped.wait()

    async def _run(self, task_status: trio.TaskStatus[None]) -> None:
        with self.log.open("wb") as log:
            process = await trio.lowlevel.open_process(
                self._command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        guard = await _guard(process.pid)
        try:
            await self._listening(process)
            task_status.started()
            await process.wait()
            raise ProgramEnded(f"the proxy ended with {process.returncode}\n{self.log.read_text()[-2_000:]}")
        finally:
            await _end(process)
            guard.kill()

    async def _listening(self, process: trio.Process) -> None:
        while process.poll() is None:
            try:
                stream = await trio.open_tcp_stream("127.0.0.1", self.port)
            except OSError:
                await trio.sleep(CONNECT_EVERY_SECONDS)
            else:
                await stream.aclose()
                return


async def _guard(pid: int) -> trio.Process:
    """However we end, the kernel closes the pipe this shell reads, and the shell then ends the proxy."""
    command = ["sh", "-c", 'cat; kill "$0"', str(pid)]
    return await trio.lowlevel.open_process(command, stdin=subprocess.PIPE, start_new_session=True)


async def _end(process: trio.Process) -> None:
    with trio.CancelScope(shield=True):
        if process.poll() is None:
            process.terminate()
        with trio.move_on_after(LEAVE_SECONDS):
            await process.wait()
        process.kill()


def free_ports_in_a_row(count: int) -> int:
    """The first of them. Somebody may be quicker; then the proxy says so and ends."""
    for first in range(21_000, 32_000, count):
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise OSError(f"no {count} free ports in a row on 127.0.0.1")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
