"""How the proxy ends, and what it has brokers that join wait for."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import trio

from proxy.admin import Page
from proxy.epoll_set import EpollSet
from proxy.logs import LINES_PER_SECOND, Log
from proxy.server import TRACES_SECONDS, Patience, Proxy
from proxy.settings import Settings, Traces
from tests.kafka.ports import free_ports
from tests.proxy.running import MISTAKE
from tests.unit.test_picture import changed

# Longer than the proxy waits for it here.
EXPORT_SECONDS = 4


@pytest.fixture
def silent() -> Iterator[str]:
    """A collector that takes connections and never says anything: the kernel's queue.

    Who is left behind with it has given up before the next test: exporters draw when they try again, and where Hypothesis
    finds that a random number was drawn behind its back, its test fails.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
    for thread in threading.enumerate():
        if thread.name.startswith("OtelBatch"):
            thread.join(EXPORT_SECONDS + 10)
            assert not thread.is_alive()


@pytest.mark.parametrize("protocol", ["http", "grpc"])
async def test_a_collector_that_says_nothing_holds_the_end_up_no_longer_than_patience_lasts(
    silent: str, protocol: str, nursery: trio.Nursery
) -> None:
    out = io.StringIO()
    timeout_ms = EXPORT_SECONDS * 1000
    traces = Traces(otlp_endpoint=silent, otlp_protocol=protocol, otlp_timeout_ms=timeout_ms)  # type: ignore[arg-type]
    patience = Patience()
    patience.ends_in(60)
    with EpollSet() as epoll_set:
        settings = Settings(upstream=("kafka:9092",), traces=traces)
        proxy = Proxy(settings, settings.limits, Log(out=out), epoll_set, nursery)
        assert proxy.traces is not None
        proxy.traces.observe(changed("alice", owned=(), assigned=(0,), at_ns=1))
        with trio.fail_after(TRACES_SECONDS + 2):
            async with trio.open_nursery() as closing:
                closing.start_soon(proxy.close_traces, patience.with_traces)
                await trio.testing.wait_all_tasks_blocked()
                # The second signal.
                patience.ends_in(0)
    assert "warning the last traces were not exported in time" in out.getvalue()


async def test_an_alarm_that_fails_is_counted_and_found_where_mistakes_are_looked_for(nursery: trio.Nursery) -> None:
    """No connection ends for it: neither the alert nor `make chaos` would see it among the disconnects."""

    def fails() -> None:
        raise KeyError

    out = io.StringIO()
    with EpollSet() as epoll_set:
        settings = Settings(upstream=("kafka:9092",))
        proxy = Proxy(settings, settings.limits, Log(out=out), epoll_set, nursery)
        proxy.clock.at(proxy.clock.now_ms, fails)
        nursery.start_soon(proxy.clock.run)
        await trio.testing.wait_all_tasks_blocked()
        assert MISTAKE.search(out.getvalue())
        metrics = proxy.pages()["/metrics"]()
        assert isinstance(metrics, Page)
        assert b"kip848_proxy_mistakes_total 1.0\n" in metrics.body


async def test_a_running_proxy_says_each_second_what_its_log_held_back(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    out = io.StringIO()
    with EpollSet() as epoll_set:
        settings = Settings(upstream=("kafka:9092",))
        proxy = Proxy(settings, settings.limits, Log(out=out, clock=lambda: 1.0), epoll_set, nursery)
        nursery.start_soon(proxy.try_again)
        for _ in range(LINES_PER_SECOND + 30):
            proxy.log.info("member joins")
        await trio.sleep(1.5)
    assert out.getvalue().endswith('lines held back of="member joins" lines=30\n')


async def test_the_host_that_is_listened_on_is_looked_up_once_and_not_for_each_broker_that_joins(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has a turn meanwhile, and resolvers take seconds."""
    asked: list[str] = []

    def look_up(host: str, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    bootstrap, broker = sorted(free_ports(2))
    with EpollSet() as epoll_set:
        settings = Settings(upstream=("kafka:9092",), listen=f"here:{bootstrap}")
        proxy = Proxy(settings, settings.limits, Log(out=io.StringIO()), epoll_set, nursery)
        proxy.open_doors()
        node = broker - bootstrap - 1
        proxy.directory.learn(node, "kafka", 9092)
        bound = {door.node: door._sockets[0].getsockname() for door in proxy.doors}
        for door in proxy.doors:
            door.close()
    assert bound == {None: ("127.0.0.1", bootstrap), node: ("127.0.0.1", broker)}
    assert asked == ["here"]


def test_traces_have_what_clients_leave_of_the_drain_and_a_little_more() -> None:
    async def ends() -> tuple[float, float]:
        patience = Patience()
        patience.ends_in(10)
        return patience.with_clients.deadline, patience.with_traces.deadline

    clients, traces = trio.run(ends, clock=trio.testing.MockClock())
    assert (clients, traces) == (10, 10 + TRACES_SECONDS)
