"""Clients whose first Produce or Fetch a broker hangs up on: since 4.0 it takes none below version 3, or 4 (KIP-896).

It says nothing of that. Of who produces and wants no answer nothing is known here either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafka_protocol.messages import keys
from proxy.logs import Log
from proxy.memory import Memory

if TYPE_CHECKING:
    from proxy.connections import Connection

# What it is called, and what helps.
DROPPED = {
    keys.PRODUCE: (
        "Produce",
        "brokers since 4.0 take Produce from version 3 on: a client of 0.11 or newer, and not told that brokers are older "
        "(sarama's `Config.Version`, librdkafka's `broker.version.fallback`)",
    ),
    keys.FETCH: (
        "Fetch",
        "brokers since 4.0 take Fetch from version 4 on: a client of 0.11 or newer; "
        "of librdkafka before 1.0, `broker.version.fallback` 0.10.2 too",
    ),
}


class TooOld:
    def __init__(self, log: Log) -> None:
        self._log = log
        self._said = Memory()

    def hung_up_on(self, connection: Connection) -> None:
        """Said once a client. Whose first such request was answered has a broker that still takes them."""
        dropped = connection.conversation.dropped
        if dropped is None or dropped[0] not in connection.conversation.expected:
            return
        _, api, client_id = dropped
        name, remedy = DROPPED[api >> 16]
        if self._said.is_new((client_id, connection.client.rpartition(":")[0])):
            self._log.warning(
                "client too old for its broker",
                client=client_id,
                address=connection.client,
                asked=f"{name} v{api & 0xFFFF}",
                remedy=remedy,
            )
