"""What is said of a cluster that is not there: why, once, and again when that changes or a minute has passed."""

from __future__ import annotations

import io

import trio
import trio.testing

from proxy.addresses import Address, Directory
from proxy.logs import Log
from proxy.scout import Scout
from proxy.settings import Settings
from proxy.wire import Wire

MINUTES = 5


class Upstream:
    """One seed. `refuses`: with these words; else it takes connections and says nothing."""

    def __init__(self) -> None:
        self.refuses: str | None = None
        self.out = io.StringIO()
        directory = Directory(Settings(upstream=("127.0.0.1:7002",)))
        self.scout = Scout(directory, Wire(directory), self._dial, Log(out=self.out))

    async def _dial(self, _address: Address) -> trio.abc.Stream:
        if self.refuses is not None:
            raise OSError(self.refuses)
        near, _ = trio.testing.memory_stream_pair()
        return near

    def said(self) -> list[str]:
        return [line.partition("tried=")[2] for line in self.out.getvalue().splitlines()]


async def test_why_it_is_unreachable_is_said_once_a_minute(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    upstream = Upstream()
    upstream.refuses = "Connection refused"
    nursery.start_soon(upstream.scout.run)
    await trio.sleep(MINUTES * 60 - 1)
    assert upstream.said() == ['"127.0.0.1:7002: Connection refused"'] * MINUTES


async def test_another_reason_is_said_at_once_and_silence_is_one(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    upstream = Upstream()
    upstream.refuses = "Connection refused"
    nursery.start_soon(upstream.scout.run)
    await trio.sleep(15)
    upstream.refuses = None
    await trio.sleep(15)
    assert upstream.said() == ['"127.0.0.1:7002: Connection refused"', '"127.0.0.1:7002: no answer in time"']
