import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** A share group (KIP-932): its Fetch answers can name brokers in every version. */
public class Share {
    public static void main(String[] arguments) throws Exception {
        var config = new Properties();
        config.put("bootstrap.servers", arguments[0]);
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            for (int number = 0; number < 100; number++) producer.send(new ProducerRecord<>(arguments[1], "" + number));
        }
        config.put("group.id", arguments[2]);
        try (var consumer = new KafkaShareConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.subscribe(List.of(arguments[1]));
            int seen = 0;
            while (seen < 100) seen += consumer.poll(Duration.ofSeconds(1)).count();
            boolean committed = consumer.commitSync().values().stream().allMatch(failure -> failure.isEmpty());
            System.out.println("OK consumed=" + seen + " committed=" + (committed ? 100 : 0));
        }
    }
}
