"""A legacy client's sockets: opened when needed, one or several by purpose, and every request ends in one of two ways."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Protocol

from simulation.clock import Clock
from simulation.groups import Key
from simulation.host import Proxy
from simulation.network import Connection, Weather
from translation import events as ev
from translation.group_heartbeat import TopicPartition


class Habits(Protocol):
    """The part of a client's style that is about sockets."""

    @property
    def sockets(self) -> int: ...
    @property
    def retry_ms(self) -> int: ...
    @property
    def request_timeout_ms(self) -> int: ...


class _Request:
    """Answered or failed, whichever comes first, and never both."""

    def __init__(self, answered: Callable[[Any], None], failed: Callable[[], None]) -> None:
        self._answered, self._failed = answered, failed
        self._over = False

    def answer(self, answer: Any) -> None:
        if not self._over:
            self._over = True
            self._answered(answer)

    def fail(self) -> None:
        if not self._over:
            self._over = True
            self._failed()


class _Socket:
    def __init__(self, proxy: Proxy, connection: Connection) -> None:
        self.proxy, self.connection = proxy, connection
        self.requests: list[_Request] = []


class Sockets:
    def __init__(
        self,
        clock: Clock,
        chance: Random,
        weather: Weather,
        find_proxy: Callable[[], Proxy | None],
        habits: Habits,
    ) -> None:
        self._clock, self._chance, self._weather = clock, chance, weather
        self._find_proxy, self._habits = find_proxy, habits
        self._open: dict[int, _Socket] = {}

    def ask(
        self,
        purpose: int,
        key: Key,
        event: ev.ClientEvent,
        answered: Callable[[Any], None],
        failed: Callable[[], None],
        offsets: dict[TopicPartition, int] | None,
    ) -> None:
        request = _Request(answered, failed)
        socket = self._socket(purpose % self._habits.sockets)
        if socket is None:
            return self._clock.after(self._habits.retry_ms, request.fail)
        socket.requests.append(request)

        def hear(answer: Any) -> None:
            socket.requests.remove(request)
            request.answer(answer)

        socket.connection.send(lambda: socket.proxy.receive(socket.connection, key, event, hear, offsets))
        return self._clock.after(self._habits.request_timeout_ms, request.fail)

    def cut(self) -> None:
        for socket in self._open.values():
            socket.connection.cut()

    def hang_up(self) -> None:
        for socket in self._open.values():
            socket.connection.hang_up()
        self._open.clear()

    def _socket(self, number: int) -> _Socket | None:
        proxy = self._find_proxy()
        socket = self._open.get(number)
        if socket is not None and socket.connection.open and socket.proxy is proxy:
            return socket
        if socket is not None:
            # Another proxy is where the coordinator is to be found now: the old connection is dropped.
            socket.connection.cut()
        if proxy is None:
            return None
        connection = Connection(self._clock, self._chance, self._weather, lambda: _fail(opened))
        opened = self._open[number] = _Socket(proxy, connection)
        return opened


def _fail(socket: _Socket) -> None:
    requests, socket.requests = socket.requests, []
    for request in requests:
        request.fail()
