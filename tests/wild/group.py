"""One group: wild for a while, then calm. Then all must be members, with a share each, and nothing told twice."""

from __future__ import annotations

import threading
import time
import uuid
from contextlib import ExitStack
from random import Random

from tests.kafka import Cluster
from tests.proxy.scene import Native
from tests.wild.holdings import Holdings
from tests.wild.member import Wild

MEMBERS = PARTITIONS = 4
# The coordinator's own session, for those that died just before, and a rebalance.
COMES_TO_REST_SECONDS = 90
AT_REST_SECONDS = 3
NATIVE_BEATS_EVERY_SECONDS = 1.5


class WildGroup:
    def __init__(self, kafka: Cluster, address: tuple[str, int], topic: str, seed: int, exits: ExitStack) -> None:
        chance = Random(seed)
        self.seed = seed
        self.holdings = Holdings()
        self._calm, self._over = threading.Event(), threading.Event()
        self._members = [
            Wild(f"{seed}-{at}", address, topic, self.holdings, Random(chance.random())) for at in range(MEMBERS)
        ]
        for member in self._members:
            exits.callback(member.close)
        self._natives = [_native(kafka, topic)] if chance.random() < 0.5 else []
        self._threads = [threading.Thread(target=self._lives, args=(member,)) for member in self._members]
        self._threads.append(threading.Thread(target=self._native_beats))
        exits.callback(self._ends)
        for thread in self._threads:
            thread.start()

    def comes_to_rest(self) -> list[str]:
        """What went wrong, if anything."""
        self._calm.set()
        deadline, since = time.monotonic() + COMES_TO_REST_SECONDS, None
        while time.monotonic() < deadline:
            since = (since or time.monotonic()) if self._is_at_rest() else None
            if since is not None and time.monotonic() > since + AT_REST_SECONDS:
                return self.holdings.faults
            time.sleep(0.1)
        return [*self.holdings.faults, f"does not come to rest: {self.holdings.shares()} of {self._members}"]

    def story(self) -> str:
        lines = [f"{line} {member.name}" for member in self._members for line in member.said]
        return "\n".join(sorted(lines, key=lambda line: float(line.split()[0])))

    def _is_at_rest(self) -> bool:
        are_members = all(member.is_member for member in self._members)
        return are_members and self.holdings.shares() == {member.name: 1 for member in self._members}

    def _lives(self, member: Wild) -> None:
        while not self._over.is_set():
            member.acts(self._calm.is_set())

    def _native_beats(self) -> None:
        while not self._over.wait(NATIVE_BEATS_EVERY_SECONDS):
            for native in self._natives:
                native.beats()

    def _ends(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()


def _native(kafka: Cluster, group: str) -> Native:
    elsewhere = f"elsewhere-{uuid.uuid4()}"
    kafka.create_topic(elsewhere)
    return Native(kafka, group, elsewhere)
