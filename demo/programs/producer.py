"""Writes numbers to all partitions in turn, at a steady rate, and says which records were acknowledged where."""

from __future__ import annotations

import time
from typing import Any

from confluent_kafka import Message, Producer

from demo.programs.lines import dismissal, say, told

TICK_SECONDS = 0.05
FLUSH_SECONDS = 10


def main() -> None:
    said = told()
    leave = dismissal()
    producer = Producer({"bootstrap.servers": said["bootstrap"], "client.id": "producer", "enable.idempotence": True})
    acknowledged: list[list[int | None]] = []

    def delivered(error: Any, message: Message) -> None:
        if error is None:
            acknowledged.append([message.partition(), message.offset()])
        else:
            say("error", message=str(error))

    began, written = time.monotonic(), 0
    while not leave.is_set():
        due = int((time.monotonic() - began) * said["rate"])
        for number in range(written, due):
            producer.produce(said["topic"], str(number), partition=number % said["partitions"], on_delivery=delivered)
        written = due
        producer.poll(TICK_SECONDS)
        _report(acknowledged)
        leave.wait(TICK_SECONDS)
    producer.flush(FLUSH_SECONDS)
    _report(acknowledged)
    say("closed")


def _report(acknowledged: list[list[int | None]]) -> None:
    if acknowledged:
        say("produced", records=acknowledged)
        acknowledged.clear()


if __name__ == "__main__":
    main()
