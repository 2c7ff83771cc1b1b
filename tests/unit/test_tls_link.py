"""A connection between streams: how it ends, and when it stays. No TLS, no brokers: what they would carry is the same."""

from __future__ import annotations

import contextlib
import gc
import io
import socket
import weakref

import pytest
import trio
import trio.testing

from proxy.addresses import Address
from proxy.answers import Bytes
from proxy.causes import Cause
from proxy.connections import SWEEP_SECONDS, Connections
from proxy.counts import Counts
from proxy.epoll_set import EpollSet
from proxy.logs import Log
from proxy.names import Names
from proxy.parting import Partings
from proxy.settings import Limits
from proxy.socket_stream import SocketStream
from proxy.tls_link import TlsLink
from tests.unit.test_conversation import OPAQUE, PROOF, UNFINISHED, answer, request
from tests.unit.test_desk import TAKEN, Desk, TakingWire, known_at_once
from tests.unit.test_link import is_so

PATIENCE_SECONDS = 30
MORE_THAN_IS_ROOM_FOR = 4 * 1024 * 1024


class Ends:
    def __init__(self, desk: Desk, node: int | None = 1) -> None:
        self.counts = Counts()
        self.heard_from = heard_from = list[Address]()
        self.connections = Connections(
            Limits(),
            TakingWire(),
            self.counts,
            Log(out=io.StringIO()),
            lambda _link: desk,
            Partings(EpollSet()),
            known_at_once,
            lambda address, _opened_at: heard_from.append(address),
        )
        self.near, self.client = trio.testing.memory_stream_pair()
        self._theirs: trio.abc.Stream
        self._theirs, self.broker = trio.testing.memory_stream_pair()
        self.link = TlsLink(self.connections, self.near, "a client", None, node, lambda _cause: None)

    async def run(self) -> None:
        await self.link.run(self._dial)

    async def _dial(self) -> tuple[Address, trio.abc.Stream]:
        return Address("broker", 9092), self._theirs


async def test_the_sweep_holds_on_to_none(nursery: trio.Nursery, autojump_clock: trio.testing.MockClock) -> None:
    ends = Ends(Desk())
    nursery.start_soon(ends.run)
    nursery.start_soon(ends.connections.sweep, lambda _node: None, lambda: True)
    await trio.sleep(2 * SWEEP_SECONDS)
    gone = weakref.ref(ends.link)
    gc.disable()
    try:
        await ends.client.aclose()
        await trio.testing.wait_all_tasks_blocked()
        del ends.link
        assert gone() is None
    finally:
        gc.enable()


async def test_it_ends_when_the_last_answer_was_given_after_its_client_had_said_all(nursery: trio.Nursery) -> None:
    ends = Ends(Desk())
    nursery.start_soon(ends.run)
    await ends.client.send_all(request(TAKEN, 1))
    await ends.client.send_eof()
    await trio.testing.wait_all_tasks_blocked()
    ends.link.conversation.answer(answer(1)[4:])
    ends.link.flush()
    await trio.testing.wait_all_tasks_blocked()
    assert await ends.client.receive_some() == answer(1)
    assert ends.counts.connections_open == 0


@pytest.mark.parametrize("node", [None, 1])
async def test_whoever_answers_by_the_bootstrap_is_there(nursery: trio.Nursery, node: int | None) -> None:
    ends = Ends(Desk(), node)
    nursery.start_soon(ends.run)
    await ends.client.send_all(request(OPAQUE, 1))
    await trio.testing.wait_all_tasks_blocked()
    assert ends.heard_from == []
    await ends.broker.send_all(answer(1))
    await ends.client.receive_some()
    assert ends.heard_from == ([] if node == 1 else [Address("broker", 9092)])


async def test_what_lay_behind_a_request_in_hand_is_answered_after_its_client_had_said_all(
    nursery: trio.Nursery,
) -> None:
    ends = Ends(Desk())
    nursery.start_soon(ends.run)
    await ends.client.send_all(request(TAKEN, 1) + request(OPAQUE, 2))
    await trio.testing.wait_all_tasks_blocked()
    ends.link.conversation.ask(request(OPAQUE, 77)[4:], lambda _: None)
    ends.link.flush()
    await ends.client.send_eof()
    await trio.testing.wait_all_tasks_blocked()
    ends.link.conversation.answer(answer(1)[4:])
    ends.link.flush()
    await trio.testing.wait_all_tasks_blocked()
    assert await ends.broker.receive_some() == request(OPAQUE, 77) + request(OPAQUE, 2)
    await ends.broker.send_all(answer(77) + answer(2))
    await trio.testing.wait_all_tasks_blocked()
    assert await ends.client.receive_some() == answer(1) + answer(2)
    assert ends.counts.connections_open == 0


