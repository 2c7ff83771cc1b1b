import java.nio.file.Files;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.state.Stores;

/** Counts ten words, exactly once, over topics of its own; half-way a second instance comes and the first one goes. */
public class Streams {
    static final int WORDS = 10;

    public static void main(String[] arguments) throws Exception {
        String bootstrap = arguments[0], topic = arguments[1], group = arguments[2], counts = topic + "-counts";
        var config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        try (var admin = Admin.create(config)) {
            admin.createTopics(List.of(new NewTopic(counts, 1, (short) 1))).all().get();
            say(config, topic);
            var first = instance(bootstrap, topic, counts, group);
            awaits(config, counts, 50);
            var second = instance(bootstrap, topic, counts, group);
            while (second.state() != KafkaStreams.State.RUNNING) Thread.sleep(50);
            first.close(Duration.ofSeconds(30));
            say(config, topic);
            long consumed = awaits(config, counts, 100);
            second.close(Duration.ofSeconds(30));
            long committed = 0;
            for (var entry : admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().entrySet())
                if (entry.getKey().topic().equals(topic)) committed += entry.getValue().offset();
            System.out.println("OK consumed=" + consumed + " committed=" + committed);
        }
    }

    static void say(Properties config, String topic) {
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            for (int n = 0; n < 50; n++) producer.send(new ProducerRecord<>(topic, "word " + n % WORDS));
        }
    }

    static KafkaStreams instance(String bootstrap, String topic, String counts, String group) throws Exception {
        var builder = new StreamsBuilder();
        builder.<String, String>stream(topic)
                .groupBy((key, word) -> word)
                .count(Materialized.as(Stores.inMemoryKeyValueStore("counts")))
                .toStream()
                .to(counts, Produced.with(Serdes.String(), Serdes.Long()));
        var config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("application.id", group);
        config.put("processing.guarantee", "exactly_once_v2");
        config.put("default.key.serde", Serdes.StringSerde.class);
        config.put("default.value.serde", Serdes.StringSerde.class);
        config.put("replication.factor", 1);
        // An instance that is closed stays a member until its session ends.
        config.put("session.timeout.ms", 6_000);
        config.put("heartbeat.interval.ms", 1_000);
        config.put("state.dir", Files.createTempDirectory("streams").toString());
        var streams = new KafkaStreams(builder.build(), config);
        streams.start();
        return streams;
    }

    /** Until the counts add up to so much: never to more. */
    static long awaits(Properties config, String counts, long sum) {
        var reading = new Properties();
        reading.putAll(config);
        reading.put("group.id", counts + "-" + sum);
        reading.put("isolation.level", "read_committed");
        reading.put("auto.offset.reset", "earliest");
        Map<String, Long> last = new HashMap<>();
        try (var consumer = new KafkaConsumer<>(reading, new StringDeserializer(), new LongDeserializer())) {
            consumer.subscribe(List.of(counts));
            while (total(last) < sum)
                for (var record : consumer.poll(Duration.ofSeconds(1))) last.put(record.key(), record.value());
        }
        return total(last);
    }

    static long total(Map<String, Long> counts) {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }
}
