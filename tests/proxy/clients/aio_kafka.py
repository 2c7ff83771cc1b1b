import asyncio
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer


async def main(bootstrap: str, topic: str, group: str) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
        for number in range(100):
            await producer.send_and_wait(topic, str(number).encode())
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=bootstrap, group_id=group, auto_offset_reset="earliest", enable_auto_commit=False
    )
    async with consumer:
        seen = 0
        while seen < 100:
            seen += sum(len(records) for records in (await consumer.getmany(timeout_ms=1_000)).values())
        await consumer.commit()
        committed = sum([await consumer.committed(each) or 0 for each in consumer.assignment()])
    print(f"OK consumed={seen} committed={committed}")


asyncio.run(main(*sys.argv[1:]))
