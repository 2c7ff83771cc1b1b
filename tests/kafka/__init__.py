"""Real Kafka brokers for tests, benches and demos, from Maven's jars, a few seconds each to start.

    with Cluster.start(version="4.4.0", nodes=3) as kafka:
        kafka.bootstrap                              # HOST:PORT,HOST:PORT,… of the client listener
        kafka.inside                                 # the same of the internal one
        kafka.nodes[2].address                       # ids begin at 1; `.client_port`, `.internal_port`
        kafka.create_topic("orders", partitions=6, replication=3)
        kafka.set_group_config("g", consumer_session_timeout_ms="45000")
        kafka.kill(2); kafka.restart(2)              # SIGKILL; again on the same port with the same data
        kafka.stop(2); kafka.start_node(2)           # SIGTERM
        kafka.restart(2, "4.0.1")                    # as another version; kafka.finish_upgrade() when all are new
        kafka.add_node(); kafka.move_coordinator("g", to=1); kafka.elect_leader("orders", 0, to=3)
        kafka.ask(1, keys.METADATA, 12, MetadataRequest())   # node, API, version, message: past every proxy
        kafka.logs(1)

    Cluster.start(security=Security(tls=True, mutual=True))
    Cluster.start(security=Security(sasl=("PLAIN", "SCRAM-SHA-256"), authorizer=True), overrides={"log.retention.ms": "1"})
    kafka.allow("User:alice", "topic", "orders", "read", "describe")
    with Kdc() as kdc, Cluster.start(security=Security(sasl=("GSSAPI",), kerberos=kdc)) as kafka: …   # see kerberos.py

Each node is broker and controller, with three listeners: CLIENT (what is tested: plaintext, TLS, SASL), INTERNAL
(plaintext, whose anonymous user is the super user) for the brokers themselves and the verbs here, and CONTROLLER.
The users of a SASL cluster are alice and bob, with the passwords alice-secret and bob-secret; OAUTHBEARER takes unsecured
tokens. `kafka.certificates.authority` is what clients trust, `.issue("alice")` a PEM file with key and chain for mTLS;
`.renew()` is for brokers that start from then on.

Every verb blocks: in an async test, `await trio.to_thread.run_sync(kafka.restart, 2)`. Brokers die with the process that
started them, however that ends. Logs stay when a `with` block fails, and the failure says where.

pytest has one cluster of each kind for the session, started when first asked for (tests/conftest.py): `kafka`, `kafka3`,
`kafka40`, `kafka_tls`, `kafka_mtls`, `kafka_sasl` (all mechanisms, ACLs enforced), `kafka_sasl_tls`. A test that damages a
cluster starts its own, or repairs it.
"""

from tests.kafka.cluster import Cluster
from tests.kafka.kerberos import Kdc
from tests.kafka.settings import Node, Security

__all__ = ["Cluster", "Kdc", "Node", "Security"]
