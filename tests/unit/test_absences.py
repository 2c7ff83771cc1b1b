"""A broker that is away, and its door, which then refuses. Real sockets; whether the broker is there is said by the test."""

from __future__ import annotations

import io
import socket
from collections.abc import AsyncIterator
from functools import partial

import pytest
import trio

from proxy import absences
from proxy.absences import LOOK_SECONDS, WAIT_SECONDS, Absences
from proxy.addresses import Address
from proxy.doors import Door
from proxy.epoll_set import EpollSet
from proxy.logs import Log
from tests.unit.test_link import is_so

NODE, BROKER = 1, Address("kafka", 9092)
PATIENCE_SECONDS, DIAL_SECONDS = 10, 5


class Scene:
    """A door, and what is said of its broker whenever it is looked for."""

    def __init__(self, epoll_set: EpollSet, tasks: trio.Nursery) -> None:
        self.out = io.StringIO()
        self.reason = ""
        self.looks = 0
        self.may_look = trio.Event()
        self.may_look.set()
        self.told: list[str] = []
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.address = Address(*free.getsockname())
        log = Log(out=self.out)
        self.door = Door(epoll_set, self.address, NODE, self._welcome, log)
        self.is_named = False
        self.absences = Absences(
            self._why_away, {NODE: BROKER}.get, lambda node: node == NODE and self.is_named, DIAL_SECONDS, log, tasks
        )
        self.absences.doors[NODE] = self.door

    def _welcome(self, sock: socket.socket, _client: str, _node: int | None) -> None:
        sock.close()

    async def _why_away(self, node: int, seconds: float) -> str:
        assert (node, seconds) == (NODE, LOOK_SECONDS if self.absences._away else DIAL_SECONDS)
        self.looks += 1
        await self.may_look.wait()
        return self.reason

    def find_out(self, who: str, node: int | None = NODE) -> None:
        self.absences.find_out(node, partial(self.told.append, who))

    def opens(self) -> bool:
        """Somebody listens, and lets in."""
        try:
            with socket.create_connection(self.address, PATIENCE_SECONDS):
                return True
        except ConnectionRefusedError:
            return False


@pytest.fixture
async def scene(nursery: trio.Nursery) -> AsyncIterator[Scene]:
    with EpollSet() as epoll_set:
        nursery.start_soon(epoll_set.run)
        made = Scene(epoll_set, nursery)
        yield made
        made.door.close()
        nursery.cancel_scope.cancel()


async def test_its_door_refuses_before_anybody_hears_of_the_end_and_until_it_is_back(scene: Scene) -> None:
    scene.reason = "kafka:9092: Connection refused"
    scene.absences.find_out(NODE, lambda: scene.told.append(f"open: {scene.opens()}"))
    await is_so(lambda: bool(scene.told))
    assert scene.told == ["open: False"]
    assert scene.absences.missing == 1
    assert f'warning broker away, and its port refuses node=1 reason="{scene.reason}"' in scene.out.getvalue()
    looks = scene.looks
    await is_so(lambda: scene.looks > looks + 1)
    assert not scene.opens()
    scene.reason = ""
    await is_so(scene.opens)
    assert scene.absences.missing == 0
    assert "info broker back node=1 seconds=" in scene.out.getvalue()
    # And again.
    scene.reason = "gone"
    scene.find_out("again")
    await is_so(lambda: bool(scene.told[1:]))
    assert not scene.opens()


