"""confluent-kafka, which is librdkafka."""

from __future__ import annotations

import time
from typing import Any

import confluent_kafka
from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from lines import connection, emit, emit_error, run

STRATEGIES = {"range": "range", "roundrobin": "roundrobin", "cooperative": "cooperative-sticky"}
SECONDS = 30
Settings = dict[str, Any]


def common(told: dict[str, Any]) -> Settings:
    said: Settings = {
        "bootstrap.servers": told["bootstrap"],
        "client.id": told["name"],
        "topic.metadata.refresh.interval.ms": 2000,
    }
    tls, sasl = told["tls"], told["sasl"]
    said["security.protocol"] = ("SASL_" if sasl else "") + ("SSL" if tls else "PLAINTEXT")
    if tls:
        said["ssl.ca.location"] = tls["authority"]
        if tls["certificate"]:
            said["ssl.certificate.location"] = said["ssl.key.location"] = tls["certificate"]
    if sasl:
        said["sasl.mechanism"] = sasl["mechanism"]
        if sasl["mechanism"] == "OAUTHBEARER":
            said["enable.sasl.oauthbearer.unsecure.jwt"] = True
            said["sasl.oauthbearer.config"] = f"principal={sasl['user']}"
        else:
            said |= {"sasl.username": sasl["user"], "sasl.password": sasl["password"]}
    return said


class Program:
    def __init__(self) -> None:
        self.common = common(connection())
        self.open = True
        self.consumer: Consumer | None = None
        self.transformer: Producer | None = None
        emit("ready", library="confluent-kafka", version=confluent_kafka.__version__)

    @property
    def subscribed(self) -> bool:
        return self.consumer is not None

    def do_create_topic(self, topic: str, partitions: int, replication: int) -> None:
        client = AdminClient(self.common)
        client.create_topics([NewTopic(topic, partitions, replication)])[topic].result(SECONDS)
        emit("topic_created", topic=topic)

    def do_metadata(self) -> None:
        brokers = AdminClient(self.common).list_topics(timeout=SECONDS).brokers.values()
        emit("metadata", brokers=[[broker.id, f"{broker.host}:{broker.port}"] for broker in brokers])

    def do_produce(self, topic: str, count: int, first: int, settings: Settings) -> None:
        producer = Producer({**self.common, "enable.idempotence": True, **settings})
        self._send(producer, topic, [str(number) for number in range(first, first + count)])
        producer.flush(SECONDS)
        emit("produced", topic=topic, count=count)

    def do_transact(self, topic: str, count: int, first: int, transactional_id: str, abort: bool) -> None:
        producer = Producer({**self.common, "transactional.id": transactional_id})
        producer.init_transactions(SECONDS)
        producer.begin_transaction()
        self._send(producer, topic, [str(number) for number in range(first, first + count)])
        if abort:
            producer.flush(SECONDS)
            producer.abort_transaction(SECONDS)
        else:
            producer.commit_transaction(SECONDS)
        emit("transacted", topic=topic, count=count, aborted=abort)

    def do_subscribe(self, topics: list[str], group: str, **options: Any) -> None:
        self.options = options
        self.consumer = Consumer(self._consumer_settings(group))
        if options["transform"]:
            self.transformer = Producer(
                {
                    **self.common,
                    "transactional.id": options["transform"]["transactional_id"],
                    # Readers wait for so long when the copier is killed in the midst of one.
                    "transaction.timeout.ms": 15_000,
                }
            )
            self.transformer.init_transactions(SECONDS)
        self.do_resubscribe(topics)

    def do_resubscribe(self, topics: list[str]) -> None:
        self.consumer.subscribe(topics, on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost)

    def do_commit(self) -> None:
        self._commit()

    def do_stall(self, stall_ms: int) -> None:
        time.sleep(stall_ms / 1000)

    def do_close(self) -> None:
        if self.consumer is not None:
            self.consumer.close()
        self.open = False

    def poll(self) -> None:
        messages = self.consumer.consume(500, 0.1)
        for failed in messages:
            if failed.error() is not None:
                emit("error", message=str(failed.error()))
        read = [message for message in messages if message.error() is None]
        if not read:
            return
        if self.transformer is not None:
            self._transform(read)
        self._emit_records(read)
        if self.options["commit"] == "each":
            self._commit()

    def _emit_records(self, read: list[Message]) -> None:
        emit("records", records=[[m.topic(), m.partition(), m.offset(), m.value().decode()] for m in read])

    def _consumer_settings(self, group: str) -> Settings:
        options = self.options
        native = options["protocol"] == "consumer"
        said = {
            "group.id": group,
            # Before 2.4 there is but one.
            "group.protocol": "consumer" if native else None,
            "group.instance.id": options["instance_id"],
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
            "enable.auto.commit": options["commit"] in ("auto", "default"),
            "auto.commit.interval.ms": 500 if options["commit"] == "auto" else None,
            "max.poll.interval.ms": options["max_poll_interval_ms"],
            # Group settings of the broker in the new protocol, where the client refuses to start with them.
            "session.timeout.ms": None if native else options["session_timeout_ms"],
            "heartbeat.interval.ms": None if native else options["heartbeat_interval_ms"],
            "partition.assignment.strategy": None if native else STRATEGIES.get(options["strategy"]),
        }
        given = {name: value for name, value in said.items() if value is not None}
        return {**self.common, **given, **options["settings"]}

    def _send(self, producer: Producer, topic: str, values: list[str]) -> None:
        def delivered(error: Any, _: Message) -> None:
            if error is not None:
                emit("error", message=str(error))

        for value in values:
            producer.produce(topic, value, value, on_delivery=delivered)
            producer.poll(0)

    def _commit(self) -> None:
        try:
            done = self.consumer.commit(asynchronous=False)
        except KafkaException as failure:
            emit_error(failure)
        else:
            emit("committed", offsets=[[each.topic, each.partition, each.offset] for each in done])

    def _transform(self, read: list[Message]) -> None:
        producer = self.transformer
        producer.begin_transaction()
        self._send(producer, self.options["transform"]["to"], [message.value().decode() for message in read])
        ends = {(message.topic(), message.partition()): message.offset() + 1 for message in read}
        offsets = [TopicPartition(topic, partition, end) for (topic, partition), end in ends.items()]
        try:
            producer.send_offsets_to_transaction(offsets, self.consumer.consumer_group_metadata(), SECONDS)
            producer.commit_transaction(SECONDS)
        except KafkaException as failure:
            emit_error(failure)
            producer.abort_transaction(SECONDS)
            for place in self.consumer.committed(self.consumer.assignment(), SECONDS):
                self.consumer.seek(TopicPartition(place.topic, place.partition, max(place.offset, 0)))
        else:
            emit("transacted", count=len(read))

    def _on_assign(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        emit("assigned", partitions=_plain(partitions))

    def _on_revoke(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        emit("revoking", partitions=_plain(partitions))
        time.sleep(self.options["revoke_ms"] / 1000)
        emit("revoked", partitions=_plain(partitions))

    def _on_lost(self, _: Consumer, partitions: list[TopicPartition]) -> None:
        emit("lost", partitions=_plain(partitions))


def _plain(partitions: list[TopicPartition]) -> list[list[Any]]:
    return sorted([each.topic, each.partition] for each in partitions)


if __name__ == "__main__":
    run(Program())
