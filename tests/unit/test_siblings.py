"""A connection that goes from one process of a proxy to another, whose the group is; and the ports that they share.

Both processes are this one: what is between them is the kernel's.
"""

from __future__ import annotations

import errno
import gc
import io
import os
import resource
import socket
import weakref
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from proxy.addresses import Address, Directory
from proxy.answers import Bytes
from proxy.calls import Calls
from proxy.causes import Cause
from proxy.connections import Connection, Connections
from proxy.conversation import LARGEST_OF_STRANGERS, Conversation
from proxy.counts import Counts
from proxy.dial import Dial
from proxy.doors import CannotListen, Door
from proxy.epoll_set import READABLE, EpollSet
from proxy.link import Link
from proxy.logs import Log
from proxy.newcomers import Newcomers
from proxy.parting import Partings
from proxy.settings import Limits, Settings
from proxy.siblings import Letter, Ports, Siblings
from proxy.socket_stream import SocketStream
from proxy.streams import Streams
from proxy.tls_link import TlsLink
from tests.kafka.ports import free_ports
from tests.unit.test_conversation import OPAQUE, answer
from tests.unit.test_conversation import request as asked
from tests.unit.test_desk import TAKEN, Desk, TakingWire, body, known_at_once
from tests.unit.test_link import PATIENCE_SECONDS, listening, received

HERE, THERE = b"ours", b"theirs"


class NamingWire(TakingWire):
    """The group is all of the body, and its first letter says whose it is; but for `more`, which can't be read yet."""

    def group_of(self, frame: Bytes) -> str | None:
        text = bytes(frame[8:]).decode()
        return None if text.startswith("more") else text


def talk_of(desk: Desk) -> Conversation:
    def where_else(group_id: str) -> int | None:
        return 1 if group_id.encode() == THERE else None

    return Conversation(NamingWire(), Counts(), Limits(), lambda: desk, where_else)


# ------------------------------------------------------------------------------------------------------- when it goes


def test_a_connection_goes_when_all_that_was_asked_before_is_answered() -> None:
    desk = Desk()
    talk = talk_of(desk)
    first = asked(OPAQUE, 1) + asked(OPAQUE, 2)
    behind = asked(TAKEN, 3, THERE) + asked(OPAQUE, 4)
    assert bytes(talk.from_client(first + behind)) == first
    assert (talk.bound_for, talk.can_move, desk.requests) == (1, False, [])
    assert bytes(talk.from_client(asked(OPAQUE, 5)[:7])) == b""
    assert bytes(talk.from_broker(answer(1))) == answer(1)
    assert not talk.can_move
    # It is looked at, not only passed on: its end is what is waited for.
    assert not talk.owed.idle
    assert bytes(talk.from_broker(answer(2))) == answer(2)
    assert talk.can_move
    assert talk.unseen == behind + asked(OPAQUE, 5)[:7]
    assert talk.requests == 2


def test_it_does_not_go_while_an_answer_is_under_way() -> None:
    talk = talk_of(Desk())
    talk.from_client(asked(OPAQUE, 1) + asked(TAKEN, 2, THERE))
    talk.from_broker(answer(1, b"long")[:-1])
    assert not talk.can_move
    talk.from_broker(b"g")
    assert talk.can_move


def test_with_nothing_owed_it_can_go_at_once() -> None:
    talk = talk_of(Desk())
    talk.from_client(asked(TAKEN, 1, THERE))
    assert talk.owed.take_due() == b""
    assert talk.can_move


@pytest.mark.parametrize("first", [HERE, b""], ids=["of a group here", "of no group"])
def test_whoever_has_asked_for_something_here_stays(first: bytes) -> None:
    """One connection may speak for several groups; it is as with two proxies then."""
    talk = talk_of(desk := Desk())
    talk.from_client(asked(TAKEN, 1, first))
    talk.answer(body(1))
    talk.from_client(asked(TAKEN, 2, THERE))
    assert (len(desk.requests), talk.bound_for) == (2, None)