async def test_one_that_answers_somebody_is_back_at_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the bootstrap: it may say where it is, and its client must not be refused there."""
    monkeypatch.setattr(absences, "PAUSE_SECONDS", 10 * PATIENCE_SECONDS)
    before = trio.current_time()
    scene.reason = "gone"
    scene.find_out("first")
    await is_so(lambda: bool(scene.told))
    await trio.sleep(0.01)
    # Others say nothing of it, nor do its last words.
    scene.absences.heard_from(Address("kafka", 9093), trio.current_time())
    scene.absences.heard_from(BROKER, before)
    scene.reason = ""
    await trio.testing.wait_all_tasks_blocked()
    assert not scene.opens()
    scene.absences.heard_from(BROKER, trio.current_time())
    assert scene.opens()
    await is_so(lambda: scene.absences.missing == 0)


async def test_who_is_named_no_more_is_looked_for_and_not_missed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(absences, "NAMED_SECONDS", 1.0)
    scene.reason, scene.is_named = "gone", True
    scene.find_out("first")
    await is_so(lambda: bool(scene.told))
    await trio.sleep(2)
    assert scene.absences.missing == 1
    scene.is_named = False
    await is_so(lambda: scene.absences.missing == 0)
    assert not scene.opens()
    scene.is_named = True
    await is_so(lambda: scene.absences.missing == 1)
    scene.reason = ""
    await is_so(scene.opens)


async def test_one_that_has_no_door_of_its_own_is_counted(scene: Scene) -> None:
    """As with `sni`."""
    del scene.absences.doors[NODE]
    scene.reason, scene.is_named = "gone", True
    scene.find_out("first")
    assert scene.told == ["first"]
    await is_so(lambda: scene.absences.missing == 1)
    assert "warning broker away node=1 reason=gone" in scene.out.getvalue()
    scene.reason = ""
    await is_so(lambda: scene.absences.missing == 0)
    assert "info broker back node=1 seconds=" in scene.out.getvalue()


async def test_a_broker_that_is_there_is_let_alone(scene: Scene) -> None:
    scene.find_out("first")
    await is_so(lambda: scene.told == ["first"])
    assert scene.opens()
    assert "broker" not in scene.out.getvalue()


async def test_all_whose_connections_end_with_it_wait_for_one_look(scene: Scene) -> None:
    scene.reason, scene.may_look = "gone", trio.Event()
    scene.find_out("first")
    await trio.testing.wait_all_tasks_blocked()
    scene.find_out("second")
    assert (scene.told, scene.looks) == ([], 1)
    scene.may_look.set()
    await is_so(lambda: scene.told == ["first", "second"])
    # It is known now.
    scene.find_out("third")
    assert scene.told == ["first", "second", "third"]


async def test_nobody_waits_for_long_while_packets_to_it_are_swallowed(scene: Scene) -> None:
    scene.reason, scene.may_look = "no answer in time", trio.Event()
    began = trio.current_time()
    scene.find_out("first")
    await is_so(lambda: scene.told == ["first"])
    assert trio.current_time() - began >= WAIT_SECONDS
    scene.find_out("second")
    await is_so(lambda: scene.told == ["first", "second"])
    # It may be busy, for all that is known.
    assert scene.opens()
    assert scene.looks == 1
    scene.may_look.set()
    await is_so(lambda: not scene.opens())


async def test_where_no_door_is_a_brokers_own_nobody_waits(scene: Scene) -> None:
    scene.find_out("to the bootstrap", None)
    del scene.absences.doors[NODE]
    scene.find_out("first")
    scene.find_out("second")
    assert (scene.told, scene.looks) == (["to the bootstrap", "first", "second"], 0)
    await is_so(lambda: scene.looks == 1)


async def test_a_port_that_somebody_takes_meanwhile_is_said_and_taken_again(scene: Scene) -> None:
    scene.reason = "gone"
    scene.find_out("first")
    await is_so(lambda: not scene.opens())
    with socket.create_server(scene.address):
        scene.reason = ""
        await is_so(lambda: "error cannot listen again node=1 " in scene.out.getvalue())
        looked = scene.looks
        await is_so(lambda: scene.looks >= looked + 2)
        assert scene.out.getvalue().count("cannot listen again") == 1
    await is_so(lambda: "broker back" in scene.out.getvalue())
    assert scene.opens()


async def test_a_door_that_rests_stays_shut_and_one_that_is_closed_stays_closed(scene: Scene) -> None:
    scene.door.rest()
    scene.door.shut()
    assert not scene.door.resting
    scene.door.reopen()
    assert scene.opens()
    scene.door.close()
    scene.door.shut()
    scene.door.reopen()
    assert not scene.opens()
