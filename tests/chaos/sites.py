"""Where proxies run, and where clients come to them: to one proxy, straight or by roads that can be long and fail; or to two
on two hosts, by way of a load balancer."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple

import trio

from tests.kafka import Cluster
from tests.kafka.certificates import Certificates
from tests.kafka.ports import free_ports
from tests.proxy.relay import Relay, open_relay
from tests.proxy.running import Running, room, secured

CLIENTS_HOST = "127.0.0.1"
PROXY_HOSTS = ("127.0.0.2", "127.0.0.3")
# As which the brokers know the second of two, whose way to them is a relay.
SEEN_AS = "127.0.0.9"
# Ports in a row: the bootstrap's, one for no node, and those of nodes 1 to 3.
ROOM = 5


class Site:
    """One proxy, and after it the next: at the same address, with the same journal."""

    def __init__(
        self,
        folder: Path,
        upstream: str,
        base: int,
        host: str,
        certificates: Certificates | None = None,
        processes: int = 1,
    ) -> None:
        self._upstream, self._base, self._host, self._processes = upstream, base, host, processes
        folder.mkdir(parents=True)
        self._config = folder / "proxy.toml"
        self._config.write_text(
            f'[translation]\njournal = "{folder / "journal"}"\n[traces]\nfile = "{folder / "traces.jsonl"}"\n'
            + (secured(certificates) if certificates else "")
        )
        self.runs = [self._serve()]

    @property
    def proxy(self) -> Running:
        return self.runs[-1]

    def _serve(self) -> Running:
        words = ("--advertise", CLIENTS_HOST, "--config", str(self._config))
        run = Running(self._upstream, *words, base=self._base, host=self._host, processes=self._processes)
        return run.ready()

    async def restarts(self, end: Callable[[Running], None], after_seconds: float) -> None:
        await trio.to_thread.run_sync(end, self.proxy)
        await trio.sleep(after_seconds)
        self.runs.append(await trio.to_thread.run_sync(self._serve))


class Sites(NamedTuple):
    all: list[Site]
    # Where clients come.
    bootstrap: str
    # From each port there to a proxy: where there are two, all of them to the same, as a load balancer has it.
    ways: list[Relay]
    # To each of the brokers.
    roads: list[Relay]

    def move(self) -> str:
        """All clients go to the other proxy."""
        where = {way.to[0] for way in self.ways}
        [host] = set(PROXY_HOSTS) - where
        for way in self.ways:
            way.lead((host, way.to[1]))
        return host

    async def end(self) -> None:
        for site in self.all:
            await trio.to_thread.run_sync(site.proxy.stop)


async def one(kafka: Cluster, folder: Path, processes: int) -> Sites:
    where = (folder / "traces", kafka.bootstrap, room(ROOM), CLIENTS_HOST, kafka.certificates, processes)
    site = await trio.to_thread.run_sync(Site, *where)
    return Sites([site], site.proxy.bootstrap, [], [])


async def by_roads(kafka: Cluster, folder: Path, processes: int, exits: AsyncExitStack, seconds: float) -> Sites:
    """One proxy, so far away from the brokers; and for clients that come to the brokers it is as far."""
    roads = [await _road(kafka, number, exits, CLIENTS_HOST, seconds) for number in kafka.nodes]
    base = room(ROOM)
    where = (folder / "traces", _addresses(roads), base, PROXY_HOSTS[0], kafka.certificates, processes)
    site = await trio.to_thread.run_sync(Site, *where)
    return Sites([site], f"{CLIENTS_HOST}:{base}", await _ways(base, exits), roads)


async def two(kafka: Cluster, folder: Path, processes: int, exits: AsyncExitStack) -> Sites:
    roads = [await _road(kafka, number, exits, SEEN_AS) for number in kafka.nodes]
    base = room(ROOM)
    sites = [
        await trio.to_thread.run_sync(Site, folder / "traces" / host, upstream, base, host, None, processes)
        for host, upstream in zip(PROXY_HOSTS, (kafka.inside, _addresses(roads)), strict=True)
    ]
    return Sites(sites, f"{CLIENTS_HOST}:{base}", await _ways(base, exits), roads)


def _addresses(roads: list[Relay]) -> str:
    return ",".join(road.address for road in roads)


async def _ways(base: int, exits: AsyncExitStack) -> list[Relay]:
    return [
        await exits.enter_async_context(open_relay(port, (PROXY_HOSTS[0], port))) for port in range(base, base + ROOM)
    ]


async def _road(kafka: Cluster, number: int, exits: AsyncExitStack, seen_as: str, seconds: float = 0) -> Relay:
    """By which whoever is not near comes to a broker."""
    node, [port] = kafka.nodes[number], free_ports(1)
    way = open_relay(port, (node.host, node.client_port), source=seen_as, seconds=seconds)
    road = await exits.enter_async_context(way)
    await trio.to_thread.run_sync(kafka.advertise, number, road.address)
    return road
