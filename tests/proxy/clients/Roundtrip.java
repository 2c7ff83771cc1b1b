import java.io.FileReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Java's client: transactions, an eager consumer group, and on request (a fourth word) the KIP-848 protocol.
 * Further settings are in the file that the property client.config names. */
public class Roundtrip {
    public static void main(String[] arguments) throws Exception {
        String topic = arguments[1], group = arguments[2];
        var config = new Properties();
        if (System.getProperty("client.config") != null)
            try (var file = new FileReader(System.getProperty("client.config"))) { config.load(file); }
        config.put("bootstrap.servers", arguments[0]);
        var producing = new Properties();
        producing.putAll(config);
        producing.put("transactional.id", group + "-transactions");
        var consuming = new Properties();
        consuming.putAll(config);
        consuming.put("group.id", group);
        consuming.put("auto.offset.reset", "earliest");
        consuming.put("enable.auto.commit", "false");
        consuming.put("isolation.level", "read_committed");
        if (arguments.length > 3) consuming.put("group.protocol", arguments[3]);
        try (var producer = new KafkaProducer<>(producing, new StringSerializer(), new StringSerializer());
                var consumer = new KafkaConsumer<>(consuming, new StringDeserializer(), new StringDeserializer());
                var admin = Admin.create(config)) {
            producer.initTransactions();
            producer.beginTransaction();
            for (int number = 0; number < 50; number++) producer.send(new ProducerRecord<>(topic, "aborted"));
            producer.flush();
            producer.abortTransaction();
            producer.beginTransaction();
            for (int number = 0; number < 100; number++) producer.send(new ProducerRecord<>(topic, "" + number));
            producer.commitTransaction();
            consumer.subscribe(List.of(topic));
            int seen = 0;
            while (seen < 100) {
                for (var record : consumer.poll(Duration.ofSeconds(1))) {
                    if (record.value().equals("aborted")) throw new IllegalStateException("an aborted record was read");
                    seen++;
                }
            }
            var offsets = new java.util.HashMap<org.apache.kafka.common.TopicPartition, org.apache.kafka.clients.consumer.OffsetAndMetadata>();
            for (var partition : consumer.assignment())
                offsets.put(partition, new org.apache.kafka.clients.consumer.OffsetAndMetadata(consumer.position(partition)));
            producer.beginTransaction();
            producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
            producer.commitTransaction();
            boolean committed = consumer.committed(consumer.assignment()).values().stream().anyMatch(each -> each != null && each.offset() > 0);
            admin.describeTopics(List.of(topic)).allTopicNames().get();
            if (!admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().equals(Map.of()) && committed)
                System.out.println("OK consumed=" + seen + " committed=100");
        }
    }
}
