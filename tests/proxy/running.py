"""The proxy as its users run it: a process, its ports, its log and its metrics."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from proxy.causes import Cause
from tests.kafka.certificates import Certificates
from tests.kafka.ports import free_ports
from tests.kafka.processes import TiedProcess

# Nothing waits for so long but what has failed.
START_SECONDS = 60

# In a log: of a connection that ended for it, or of none.
MISTAKE = re.compile("our[ _]mistake")


class Running:
    def __init__(
        self,
        upstream: str,
        *arguments: str,
        base: int | None = None,
        log_level: str = "debug",
        host: str = "127.0.0.1",
        program: str = "proxy",
        processes: int = 1,
    ) -> None:
        self.processes = processes
        # As in a URL: an IPv6 address in brackets.
        self.host = host
        # Node N is on base + 1 + N; a test's nodes are 1 to 4.
        self.base = base or room(6)
        self.admin = room(processes)
        self.log = Path(tempfile.mkdtemp(prefix="proxy-")) / "log"
        listen = [] if "--listen" in arguments else ["--listen", f"{host}:{self.base}"]
        command = [sys.executable, "-m", program, "serve", "--upstream", upstream, *listen]
        several = ["--processes", str(processes)] if processes > 1 else []
        ends = ["--admin", f"127.0.0.1:{self.admin}", "--log-level", log_level]
        self.process = TiedProcess([*command, *ends, *several, *arguments], self.log)
        self.wait_for(lambda: self._all_say("/livez"), "the admin port answers")

    @property
    def bootstrap(self) -> str:
        return f"{self.host}:{self.base}"

    def port_of(self, node: int) -> int:
        return self.base + 1 + node

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if error is not None:
            error.add_note(f"the proxy's log:\n{self.log.read_text()[-4_000:]}")
        if self.process.exit_code is None:
            self.process.end(signal.SIGKILL)

    def ready(self) -> Self:
        self.wait_for(lambda: self._all_say("/readyz"), "the proxy is ready")
        return self

    def _all_say(self, path: str) -> bool:
        return all(self.get(path, number)[0] == 200 for number in range(self.processes))

    def pids(self) -> list[int]:
        """Of its processes, the oldest first."""
        return children(self.process.pid)

    def kill(self) -> None:
        """All its processes, as at the end of a container."""
        children = self.pids()
        self.process.end(signal.SIGKILL)
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        self.process.end(signal.SIGTERM)

    @contextlib.contextmanager
    def standing_still(self) -> Iterator[None]:
        """Its sockets stay, and take what is said: as a container that is frozen."""
        with frozen(self.process.pid, *self.pids()):
            yield

    def get(self, path: str, process: int = 0) -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin + process}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def missing(self) -> list[str]:
        found: list[str] = json.loads(self.get("/readyz")[1])["missing"]
        return found

    def metric(self, name: str, **labels: str) -> float:
        """Of all its processes. What was never counted is shown without its labels, if at all; a name that is not shown is
        none."""
        wanted = ",".join(rf'{label}="{re.escape(value)}"' for label, value in labels.items())
        counted = 0.0
        for number in range(self.processes):
            said = self.get("/metrics", number)[1]
            assert f"# TYPE kip848_proxy_{name} " in said, f"there is no such metric: {name}"
            found = re.search(rf"^kip848_proxy_{name}(?:{{{wanted}}})? (\S+)$", said, re.MULTILINE)
            counted += float(found[1]) if found else 0.0
        return counted

    def disconnects(self, cause: str) -> float:
        return self.metric("disconnects_total", cause=Cause(cause).value)

    def mistakes(self) -> float:
        return self.metric("mistakes_total")

    def count_one_more(self, cause: str, before: float) -> None:
        """One disconnect for that cause: exactly one, and its client may know of it a moment before it is counted."""
        self.wait_for(lambda: self.disconnects(cause) > before, f"a disconnect is counted: {cause}")
        assert self.disconnects(cause) == before + 1

    def resident_megabytes(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def connect(self, node: int | None = None) -> socket.socket:
        port = self.base if node is None else self.port_of(node)
        return socket.create_connection((self.host.strip("[]"), port), timeout=15)

    def wait_for(self, probe: Any, what: str, seconds: float = START_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.process.exit_code is not None:
                raise RuntimeError(f"the proxy ended with {self.process.exit_code}:\n{self.log.read_text()}")
            with contextlib.suppress(OSError):
                if probe():
                    return
            time.sleep(0.05)
        raise TimeoutError(f"not within {seconds} s: {what}\n{self.log.read_text()[-2_000:]}")


def secured(certificates: Certificates) -> str:
    """Settings by which it shows what the brokers show, and believes whom they believe."""
    shown = f'certificate_file = "{certificates.broker}"\nprivate_key_file = "{certificates.broker}"\n'
    return f'[client_tls]\n{shown}[upstream_tls]\nca_file = "{certificates.authority}"\n'


def room(count: int) -> int:
    """The first of so many free ports in a row."""
    while True:
        first, *rest = free_ports(count)
        if all(port == first + 1 + at for at, port in enumerate(rest)):
            return first


def children(pid: int) -> list[int]:
    return sorted(map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()))


@contextlib.contextmanager
def frozen(*pids: int) -> Iterator[None]:
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)


def remote_ports(pid: int) -> Iterator[int]:
    """The ports at the far ends of a process' established TCP connections."""
    sockets = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            sockets.add(os.readlink(descriptor))
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if f"socket:[{fields[9]}]" in sockets and fields[3] == "01":
                yield int(fields[2].rpartition(":")[2], 16)
