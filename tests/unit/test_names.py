"""Names, where the resolver is slow, silent or wrong. It is the test that resolves."""

from __future__ import annotations

import socket
from types import SimpleNamespace
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from proxy.addresses import Address, Directory
from proxy.names import PATIENCE_SECONDS, REMEMBERED_SECONDS, Names, Target
from proxy.newcomers import Newcomers
from proxy.settings import Settings

KAFKA, OTHER = Address("kafka.example", 9092), Address("other.example", 9092)
THERE: Target = (int(socket.AF_INET), ("10.0.0.1", 9092))


class Resolver(trio.abc.HostnameResolver):
    """`silent`: of whom it says nothing until it is told to."""

    def __init__(self, *silent: str) -> None:
        self.asked: list[str] = []
        self.silent = {host: trio.Event() for host in silent}
        self.unknown: set[str] = set()

    async def getaddrinfo(self, host: Any, port: Any, *_: Any, **__: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else host
        self.asked.append(name)
        if name in self.silent:
            await self.silent[name].wait()
        if name in self.unknown:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [(socket.AF_INET, socket.SOCK_STREAM, 0, "", ("10.0.0.1", port))]

    async def getnameinfo(self, sockaddr: Any, flags: int) -> tuple[str, str]:
        raise NotImplementedError


def resolving(*silent: str) -> Resolver:
    resolver = Resolver(*silent)
    trio.socket.set_custom_hostname_resolver(resolver)
    return resolver


async def test_a_name_is_asked_for_once_however_many_want_it(autojump_clock: MockClock) -> None:
    resolver, names, found = resolving("kafka.example"), Names(), list[list[Target]]()

    async def want() -> None:
        found.append(await names.resolve(KAFKA))

    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(want)
        await trio.sleep(1)
        resolver.silent["kafka.example"].set()
    assert found == [[THERE]] * 100
    assert resolver.asked == ["kafka.example"]
    assert names.remembered(KAFKA) == [THERE]


async def test_who_waits_takes_an_old_answer_rather_than_none(autojump_clock: MockClock) -> None:
    resolver, names = resolving(), Names()
    assert await names.resolve(KAFKA) == [THERE]
    await trio.sleep(REMEMBERED_SECONDS + 1)
    resolver.silent["kafka.example"] = trio.Event()
    began = trio.current_time()
    assert await names.resolve(KAFKA) == [THERE]
    assert trio.current_time() - began == PATIENCE_SECONDS
    resolver.silent.clear()
    resolver.unknown.add("other.example")
    with pytest.raises(OSError, match=r"other\.example: .*Name or service not known"):
        await names.resolve(OTHER)


async def test_an_answer_that_comes_too_late_for_one_is_there_for_the_next(autojump_clock: MockClock) -> None:
    resolver, names = resolving("kafka.example"), Names()
    for _ in range(2):
        with pytest.raises(OSError, match=r"kafka\.example: the resolver has not answered in 3 s"):
            await names.resolve(KAFKA)
    resolver.silent["kafka.example"].set()
    await trio.testing.wait_all_tasks_blocked()
    assert names.remembered(KAFKA) == [THERE]
    assert resolver.asked == ["kafka.example"]


@pytest.mark.parametrize("name", ["\N{SNOWMAN}" * 64, "nul\0", "kafka.example"])
async def test_what_is_no_name_ends_nobody_but_who_asks(name: str) -> None:
    with pytest.raises(OSError, match=":"):
        await Names().resolve(Address(name, 99_999))


class Linking(Newcomers):
    """Without sockets: where it would dial."""

    def __init__(self, *seeds: Address) -> None:
        settings = Settings(upstream=tuple(map(str, seeds)))
        self.said: list[Any] = []
        self._connections = SimpleNamespace(arriving=0, refused=self._refused, part=lambda *_: None)  # type: ignore[assignment]
        self._directory = Directory(settings)
        self._streams = SimpleNamespace(names=Names())  # type: ignore[assignment]

    def _link(self, sock: Any, client: str, node: int | None, choices: list[tuple[Address, Target]]) -> None:
        self.said.append([address for address, _ in choices])

    def _refused(self, _client: str, _cause: object, detail: str, _node: int | None) -> None:
        self.said.append(detail)

    async def comes(self) -> object:
        choices = self._choices(None)
        if choices is not None:
            self._link(None, "client", None, choices)
        else:
            await self._link_after_resolving(None, "client", None)  # type: ignore[arg-type]
        return self.said[-1]


async def test_one_seed_whose_name_resolves_is_enough(autojump_clock: MockClock) -> None:
    resolver, newcomers, began = resolving("other.example"), Linking(OTHER, KAFKA), trio.current_time()
    assert await newcomers.comes() == [KAFKA]
    assert await newcomers.comes() == [KAFKA]
    assert trio.current_time() == began
    resolver.silent["other.example"].set()
    await trio.testing.wait_all_tasks_blocked()
    assert await newcomers.comes() == [OTHER, KAFKA]
    assert sorted(resolver.asked) == ["kafka.example", "other.example"]


async def test_who_can_be_dialled_nowhere_hears_why(autojump_clock: MockClock) -> None:
    resolver = resolving("other.example")
    resolver.unknown.add("kafka.example")
    said = await Linking(OTHER, KAFKA).comes()
    assert "kafka.example: [Errno -2] Name or service not known" in str(said)
    assert "other.example: the resolver has not answered in 3 s" in str(said)
