"""Who is where: each broker's real address, and the one that clients are told instead.

Node N is told as `advertise : bootstrap port + 1 + N`, or as its mapped port, or, with SNI, as a name of its own on the
one port. The formula needs no state, so addresses survive restarts of the proxy and of the brokers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from proxy.settings import Settings

# How the kernel writes an IPv4 address on a socket that takes both families.
IPV4_IN_IPV6 = "::ffff:"


class Address(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def parse_address(text: str) -> Address:
    """HOST:PORT, an IPv6 host in brackets. The settings were checked, so this can be brief."""
    host, _, port = text.rpartition(":")
    return Address(host.removeprefix("[").removesuffix("]"), int(port))


def end(name: tuple[Any, ...]) -> Address:
    """One end of a connection, as getsockname and getpeername have it."""
    host, port = name[:2]
    return Address(host.removeprefix(IPV4_IN_IPV6), port)


class Directory:
    """What the cluster's answers taught us about its brokers; `on_new_node` is called once for each node id."""

    def __init__(self, settings: Settings, on_new_node: Callable[[int], None] = lambda node: None) -> None:
        self.seeds = [parse_address(seed) for seed in settings.upstream]
        self.nodes: dict[int, Address] = {}
        self.on_new_node = on_new_node
        self._named: set[int] = set()
        self._answered: Address | None = None
        self._settings = settings
        self._listen = parse_address(settings.listen)
        self._host = settings.advertise or self._listen.host

    def learn(self, node: int, host: str, port: int) -> Address:
        """A broker was named in an answer: remember where it is, and say what to tell the client."""
        is_new = node not in self.nodes
        self.nodes[node] = Address(host, port)
        self._named.add(node)
        if is_new:
            self.on_new_node(node)
        return self.advertised(node)

    def was_named(self, node: int) -> bool:
        """Since this was last asked."""
        was_named = node in self._named
        self._named.discard(node)
        return was_named

    def port_of(self, node: int) -> int:
        return self._settings.ports.get(str(node), self._listen.port + 1 + node)

    def advertised(self, node: int) -> Address:
        sni = self._settings.sni
        if sni is not None:
            return Address(sni.broker_pattern.replace("{node}", str(node)), sni.advertised_port or self._listen.port)
        return Address(self._host, self.port_of(node))

    def targets(self, node: int | None) -> list[Address]:
        """Where to dial for a client of node's listener (None: the bootstrap listener), best first.

        A node that no answer has named yet (the proxy restarted, its clients remember the ports) is looked for at the
        seeds: they tell the client NOT_LEADER or NOT_COORDINATOR, it asks for metadata, and then we know.
        """
        if node is not None and node in self.nodes:
            return [self.nodes[node]]
        known = [*self.seeds, *(address for address in self.nodes.values() if address not in self.seeds)]
        return sorted(known, key=lambda address: address != self._answered)

    def answers(self, seed: Address) -> None:
        """It did when it was asked last: others may be out of reach, and each would be waited for."""
        self._answered = seed

    def node_of_server_name(self, name: str | None) -> int | None:
        """The node that an SNI server name stands for; None for the bootstrap name. KeyError when it is neither."""
        sni = self._settings.sni
        assert sni is not None
        before, _, after = sni.broker_pattern.lower().partition("{node}")
        asked = (name or "").lower()
        number = asked.removeprefix(before).removesuffix(after)
        if asked == f"{before}{number}{after}" and number.isascii() and number.isdigit():
            return int(number)
        if sni.bootstrap_name is None or asked == sni.bootstrap_name.lower():
            return None
        raise KeyError(name)
