"""Which hosts does the coordinator know this proxy by? It may have several addresses, and nobody tells it which.

They are learned from descriptions, of members that beat through here last. While another proxy may still beat for a member
too, it is shown under the host of whoever was last: there it counts only as long as no other host is shown.
"""

from __future__ import annotations


class OwnHosts:
    def __init__(self) -> None:
        self._sure: set[str] = set()
        self._maybe: set[str] = set()

    @property
    def are_sure(self) -> bool:
        return bool(self._sure)

    def is_sure_of(self, host: str) -> bool:
        return host in self._sure

    def learn(self, host: str, is_sure: bool) -> None:
        (self._sure if is_sure else self._maybe).add(host)

    def may_be_elsewhere(self, host: str) -> bool:
        """Whether a silent member that is shown under this host is to be let be: its coordinator misses it if nobody has it,
        and one that was left for by mistake would lose its partitions."""
        if self._sure:
            return host not in self._sure
        return bool(self._maybe) and self._maybe != {host}
