import com.fasterxml.jackson.databind.JsonNode;
import org.apache.kafka.clients.consumer.ConsumerRecords;

/** kafka-clients before 2.0 (KIP-266): times are numbers. */
public class Older extends Client {
    public static void main(String[] args) throws Exception {
        new Older(JSON.readTree(args[0])).run();
    }

    Older(JsonNode told) {
        super(told);
    }

    @Override
    ConsumerRecords<String, String> fetch() {
        return consumer.poll(100);
    }

    @Override
    void leave() {
        consumer.close();
    }
}
