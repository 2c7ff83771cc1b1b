"""Clients whose first Fetch a broker hangs up on: since 4.0 it takes none below version 4 (KIP-896), and says nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.logs import Log
from proxy.memory import Memory

if TYPE_CHECKING:
    from proxy.connections import Connection


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
        if self._said.is_new((client_id, connection.client.rpartition(":")[0])):
            self._log.warning(
                "client too old for its broker",
                client=client_id,
                address=connection.client,
                asked=f"Fetch v{api & 0xFFFF}",
                remedy="brokers since 4.0 take Fetch from version 4 on: a client of 0.11 or newer; "
                "of librdkafka before 1.0, `broker.version.fallback` 0.10.2 too",
            )
