"""Host names to socket addresses, remembered for a while so that accepting a client seldom waits for a resolver.

A resolver may take as long as it likes: it is asked once for each name at a time, by a task of its own, and its answer is
remembered whenever it comes. Who needs a name waits for it so long only, and then takes what was true before.
"""

from __future__ import annotations

import ipaddress
import socket
from typing import Any

import trio

from proxy.addresses import Address

REMEMBERED_SECONDS = 30.0
PATIENCE_SECONDS = 3.0
SILENT = f"the resolver has not answered in {PATIENCE_SECONDS:.0f} s"

# Family and the address as sockets take it.
Target = tuple[int, tuple[Any, ...]]


class Names:
    def __init__(self) -> None:
        self._known: dict[Address, tuple[float, list[Target]]] = {}
        # Names that a resolver is asked for now, and what was wrong when it was asked last.
        self._asked: dict[Address, trio.Event] = {}
        self._failures: dict[Address, str] = {}

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
        """Raises OSError when the name is not known, unless it was a while ago: an old answer beats none."""
        remembered = self.remembered(address)
        if remembered is not None:
            return remembered
        with trio.move_on_after(PATIENCE_SECONDS) as patience:
            await self.ask(address).wait()
        _, targets = self._known.get(address, (0.0, []))
        if not targets:
            raise OSError(f"{address.host}: {SILENT if patience.cancelled_caught else self._failures[address]}")
        return targets

    def ask(self, address: Address) -> trio.Event:
        """Set when the resolver has answered."""
        if address not in self._asked:
            self._asked[address] = trio.Event()
            trio.lowlevel.spawn_system_task(self._look_up, address)
        return self._asked[address]

    async def _look_up(self, address: Address) -> None:
        """A failure ends nobody but who waits. What brokers are called comes from the cluster, and may be no name at all."""
        try:
            found = await trio.socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
            targets = [(int(family), target) for family, _, _, _, target in found]
        except (OSError, ValueError, OverflowError) as failure:
            self._failures[address] = str(failure)
            _, targets = self._known.get(address, (0.0, []))
        if targets:
            self._known[address] = (trio.current_time() + REMEMBERED_SECONDS, targets)
        self._asked.pop(address).set()


def _literal(address: Address) -> Target | None:
    try:
        version = ipaddress.ip_address(address.host).version
    except ValueError:
        return None
    return (int(socket.AF_INET if version == 4 else socket.AF_INET6), tuple(address))
