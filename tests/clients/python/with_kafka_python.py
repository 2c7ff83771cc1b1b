"""kafka-python."""

from __future__ import annotations

import time
from typing import Any

import kafka
from kafka import KafkaAdminClient, KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import NewTopic
from kafka.consumer.subscription_state import ConsumerRebalanceListener
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.errors import KafkaError
from kafka.net.sasl.oauth import AbstractTokenProvider
from kafka.structs import OffsetAndMetadata
from lines import connection, emit, emit_error, run, unsecured_token

STRATEGIES = {
    "range": [RangePartitionAssignor],
    "roundrobin": [RoundRobinPartitionAssignor],
    "cooperative": [CooperativeStickyAssignor],
}
SECONDS = 30
Settings = dict[str, Any]


def common(told: dict[str, Any]) -> Settings:
    said: Settings = {"bootstrap_servers": told["bootstrap"].split(","), "client_id": told["name"]}
    tls, sasl = told["tls"], told["sasl"]
    said["security_protocol"] = ("SASL_" if sasl else "") + ("SSL" if tls else "PLAINTEXT")
    if tls:
        said |= {"ssl_cafile": tls["authority"], "ssl_certfile": tls["certificate"], "ssl_keyfile": tls["certificate"]}
    if sasl:
        said |= {
            "sasl_mechanism": sasl["mechanism"],
            "sasl_oauth_token_provider": Tokens(sasl["user"]) if sasl["mechanism"] == "OAUTHBEARER" else None,
            "sasl_plain_username": sasl["user"],
            "sasl_plain_password": sasl["password"],
        }
    return said


class Tokens(AbstractTokenProvider):
    def __init__(self, user: str) -> None:
        super().__init__()
        self.user = user

    def token(self) -> str:
        return unsecured_token(self.user)


class Listener(ConsumerRebalanceListener):
    def __init__(self, revoke_ms: int) -> None:
        self.revoke_ms = revoke_ms

    def on_partitions_assigned(self, assigned: Any) -> None:
        emit("assigned", partitions=_plain(assigned))

    def on_partitions_revoked(self, revoked: Any) -> None:
        emit("revoking", partitions=_plain(revoked))
        time.sleep(self.revoke_ms / 1000)
        emit("revoked", partitions=_plain(revoked))

    def on_partitions_lost(self, lost: Any) -> None:
        emit("lost", partitions=_plain(lost))


class Program:
    def __init__(self) -> None:
        self.common = common(connection())
        self.open = True
        self.consumer: KafkaConsumer | None = None
        self.transformer: KafkaProducer | None = None
        emit("ready", library="kafka-python", version=kafka.__version__)

    @property
    def subscribed(self) -> bool:
        return self.consumer is not None

    def do_create_topic(self, topic: str, partitions: int, replication: int) -> None:
        client = KafkaAdminClient(**self.common)
        client.create_topics([NewTopic(topic, partitions, replication)])
        client.close()
        emit("topic_created", topic=topic)

    def do_metadata(self) -> None:
        client = KafkaAdminClient(**self.common)
        brokers = client.describe_cluster()["brokers"]
        client.close()
        emit("metadata", brokers=[[b.get("broker_id", b.get("node_id")), f"{b['host']}:{b['port']}"] for b in brokers])

    def do_produce(self, topic: str, count: int, first: int, settings: Settings) -> None:
        producer = KafkaProducer(**self.common, **settings)
        self._send(producer, topic, [str(number) for number in range(first, first + count)])
        producer.close()
        emit("produced", topic=topic, count=count)

    def do_transact(self, topic: str, count: int, first: int, transactional_id: str, abort: bool) -> None:
        producer = KafkaProducer(**self.common, transactional_id=transactional_id)
        producer.init_transactions()
        producer.begin_transaction()
        self._send(producer, topic, [str(number) for number in range(first, first + count)])
        if abort:
            producer.abort_transaction()
        else:
            producer.commit_transaction()
        producer.close()
        emit("transacted", topic=topic, count=count, aborted=abort)

    def do_subscribe(self, topics: list[str], group: str, **options: Any) -> None:
        self.options = options
        self.consumer = KafkaConsumer(**self._consumer_settings(group))
        if options["transform"]:
            self.transformer = KafkaProducer(**self.common, transactional_id=options["transform"]["transactional_id"])
            self.transformer.init_transactions()
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
        # Who leads a classic group and joins anew forgets so where a poll ends in the midst of it (3.0.12), and has nothing
        # from then on. It joins anew when it first hears of its topic.
        within_ms = 100 if self.consumer.assignment() else 1_000
        read = [record for records in self.consumer.poll(within_ms).values() for record in records]
        if not read:
            return
        if self.transformer is not None:
            self._transform(read)
        emit("records", records=[[r.topic, r.partition, r.offset, r.value.decode()] for r in read])
        if self.options["commit"] == "each":
            self._commit()

    def _consumer_settings(self, group: str) -> Settings:
        options = self.options
        said = {
            "group_id": group,
            "group_instance_id": options["instance_id"],
            "auto_offset_reset": "earliest",
            "isolation_level": "read_committed",
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

    def _send(self, producer: KafkaProducer, topic: str, values: list[str]) -> None:
        sent = [producer.send(topic, value.encode(), key=value.encode()) for value in values]
        producer.flush(SECONDS)
        for each in sent:
            each.get(SECONDS)

    def _commit(self) -> None:
        try:
            places = {each: self.consumer.position(each) for each in self.consumer.assignment()}
            self.consumer.commit()
        except KafkaError as failure:
            emit_error(failure)
        else:
            emit("committed", offsets=[[each.topic, each.partition, place] for each, place in places.items()])

    def _transform(self, read: list[Any]) -> None:
        producer = self.transformer
        ends = {TopicPartition(r.topic, r.partition): OffsetAndMetadata(r.offset + 1, "", -1) for r in read}
        producer.begin_transaction()
        try:
            self._send(producer, self.options["transform"]["to"], [record.value.decode() for record in read])
            producer.send_offsets_to_transaction(ends, self.consumer.group_metadata())
            producer.commit_transaction()
        except KafkaError as failure:
            emit_error(failure)
            producer.abort_transaction()
            for each in self.consumer.assignment():
                self.consumer.seek(each, self.consumer.committed(each) or 0)
        else:
            emit("transacted", count=len(read))


def _plain(partitions: Any) -> list[list[Any]]:
    return sorted([each.topic, each.partition] for each in partitions)


if __name__ == "__main__":
    run(Program())
