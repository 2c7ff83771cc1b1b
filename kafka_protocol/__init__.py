"""The Kafka wire protocol: typed messages and a codec generated from Kafka's own message definitions."""
