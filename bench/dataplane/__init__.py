"""The byte path beside others': direct, a plain TCP proxy, a Java Kafka proxy, and this one, in one run."""
