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
from tests.kafka.ports import free_ports

HERE = Path(__file__).parent
SMALLEST = "smallest in Python"
OURS = "this proxy"
START_SECONDS = 30
# Bootstrap, then one port for each of the nodes 0 to 3: both proxies that rewrite number their ports so.
PORTS = 5
# The node all raw requests go to: the first of a cluster of ours.
NODE_OFFSET = 2


class Peer(NamedTuple):
    name: str
    host: str
    port: int
    bootstrap: str
    # None for direct: there is no process between.
    pid: int | None
    # False for one that leaves the broker's address in its answers, so that clients would leave the proxy.
    rewrites: bool = True


class Tls(NamedTuple):
    """A PEM file with key and chain to show to clients; the authority to trust when the broker speaks TLS."""

    shown: Path
    trusted: Path | None = None


def direct(upstream: str) -> Peer:
    host, _, port = upstream.rpartition(":")
    return Peer("direct", host, int(port), upstream, None)


def given(words: str) -> Peer:
    """NAME=HOST:PORT@PID. It is asked on that port, and led on by its own answers."""
    try:
        name, rest = words.split("=")
        bootstrap, pid = rest.split("@")
        host, port = bootstrap.split(":")
        return Peer(name, host, int(port), bootstrap, int(pid))
    except ValueError:
        raise SystemExit(f"--peer {words}: expected NAME=HOST:PORT@PID") from None


@contextlib.contextmanager
def ours(upstream: str, folder: Path, tls: Tls | None = None, processes: int = 1) -> Iterator[Peer]:
    base = _room()
    settings = folder / f"proxy-{base}.toml"
    settings.write_text("" if tls is None else _our_tls(tls))
    command = [sys.executable, "-m", "proxy", "serve", "--upstream", upstream, "--listen", f"127.0.0.1:{base}"]
    command += ["--admin", "none", "--log-level", "warning", "--node", "1", "--config", str(settings)]
    command += ["--processes", str(processes)]
    name = OURS if processes == 1 else f"{OURS}, {processes} processes"
    with _running(command, base + NODE_OFFSET, folder) as pid:
        yield Peer(name, "127.0.0.1", base + NODE_OFFSET, f"127.0.0.1:{base}", pid)


def _our_tls(tls: Tls) -> str:
    said = f'[client_tls]\ncertificate_file = "{tls.shown}"\nprivate_key_file = "{tls.shown}"\n'
    return said if tls.trusted is None else said + f'[upstream_tls]\nca_file = "{tls.trusted}"\n'


@contextlib.contextmanager
def smallest(upstream: str, folder: Path) -> Iterator[Peer]:
    """The bound for forwarders in Python."""
    [port] = free_ports(1)
    command = [sys.executable, "-m", "bench.dataplane.smallest", str(port), upstream]
    with _running(command, port, folder) as pid:
        yield Peer(SMALLEST, "127.0.0.1", port, f"127.0.0.1:{port}", pid, rewrites=False)


@contextlib.contextmanager
def haproxy(upstream: str, folder: Path, *, splices: bool) -> Iterator[Peer | None]:
    """A TCP proxy, as the yardstick for moving bytes only: as it comes, and with the kernel moving them (`splice-auto`)."""
    binary = _installed("haproxy", "Debian: apt-get install haproxy")
    if binary is None:
        yield None
        return
    [port] = free_ports(1)
    config = folder / f"haproxy-{port}.cfg"
    option = "  option splice-auto\n" if splices else ""
    config.write_text(
        "global\n  nbthread 1\ndefaults\n  mode tcp\n  timeout connect 5s\n  timeout client 1h\n  timeout server 1h\n"
        f"{option}listen kafka\n  bind 127.0.0.1:{port}\n  server one {upstream}\n"
    )
    said = subprocess.run([binary, "-v"], capture_output=True, text=True, check=True).stdout
    version = said.split()[2].partition("-")[0]
    with _running([binary, "-db", "-q", "-f", str(config)], port, folder) as pid:
        how = "splicing" if splices else "TCP"
        yield Peer(f"haproxy {version} ({how})", "127.0.0.1", port, f"127.0.0.1:{port}", pid, rewrites=False)


