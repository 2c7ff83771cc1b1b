"""A proxy for Apache Kafka that legacy consumers connect to as if it were the cluster."""
