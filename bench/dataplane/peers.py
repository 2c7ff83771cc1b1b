"""What is measured: processes that stand in front of the same broker, and how each is started."""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.kafka.jars import BUILD, ROOT, jars

HERE = Path(__file__).parent
START_SECONDS = 30


class Peer(NamedTuple):
    name: str
    host: str
    # The listener through which all requests of the bench go: the one of node 1.
    port: int
    bootstrap: str
    # None for direct: there is no process between.
    pid: int | None


@contextlib.contextmanager
def ours(upstream: str, base: int) -> Iterator[Peer]:
    command = [sys.executable, "-m", "proxy", "serve", "--upstream", upstream, "--listen", f"127.0.0.1:{base}"]
    with _running([*command, "--admin", "none", "--log-level", "warning", "--node", "1"], base + 2) as pid:
        yield Peer("this proxy", "127.0.0.1", base + 2, f"127.0.0.1:{base}", pid)


@contextlib.contextmanager
def haproxy(upstream: str, base: int, folder: Path) -> Iterator[Peer | None]:
    """A TCP proxy that rewrites nothing, so clients must be kept from following the broker's address."""
    binary = shutil.which("haproxy")
    if binary is None:
        print("haproxy is not installed (Debian: apt-get install haproxy): left out", file=sys.stderr)
        yield None
        return
    config = folder / "haproxy.cfg"
    config.write_text(
        "global\n  nbthread 1\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1h\n"
        f"listen kafka\n  bind 127.0.0.1:{base}\n  server one {upstream}\n"
    )
    with _running([binary, "-db", "-q", "-f", str(config)], base) as pid:
        yield Peer("haproxy (TCP)", "127.0.0.1", base, f"127.0.0.1:{base}", pid)


@contextlib.contextmanager
def kroxylicious(upstream: str, base: int, folder: Path) -> Iterator[Peer]:
    config = folder / "kroxylicious.yaml"
    config.write_text(
        "virtualClusters:\n  - name: bench\n    targetCluster:\n"
        f"      bootstrapServers: {upstream}\n    gateways:\n      - name: default\n        portIdentifiesNode:\n"
        f"          bootstrapAddress: 127.0.0.1:{base}\n          nodeStartPort: {base + 1}\n"
        "          nodeIdRanges:\n            - name: all\n              start: 0\n              end: 3\n"
    )
    folder_of_jars = jars(HERE / "kroxylicious.xml", BUILD / "kroxylicious")
    command = ["java", "-Xmx512m", "-cp", f"{folder_of_jars}/*", str(HERE / "Peer.java"), str(config)]
    with _running(command, base + 2) as pid:
        yield Peer("kroxylicious 0.12.0", "127.0.0.1", base + 2, f"127.0.0.1:{base}", pid)


@contextlib.contextmanager
def _running(command: list[str], port: int) -> Iterator[int]:
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        _await_port(process, port)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_port(process: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            assert process.stderr is not None
            raise RuntimeError(f"{process.args} ended: {process.stderr.read().decode()[-2000:]}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"{process.args} does not listen on port {port}")