@contextlib.contextmanager
def kafka_proxy(upstream: str, folder: Path, tls: Tls | None = None) -> Iterator[Peer | None]:
    """A Kafka proxy in Go, as it comes. The one broker is its bootstrap server, so all passes through that port."""
    binary = _installed("kafka-proxy", "in its sources: go build -mod=vendor")
    if binary is None:
        yield None
        return
    [port] = free_ports(1)
    version = subprocess.run([binary, "version"], capture_output=True, text=True, check=True).stdout.strip()
    command = [binary, "server", "--bootstrap-server-mapping", f"{upstream},127.0.0.1:{port}", "--http-disable"]
    if tls is not None:
        command += ["--proxy-listener-tls-enable", "--proxy-listener-cert-file", str(tls.shown)]
        command += ["--proxy-listener-key-file", str(tls.shown)]
        command += ["--tls-enable", "--tls-ca-chain-cert-file", str(tls.trusted)] if tls.trusted else []
    with _running([*command, "--log-level", "warning"], port, folder) as pid:
        yield Peer(f"kafka-proxy {version}", "127.0.0.1", port, f"127.0.0.1:{port}", pid)


@contextlib.contextmanager
def kroxylicious(upstream: str, folder: Path, tls: Tls | None = None) -> Iterator[Peer]:
    base = _room()
    config = folder / f"kroxylicious-{base}.yaml"
    config.write_text(
        f"virtualClusters:\n  - name: bench\n    targetCluster:\n      bootstrapServers: {upstream}\n"
        f"{_trusting(tls)}    gateways:\n      - name: default\n        portIdentifiesNode:\n"
        f"          bootstrapAddress: 127.0.0.1:{base}\n          nodeStartPort: {base + 1}\n"
        f"          nodeIdRanges:\n            - name: all\n              start: 0\n              end: {PORTS - 2}\n"
        f"{_showing(tls)}"
    )
    folder_of_jars = jars(HERE / "kroxylicious.xml", BUILD / "kroxylicious")
    command = ["java", "-Xmx512m", "-cp", f"{folder_of_jars}/*", str(HERE / "Peer.java"), str(config)]
    with _running(command, base + NODE_OFFSET, folder) as pid:
        yield Peer("kroxylicious 0.12.0", "127.0.0.1", base + NODE_OFFSET, f"127.0.0.1:{base}", pid)


def _installed(name: str, how: str) -> str | None:
    """Those that the project does not fetch itself are measured where they are there."""
    binary = shutil.which(name)
    if binary is None:
        print(f"{name} is not installed ({how}): left out", file=sys.stderr)
    return binary


def _trusting(tls: Tls | None) -> str:
    if tls is None or tls.trusted is None:
        return ""
    return f"      tls:\n        trust:\n          storeFile: {tls.trusted}\n          storeType: PEM\n"


def _showing(tls: Tls | None) -> str:
    if tls is None:
        return ""
    files = f"            privateKeyFile: {tls.shown}\n            certificateFile: {tls.shown}\n"
    return f"        tls:\n          key:\n{files}"


def _room() -> int:
    """The first of so many free ports in a row."""
    while True:
        found = free_ports(PORTS)
        if found == list(range(found[0], found[0] + PORTS)):
            return found[0]


@contextlib.contextmanager
def _running(command: list[str], port: int, folder: Path) -> Iterator[int]:
    log = folder / f"{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=ROOT, stderr=output, stdout=output)
    try:
        _await_port(process, port, log)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _await_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"{process.args!r} ended:\n{log.read_text(errors='replace')[-2000:]}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise TimeoutError(f"{process.args!r} does not listen on port {port}:\n{log.read_text(errors='replace')[-2000:]}")