def test_what_cannot_go_goes_on_here() -> None:
    talk = talk_of(desk := Desk(at_once=lambda frame: talk.answer(frame[4:8])))
    talk.from_client(asked(OPAQUE, 1) + asked(TAKEN, 2, THERE) + asked(TAKEN, 3, THERE) + asked(OPAQUE, 4))
    talk.stay()
    assert talk.waiting()
    assert bytes(talk.from_client(b"")) == asked(OPAQUE, 4)
    assert len(desk.requests) == 2
    assert not talk.can_move


def test_a_group_that_is_not_readable_yet_is_waited_for_only_so_long() -> None:
    """A client that has yet to show who it is is not kept for; whose group it may be is then no matter."""
    talk = talk_of(desk := Desk())
    frame = asked(TAKEN, 1, b"more" + bytes(2 * LARGEST_OF_STRANGERS))
    assert bytes(talk.from_client(frame[: LARGEST_OF_STRANGERS // 2])) == b""
    assert desk.knocks == []
    talk.from_client(frame[LARGEST_OF_STRANGERS // 2 : LARGEST_OF_STRANGERS + 100])
    assert len(desk.knocks) == 1


# ----------------------------------------------------------------------------------------------------------- how it goes


class Process:
    """One of two, as far as a connection sees it."""

    def __init__(self, epoll_set: EpollSet, siblings: Siblings, tasks: trio.Nursery, limits: Limits) -> None:
        self.counts, self.desk = Counts(), Desk()
        log = Log(out=io.StringIO())
        self.partings = Partings(epoll_set)
        self.connections = Connections(
            limits,
            NamingWire(),
            self.counts,
            log,
            self._opened,
            self.partings,
            known_at_once,
            lambda address, at: None,
            siblings,
        )
        settings = Settings(upstream=("kafka:9092",))
        self.calls = Calls(self.counts, log)
        streams = Streams(limits, None, self.calls)
        newcomers = Newcomers(settings, self.connections, Directory(settings), streams, None, epoll_set, tasks)
        epoll_set.watch(siblings.inbox, READABLE, partial(newcomers.moved_in, siblings))

    def _opened(self, connection: Connection) -> Desk:
        def at_once(frame: bytes) -> None:
            connection.conversation.answer(frame[4:8] + b"here")

        self.desk.at_once = at_once
        return self.desk


class Owning(Siblings):
    def whose(self, group_id: str) -> int:
        return int(group_id.encode() == THERE)


class Two:
    """Two processes, and a connection that came in at the first."""

    def __init__(self, epoll_set: EpollSet, tasks: trio.Nursery, limits: Limits, has_tls: bool) -> None:
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
        self.inboxes, self.queues = zip(*pairs, strict=True)
        for each in (*self.inboxes, *self.queues):
            each.setblocking(False)
        ports = Ports()
        kin = [Owning(number, ports, self.inboxes, self.queues, -1) for number in range(2)]
        self.here, self.there = (Process(epoll_set, each, tasks, limits) for each in kin)
        self._epoll_set, self._tasks, self._has_tls = epoll_set, tasks, has_tls
        self.client, self.broker, self.link = self.connected()

    def watched(self) -> int:
        """How many sockets the kernel watches for the epoll set."""
        at = Path(f"/proc/self/fdinfo/{self._epoll_set._epoll.fileno()}")
        return at.read_text().count("tfd:")

    def connected(self) -> tuple[socket.socket, socket.socket, Link | TlsLink]:
        """A connection that came in at the first: its client's end, and its broker's. What carries TLS need not have it."""
        with listening() as entrance, listening() as door:
            client = socket.create_connection(entrance.getsockname(), PATIENCE_SECONDS)
            arrived, _ = entrance.accept()
            name = door.getsockname()
            link: Link | TlsLink
            if self._has_tls:
                sock = socket.create_connection(name)
                link = TlsLink(
                    self.here.connections, SocketStream(arrived), "a client", b"shown", 1, lambda cause: None
                )
                self._tasks.start_soon(link.run, partial(dialled, Address(*name), SocketStream(sock)))
            else:
                dial = Dial(self._epoll_set, self.here.calls, [(Address(*name), (socket.AF_INET, name))])
                link = Link(self.here.connections, self._epoll_set, arrived, "a client", 1, dial)
            broker, _ = door.accept()
        broker.settimeout(PATIENCE_SECONDS)
        return client, broker, link

    async def exchange(self, said: bytes, by: socket.socket, heard: bytes, to: socket.socket) -> None:
        by.sendall(said)
        await trio.to_thread.run_sync(received, to, heard)

    def close(self) -> None:
        for process in (self.here, self.there):
            for connection in list(process.connections):
                connection.close(Cause.DRAINED)
            process.partings.end()
        for each in (self.client, self.broker, *self.inboxes, *self.queues):
            each.close()


Setting = Callable[..., Two]


async def dialled(address: Address, stream: trio.abc.Stream) -> tuple[Address, trio.abc.Stream]:
    return address, stream


@pytest.fixture(params=[False, True], ids=["plaintext", "TLS"])
def two(nursery: trio.Nursery, request: pytest.FixtureRequest) -> Iterator[Setting]:
    with EpollSet() as epoll_set:
        made: list[Two] = []

        def make(**limits: Any) -> Two:
            made.append(Two(epoll_set, nursery, Limits(**limits), request.param))
            nursery.start_soon(epoll_set.run)
            return made[0]

        yield make
        made[0].close()
        nursery.cancel_scope.cancel()


async def test_it_goes_on_where_its_group_is_and_both_ends_notice_nothing(two: Setting) -> None:
    both = two()
    before = asked(OPAQUE, 1)
    await both.exchange(before + asked(TAKEN, 2, THERE) + asked(OPAQUE, 3), both.client, before, both.broker)
    assert len(both.here.connections) == 1
    # The broker's answer to what was asked here; then, from there, the answer made there, and what was asked behind it.
    both.broker.sendall(answer(1))
    await trio.to_thread.run_sync(received, both.client, answer(1) + answer(2, b"here"))
    await trio.to_thread.run_sync(received, both.broker, asked(OPAQUE, 3))
    await both.exchange(answer(3), both.broker, answer(3), both.client)
    assert (both.here.desk.requests, len(both.there.desk.requests)) == ([], 1)
    assert (len(both.here.connections), len(both.there.connections)) == (0, 1)
    assert both.here.counts.disconnects["moved"] == 1
    # Each byte and request is counted once.
    sizes = [len(each) for each in (before, asked(TAKEN, 2, THERE), asked(OPAQUE, 3))]
    assert both.here.counts.bytes_from_clients + both.there.counts.bytes_from_clients == sum(sizes)
    (moved,) = both.there.connections
    assert (moved.client, moved.node, moved.dialled) == ("a client", 1, both.link.dialled)
    assert moved.certificate == both.link.certificate
    assert moved.conversation.requests == 2


async def test_the_first_process_hears_nothing_of_it_any_more(two: Setting) -> None:
    """The kernel tells of a socket for as long as anybody has it open, and whoever asked for that."""
    both = two()
    await both.exchange(asked(TAKEN, 1, THERE), both.client, answer(1, b"here"), both.client)
    # Two inboxes, who is aside, and the two sockets there.
    assert both.watched() == 2 + 1 + 2
    active_at = both.link.active_at
    await both.exchange(asked(OPAQUE, 2), both.client, asked(OPAQUE, 2), both.broker)
    await both.exchange(answer(2), both.broker, answer(2), both.client)
    assert both.link.active_at == active_at


async def test_where_it_came_in_it_is_let_go_of_before_anybody_looks_for_garbage(two: Setting) -> None:
    both = two()
    gc.disable()
    try:
        await both.exchange(asked(TAKEN, 1, THERE), both.client, answer(1, b"here"), both.client)
        gone = weakref.ref(both.link)
        if isinstance(both.link, TlsLink):
            # Until then it stands between the two.
            (moved,) = both.there.connections
            moved.close(Cause.DRAINED)
            assert await trio.to_thread.run_sync(both.broker.recv, 1) == b""
            await trio.testing.wait_all_tasks_blocked()
        del both.link
        assert gone() is None
    finally:
        gc.enable()


async def test_what_it_has_asked_there_is_answered_though_it_has_hung_up(two: Setting) -> None:
    both = two()
    await both.exchange(asked(TAKEN, 1, THERE), both.client, answer(1, b"here"), both.client)
    both.client.sendall(asked(OPAQUE, 2))
    both.client.shutdown(socket.SHUT_WR)
    await trio.to_thread.run_sync(received, both.broker, asked(OPAQUE, 2))
    await trio.testing.wait_all_tasks_blocked(0.01)
    await both.exchange(answer(2), both.broker, answer(2), both.client)
    assert await trio.to_thread.run_sync(both.broker.recv, 1) == b""


async def test_what_it_has_asked_in_part_ends_with_it(two: Setting) -> None:
    both = two()
    await both.exchange(asked(TAKEN, 1, THERE), both.client, answer(1, b"here"), both.client)
    both.client.sendall(asked(OPAQUE, 2, bytes(100))[:50])
    both.client.shutdown(socket.SHUT_WR)
    await trio.to_thread.run_sync(received, both.broker, asked(OPAQUE, 2, bytes(100))[:50])
    assert await trio.to_thread.run_sync(both.broker.recv, 1) == b""


async def test_one_that_has_hung_up_behind_its_request_is_heard_to_its_end(two: Setting) -> None:
    """Who leaves a group mostly goes right behind that; the broker may owe it an answer from before."""
    both = two()
    before = asked(OPAQUE, 1)
    both.client.sendall(before + asked(TAKEN, 2, THERE))
    both.client.shutdown(socket.SHUT_WR)
    await trio.to_thread.run_sync(received, both.broker, before)
    await trio.testing.wait_all_tasks_blocked(0.01)
    both.broker.sendall(answer(1))
    await trio.to_thread.run_sync(received, both.client, answer(1) + answer(2, b"here"))
    assert len(both.there.desk.requests) == 1
    assert await trio.to_thread.run_sync(both.broker.recv, 1) == b""


async def test_a_member_that_outlives_its_client_speaks_on_there(two: Setting) -> None:
    both = two()
    await both.exchange(asked(TAKEN, 1, THERE), both.client, answer(1, b"here"), both.client)
    (moved,) = both.there.connections
    both.there.desk.needed = lambda: True  # type: ignore[method-assign]
    both.client.shutdown(socket.SHUT_WR)
    assert await trio.to_thread.run_sync(both.client.recv, 1) == b""
    moved.conversation.ask(asked(OPAQUE, 2)[4:], lambda frame: None)
    moved.flush()
    await trio.to_thread.run_sync(received, both.broker, asked(OPAQUE, 2))
    assert both.there.counts.disconnects["client_closed"] == 0
    moved.close(Cause.RELEASED)
    assert await trio.to_thread.run_sync(both.broker.recv, 1) == b""


async def test_where_nobody_takes_it_it_is_served_here(two: Setting) -> None:
    both = two()
    both.inboxes[1].close()
    await both.exchange(asked(TAKEN, 1, THERE), both.client, answer(1, b"here"), both.client)
    assert (len(both.here.desk.requests), len(both.there.desk.requests)) == (1, 0)


async def test_past_its_limit_of_connections_a_process_turns_it_away(two: Setting) -> None:
    both = two(max_connections=1)
    await both.exchange(asked(TAKEN, 1, THERE), both.client, answer(1, b"here"), both.client)
    another, broker, _ = both.connected()
    with another, broker:
        another.sendall(asked(TAKEN, 1, THERE))
        assert await trio.to_thread.run_sync(another.recv, 1) == b""
    assert both.there.counts.disconnects["too_many_connections"] == 1


async def test_a_relayed_connection_takes_the_place_of_two_and_a_drain_waits_for_it(two: Setting) -> None:
    both = two(max_connections=2)
    await both.exchange(asked(TAKEN, 1, THERE), both.client, answer(1, b"here"), both.client)
    here, is_relayed = both.here.connections, isinstance(both.link, TlsLink)
    assert here.full == is_relayed
    with trio.move_on_after(0.2) as patience:
        await here.drain(trio.CancelScope())
    assert patience.cancelled_caught == is_relayed
    (moved,) = both.there.connections
    moved.close(Cause.DRAINED)
    with trio.fail_after(PATIENCE_SECONDS):
        await here.drain(trio.CancelScope())
    assert not here.full


async def test_who_drains_sends_nobody_anywhere(two: Setting) -> None:
    both = two()
    before = asked(OPAQUE, 1)
    await both.exchange(before + asked(TAKEN, 2, THERE), both.client, before, both.broker)
    both.here.connections.draining = True
    both.link.drain()
    await both.exchange(answer(1), both.broker, answer(1) + answer(2, b"here"), both.client)
    assert (len(both.here.desk.requests), len(both.there.desk.requests)) == (1, 0)


async def test_nor_does_whoever_comes_to_one_that_drains(two: Setting) -> None:
    both = two()
    both.here.connections.draining = True
    await both.exchange(asked(TAKEN, 1, THERE), both.client, answer(1, b"here"), both.client)
    assert (len(both.here.desk.requests), len(both.there.desk.requests)) == (1, 0)


# ------------------------------------------------------------------------------------------------------ what they share


def test_groups_are_shared_evenly_and_by_their_names_alone() -> None:
    def siblings(number: int) -> Siblings:
        queues: Any = [None] * 4
        return Siblings(number, Ports(), queues, queues, -1)

    groups = [f"group-{number}" for number in range(400)]
    owners = [siblings(0).whose(group) for group in groups]
    assert owners == [siblings(3).whose(group) for group in groups]
    assert all(60 < owners.count(number) < 140 for number in range(4))


def test_where_there_are_no_descriptors_for_it_that_is_said_and_none_is_kept() -> None:
    inbox, queue = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with inbox, queue, socket.socket() as client, socket.socket() as broker:
        siblings = Siblings(0, Ports(), [inbox], [queue], -1)
        inbox.setblocking(False)
        assert siblings.send(0, Letter("a client", 1, Address("kafka", 9092), ("", ""), b""), client, broker)
        before = os.listdir("/proc/self/fd")
        lowest = os.dup(0)
        os.close(lowest)
        # Room for the first of three.
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 1, hard))
        try:
            with pytest.raises(OSError, match=os.strerror(errno.EMFILE)):
                siblings.receive()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert os.listdir("/proc/self/fd") == before
        assert siblings.receive() is None


def door(epoll_set: EpollSet, port: int, ports: Ports | None) -> Door:
    return Door(epoll_set, Address("127.0.0.1", port), 1, lambda *_: None, Log(out=io.StringIO()), ports=ports)


def test_a_port_is_shared_by_the_processes_of_one_proxy_alone() -> None:
    (port,) = free_ports(1)
    ours, theirs = Ports(), Ports()
    with EpollSet() as epoll_set:
        doors = [door(epoll_set, port, ours) for _ in range(2)]
        for other in (theirs, None):
            with pytest.raises(CannotListen, match=os.strerror(errno.EADDRINUSE) + "|the port is in use"):
                door(epoll_set, port, other)
        for each in doors:
            each.close()
        door(epoll_set, port, theirs).close()


def test_a_port_that_could_not_be_opened_is_looked_at_again() -> None:
    (port,) = free_ports(1)
    ours = Ports()
    with EpollSet() as epoll_set:
        with socket.create_server(("127.0.0.1", port), reuse_port=True):
            for _ in range(2):
                with pytest.raises(CannotListen):
                    door(epoll_set, port, ours)
        door(epoll_set, port, ours).close()
