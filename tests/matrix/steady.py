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
        self._bootstrap = bootstrap
        self._topic = topic
        self._producers: list[Producer] = []
        self.spread(partitions)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def spread(self, partitions: int) -> None:
        """From now on over so many. With another producer: one that runs would not know of new ones for minutes."""
        self._producers.append(Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 5}))
        self._now = self._producers[-1], partitions

    def _run(self) -> None:
        while not self._stop.wait(EVERY_SECONDS):
            producer, partitions = self._now
            producer.produce(self._topic, str(self.sent), partition=self.sent % partitions)
            self.sent += 1
            producer.poll(0)

    def end(self) -> None:
        """All of them are with the broker then."""
        self._stop.set()
        self._thread.join()
        for producer in self._producers:
            producer.flush(10)

    def read_by(self, clients: Iterable[Client]) -> Reading:
        """What all of them together have read until now."""
        numbers = [int(value) for client in clients for value in client.values]
        once = len(set(numbers))
        return Reading(self.sent, lost=self.sent - once, twice=len(numbers) - once)
