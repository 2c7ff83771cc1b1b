"""The codec beside other Python codecs of the Kafka protocol."""
