"""Host names to socket addresses, remembered for a while so that accepting a client seldom waits for a resolver."""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import trio

from proxy.addresses import Address

REMEMBERED_SECONDS = 30.0

# Family and the address as sockets take it.
Target = tuple[int, tuple[Any, ...]]


class Names:
    def __init__(self) -> None:
        self._known: dict[Address, tuple[float, list[Target]]] = {}

    def remembered(self, address: Address) -> list[Target] | None:
        """Without waiting; None when a resolver must be asked."""
        if address in self._known:
            until, targets = self._known[address]
            return targets if until > trio.current_time() else None
        literal = _literal(address)
        if literal is None:
            return None
        self._known[address] = (float("inf"), [literal])
        return [literal]

    def doubt(self, address: Address) -> None:
        """It is not where it was: the resolver is asked anew, in case it knows better."""
        if address in self._known and _literal(address) is None:
            self._known[address] = (0.0, self._known[address][1])

    async def resolve(self, address: Address) -> list[Target]:
        """Raises OSError when the name is not known, unless it was a while ago: an old answer beats none. What brokers are
        called comes from the cluster, and may be no name at all."""
        remembered = self.remembered(address)
        if remembered is not None:
            return remembered
        try:
            found = await trio.socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as failure:
            if address not in self._known:
                raise OSError(f"{address.host}: {failure}") from failure
            targets = self._known[address][1]
        else:
            targets = [(int(family), target) for family, _, _, _, target in found]
        self._known[address] = (trio.current_time() + REMEMBERED_SECONDS, targets)
        return targets


def _literal(address: Address) -> Target | None:
    try:
        version = ipaddress.ip_address(address.host).version
    except ValueError:
        return None
    return (int(socket.AF_INET if version == 4 else socket.AF_INET6), tuple(address))
