"""What is said of a cluster that is not there: why, once, and again when that changes or a minute has passed."""

from __future__ import annotations

import io
from typing import Any

import trio
import trio.testing

from proxy.addresses import Address, Directory
from proxy.logs import Log
from proxy.scout import ANSWER_SECONDS, ASK_AGAIN_SECONDS, HEAD_START_SECONDS, Scout
from proxy.settings import Settings
from proxy.wire import Wire

MINUTES = 5


class Upstream:
    """Seeds. `refuses`: with these words; else it takes connections and says nothing."""

    def __init__(self, seeds: int = 1) -> None:
        self.refuses: str | None = None
        # What it says, and hangs up.
        self.answers: list[bytes] | None = None
        self.streams: list[Any] = []
        self.out = io.StringIO()
        directory = Directory(Settings(upstream=tuple(f"127.0.0.1:{7002 + at}" for at in range(seeds))))
        self.scout = Scout(directory, Wire(directory), self._dial, Log(out=self.out))

    async def _dial(self, _address: Address) -> trio.abc.Stream:
        if self.refuses is not None:
            raise OSError(self.refuses)
        near, far = trio.testing.memory_stream_pair()
        self.streams.append(far)
        if self.answers is not None:
            self._says(near, list(self.answers))
        return near

    def _says(self, near: Any, answers: list[bytes]) -> None:
        async def each_when_it_is_read() -> None:
            if answers:
                near.receive_stream.put_data(answers.pop(0))
            else:
                near.receive_stream.put_eof()

        near.receive_stream.receive_some_hook = each_when_it_is_read

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


FOUR_BYTES = b"\0\0\0\x04abcd"


async def test_answers_that_cannot_be_read_are_a_reason_like_others(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    upstream = Upstream()
    upstream.answers = [FOUR_BYTES, FOUR_BYTES]
    nursery.start_soon(upstream.scout.run)
    await trio.sleep(15)
    [said] = upstream.said()
    assert "is this a Kafka broker?" in said
    assert len(upstream.streams) > 10


async def test_a_cluster_that_hung_up_when_it_was_asked_for_brokers_is_asked_again_later(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    upstream = Upstream()
    upstream.answers = [FOUR_BYTES]
    nursery.start_soon(upstream.scout.run)
    await trio.sleep(ASK_AGAIN_SECONDS + 30)
    asked = [len(await stream.receive_stream.receive_some()) for stream in upstream.streams]
    # Once for its versions only, else for its brokers too.
    assert [size > min(asked) for size in asked].count(True) == 2
    assert upstream.out.getvalue().count("brokers are learnt from clients") == 1


async def test_many_brokers_that_are_swallowed_are_found_out_together(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    """One after the other thirty of them took five minutes, in which the proxy said that it was ready."""
    upstream = Upstream(seeds=30)
    nursery.start_soon(upstream.scout.run)
    await trio.sleep(2 * ANSWER_SECONDS)
    [said] = upstream.said()
    assert said.count("no answer in time") == 30
    assert said.index(":7002:") < said.index(":7003:") < said.index(":7031:")


async def test_whoever_answers_first_ends_the_round(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    upstream = Upstream(seeds=3)
    nursery.start_soon(upstream.scout.run)
    await trio.sleep(HEAD_START_SECONDS / 2)
    upstream.answers = [FOUR_BYTES]
    await trio.sleep(HEAD_START_SECONDS)
    assert upstream.scout.reachable
    assert len(upstream.streams) == 2
