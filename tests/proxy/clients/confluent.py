"""librdkafka; and what the other programs do not do: transactions, and admin requests."""

import sys

from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

bootstrap, topic, group = sys.argv[1:]
producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": f"{group}-transactions"})
producer.init_transactions(20)
producer.begin_transaction()
for _ in range(50):
    producer.produce(topic, b"aborted")
producer.flush(20)
producer.abort_transaction(20)
producer.begin_transaction()
for number in range(100):
    producer.produce(topic, str(number).encode())
producer.commit_transaction(20)

consumer = Consumer(
    {"bootstrap.servers": bootstrap, "group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False}
)
consumer.subscribe([topic])
seen: list[bytes] = []
while len(seen) < 100:
    seen += [message.value() for message in consumer.consume(100, 1.0) if not message.error()]
assert b"aborted" not in seen
# Exactly once: the offsets go along with the transaction.
producer.begin_transaction()
producer.send_offsets_to_transaction(consumer.position(consumer.assignment()), consumer.consumer_group_metadata(), 20)
producer.commit_transaction(20)
committed = sum(1 for each in consumer.committed(consumer.assignment(), 20) if each.offset > 0)

admin = AdminClient({"bootstrap.servers": bootstrap})
described = admin.describe_consumer_groups([group])[group].result(20)
assert len(described.members) == 1, described
configs = admin.describe_configs([ConfigResource(ResourceType.TOPIC, topic)])
assert all("retention.ms" in future.result(20) for future in configs.values())
consumer.close()
print(f"OK consumed={len(seen)} committed={100 if committed else 0}")
