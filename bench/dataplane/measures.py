"""The measures, each a function of a peer. CPU is the peer process' own, as the kernel accounts it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from struct import pack
from typing import Any

from bench.dataplane.peers import Peer
from kafka_protocol import encode_request
from kafka_protocol import messages as m

TICKS = os.sysconf("SC_CLK_TCK")
HERE = Path(__file__).parent
TOPIC = "bench"
# Producers write elsewhere, so that what is read stays the same.
SINK = "bench-in"
MESSAGE_BYTES = 16 * 1024
CLIENT_MEGABYTES = 800
FETCH_REQUESTS = 400
PING_REQUESTS = 5_000
MANY_CONNECTIONS = 64
MANY_REQUESTS = 40_000
CONNECTS = 300

Result = dict[str, float]


class Bench:
    def __init__(self, folder: Path) -> None:
        self._load = str(folder / "load")
        subprocess.run(["cc", "-O2", "-o", self._load, str(HERE / "load.c")], check=True)
        self._folder = folder

    # ---------------------------------------------------------------------------------------------------- measures

    def consume(self, peer: Peer) -> Result:
        return self._by_client(peer, "consume")

    def produce(self, peer: Peer) -> Result:
        return self._by_client(peer, "produce")

    def raw_fetch(self, peer: Peer) -> Result:
        found, cpu = self._with_cpu(peer, lambda: self._requests(peer, _fetch(), 1, FETCH_REQUESTS))
        return {
            "raw fetch MB/s": found["bytes"] / found["seconds"] / 1e6,
            "raw fetch CPU s/GB": cpu / found["bytes"] * 1e9,
        }

    def ping(self, peer: Peer) -> Result:
        found, cpu = self._with_cpu(peer, lambda: self._requests(peer, _heartbeat(), 1, PING_REQUESTS))
        return {
            "1 connection p50 µs": found["p50_us"],
            "1 connection p99 µs": found["p99_us"],
            "1 connection CPU µs": cpu / PING_REQUESTS * 1e6,
        }

    def many(self, peer: Peer) -> Result:
        found, cpu = self._with_cpu(peer, lambda: self._requests(peer, _heartbeat(), MANY_CONNECTIONS, MANY_REQUESTS))
        return {
            "64 connections req/s": found["count"] / found["seconds"],
            "64 connections p99 µs": found["p99_us"],
            "64 connections CPU µs": cpu / MANY_REQUESTS * 1e6,
        }

    def metadata(self, peer: Peer) -> Result:
        return {"Metadata p50 µs": self._requests(peer, _metadata(), 1, 2_000)["p50_us"]}

    def connects(self, peer: Peer) -> Result:
        found = self._run("connects", peer, _api_versions(), str(CONNECTS))
        return {"connect p50 µs": found["p50_us"], "connect p99 µs": found["p99_us"]}

    def memory(self, peer: Peer) -> Result:
        """Before anything else is asked of the peer: fresh, with 1,000 idle connections, and with slow readers."""
        if peer.pid is None:
            return {}
        fresh = _resident(peer.pid)
        with self._holding("idle", peer, _api_versions(), "1000"):
            idle = _resident(peer.pid)
        with self._holding("slow", peer, _fetch(50_000_000), "20", "65536"):
            time.sleep(3)
            slow = _resident(peer.pid)
        return {"fresh MB": fresh, "1,000 idle MB": idle, "20 slow readers MB": slow}

    # ----------------------------------------------------------------------------------------------------- details

    def _by_client(self, peer: Peer, what: str) -> Result:
        """In a process of its own: the client library's threads are not ours."""
        topic = TOPIC if what == "consume" else SINK
        command = [
            sys.executable,
            str(HERE / "client.py"),
            what,
            peer.bootstrap,
            topic,
            str(CLIENT_MEGABYTES),
            str(MESSAGE_BYTES),
        ]
        found, cpu = self._with_cpu(
            peer, lambda: json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        )
        gigabytes = CLIENT_MEGABYTES / 1000
        return {f"{what} MB/s": CLIENT_MEGABYTES / found["seconds"], f"{what} CPU s/GB": cpu / gigabytes}

    def _with_cpu(self, peer: Peer, act: Callable[[], Any]) -> tuple[Any, float]:
        before = cpu_seconds(peer.pid)
        found = act()
        return found, cpu_seconds(peer.pid) - before

    def _requests(self, peer: Peer, frame: bytes, connections: int, count: int) -> dict[str, float]:
        return self._run("requests", peer, frame, str(connections), str(count))

    def _command(self, what: str, peer: Peer, frame: bytes, *more: str) -> list[str]:
        file = self._folder / "frame"
        file.write_bytes(pack(">i", len(frame)) + frame)
        return [self._load, what, peer.host, str(peer.port), str(file), *more]

    def _run(self, what: str, peer: Peer, frame: bytes, *more: str) -> dict[str, float]:
        done = subprocess.run(self._command(what, peer, frame, *more), check=True, capture_output=True, timeout=120)
        found: dict[str, float] = json.loads(done.stdout)
        return found

    def _holding(self, what: str, peer: Peer, frame: bytes, *more: str) -> _Holding:
        return _Holding(self._command(what, peer, frame, *more))


class _Holding:
    """Connections that stay until we are done looking."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> None:
        assert self._process.stdout is not None
        if not self._process.stdout.readline():
            raise RuntimeError(f"{self._process.args} failed")

    def __exit__(self, *_: object) -> None:
        self._process.communicate()


def measures(bench: Bench) -> Iterator[Callable[[Peer], Result]]:
    yield from (bench.consume, bench.produce, bench.raw_fetch, bench.ping, bench.many, bench.metadata, bench.connects)


def cpu_seconds(pid: int | None) -> float:
    if pid is None:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def _heartbeat() -> bytes:
    body = m.HeartbeatRequest(group_id="bench-group", generation_id=1, member_id="member-" + "0" * 36)
    return encode_request(12, 4, 1, "bench", body)


def _api_versions() -> bytes:
    body = m.ApiVersionsRequest(client_software_name="bench", client_software_version="1")
    return encode_request(18, 3, 1, "bench", body)


def _metadata() -> bytes:
    return encode_request(3, 12, 1, "bench", m.MetadataRequest(topics=[m.MetadataRequestTopic(name=TOPIC)]))


def _fetch(max_bytes: int = 1_048_576) -> bytes:
    partition = m.FetchRequestFetchPartition(partition=0, fetch_offset=0, partition_max_bytes=max_bytes)
    topic = m.FetchRequestFetchTopic(topic=TOPIC, partitions=[partition])
    body = m.FetchRequest(
        replica_id=-1, max_wait_ms=500, min_bytes=1, max_bytes=max_bytes, session_epoch=-1, topics=[topic]
    )
    return encode_request(1, 11, 1, "bench", body)
