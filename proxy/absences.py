"""Brokers that are away: while nobody listens at a broker, nobody does at its door.

Who dials a broker that is down is refused, and clients tell that from being hung up on: librdkafka before 1.0 takes one that
hangs up at once for a broker of 0.9, and kafka_ex ends its group member. They dial again within a millisecond of an end: so a
client whose broker has ended its connection, or could not be reached, hears of it when it is known whether anybody is there.
That is known at once, but where packets are swallowed. There nobody waits for long, and a broker is away when it could not be
dialled in all the time that a dial may take: one that is merely busy may let the first packet drop.

A broker that is down is soon named no more by those that are up, and one that was removed never again. Both are looked for as
before; but who is counted, and raises an alarm, is only who cannot be reached from here though the cluster goes on naming it.

One that answers a client that came by the bootstrap listener is back: it may say next where it is, and a client that is
refused there may take its whole cluster for gone (librdkafka 2.16 then begins anew, and was seen to stand still over that).

The bootstrap listener stays open, for behind it any broker will do, and so does the one door that there is with `sni`: there
a broker that is away is only counted.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import trio

from proxy.addresses import Address
from proxy.doors import Door
from proxy.logs import Log

# A client hears of the end of its connection no later than this.
WAIT_SECONDS = 1.0
# Of who is away: how often it is looked for, and for how long each time.
PAUSE_SECONDS = 0.25
LOOK_SECONDS = 1.0
# A broker that the cluster has not named for so long is missed no more. The cluster is asked for its brokers four times
# meanwhile, or its clients ask, who cannot do without that one.
NAMED_SECONDS = 60.0


class Absences:
    def __init__(
        self,
        why_away: Callable[[int, float], Awaitable[str]],
        address_of: Callable[[int], Address | None],
        was_named: Callable[[int], bool],
        dial_seconds: float,
        log: Log,
        tasks: trio.Nursery,
    ) -> None:
        """`why_away`: why nobody could be reached in so many seconds who is this node; nothing if somebody is there.
        `was_named`: whether some answer has named this node since that was last asked."""
        self.doors: dict[int, Door] = {}
        self._why_away = why_away
        self._address_of = address_of
        self._was_named = was_named
        self._dial_seconds = dial_seconds
        self._log = log
        self._tasks = tasks
        # Nodes that are away, and when the cluster last named each.
        self._away: dict[int, float] = {}
        # For each of them: since when, and whether it has answered somebody who came after that.
        self._answered: dict[int, tuple[float, trio.Event]] = {}
        # Those of them that are back, and whose port somebody else has: that is said once, not four times a second.
        self._without_port: set[int] = set()
        # Who waits to hear of a node that is looked for.
        self._waiting: dict[int, list[Callable[[], None]]] = {}

    @property
    def missing(self) -> int:
        """Brokers that are away, though the cluster names them."""
        since = trio.current_time() - NAMED_SECONDS
        return sum(named_at > since for named_at in self._away.values())

    def find_out(self, node: int | None, then: Callable[[], None]) -> None:
        """And then: the node's door refuses, if it is away. Where it has none of its own there is nothing to wait for."""
        if node is None or node in self._away:
            return then()
        if node not in self._waiting:
            self._waiting[node] = []
            self._tasks.start_soon(self._find_out, node)
        if node in self.doors:
            self._waiting[node].append(then)
        else:
            then()

    def heard_from(self, address: Address, opened_at: float) -> None:
        """By a client that did not come to its own door. To one that came before it went they may be its last words."""
        for node, (since, answered) in self._answered.items():
            if opened_at > since and self._address_of(node) == address and self._reopened(node):
                answered.set()

    async def _find_out(self, node: int) -> None:
        async with trio.open_nursery() as meanwhile:
            meanwhile.start_soon(self._let_none_wait_long, node)
            reason = await self._why_away(node, self._dial_seconds)
            meanwhile.cancel_scope.cancel()
        if reason:
            self._away[node] = trio.current_time()
            if node in self.doors:
                self.doors[node].shut()
            what = "broker away, and its port refuses" if node in self.doors else "broker away"
            self._log.warning(what, node=node, reason=reason)
        self._tell(self._waiting.pop(node))
        if reason:
            await self._wait_for(node)

    async def _let_none_wait_long(self, node: int) -> None:
        while True:
            await trio.sleep(WAIT_SECONDS)
            waiting, self._waiting[node] = self._waiting[node], []
            self._tell(waiting)

    @staticmethod
    def _tell(waiting: list[Callable[[], None]]) -> None:
        for then in waiting:
            then()

    async def _wait_for(self, node: int) -> None:
        began = trio.current_time()
        answered = trio.Event()
        self._answered[node] = began, answered
        is_back = False
        while not is_back:
            with trio.move_on_after(PAUSE_SECONDS):
                await answered.wait()
            if self._was_named(node):
                self._away[node] = trio.current_time()
            is_back = answered.is_set() or (not await self._why_away(node, LOOK_SECONDS) and self._reopened(node))
        del self._away[node], self._answered[node]
        self._without_port.discard(node)
        self._log.info("broker back", node=node, seconds=round(trio.current_time() - began, 1))

    def _reopened(self, node: int) -> bool:
        if node not in self.doors:
            return True
        try:
            self.doors[node].reopen()
        except OSError as failure:
            if node not in self._without_port:
                address = self.doors[node].address
                self._log.error("cannot listen again", node=node, address=address, reason=failure.strerror)
                self._without_port.add(node)
            return False
        return True
