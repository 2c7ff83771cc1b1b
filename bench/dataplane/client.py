"""client.py consume|produce BOOTSTRAP TOPIC MEGABYTES MESSAGE_BYTES [CONFIG_JSON]

One run of librdkafka, timed from the first message that arrived to the last.
"""

from __future__ import annotations

import json
import os
import sys
import time

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition

FIRST_ANSWER_SECONDS = 10.0
FLUSH_SECONDS = 60.0


def consume(bootstrap: str, topic: str, total: int, config: dict[str, str]) -> float:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "bench",
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "queued.max.messages.kbytes": 131072,
            "fetch.message.max.bytes": 1048576,
            "check.crcs": False,
            **config,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    first = consumer.consume(1, FIRST_ANSWER_SECONDS)
    if not first:
        raise TimeoutError(f"nothing of {topic} came from {bootstrap} within {FIRST_ANSWER_SECONDS} s")
    start, seen = time.monotonic(), _size(first[0])
    while seen < total:
        seen += sum(_size(message) for message in consumer.consume(1000, 1.0))
    took = time.monotonic() - start
    consumer.close()
    return took


def produce(bootstrap: str, topic: str, total: int, size: int, config: dict[str, str]) -> float:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "acks": 1,
            "linger.ms": 5,
            "batch.size": 1048576,
            "queue.buffering.max.kbytes": 65536,
            # Reports of success would be timed as well.
            "delivery.report.only.error": True,
            "on_delivery": _delivered,
            **config,
        }
    )
    value = os.urandom(size)
    # The first message finds the leader and connects to it; that is not what is timed here.
    producer.produce(topic, value, partition=0)
    producer.flush(FIRST_ANSWER_SECONDS)
    start = time.monotonic()
    for _ in range(total // size):
        while True:
            try:
                producer.produce(topic, value, partition=0)
                break
            except BufferError:
                producer.poll(0.01)
    left = producer.flush(FLUSH_SECONDS)
    if left:
        raise TimeoutError(f"{left} messages were not delivered within {FLUSH_SECONDS} s")
    return time.monotonic() - start


def _size(message: Message) -> int:
    if message.error() is not None:
        raise KafkaException(message.error())
    return len(message.value() or b"")


def _delivered(error: KafkaError | None, _: Message) -> None:
    if error is not None:
        raise KafkaException(error)


if __name__ == "__main__":
    what, servers, name, megabytes, message_bytes, *more = sys.argv[1:]
    wanted, given = int(megabytes) * 1_000_000, json.loads(more[0]) if more else {}
    if what == "consume":
        seconds = consume(servers, name, wanted, given)
    else:
        seconds = produce(servers, name, wanted, int(message_bytes), given)
    print(json.dumps({"seconds": seconds}))