@pytest.mark.parametrize("sent", UNFINISHED.values(), ids=UNFINISHED)
async def test_it_does_not_outlive_a_client_that_left_something_unfinished(nursery: trio.Nursery, sent: bytes) -> None:
    """The broker waits for the rest, and would hear nothing that a member says."""
    ends, heard = Ends(Needed()), list[Bytes | None]()
    nursery.start_soon(ends.run)
    await ends.client.send_all(request(TAKEN, 1))
    await trio.testing.wait_all_tasks_blocked()
    ends.link.conversation.answer(answer(1)[4:])
    await ends.client.send_all(sent)
    await trio.testing.wait_all_tasks_blocked()
    ends.link.conversation.ask(request(OPAQUE, 77)[4:], heard.append)
    await ends.client.aclose()
    await trio.testing.wait_all_tasks_blocked()
    assert ends.counts.connections_open == 0
    assert heard == [None]


@pytest.mark.parametrize("sent", UNFINISHED.values(), ids=UNFINISHED)
async def test_nor_one_that_had_begun_something_behind_a_request_in_hand(nursery: trio.Nursery, sent: bytes) -> None:
    ends = Ends(Needed())
    nursery.start_soon(ends.run)
    await ends.client.send_all(request(TAKEN, 1) + sent)
    await trio.testing.wait_all_tasks_blocked()
    await ends.client.aclose()
    await trio.testing.wait_all_tasks_blocked()
    assert ends.counts.connections_open == 1
    ends.link.conversation.answer(answer(1)[4:])
    ends.link.flush()
    await trio.testing.wait_all_tasks_blocked()
    assert await ends.broker.receive_some() == sent
    assert ends.counts.connections_open == 0


class Needed(Desk):
    """A member speaks here."""

    def needed(self) -> bool:
        return True


async def test_a_drain_waits_for_the_last_word_of_a_member_whose_client_has_gone(nursery: trio.Nursery) -> None:
    """`leave_on_exit`: to a broker that does not hear it, the member is there for a session more."""
    desk = Needed()
    ends = Ends(desk)
    nursery.start_soon(ends.run)
    await ends.client.send_all(request(TAKEN, 1))
    await trio.testing.wait_all_tasks_blocked()
    ends.link.conversation.answer(answer(1)[4:])
    ends.link.flush()
    await ends.client.aclose()
    await trio.testing.wait_all_tasks_blocked()
    desk.asking = True
    ends.link.conversation.ask(request(OPAQUE, 77)[4:], lambda _: None)
    ends.link.flush()
    ends.link.drain()
    await trio.testing.wait_all_tasks_blocked()
    assert await ends.broker.receive_some() == request(OPAQUE, 77)
    assert ends.counts.connections_open == 1
    desk.asking = False
    ends.link.drain()
    await trio.testing.wait_all_tasks_blocked()
    assert ends.counts.connections_open == 0


async def test_what_waited_for_the_end_of_an_authentication_is_asked_when_its_client_has_gone(
    nursery: trio.Nursery,
) -> None:
    """No step of it will follow."""
    ends = Ends(Needed())
    nursery.start_soon(ends.run)
    await ends.client.send_all(request(TAKEN, 1))
    await trio.testing.wait_all_tasks_blocked()
    ends.link.conversation.answer(answer(1)[4:])
    await ends.client.send_all(request(PROOF, 2))
    assert await ends.broker.receive_some() == request(PROOF, 2)
    await ends.broker.send_all(answer(2))
    await trio.testing.wait_all_tasks_blocked()
    ends.link.conversation.ask(request(OPAQUE, 77)[4:], lambda _: None)
    ends.link.flush()
    await trio.testing.wait_all_tasks_blocked()
    await ends.client.aclose()
    with trio.fail_after(PATIENCE_SECONDS):
        assert await ends.broker.receive_some() == request(OPAQUE, 77)


async def test_a_broker_is_left_unread_while_its_client_does_not_take_what_it_said_before(
    nursery: trio.Nursery,
) -> None:
    ends, takes = Ends(Desk()), trio.Event()
    ends.near.send_stream.send_all_hook = takes.wait
    nursery.start_soon(ends.run)
    await ends.client.send_all(request(OPAQUE, 1))
    await trio.testing.wait_all_tasks_blocked()
    assert not ends.link.leaves_broker_unread()
    await ends.broker.send_all(answer(1))
    await trio.testing.wait_all_tasks_blocked()
    assert ends.link.leaves_broker_unread()
    takes.set()
    await trio.testing.wait_all_tasks_blocked()
    assert not ends.link.leaves_broker_unread()


async def test_a_name_that_nobody_can_look_up_ends_one_connection(nursery: trio.Nursery) -> None:
    """Names of brokers come from the cluster. Whatever else may be wrong with one is our mistake, and ends as little."""
    with pytest.raises(OSError, match="label"):
        await Names().resolve(Address("a" * 64 + ".example", 9092))

    async def dial() -> tuple[Address, trio.abc.Stream]:
        raise UnicodeError

    ends = Ends(Desk())
    await ends.link.run(dial)
    assert ends.counts.disconnects["our_mistake"] == ends.counts.mistakes == 1


