import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** kafka-clients. One JSON object a line: commands arrive on stdin, events leave on stdout; when stdin ends, so do we. */
public class Client {
    static final ObjectMapper JSON = new ObjectMapper();
    static final Map<String, String> STRATEGIES = Map.of(
        "range", "RangeAssignor", "roundrobin", "RoundRobinAssignor",
        "sticky", "StickyAssignor", "cooperative", "CooperativeStickyAssignor");

    final Properties common = new Properties();
    KafkaConsumer<String, String> consumer;
    KafkaProducer<String, String> transformer;
    JsonNode options;
    boolean open = true;

    public static void main(String[] args) throws Exception {
        new Client(JSON.readTree(args[0])).run();
    }

    Client(JsonNode told) {
        JsonNode tls = told.get("tls"), sasl = told.get("sasl");
        common.put("bootstrap.servers", told.get("bootstrap").asText());
        common.put("client.id", told.get("name").asText());
        common.put("security.protocol", (sasl.isNull() ? "" : "SASL_") + (tls.isNull() ? "PLAINTEXT" : "SSL"));
        if (!tls.isNull()) {
            common.put("ssl.truststore.type", "PEM");
            common.put("ssl.truststore.location", tls.get("authority").asText());
            if (!tls.get("certificate").isNull()) {
                common.put("ssl.keystore.type", "PEM");
                common.put("ssl.keystore.location", tls.get("certificate").asText());
            }
        }
        if (!sasl.isNull()) {
            common.put("sasl.mechanism", sasl.get("mechanism").asText());
            common.put("sasl.jaas.config", jaas(sasl));
            if (sasl.get("mechanism").asText().equals("GSSAPI")) {
                common.put("sasl.kerberos.service.name", "kafka");
                // Both are read when first needed, which is later.
                System.setProperty("java.security.krb5.conf", sasl.get("kerberos").asText() + "/krb5.conf");
                System.setProperty("jdk.net.hosts.file", sasl.get("kerberos").asText() + "/hosts");
            }
        }
        emit("ready", Map.of("library", "kafka-clients", "version", version()));
    }

