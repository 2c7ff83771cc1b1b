"""kafka-python 2.0, the last before years of silence and still in many images: no transactions, no static members."""

from __future__ import annotations

import time
from typing import Any

import kafka
from kafka import KafkaConsumer, KafkaProducer
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.errors import KafkaError
from lines import connection, emit, emit_error, run

STRATEGIES = {"range": [RangePartitionAssignor], "roundrobin": [RoundRobinPartitionAssignor]}
SECONDS = 30


class Listener(ConsumerRebalanceListener):
    def __init__(self, revoke_ms: int) -> None:
        self.revoke_ms = revoke_ms

    def on_partitions_assigned(self, assigned: Any) -> None:
        emit("assigned", partitions=_plain(assigned))

    def on_partitions_revoked(self, revoked: Any) -> None:
        emit("revoking", partitions=_plain(revoked))
        time.sleep(self.revoke_ms / 1000)
        emit("revoked", partitions=_plain(revoked))


class Program:
    def __init__(self) -> None:
        told = connection()
        self.common = {"bootstrap_servers": told["bootstrap"].split(","), "client_id": told["name"]}
        self.open = True
        self.consumer: KafkaConsumer | None = None
        emit("ready", library="kafka-python", version=kafka.__version__)

    @property
    def subscribed(self) -> bool:
        return self.consumer is not None

    def do_produce(self, topic: str, count: int, first: int, settings: dict[str, Any]) -> None:
        producer = KafkaProducer(**self.common, **settings)
        values = [str(number).encode() for number in range(first, first + count)]
        sent = [producer.send(topic, value, key=value) for value in values]
        producer.flush(SECONDS)
        for each in sent:
            each.get(SECONDS)
        producer.close()
        emit("produced", topic=topic, count=count)

    def do_subscribe(self, topics: list[str], group: str, **options: Any) -> None:
        self.options = options
        self.consumer = KafkaConsumer(**self._consumer_settings(group))
        self.consumer.subscribe(topics, listener=Listener(options["revoke_ms"]))

    def do_commit(self) -> None:
        self._commit()

    def do_stall(self, stall_ms: int) -> None:
        time.sleep(stall_ms / 1000)

    def do_close(self) -> None:
        if self.consumer is not None:
            self.consumer.close(autocommit=self.options["commit"] in ("auto", "default"))
        self.open = False

    def poll(self) -> None:
        read = [record for records in self.consumer.poll(100).values() for record in records]
        if not read:
            return
        emit("records", records=[[r.topic, r.partition, r.offset, r.value.decode()] for r in read])
        if self.options["commit"] == "each":
            self._commit()

    def _consumer_settings(self, group: str) -> dict[str, Any]:
        options = self.options
        said = {
            "group_id": group,
            "auto_offset_reset": "earliest",
            "enable_auto_commit": options["commit"] in ("auto", "default"),
            "auto_commit_interval_ms": 500 if options["commit"] == "auto" else None,
            "metadata_max_age_ms": 2000,
            "max_poll_interval_ms": options["max_poll_interval_ms"],
            "session_timeout_ms": options["session_timeout_ms"],
            "heartbeat_interval_ms": options["heartbeat_interval_ms"],
            "partition_assignment_strategy": STRATEGIES.get(options["strategy"]),
        }
        given = {name: value for name, value in said.items() if value is not None}
        return {**self.common, **given, **options["settings"]}

    def _commit(self) -> None:
        try:
            places = {each: self.consumer.position(each) for each in self.consumer.assignment()}
            self.consumer.commit()
        except KafkaError as failure:
            emit_error(failure)
        else:
            emit("committed", offsets=[[each.topic, each.partition, place] for each, place in places.items()])


def _plain(partitions: Any) -> list[list[Any]]:
    return sorted([each.topic, each.partition] for each in partitions)


if __name__ == "__main__":
    run(Program())