async def test_a_mistake_after_the_end_of_a_connection_is_counted_too(nursery: trio.Nursery) -> None:
    """It ended as it should: no cause of a disconnect tells of it."""
    ends = Ends(CannotEnd())
    nursery.start_soon(ends.run)
    await ends.client.send_all(request(TAKEN, 1))
    await trio.testing.wait_all_tasks_blocked()
    ends.link.close(Cause.DRAINED)
    await trio.testing.wait_all_tasks_blocked()
    assert (ends.counts.disconnects["our_mistake"], ends.counts.mistakes) == (0, 1)


class CannotEnd(Desk):
    def closed(self) -> None:
        raise KeyError


@pytest.mark.parametrize(("cause", "ends_so"), [(Cause.BROKER_SILENT, ConnectionResetError), (Cause.DRAINED, None)])
async def test_what_a_silent_broker_has_not_heard_by_then_it_never_hears(
    nursery: trio.Nursery, cause: Cause, ends_so: type[OSError] | None
) -> None:
    ends = Ends(Desk())
    with socket.create_server(("127.0.0.1", 0)) as door:
        near = socket.create_connection(door.getsockname())
        broker, _ = door.accept()
    ends._theirs = SocketStream(near)
    nursery.start_soon(ends.run)
    await trio.testing.wait_all_tasks_blocked()
    ends.link.close(cause)
    await trio.testing.wait_all_tasks_blocked()
    broker.settimeout(PATIENCE_SECONDS)
    with broker, pytest.raises(ends_so) if ends_so is not None else contextlib.nullcontext():
        assert broker.recv(1) == b""


async def test_a_client_that_takes_no_answers_keeps_nothing_from_a_member_that_stays(nursery: trio.Nursery) -> None:
    """What the member has yet to hear lies behind what the client does not take. And who is given up is hung up on: it may
    go on elsewhere, and what it goes on to say here is said in nobody's name."""
    ends, heard = Ends(Needed()), list[Bytes | None]()
    near, far = socket.socketpair()
    ends.link._client, client = SocketStream(near), SocketStream(far)
    nursery.start_soon(ends.run)
    await client.send_all(request(TAKEN, 1))
    await trio.testing.wait_all_tasks_blocked()
    ends.link.conversation.answer(answer(1)[4:])
    ends.link.flush()
    await client.send_all(request(OPAQUE, 2))
    assert await ends.broker.receive_some() == request(OPAQUE, 2)
    await ends.broker.send_all(answer(2, bytes(MORE_THAN_IS_ROOM_FOR)))
    await is_so(ends.link.leaves_broker_unread)
    ends.link.conversation.ask(request(OPAQUE, 77)[4:], lambda frame: heard.append(frame and bytes(frame)))
    ends.link.close(Cause.CLIENT_LOST)
    assert await ends.broker.receive_some() == request(OPAQUE, 77)
    await ends.broker.send_all(answer(77))
    await is_so(lambda: heard == [answer(77)[4:]])
    with pytest.raises(trio.BrokenResourceError):
        await client.send_all(request(OPAQUE, 3))
    assert ends.counts.connections_open == 1
    await client.aclose()


async def test_a_request_that_a_client_was_reset_in_is_waited_for_no_more(nursery: trio.Nursery) -> None:
    """Else the connection that its member needs would be cut, for a request that takes too long."""
    ends = Ends(Needed())
    nursery.start_soon(ends.run)
    await ends.client.send_all(request(TAKEN, 1))
    await trio.testing.wait_all_tasks_blocked()
    ends.link.conversation.answer(answer(1)[4:])
    ends.near.receive_stream.receive_some_hook = reset
    await ends.client.send_all(request(OPAQUE, 2)[:5])
    await trio.testing.wait_all_tasks_blocked()
    assert ends.counts.connections_open == 1
    assert ends.link.conversation.request_under_way
    assert not ends.link.stalled_by_client()


async def reset() -> None:
    raise trio.BrokenResourceError


async def test_both_streams_are_closed_and_its_end_is_counted_when_the_process_ends(nursery: trio.Nursery) -> None:
    ends = Ends(Desk())
    with trio.CancelScope() as process:
        async with trio.open_nursery() as tasks:
            tasks.start_soon(ends.run)
            await trio.testing.wait_all_tasks_blocked()
            ends.link.close(Cause.DRAINED, "still busy at the end of the drain")
            process.cancel()
    with trio.fail_after(PATIENCE_SECONDS):
        assert (await ends.client.receive_some(), await ends.broker.receive_some()) == (b"", b"")
    assert (ends.counts.disconnects["drained"], ends.counts.connections_open) == (1, 0)
