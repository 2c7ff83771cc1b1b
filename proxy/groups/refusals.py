"""Who is turned away here, and what an operator can do about it: said once a client, for it tries again for ever."""

from __future__ import annotations

from typing import Any

from proxy.logs import Log
from proxy.memory import Memory
from proxy.observations import Client
from translation import errors as e

# What the translation refuses as a classic broker would, when it is not the client's doing alone.
REMEDIES = {
    e.INVALID_SESSION_TIMEOUT: (
        "translation.min_session_ms and translation.max_session_ms are the bounds of its session.timeout.ms; give them what "
        "the brokers have as group.min.session.timeout.ms and group.max.session.timeout.ms"
    ),
    e.INCONSISTENT_GROUP_PROTOCOL: "it offers no assignor, or a subscription that cannot be read: a rule may let it `pass`",
}


class Refusals:
    def __init__(self, log: Log) -> None:
        self._log = log
        self._said = Memory()

    def ruled_anew(self) -> None:
        """Whom a rule refuses is said again."""
        self._said = Memory()

    def by_rule(self, group_id: str, client: Client) -> None:
        if self._said.is_new((group_id, client.client_id)):
            who = {"group": group_id, "client": client.client_id, "address": client.address}
            self._log.warning("group refused", **who, reason="a rule says `refuse`")

    def of_join(self, join: Any, client: Client, error_code: int) -> None:
        remedy = REMEDIES.get(error_code)
        if remedy is not None and self._said.is_new((join.group_id, f"{client.client_id} {error_code}")):
            self._log.warning(
                "join refused",
                group=join.group_id,
                client=client.client_id,
                address=client.address,
                error=e.NAMES[error_code],
                session_ms=join.session_timeout_ms,
                protocols=",".join(each.name for each in join.protocols) or "none",
                remedy=remedy,
            )
