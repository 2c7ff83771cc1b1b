"""What the broker was asked for groups, by its own counters: the same truth for clients that come to it and for a proxy.

They are read over JMX, in a few ms and without a trace among what is counted. The reader is attached to the broker all the
time, for the start of a JVM would disturb what is measured.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import NamedTuple

import msgspec

from tests.clients.libraries import JVM
from tests.kafka import Cluster

READER = Path(__file__).with_name("Requests.java")
OF_GROUPS = frozenset(
    {
        "ConsumerGroupDescribe",
        "ConsumerGroupHeartbeat",
        "DescribeGroups",
        "FindCoordinator",
        "Heartbeat",
        "JoinGroup",
        "LeaveGroup",
        "ListGroups",
        "OffsetCommit",
        "OffsetFetch",
        "SyncGroup",
    }
)


class Reading(NamedTuple):
    at_ms: float
    # By the API's name, those of groups; each is counted when it is answered.
    answered: dict[str, int]


class Counters:
    """Of a cluster with one broker."""

    def __init__(self, kafka: Cluster) -> None:
        command = [*JVM, str(READER), f"{kafka.folder}/"]
        self._reader = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        self.read()

    def __enter__(self) -> Counters:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.communicate()

    def read(self) -> Reading:
        assert self._reader.stdin is not None
        assert self._reader.stdout is not None
        self._reader.stdin.write(b"\n")
        self._reader.stdin.flush()
        counts = msgspec.json.decode(self._reader.stdout.readline(), type=dict[str, int])
        return Reading(time.time() * 1000, {api: count for api, count in counts.items() if api in OF_GROUPS})


def between(early: Reading, late: Reading) -> dict[str, int]:
    return {api: count - early.answered.get(api, 0) for api, count in late.answered.items()}