    static String version() {
        Properties said = new Properties();
        try (InputStream file = Client.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            said.load(file);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
        return said.getProperty("version");
    }

    static String jaas(JsonNode sasl) {
        String security = "org.apache.kafka.common.security.", mechanism = sasl.get("mechanism").asText();
        String user = sasl.get("user").asText();
        if (mechanism.equals("OAUTHBEARER")) {
            return security + "oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub=\"" + user + "\";";
        }
        if (mechanism.equals("GSSAPI")) {
            String keytab = sasl.get("kerberos").asText() + "/" + user + ".keytab";
            return "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true keyTab=\""
                + keytab + "\" principal=\"" + user + "\";";
        }
        String module = mechanism.equals("PLAIN") ? "plain.PlainLoginModule" : "scram.ScramLoginModule";
        String password = sasl.get("password").asText();
        return security + module + " required username=\"" + user + "\" password=\"" + password + "\";";
    }

    /** Between commands the consumer is polled. */
    void run() throws Exception {
        ConcurrentLinkedQueue<JsonNode> commands = read();
        while (open) {
            try {
                JsonNode command = commands.poll();
                if (command != null) {
                    obey(command);
                } else if (consumer != null) {
                    poll();
                } else {
                    Thread.sleep(20);
                }
            } catch (Exception failure) {
                emitError(failure);
            }
        }
        emit("closed", Map.of());
        System.exit(0);
    }

    static ConcurrentLinkedQueue<JsonNode> read() {
        ConcurrentLinkedQueue<JsonNode> commands = new ConcurrentLinkedQueue<>();
        Thread reader = new Thread(() -> {
            try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    commands.add(JSON.readTree(line));
                }
            } catch (Exception failure) {
                emitError(failure);
            }
            Runtime.getRuntime().halt(0);
        });
        reader.setDaemon(true);
        reader.start();
        return commands;
    }

    void obey(JsonNode command) throws Exception {
        switch (command.get("do").asText()) {
            case "create_topic" -> createTopic(command);
            case "metadata" -> metadata();
            case "produce" -> produce(command);
            case "transact" -> transact(command);
            case "subscribe" -> subscribe(command);
            case "commit" -> commit();
            case "resubscribe" -> consumer.subscribe(topics(command), new Listener());
            case "rejoin" -> consumer.enforceRebalance("so the application wishes");
            case "stall" -> Thread.sleep(command.get("stall_ms").asLong());
            case "close" -> close();
            default -> throw new IllegalArgumentException(command.toString());
        }
    }

    void createTopic(JsonNode command) throws Exception {
        String topic = command.get("topic").asText();
        NewTopic wish = new NewTopic(topic, command.get("partitions").asInt(), (short) command.get("replication").asInt());
        try (Admin admin = Admin.create(common)) {
            admin.createTopics(List.of(wish)).all().get();
        }
        emit("topic_created", Map.of("topic", topic));
    }

    void metadata() throws Exception {
        List<Object> brokers = new ArrayList<>();
        try (Admin admin = Admin.create(common)) {
            for (Node node : admin.describeCluster().nodes().get()) {
                brokers.add(List.of(node.id(), node.host() + ":" + node.port()));
            }
        }
        emit("metadata", Map.of("brokers", brokers));
    }

    void produce(JsonNode command) throws Exception {
        try (KafkaProducer<String, String> producer = producer(null, command.get("settings"))) {
            send(producer, command.get("topic").asText(), numbers(command));
        }
        emit("produced", Map.of("topic", command.get("topic"), "count", command.get("count")));
    }

    void transact(JsonNode command) throws Exception {
        boolean abort = command.get("abort").asBoolean();
        try (KafkaProducer<String, String> producer = producer(command.get("transactional_id").asText(), null)) {
            producer.initTransactions();
            producer.beginTransaction();
            send(producer, command.get("topic").asText(), numbers(command));
            if (abort) {
                producer.abortTransaction();
            } else {
                producer.commitTransaction();
            }
        }
        emit("transacted", Map.of("topic", command.get("topic"), "count", command.get("count"), "aborted", abort));
    }

    void subscribe(JsonNode command) {
        options = command;
        consumer = new KafkaConsumer<>(consumerSettings(), new StringDeserializer(), new StringDeserializer());
        if (!options.get("transform").isNull()) {
            transformer = producer(options.get("transform").get("transactional_id").asText(), null);
            transformer.initTransactions();
        }
        consumer.subscribe(topics(command), new Listener());
    }

    static List<String> topics(JsonNode command) {
        List<String> topics = new ArrayList<>();
        command.get("topics").forEach(topic -> topics.add(topic.asText()));
        return topics;
    }

    Properties consumerSettings() {
        Properties said = new Properties();
        said.putAll(common);
        said.put("group.id", options.get("group").asText());
        said.put("auto.offset.reset", "earliest");
        said.put("isolation.level", "read_committed");
        String commit = options.get("commit").asText();
        said.put("enable.auto.commit", String.valueOf(commit.equals("auto") || commit.equals("default")));
        if (commit.equals("auto")) {
            said.put("auto.commit.interval.ms", "500");
        }
        said.put("metadata.max.age.ms", "2000");
        put(said, "group.instance.id", options.get("instance_id"));
        put(said, "max.poll.interval.ms", options.get("max_poll_interval_ms"));
        if (options.get("protocol").asText().equals("consumer")) {
            said.put("group.protocol", "consumer");
        } else {
            // Settings of the broker in the new protocol, where the client refuses to start with them.
            put(said, "session.timeout.ms", options.get("session_timeout_ms"));
            put(said, "heartbeat.interval.ms", options.get("heartbeat_interval_ms"));
            if (!options.get("strategy").isNull()) {
                String strategy = STRATEGIES.get(options.get("strategy").asText());
                said.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + strategy);
            }
        }
        options.get("settings").fields().forEachRemaining(setting -> put(said, setting.getKey(), setting.getValue()));
        return said;
    }

    static void put(Properties said, String name, JsonNode value) {
        if (!value.isNull()) {
            said.put(name, value.asText());
        }
    }

    void close() {
        if (consumer != null) {
            leave();
        }
        open = false;
    }

    void leave() {
        consumer.close(Duration.ofSeconds(15));
    }

    ConsumerRecords<String, String> fetch() {
        return consumer.poll(Duration.ofMillis(100));
    }

    void poll() {
        ConsumerRecords<String, String> read = fetch();
        if (read.isEmpty()) {
            return;
        }
        if (transformer != null) {
            transform(read);
        }
        List<Object> records = new ArrayList<>();
        read.forEach(each -> records.add(List.of(each.topic(), each.partition(), each.offset(), each.value())));
        emit("records", Map.of("records", records));
        if (options.get("commit").asText().equals("each")) {
            commit();
        }
    }

    void commit() {
        List<Object> offsets = new ArrayList<>();
        try {
            consumer.assignment().forEach(each -> offsets.add(List.of(each.topic(), each.partition(), consumer.position(each))));
            consumer.commitSync();
        } catch (KafkaException failure) {
            emitError(failure);
            return;
        }
        emit("committed", Map.of("offsets", offsets));
    }

    void transform(ConsumerRecords<String, String> read) {
        Map<TopicPartition, OffsetAndMetadata> ends = new HashMap<>();
        List<String> values = new ArrayList<>();
        for (ConsumerRecord<String, String> each : read) {
            ends.put(new TopicPartition(each.topic(), each.partition()), new OffsetAndMetadata(each.offset() + 1));
            values.add(each.value());
        }
        transformer.beginTransaction();
        try {
            send(transformer, options.get("transform").get("to").asText(), values);
            transformer.sendOffsetsToTransaction(ends, consumer.groupMetadata());
            transformer.commitTransaction();
        } catch (Exception failure) {
            emitError(failure);
            transformer.abortTransaction();
            rewind();
            return;
        }
        emit("transacted", Map.of("count", values.size()));
    }

    void rewind() {
        consumer.committed(consumer.assignment()).forEach(
            (partition, offset) -> consumer.seek(partition, offset == null ? 0 : offset.offset()));
    }

    KafkaProducer<String, String> producer(String transactionalId, JsonNode settings) {
        Properties said = new Properties();
        said.putAll(common);
        if (transactionalId != null) {
            said.put("transactional.id", transactionalId);
            // Readers wait for so long when the copier is killed in the midst of one.
            said.put("transaction.timeout.ms", 15_000);
        }
        if (settings != null) {
            settings.fields().forEachRemaining(setting -> put(said, setting.getKey(), setting.getValue()));
        }
        return new KafkaProducer<>(said, new StringSerializer(), new StringSerializer());
    }

    static void send(KafkaProducer<String, String> producer, String topic, List<String> values) throws Exception {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        values.forEach(value -> sent.add(producer.send(new ProducerRecord<>(topic, value, value))));
        producer.flush();
        for (Future<RecordMetadata> each : sent) {
            each.get();
        }
    }

    static List<String> numbers(JsonNode command) {
        List<String> values = new ArrayList<>();
        int first = command.get("first").asInt();
        for (int number = first; number < first + command.get("count").asInt(); number++) {
            values.add(String.valueOf(number));
        }
        return values;
    }

    class Listener implements ConsumerRebalanceListener {
        public void onPartitionsAssigned(Collection<TopicPartition> assigned) {
            emit("assigned", plain(assigned));
        }

        public void onPartitionsRevoked(Collection<TopicPartition> revoked) {
            emit("revoking", plain(revoked));
            try {
                Thread.sleep(options.get("revoke_ms").asLong());
            } catch (InterruptedException failure) {
                throw new IllegalStateException(failure);
            }
            emit("revoked", plain(revoked));
        }

        public void onPartitionsLost(Collection<TopicPartition> lost) {
            emit("lost", plain(lost));
        }
    }

    static Map<String, Object> plain(Collection<TopicPartition> partitions) {
        List<Object> listed = new ArrayList<>();
        partitions.forEach(each -> listed.add(List.of(each.topic(), each.partition())));
        return Map.of("partitions", listed);
    }

    static void emitError(Throwable failure) {
        emit("error", Map.of("message", failure.toString()));
    }

    static synchronized void emit(String event, Map<String, Object> fields) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("event", event);
        line.put("at_ms", System.currentTimeMillis());
        line.putAll(fields);
        try {
            System.out.println(JSON.writeValueAsString(line));
        } catch (com.fasterxml.jackson.core.JsonProcessingException failure) {
            throw new IllegalStateException(failure);
        }
    }
}
