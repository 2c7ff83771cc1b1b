"""Real client libraries as programs of their own, driven by tests.

    async with await Client.start("sarama", kafka.bootstrap, name="alice") as alice:
        await alice.produce("orders", 100)                     # keys and values are "0" … "99"
        alice.subscribe("orders", "group", strategy="range", session_timeout_ms=6000)
        await alice.event("assigned")                          # the next such event after the last one awaited
        await alice.until(lambda: len(alice.values) == 100, within=30)
        alice.owned                                            # {("orders", 0), …}, by its own callbacks
        await alice.commit(); await alice.close()              # or: alice.kill(), alice.pause(), alice.stall(5000)

    overlaps([alice, bob])                                     # who owned the same partition at the same time
    await shared_out([alice, bob], 6, 1.5, within=30)          # until they own all six, and nothing moves for a moment

LIBRARIES names them and says what each can: java-3.9, java-4.4, confluent-kafka, kafka-python, aiokafka, sarama, kafka-go,
franz-go, kafkajs, platformatic (@platformatic/kafka); OLDER are versions that only consume, for the matrix. A test should
skip those whose tools are `missing` (Go, Node). `python`, `java`, `js` and `go` hold the programs, which are built into
.build/clients when first started, from locked versions.

Programs speak JSON, a line each: commands `{"do": …}` on stdin, events `{"event": …, "at_ms": …}` on stdout:
`ready`, `topic_created`, `metadata`, `produced`, `transacted`, `assigned`, `revoking` (the callback begins), `revoked` (it
ends), `lost`, `records` ([topic, partition, offset, value] …), `committed`, `error`, `closed`.
What a library does not tell is told as near as it gets: kafka-go, kafkajs, platformatic and sarama have no cooperative
rebalance, so each generation is assigned whole and revoked whole; commits by sarama do not say whether they succeeded.
Consumers start at the earliest offset and read only what is committed. `settings` (the library's own words, for what
`subscribe` has no name for) reach the Java, Python and JavaScript programs.
"""

from tests.clients.driver import Client, ClientEnded, Sasl, Tls
from tests.clients.libraries import LIBRARIES, OLDER
from tests.clients.ownership import Span, overlaps, shared_out, spans

__all__ = ["LIBRARIES", "OLDER", "Client", "ClientEnded", "Sasl", "Span", "Tls", "overlaps", "shared_out", "spans"]
