"""Many sockets, one trio task: the plaintext byte path's way to wait.

Waiting for one socket costs trio about ten microseconds (it arms the kernel anew for each wait). Here a socket is
registered once, with what to call when it is ready, and trio waits only for the set as a whole. Even that costs as much as
forwarding a frame, and traffic comes in trains: so after something happened the set waits for the next thing itself, for a
moment, before it lets trio wait. Other tasks get their turn at once when one of them can go on, and when the time has come
for which one sleeps; what trio would only learn by looking (its own sockets, threads that are done) waits some milliseconds.

Where one thing follows another at once (a client asks, is answered, asks again), the set does not even sleep between them:
being woken takes longer than what is then to do. That is most of the latency a proxy adds, and costs CPU that would else
have been idle. What moves much at a time gains nothing by it (`bulk`).

Forwarding a frame takes some microseconds, a request of a group many times as long; and when a proxy or a coordinator has
come back, those of hundreds of members come at once. So who only forwards is served *first*. All others wait in lanes, one
for each group, and are served in turn and for a few milliseconds: who is left over comes before the others the next time.

Everything that is called runs to its end without awaiting; it must not block, and must not raise: whoever is called owns
its errors. One may wait for room, as long as nobody else has anything to do (`aside.py`).
"""

from __future__ import annotations

import select
from collections.abc import Callable
from itertools import chain, zip_longest
from socket import socket
from time import perf_counter, thread_time
from types import TracebackType
from typing import Final

import trio

from proxy.aside import Aside, change
from proxy.pipe import Pipes
from proxy.volley import Volley

READABLE = select.EPOLLIN
WRITABLE = select.EPOLLOUT

# Who is not named in one waits for the next, be it first.
EVENTS_PER_BATCH = 1_024
# How long the set waits by itself at most, and trio's looking waits: the least while other tasks have much to do, twice as
# long with each turn in which they had nothing. What moves much at a time pauses for milliseconds, and with short turns most
# of its CPU was trio's.
LEAST_TURN_SECONDS = 0.001
LONGEST_TURN_SECONDS = 0.02
# The rest of a turn that is nearly over is not waited out: a short wait sets a kernel timer anew, 10 µs of CPU a request on
# one busy connection.
LEAST_WAIT_SECONDS = 0.0005
# Of the processor's time, for those in lanes, before everybody else has a turn: as much as hundreds of frames take.
LANES_SECONDS = 0.005
# The lane of those who go before all others, and of those of whom nothing is known yet.
FIRST: Final = None
UNKNOWN: Final = ""
# So many things, each by itself and soon after the last, are taken for a train of them; one that is late does not end a
# long one.
TRAIN = 16
LONGEST_TRAIN = 4 * TRAIN


class _Others(trio.abc.Instrument):
    """Whether any other task of trio's has something to do."""

    def __init__(self, own: trio.lowlevel.Task) -> None:
        self._own = own
        self.can_go_on = True

    def task_scheduled(self, task: trio.lowlevel.Task) -> None:
        if task is not self._own:
            self.can_go_on = True


