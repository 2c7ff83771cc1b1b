"""python -m demo: start a Kafka broker, the proxy before it, and clients; show what each of them sees; stop.

The broker is a real one, from Maven's jars (Java 17+). Nothing outside this machine is talked to but Maven's repository.
"""

from __future__ import annotations

import re
import urllib.request

from confluent_kafka import Consumer, Producer

from tests.kafka import Cluster
from tests.proxy.running import Running

TOPIC, GROUP, RECORDS = "orders", "billing", 1_000


def main() -> None:
    print("starting a Kafka 4.4.0 cluster of three brokers …", flush=True)
    with Cluster.start(nodes=3) as kafka:
        kafka.create_topic(TOPIC, partitions=6, replication=3)
        print(f"  its own addresses: {kafka.bootstrap}")
        with Running(kafka.bootstrap, log_level="info") as proxy:
            proxy.ready()
            print(f"\nkip848-proxy serve --upstream {kafka.bootstrap} --listen {proxy.bootstrap}")
            produce(proxy.bootstrap)
            consume(proxy.bootstrap)
            show(proxy)


def produce(bootstrap: str) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    brokers = producer.list_topics(timeout=10).brokers.values()
    print(f"\nclients connect to {bootstrap} and are told these brokers:")
    for broker in sorted(brokers, key=lambda each: each.id):
        print(f"  node {broker.id} at {broker.host}:{broker.port}")
    for number in range(RECORDS):
        producer.produce(TOPIC, f"order {number}".encode())
    left = producer.flush(30)
    print(f"produced {RECORDS - left} records")


def consume(bootstrap: str) -> None:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": GROUP, "auto.offset.reset": "earliest"})
    consumer.subscribe([TOPIC])
    seen = 0
    while seen < RECORDS:
        seen += sum(1 for message in consumer.consume(RECORDS, 1.0) if not message.error())
    partitions = sorted(each.partition for each in consumer.assignment())
    consumer.close()
    print(f"consumed {seen} records from partitions {partitions}, in group {GROUP!r}")


def show(proxy: Running) -> None:
    print("\nthe proxy's log:")
    print("".join(f"  {line}\n" for line in proxy.log.read_text().splitlines()))
    with urllib.request.urlopen(f"http://127.0.0.1:{proxy.admin}/metrics", timeout=5) as answer:
        text = answer.read().decode()
    print("from its /metrics:")
    for line in re.findall(r"^kip848_proxy_(?:requests|answers|bytes|connections_opened)\w* ?.*$", text, re.MULTILINE):
        print(f"  {line}")


if __name__ == "__main__":
    main()
