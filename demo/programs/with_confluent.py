"""A consumer on confluent-kafka (librdkafka), of the classic or the new protocol: one line of its settings is another.

(The assignor is the coordinator's to choose in the new protocol; librdkafka refuses to start with both.)
"""

from __future__ import annotations

from typing import Any

from confluent_kafka import Consumer, TopicPartition

from demo.programs.lines import dismissal, say, told

POLL_SECONDS = 0.2
LEGACY = {"partition.assignment.strategy": "cooperative-sticky"}


def main() -> None:
    said = told()
    leave = dismissal()
    changed = {"group.protocol": "consumer"} if said["protocol"] == "consumer" else LEGACY
    consumer = Consumer(
        {
            **changed,
            "bootstrap.servers": said["bootstrap"],
            "client.id": said["name"],
            "group.id": said["group"],
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": 1000,
        }
    )
    consumer.subscribe([said["topic"]], on_assign=_assigned, on_revoke=_revoked, on_lost=_revoked)
    while not leave.is_set():
        message = consumer.poll(POLL_SECONDS)
        if message is None:
            continue
        if message.error() is not None:
            say("error", message=str(message.error()))
        else:
            say("consumed", records=[[message.partition(), message.offset()]])
    say("leaving")
    consumer.close()
    say("closed")


def _assigned(_: Any, partitions: list[TopicPartition]) -> None:
    say("assigned", partitions=[each.partition for each in partitions])


def _revoked(_: Any, partitions: list[TopicPartition]) -> None:
    say("revoked", partitions=[each.partition for each in partitions])


if __name__ == "__main__":
    main()
