"""The measures, each a function of a peer. CPU is the peer process' own, as the kernel accounts it.

Nothing is pinned: with a broker, a client and a proxy on few cores the scheduler shares them out better than we would, and
a pinned proxy is not how anyone runs it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from struct import pack
from typing import Any

from bench.dataplane.accounting import cpu_seconds, forget_peak, peak_megabytes, resident_megabytes
from bench.dataplane.broker import MESSAGE_BYTES, SINK, TOPIC
from bench.dataplane.peers import Peer
from kafka_protocol import encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys

HERE = Path(__file__).parent
CLIENT_MEGABYTES = 800
FETCH_REQUESTS = 400
PING_REQUESTS = 5_000
MANY_CONNECTIONS = 64
MANY_REQUESTS = 40_000
METADATA_REQUESTS = 2_000
CONNECTS = 300
IDLE_CONNECTIONS = 1_000
# Each has asked for 200 MB, and reads 64 KB a second of it: whatever a proxy would take in ahead of them, it takes in now.
SLOW_READERS, SLOW_RATE, SLOW_FETCH_BYTES, SLOW_SECONDS = 20, 65_536, 50_000_000, 3
# Longer than any measure takes on a slow machine: what is not done by then never will be.
PATIENCE_SECONDS = 180

Result = dict[str, float]
# In place of a figure, when the peer closed connections that had done nothing wrong.
LOST = float("nan")


class Bench:
    def __init__(self, folder: Path, upstream: str) -> None:
        self._folder = folder
        self._upstream = upstream
        self._load = _compiled("load.c", folder / "load", "-O2")
        self._redirect = _compiled("redirect.c", folder / "redirect.so", "-shared", "-fPIC", "-ldl")

    # ---------------------------------------------------------------------------------------------------- measures

    def memory(self, peer: Peer) -> Result:
        """Before anything else is asked of the peer: fresh, with idle connections, and with slow readers."""
        if peer.pid is None:
            return {}
        fresh = resident_megabytes(peer.pid)
        with self._holding("idle", peer, _api_versions(), IDLE_CONNECTIONS):
            idle = resident_megabytes(peer.pid)
        forget_peak(peer.pid)
        with self._holding("slow", peer, _fetch(SLOW_FETCH_BYTES), SLOW_READERS, SLOW_RATE) as readers:
            time.sleep(SLOW_SECONDS)
            slow = peak_megabytes(peer.pid) if readers.all_stay() else LOST
        return {"fresh MB": fresh, "1,000 idle MB": idle, f"{SLOW_READERS} slow readers MB": slow}

    def consume(self, peer: Peer) -> Result:
        found = self._by_client(peer, "consume", TOPIC)
        return found if peer.pid is None else {**found, "consume peak MB": peak_megabytes(peer.pid)}

    def produce(self, peer: Peer) -> Result:
        return self._by_client(peer, "produce", SINK)

    def raw_fetch(self, peer: Peer) -> Result:
        found, cpu = with_cpu(peer, lambda: self._requests(peer, _fetch(), 1, FETCH_REQUESTS))
        return {
            "raw fetch MB/s": found["bytes"] / found["seconds"] / 1e6,
            "raw fetch CPU s/GB": cpu / found["bytes"] * 1e9,
        }

    def ping(self, peer: Peer) -> Result:
        found, cpu = with_cpu(peer, lambda: self._requests(peer, _small(), 1, PING_REQUESTS))
        return {
            "1 connection p50 µs": found["p50_us"],
            "1 connection p99 µs": found["p99_us"],
            "1 connection CPU µs": cpu / PING_REQUESTS * 1e6,
        }

    def many(self, peer: Peer) -> Result:
        found, cpu = with_cpu(peer, lambda: self._requests(peer, _small(), MANY_CONNECTIONS, MANY_REQUESTS))
        return {
            "64 connections req/s": found["count"] / found["seconds"],
            "64 connections p99 µs": found["p99_us"],
            "64 connections CPU µs": cpu / MANY_REQUESTS * 1e6,
        }

    def metadata(self, peer: Peer) -> Result:
        return {"Metadata p50 µs": self._requests(peer, _metadata(), 1, METADATA_REQUESTS)["p50_us"]}

    def connects(self, peer: Peer) -> Result:
        found = answer_of(self._command("connects", peer, _api_versions(), CONNECTS))
        return {"connect p50 µs": found["p50_us"], "connect p99 µs": found["p99_us"]}

    # ----------------------------------------------------------------------------------------------------- details

    def _by_client(self, peer: Peer, what: str, topic: str) -> Result:
        """In a process of its own: the client library's threads are not ours."""
        environment = {} if peer.rewrites else self._redirection(peer)
        command = client_command(what, peer.bootstrap, topic, CLIENT_MEGABYTES)
        if peer.pid is not None:
            forget_peak(peer.pid)
        found, cpu = with_cpu(peer, lambda: answer_of(command, environment))
        return {
            f"{what} MB/s": CLIENT_MEGABYTES / found["seconds"],
            f"{what} CPU s/GB": cpu / CLIENT_MEGABYTES * 1000,
        }

    def _redirection(self, peer: Peer) -> dict[str, str]:
        port = self._upstream.rpartition(":")[2]
        return {"LD_PRELOAD": self._redirect, "REDIRECT_FROM": port, "REDIRECT_TO": str(peer.port)}

    def _requests(self, peer: Peer, frame: bytes, connections: int, count: int) -> dict[str, float]:
        return answer_of(self._command("requests", peer, frame, connections, count))

    def _holding(self, what: str, peer: Peer, frame: bytes, *numbers: int) -> _Holding:
        return _Holding(self._command(what, peer, frame, *numbers))

    def _command(self, what: str, peer: Peer, frame: bytes, *numbers: int) -> list[str]:
        file = self._folder / "frame"
        file.write_bytes(pack(">i", len(frame)) + frame)
        return [self._load, what, peer.host, str(peer.port), str(file), *map(str, numbers)]


