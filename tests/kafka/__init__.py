"""Real Kafka brokers for tests and benches, from Maven's jars, a few seconds each to start.

    with Cluster.start(version="4.4.0", nodes=3) as kafka:
        kafka.bootstrap                       # HOST:PORT,HOST:PORT,… of the client listener
        kafka.create_topic("orders", partitions=6, replication=3)
        kafka.kill(2); kafka.restart(2)       # the same port and data
        kafka.move_coordinator("my-group", to=1)
        kafka.ask(1, 3, MetadataRequest(), version=12)

Each node is broker and controller, with three listeners: CLIENT (what is tested: plaintext, TLS, SASL), INTERNAL
(plaintext, whose anonymous user is the super user) for the brokers themselves and the verbs here, and CONTROLLER.
"""

from tests.kafka.cluster import Cluster, Security

__all__ = ["Cluster", "Security"]
