const { Kafka, logLevel } = require("kafkajs");

async function main(bootstrap, topic, group) {
  const kafka = new Kafka({ clientId: "roundtrip", brokers: [bootstrap], logLevel: logLevel.ERROR });
  const producer = kafka.producer();
  await producer.connect();
  await producer.send({ topic, messages: Array.from({ length: 100 }, (_, number) => ({ value: String(number) })) });
  await producer.disconnect();
  const consumer = kafka.consumer({ groupId: group });
  await consumer.connect();
  await consumer.subscribe({ topics: [topic], fromBeginning: true });
  let seen = 0;
  await new Promise((resolve, reject) => {
    consumer.on(consumer.events.CRASH, (event) => reject(event.payload.error));
    consumer.run({ eachMessage: async () => void (++seen === 100 && resolve()) }).catch(reject);
  });
  // Stopping commits what was resolved.
  await consumer.stop();
  await consumer.disconnect();
  const admin = kafka.admin();
  await admin.connect();
  const offsets = await admin.fetchOffsets({ groupId: group, topics: [topic] });
  await admin.disconnect();
  const committed = offsets[0].partitions.reduce((sum, each) => sum + Math.max(0, Number(each.offset)), 0);
  console.log(`OK consumed=${seen} committed=${committed}`);
}

main(...process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
