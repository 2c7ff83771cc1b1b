import sys

from kafka import KafkaConsumer, KafkaProducer, TopicPartition

bootstrap, topic, group = sys.argv[1:]
producer = KafkaProducer(bootstrap_servers=bootstrap)
for number in range(100):
    producer.send(topic, str(number).encode())
producer.flush(20)
producer.close()

consumer = KafkaConsumer(
    topic, bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False
)
seen = 0
while seen < 100:
    seen += sum(len(records) for records in consumer.poll(1_000).values())
consumer.commit()
committed = sum(consumer.committed(TopicPartition(topic, p)) or 0 for p in consumer.partitions_for_topic(topic))
consumer.close()
print(f"OK consumed={seen} committed={committed}")
