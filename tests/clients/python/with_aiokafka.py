"""aiokafka."""

from __future__ import annotations

import asyncio
import ssl
import time
from typing import Any

import aiokafka
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener, TopicPartition
from aiokafka.abc import AbstractTokenProvider
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from aiokafka.errors import KafkaError
from lines import commands, connection, emit, emit_error, unsecured_token

STRATEGIES = {
    "range": [RangePartitionAssignor],
    "roundrobin": [RoundRobinPartitionAssignor],
    "sticky": [StickyPartitionAssignor],
}
Settings = dict[str, Any]


def common(told: dict[str, Any]) -> Settings:
    said: Settings = {"bootstrap_servers": told["bootstrap"].split(","), "client_id": told["name"]}
    tls, sasl = told["tls"], told["sasl"]
    said["security_protocol"] = ("SASL_" if sasl else "") + ("SSL" if tls else "PLAINTEXT")
    if tls:
        said["ssl_context"] = context = ssl.create_default_context(cafile=tls["authority"])
        if tls["certificate"]:
            context.load_cert_chain(tls["certificate"])
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
        self.user = user

    async def token(self) -> str:
        return unsecured_token(self.user)


class Listener(ConsumerRebalanceListener):
    """aiokafka revokes before every rebalance, also before the first, of nothing."""

    def __init__(self, revoke_ms: int) -> None:
        self.revoke_ms = revoke_ms

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        emit("revoking", partitions=_plain(revoked))
        await asyncio.sleep(self.revoke_ms / 1000)
        emit("revoked", partitions=_plain(revoked))

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        emit("assigned", partitions=_plain(assigned))


class Program:
    def __init__(self) -> None:
        self.common = common(connection())
        self.open = True
        self.consumer: AIOKafkaConsumer | None = None
        self.transformer: AIOKafkaProducer | None = None
        emit("ready", library="aiokafka", version=aiokafka.__version__)

    async def run(self) -> None:
        arrived = commands()
        while self.open:
            try:
                if not arrived.empty():
                    command = arrived.get()
                    await getattr(self, f"do_{command.pop('do')}")(**command)
                elif self.consumer is not None:
                    await self.poll()
                else:
                    await asyncio.sleep(0.02)
            except Exception as failure:
                emit_error(failure)
        emit("closed")

    async def do_create_topic(self, topic: str, partitions: int, replication: int) -> None:
        client = AIOKafkaAdminClient(**self.common)
        await client.start()
        await client.create_topics([NewTopic(topic, partitions, replication)])
        await client.close()
        emit("topic_created", topic=topic)

    async def do_metadata(self) -> None:
        client = AIOKafkaAdminClient(**self.common)
        await client.start()
        brokers = (await client.describe_cluster())["brokers"]
        await client.close()
        emit("metadata", brokers=[[broker["node_id"], f"{broker['host']}:{broker['port']}"] for broker in brokers])

    async def do_produce(self, topic: str, count: int, first: int, settings: Settings) -> None:
        async with AIOKafkaProducer(**self.common, **{"enable_idempotence": True, **settings}) as producer:
            await self._send(producer, topic, [str(number) for number in range(first, first + count)])
        emit("produced", topic=topic, count=count)

    async def do_transact(self, topic: str, count: int, first: int, transactional_id: str, abort: bool) -> None:
        async with AIOKafkaProducer(**self.common, transactional_id=transactional_id) as producer:
            await producer.begin_transaction()
            await self._send(producer, topic, [str(number) for number in range(first, first + count)])
            await (producer.abort_transaction() if abort else producer.commit_transaction())
        emit("transacted", topic=topic, count=count, aborted=abort)

    async def do_subscribe(self, topics: list[str], group: str, **options: Any) -> None:
        self.group, self.options = group, options
        self.consumer = AIOKafkaConsumer(**self._consumer_settings(group))
        if options["transform"]:
            self.transformer = AIOKafkaProducer(
                **self.common, transactional_id=options["transform"]["transactional_id"]
            )
            await self.transformer.start()
        await self.do_resubscribe(topics)
        await self.consumer.start()

    async def do_resubscribe(self, topics: list[str]) -> None:
        self.consumer.subscribe(topics, listener=Listener(self.options["revoke_ms"]))

    async def do_commit(self) -> None:
        await self._commit()

    async def do_stall(self, stall_ms: int) -> None:
        time.sleep(stall_ms / 1000)  # noqa: ASYNC251 - the whole program hangs, heartbeats too

    async def do_close(self) -> None:
        if self.consumer is not None:
            await self.consumer.stop()
        if self.transformer is not None:
            await self.transformer.stop()
        self.open = False

    async def poll(self) -> None:
        batches = await self.consumer.getmany(timeout_ms=100)
        read = [record for records in batches.values() for record in records]
        if not read:
            return
        if self.transformer is not None:
            await self._transform(read)
        emit("records", records=[[r.topic, r.partition, r.offset, r.value.decode()] for r in read])
        if self.options["commit"] == "each":
            await self._commit()

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
            "rebalance_timeout_ms": options["max_poll_interval_ms"],
            "session_timeout_ms": options["session_timeout_ms"],
            "heartbeat_interval_ms": options["heartbeat_interval_ms"],
            "partition_assignment_strategy": STRATEGIES.get(options["strategy"]),
        }
        given = {name: value for name, value in said.items() if value is not None}
        return {**self.common, **given, **options["settings"]}

    async def _send(self, producer: AIOKafkaProducer, topic: str, values: list[str]) -> None:
        sent = [await producer.send(topic, value.encode(), key=value.encode()) for value in values]
        await asyncio.gather(*sent)

    async def _commit(self) -> None:
        try:
            places = {each: await self.consumer.position(each) for each in self.consumer.assignment()}
            await self.consumer.commit(places)
        except KafkaError as failure:
            emit_error(failure)
        else:
            emit("committed", offsets=[[each.topic, each.partition, place] for each, place in places.items()])

    async def _transform(self, read: list[Any]) -> None:
        producer = self.transformer
        ends = {TopicPartition(record.topic, record.partition): record.offset + 1 for record in read}
        await producer.begin_transaction()
        try:
            await self._send(producer, self.options["transform"]["to"], [record.value.decode() for record in read])
            await producer.send_offsets_to_transaction(ends, self.group)
            await producer.commit_transaction()
        except KafkaError as failure:
            emit_error(failure)
            await producer.abort_transaction()
            for each in self.consumer.assignment():
                self.consumer.seek(each, await self.consumer.committed(each) or 0)
        else:
            emit("transacted", count=len(read))


def _plain(partitions: set[TopicPartition]) -> list[list[Any]]:
    return sorted([each.topic, each.partition] for each in partitions)


if __name__ == "__main__":
    asyncio.run(Program().run())
