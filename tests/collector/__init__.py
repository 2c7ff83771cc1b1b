"""A real OpenTelemetry collector as a process, built once from the project's own Go modules (go.mod pins them).

It takes OTLP over gRPC and over HTTP, and its file exporter writes what came as lines of JSON. Without `go`, and where
the modules cannot be fetched, tests that ask for it are skipped and say so; code that does not compile fails them.
"""

from __future__ import annotations

import contextlib
import shutil
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest

from tests.clients.libraries import GO_BUILD, _build
from tests.kafka.jars import BUILD
from tests.kafka.ports import free_ports
from tests.kafka.processes import TiedProcess

HERE = Path(__file__).parent
FOLDER = BUILD / "collector"
SOURCES = [HERE / name for name in ("main.go", "go.mod", "go.sum")]
COMMAND = [*GO_BUILD, "-o", str(FOLDER / "collector"), "."]
START_SECONDS = 60
# For the first test that asks: two cores compile it in one to two minutes, where nothing else runs.
BUILD_SECONDS = 600

CONFIG = """\
receivers:
  otlp:
    protocols:
      grpc: {{endpoint: "127.0.0.1:{grpc}"}}
      http: {{endpoint: "127.0.0.1:{http}"}}
exporters:
  file: {{path: "{file}"}}
service:
  telemetry:
    metrics: {{level: none}}
  pipelines:
    traces: {{receivers: [otlp], exporters: [file]}}
"""


class Collector:
    """`file` is complete once `stop` has returned: the exporter writes at intervals, and what is left when it ends."""

    def __init__(self, place: Path) -> None:
        self.file = place / "collected.json"
        self.log = place / "collector.log"
        self._ports = dict(zip(("grpc", "http"), free_ports(2), strict=True))
        config = place / "collector.yaml"
        config.write_text(CONFIG.format(file=self.file, **self._ports))
        self._process = TiedProcess([str(FOLDER / "collector"), "--config", str(config)], self.log)

    def __repr__(self) -> str:
        return f"<Collector on {self._ports}: {self.log.read_text()[-2000:]}>"

    def endpoint(self, protocol: Literal["grpc", "http"]) -> str:
        return f"http://127.0.0.1:{self._ports[protocol]}"

    def ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        for port in self._ports.values():
            while not _listens(port):
                assert self._process.exit_code is None, self.log.read_text()
                assert time.monotonic() < deadline, self.log.read_text()
                time.sleep(0.05)

    def stop(self) -> None:
        if self._process.exit_code is None:
            self._process.end(signal.SIGTERM)


@contextmanager
def collector(place: Path) -> Iterator[Collector]:
    _built()
    running = Collector(place)
    try:
        running.ready()
        yield running
    finally:
        running.stop()


def _built() -> None:
    if shutil.which("go") is None:
        pytest.skip("a real collector is built by go")
    try:
        _build(FOLDER, SOURCES, COMMAND, cwd=HERE)
    except RuntimeError as failure:
        if "reading http" not in str(failure):
            raise
        pytest.skip(f"the collector's modules cannot be fetched: {str(failure)[-300:]}")


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
