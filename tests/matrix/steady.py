"""Records at a steady rate, to every partition in turn: each has a number, so a lost one is known by name."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import NamedTuple

from confluent_kafka import Producer

from tests.clients import Client

EVERY_SECONDS = 0.02


class Reading(NamedTuple):
    sent: int
    lost: int
    twice: int


class Steady:
    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self.sent = 0
        self._topic = topic
        self._partitions = partitions
        self._producer = Producer({"bootstrap.servers": bootstrap, "linger.ms": 5})
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            self._producer.produce(self._topic, str(self.sent), partition=self.sent % self._partitions)
            self.sent += 1
            self._producer.poll(0)

    def end(self) -> None:
        """All of them are with the broker then."""
        self._stop.set()
        self._thread.join()
        self._producer.flush(10)

    def read_by(self, clients: Iterable[Client]) -> Reading:
        """What all of them together have read until now."""
        numbers = [int(value) for client in clients for value in client.values]
        once = len(set(numbers))
        return Reading(self.sent, lost=self.sent - once, twice=len(numbers) - once)
