"""A Kafka cluster in memory, without Java: small enough to read, honest enough for real clients, and it can misbehave.

    async with open_cluster(nodes=3, topics={"orders": 6}) as cluster:
        cluster.bootstrap                                            # 127.0.0.1:…,127.0.0.1:…
        cluster.faults.add("OffsetCommit", Fail(Code.NOT_COORDINATOR), times=2)
        cluster.faults.add("ConsumerGroupHeartbeat", Lose(), client_id="alice")   # performed; the answer never comes
        cluster.create_topic("more", 4); cluster.grow_topic("more", 8); cluster.cut_connections(node=2)

    python -m demo.cluster --nodes 3 --topic orders:6                # as a server of its own

What it is: brokers 1 to N on loopback ports; partition p of a topic is led by one of them, a group coordinated by one of
them, and asked of another they refuse as Kafka does. Groups are the simulation's coordinator (KIP-848) with a real clock.
Records are kept as the producer packed them, and deduplicated for idempotent producers.

What it is not: there is no disk, no replication, no security, no transactions, and no group of the classic protocol: to
such requests it says what a broker says whose `group.consumer.migration.policy` is `disabled`. Old records are never
dropped: it lives as long as a demo or a test.

    cluster.py   topics, logs, nodes, groups: what is so          server.py   connections: frames in, answers out
    log.py       one partition's records                          faults.py   what goes wrong on demand
    codes.py     the errors that it answers                       request.py  a request, as it reaches those who answer it
    apis.py      which requests are served, in which versions, by which of these:
                 group_requests.py, offset_requests.py, record_requests.py, topic_requests.py
"""

from demo.cluster.cluster import Cluster
from demo.cluster.codes import Code
from demo.cluster.faults import Cut, Delay, Fail, Lose
from demo.cluster.server import open_cluster

__all__ = ["Cluster", "Code", "Cut", "Delay", "Fail", "Lose", "open_cluster"]
