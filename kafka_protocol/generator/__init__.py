"""From Kafka's message definitions (JSON inside the kafka-clients jars) to `kafka_protocol.messages`."""
