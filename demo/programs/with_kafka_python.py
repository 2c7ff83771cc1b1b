"""A consumer on kafka-python, which speaks the classic protocol only, and gives back all it has at every rebalance."""

from __future__ import annotations

from typing import Any

from kafka import KafkaConsumer
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor

from demo.programs.lines import dismissal, say, told

POLL_MS = 200


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    def on_partitions_assigned(self, assigned: Any) -> None:
        say("assigned", partitions=sorted(each.partition for each in assigned))

    def on_partitions_revoked(self, revoked: Any) -> None:
        say("revoked", partitions=sorted(each.partition for each in revoked))


def main() -> None:
    said = told()
    leave = dismissal()
    consumer = KafkaConsumer(
        bootstrap_servers=said["bootstrap"].split(","),
        client_id=said["name"],
        group_id=said["group"],
        auto_offset_reset="earliest",
        auto_commit_interval_ms=1000,
        partition_assignment_strategy=[RoundRobinPartitionAssignor],
    )
    consumer.subscribe([said["topic"]], listener=Listener())
    while not leave.is_set():
        read = [record for records in consumer.poll(POLL_MS).values() for record in records]
        if read:
            say("consumed", records=[[record.partition, record.offset] for record in read])
    say("leaving")
    consumer.close()
    say("closed")


if __name__ == "__main__":
    main()