class EpollSet:
    """Owns the epoll descriptor. Sockets stay their owner's, but are closed through `forget`."""

    def __init__(self, spin_us: int = 0) -> None:
        """`spin_us`: how soon after the last the next thing of a train comes. 0: the set always sleeps."""
        self._epoll = select.epoll()
        self._aside = Aside(self._epoll)
        self.pipes = Pipes()
        self.volley = Volley()
        self._ready: dict[int, Callable[[int], None]] = {}
        # Of these, who is served first; and in which lanes others wait who are known.
        self._first: dict[int, Callable[[int], None]] = {self._aside.fileno(): self._serve_aside}
        self._lanes: dict[int, str] = {}
        # Who had no turn the last time, and their order: the kernel names all in the same, however often some had theirs.
        self._left_over: dict[int, int] = {}
        self._in_batch = False
        self._forgotten: list[socket] = []
        # The time of the batch under way: near enough for idle times, and free.
        self.now = 0.0
        self._spin_seconds = spin_us / 1e6
        self._train = 0

    def __enter__(self) -> EpollSet:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close_forgotten()
        self._aside.close()
        self._epoll.close()
        self.pipes.close()
        self.volley.close()

    def watch(self, sock: socket, events: int, ready: Callable[[int], None]) -> None:
        self._forget_lane(sock)
        self._ready[sock.fileno()] = ready
        self.change(sock, 0, events)

    def change(self, sock: socket, before: int, events: int) -> None:
        if not self._aside.change(sock, events):
            change(self._epoll, sock, before, events)

    def forget(self, sock: socket) -> None:
        """Stop watching and close; within a batch only after it, lest the number name another socket before it ends.

        Closing takes it out of the kernel's set as well.
        """
        self._forget_lane(sock)
        self._aside.forget(sock)
        self._ready.pop(sock.fileno(), None)
        if self._in_batch:
            self._forgotten.append(sock)
        else:
            sock.close()

    def put_in_lane(self, sock: socket, lane: str | None) -> None:
        self._forget_lane(sock)
        if lane is FIRST:
            self._first[sock.fileno()] = self._ready[sock.fileno()]
        else:
            self._lanes[sock.fileno()] = lane

    def _forget_lane(self, sock: socket) -> None:
        self._first.pop(sock.fileno(), None)
        self._lanes.pop(sock.fileno(), None)

    def bulk(self) -> None:
        """What was just moved is no part of a train."""
        self._train = 0

    def has_room(self, sink: socket, pair: dict[socket, int]) -> bool:
        """`sink` is full, and the other of the two would send it more; each is watched for so much. True as soon as it has
        room again; False if there is something else to do first."""
        if any(sock.fileno() not in self._first for sock in pair):
            return False
        return self._aside.take(pair, sink) and self._aside.has_room(sink)

    def may_go_on(self) -> bool:
        """Who was served just now may be served again at once: it is aside, and nobody else has anything to do."""
        return self._aside.may_go_on()

    @property
    def is_awake(self) -> bool:
        """The next thing is waited for without sleeping."""
        return self._train >= TRAIN

    async def run(self) -> None:
        others = _Others(trio.lowlevel.current_task())
        trio.lowlevel.add_instrument(others)
        try:
            await self._run(others)
        finally:
            trio.lowlevel.remove_instrument(others)

    async def _run(self, others: _Others) -> None:
        # trio's clock is this one, started elsewhere; asking it for each batch is dear.
        started = trio.current_time() - perf_counter()
        turn = LEAST_TURN_SECONDS
        while True:
            turn = min(2 * turn, LONGEST_TURN_SECONDS)
            if others.can_go_on:
                others.can_go_on, turn = False, LEAST_TURN_SECONDS
                # Waiting alone would do, but for that trio lets those go on who can in no order: this one might be first.
                await trio.lowlevel.checkpoint()
            await trio.lowlevel.wait_readable(self._epoll)
            left = max(0.0, min(turn, trio.lowlevel.current_statistics().seconds_to_next_deadline))
            turn_ends = perf_counter() + started + left
            while events := self._next(left):
                last, self.now = self.now, perf_counter() + started
                is_train = self.now - last < self._spin_seconds and len(events) == 1
                self._train = min(self._train + 1, LONGEST_TRAIN) if is_train else self._train // 2
                self._in_batch = True
                self._serve(events)
                self._in_batch = False
                if self._forgotten:
                    self._close_forgotten()
                left = turn_ends - self.now
                if left < LEAST_WAIT_SECONDS or others.can_go_on:
                    break

    def _serve(self, events: list[tuple[int, int]]) -> None:
        self.volley.open_for(len(events))
        others: list[tuple[int, int]] = []
        for descriptor, mask in events:
            ready = self._first.get(descriptor)
            if ready is not None:
                ready(mask)
            else:
                others.append((descriptor, mask))
        self.volley.fire()
        if others:
            self._serve_lanes(others)
            self.volley.fire()

    def _serve_aside(self, _: int) -> None:
        """Nothing of theirs may be overtaken: this batch may name them among the others as well."""
        self.volley.fire()
        for descriptor, mask in self._aside.take_turn():
            ready = self._ready.get(descriptor)
            if ready is not None:
                ready(mask)
        self.volley.fire()
        self._aside.end_turn()

    def _serve_lanes(self, events: list[tuple[int, int]]) -> None:
        """One of each lane, then the next of each, and so on; the next time it goes on from there. So nobody waits for ever,
        and a lane with few in it hardly at all."""
        if len(events) == 1:
            # Nobody waits for it, and most come so where little is done: no lanes, then, nor a look at the clock.
            (descriptor, mask), self._left_over = events[0], {}
            ready = self._ready.get(descriptor)
            if ready is not None:
                ready(mask)
            return
        lanes: dict[str, list[tuple[int, int]]] = {}
        for event in sorted(events, key=lambda event: self._left_over.get(event[0], len(self._left_over))):
            lanes.setdefault(self._lanes.get(event[0], UNKNOWN), []).append(event)
        in_turn = filter(None, chain.from_iterable(zip_longest(*lanes.values())))
        ends_at = thread_time() + LANES_SECONDS
        for descriptor, mask in in_turn:
            ready = self._ready.get(descriptor)
            if ready is not None:
                ready(mask)
                if thread_time() >= ends_at:
                    break
        self._left_over = {descriptor: place for place, (descriptor, _) in enumerate(in_turn)}

    def _next(self, seconds: float) -> list[tuple[int, int]]:
        events = self._next_of_train() if self.is_awake else []
        return events or self._epoll.poll(seconds, EVENTS_PER_BATCH)

    def _next_of_train(self) -> list[tuple[int, int]]:
        until = perf_counter() + self._spin_seconds
        poll = self._epoll.poll
        while not (events := poll(0, EVENTS_PER_BATCH)) and perf_counter() < until:
            pass
        return events

    def _close_forgotten(self) -> None:
        for sock in self._forgotten:
            sock.close()
        self._forgotten.clear()