class _Holding:
    """Connections that stay until we are done looking."""

    def __init__(self, command: list[str]) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)

    def __enter__(self) -> _Holding:
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError(f"{self._process.args!r} failed")
        return self

    def all_stay(self) -> bool:
        return self._process.poll() is None

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def in_rounds(bench: Bench) -> Iterator[Callable[[Peer], Result]]:
    """`memory` is not among them: only the first look finds a fresh process."""
    yield from (bench.consume, bench.produce, bench.raw_fetch, bench.ping, bench.many, bench.metadata, bench.connects)


def client_command(what: str, bootstrap: str, topic: str, megabytes: int, *config: str) -> list[str]:
    file = str(HERE / "client.py")
    return [sys.executable, file, what, bootstrap, topic, str(megabytes), str(MESSAGE_BYTES), *config]


def answer_of(command: list[str], environment: dict[str, str] | None = None) -> dict[str, float]:
    whole = {**os.environ, **(environment or {})}
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, env=whole, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout)
    return found


def with_cpu(peer: Peer, act: Callable[[], Any]) -> tuple[Any, float]:
    before = cpu_seconds(peer.pid)
    found = act()
    return found, cpu_seconds(peer.pid) - before


def _compiled(source: str, target: Path, *options: str) -> str:
    compiler = shutil.which("cc")
    if compiler is None:
        raise SystemExit(
            f"bench/dataplane/{source} needs a C compiler named cc (Debian: apt-get install gcc libc6-dev)"
        )
    subprocess.run([compiler, "-o", str(target), str(HERE / source), *options], check=True)
    return str(target)


def _small() -> bytes:
    """Passed as it is, and answered from memory. (Heartbeat, the obvious choice, is taken: see proxy/groups.)"""
    topic = m.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])
    return encode_request(
        keys.OFFSET_FETCH, 5, 1, "bench", m.OffsetFetchRequest(group_id="bench-group", topics=[topic])
    )


def _api_versions() -> bytes:
    body = m.ApiVersionsRequest(client_software_name="bench", client_software_version="1")
    return encode_request(keys.API_VERSIONS, 3, 1, "bench", body)


def _metadata() -> bytes:
    return encode_request(keys.METADATA, 12, 1, "bench", m.MetadataRequest(topics=[m.MetadataRequestTopic(name=TOPIC)]))


def _fetch(max_bytes: int = 1_048_576) -> bytes:
    partition = m.FetchRequestFetchPartition(partition=0, fetch_offset=0, partition_max_bytes=max_bytes)
    topic = m.FetchRequestFetchTopic(topic=TOPIC, partitions=[partition])
    body = m.FetchRequest(
        replica_id=-1, max_wait_ms=500, min_bytes=1, max_bytes=max_bytes, session_epoch=-1, topics=[topic]
    )
    return encode_request(keys.FETCH, 11, 1, "bench", body)
