"""Is the cluster there, and who are its brokers? Asked by the proxy on connections of its own.

The proxy holds no credentials. ApiVersions is answered before authentication, so it shows that a broker is there on any
cluster; Metadata is not, so on a SASL cluster the brokers are learnt from what clients ask. Either way the listeners of
brokers seen are bound before any client is told of them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable

import trio

from proxy.addresses import Address, Directory
from proxy.causes import Disconnect
from proxy.logs import Log
from proxy.streams import NO_ANSWER
from proxy.tls import HandshakeFailed
from proxy.wire import Broker, Wire

RETRY_SECONDS = 1.0
REFRESH_SECONDS = 15.0
ANSWER_SECONDS = 10.0
HEAD_START_SECONDS = 0.25
REMIND_SECONDS = 60.0
ASK_AGAIN_SECONDS = 300.0
LARGEST_ANSWER_BYTES = 16 * 1024 * 1024

OpenStream = Callable[[Address], Awaitable[trio.abc.Stream]]


class CannotAsk(Exception):
    """A broker gave no usable answer: why."""


NOT_REACHED = (OSError, CannotAsk, Disconnect, HandshakeFailed, trio.BrokenResourceError, trio.TooSlowError)


class Round:
    """One after the other, as long as they answer; who says nothing keeps the next one waiting for a moment only. Where a
    network swallows everything a cluster of many brokers is as soon known to be out of reach as one of few."""

    def __init__(self, visit: Callable[[Address], Awaitable[None]]) -> None:
        self._visit = visit
        # Why, of each that was tried, in their order.
        self.failures: dict[Address, str] = {}
        self._found: Address | None = None

    async def first_of(self, addresses: Iterable[Address]) -> Address | None:
        async with trio.open_nursery() as visits:
            for address in addresses:
                self.failures[address] = NO_ANSWER
                is_over = trio.Event()
                visits.start_soon(self._try, address, is_over, visits.cancel_scope)
                with trio.move_on_after(HEAD_START_SECONDS):
                    await is_over.wait()
        return self._found

    async def _try(self, address: Address, is_over: trio.Event, others: trio.CancelScope) -> None:
        try:
            with trio.fail_after(ANSWER_SECONDS):
                await self._visit(address)
        except NOT_REACHED as failure:
            self.failures[address] = str(failure) or NO_ANSWER
        else:
            self._found = self._found or address
            others.cancel()
        finally:
            is_over.set()


class Scout:
    def __init__(self, directory: Directory, wire: Wire, dial: OpenStream, log: Log) -> None:
        self.reachable = False
        # Clients need not say who they are: it has named its brokers to us, who didn't.
        self.answers_anybody = False
        self._directory = directory
        self._wire = wire
        self._dial = dial
        self._log = log
        # Once a cluster has hung up on us for asking, it is not asked for brokers again before then.
        self._ask_brokers_at = 0.0
        # The last that was said of an upstream that can't be reached, and when to say it again.
        self._tried = ""
        self._remind_at = 0.0

    async def run(self) -> None:
        """For ever. A change is one log line, of why it is not reachable too; that is repeated each minute."""
        while True:
            round_ = Round(self._visit)
            address = await round_.first_of(self._directory.targets(None))
            if address is None:
                self._note(False, "; ".join(f"{tried}: {why}" for tried, why in round_.failures.items()))
                await trio.sleep(RETRY_SECONDS)
            else:
                self._directory.answers(address)
                self._note(True, str(address))
                await trio.sleep(REFRESH_SECONDS)

    def _note(self, reachable: bool, detail: str) -> None:
        if reachable and not self.reachable:
            self._log.info("upstream reachable", broker=detail)
        elif not reachable and (detail != self._tried or trio.current_time() >= self._remind_at):
            self._log.warning("upstream unreachable, trying again", retry_seconds=RETRY_SECONDS, tried=detail)
            self._remind_at = trio.current_time() + REMIND_SECONDS
        self.reachable, self._tried = reachable, "" if reachable else detail

    async def _visit(self, address: Address) -> None:
        stream = await self._dial(address)
        try:
            await exchange(stream, self._wire.ask_api_versions())
            if trio.current_time() >= self._ask_brokers_at:
                self._learn(await self._brokers(stream))
        finally:
            await trio.aclose_forcefully(stream)

    async def _brokers(self, stream: trio.abc.Stream) -> list[Broker]:
        try:
            answer = await exchange(stream, self._wire.ask_brokers())
        except CannotAsk:
            if not self._ask_brokers_at:
                self._log.info(
                    "brokers are learnt from clients", reason="the cluster answers authenticated clients only"
                )
            self._ask_brokers_at = trio.current_time() + ASK_AGAIN_SECONDS
            self.answers_anybody = False
            return []
        self.answers_anybody = True
        return self._wire.brokers_of(answer)

    def _learn(self, brokers: list[Broker]) -> None:
        for broker in brokers:
            self._directory.learn(broker.node, broker.host, broker.port)


async def exchange(stream: trio.abc.Stream, request: bytes) -> bytes:
    """One frame there, one frame back, without its length."""
    await stream.send_all(request)
    answer = bytearray()
    wanted = 4
    while len(answer) < wanted:
        arrived = await stream.receive_some(64 * 1024)
        if not arrived:
            raise CannotAsk("closed the connection instead of answering")
        answer += arrived
        if wanted == 4 and len(answer) >= 4:
            wanted = 4 + int.from_bytes(answer[:4], "big")
            if wanted > LARGEST_ANSWER_BYTES:
                raise CannotAsk(f"answers with a frame of {wanted} bytes: is this a Kafka broker, and plaintext?")
    return bytes(answer[4:wanted])
