"""Whose a silent member is: two proxies share nothing but what the coordinator shows of their members' hosts."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from types import SimpleNamespace
from typing import Any, ClassVar

import msgspec
import pytest
import trio
import trio.testing

from kafka_protocol import encode_request, encode_response
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.groups import classic, native
from proxy.groups.clock import Clock
from proxy.groups.line import MOST_ADMITTED
from proxy.groups.lines import Lines
from proxy.groups.own_hosts import FRESH_MS, LOOKS
from proxy.groups.together import MOST_AT_ONCE, Together
from tests.unit.observing import changed
from translation import events as ev
from translation import group as gr
from translation.group_heartbeat import GroupHeartbeat
from translation.member import Member
from translation.rules import Pacing
from translation.states import Phase, Standing

GROUP = "group"
HERE, THERE = "/10.0.0.1", "/10.0.0.2"
LONG_AGO_MS = 3_600_000


class Line:
    """What is asked on it is answered by `told`."""

    open = True
    client_left = False
    versions: ClassVar = {keys.CONSUMER_GROUP_DESCRIBE: (0, 1)}

    def __init__(self) -> None:
        self.heard: list[Callable[[Any], None]] = []
        self.natives: set[str] = set()

    def offers(self, key: int) -> bool:
        return True

    def forward(self, _: bytes, heard: Callable[[bytes], Any]) -> None:
        heard(encode_response(keys.CONSUMER_GROUP_HEARTBEAT, 1, 7, m.ConsumerGroupHeartbeatResponse(member_epoch=3)))

    def ask(self, _: native.Ask, heard: Callable[[Any], None]) -> None:
        self.heard.append(heard)


class Later(Clock):
    """What is asked again a moment later need not take that moment here."""

    passed_ms = 0

    @property
    def now_ms(self) -> int:
        return super().now_ms + self.passed_ms


class Host:
    def __init__(self, *names: str) -> None:
        self.clock = Later()
        self.line = Line()
        self.reaches_the_coordinator = True
        self.lines = Lines()
        for name in names:
            self.lines[GROUP, name] = self.line  # type: ignore[assignment]
        self.members = {
            (GROUP, name): Member(
                group_id=GROUP,
                member_id=name,
                phase=Phase.STABLE,
                standing=Standing.STABLE,
                heard_at=self.clock.now_ms,
            )
            for name in names
        }
        self.lost: list[str] = []
        self.told: list[str] = []
        self.requests = SimpleNamespace(untranslated=SimpleNamespace(passes=lambda key: None))
        self.together = Together(self.clock, Pacing(), self)  # type: ignore[arg-type]

    def feed(self, key: tuple[str, str], event: ev.AnyEvent) -> None:
        if isinstance(event, ev.SeenElsewhere):
            self.lost.append(key[1])
        if isinstance(event, ev.BeatWanted):
            self.told.append(key[1])

    def line_into(self, _group_id: str) -> Line | None:
        return self.line if self.reaches_the_coordinator else None

    def falls_silent(self, name: str) -> None:
        now = self.clock.now_ms
        silent = msgspec.structs.replace(self.members[GROUP, name], heard_at=now - LONG_AGO_MS, farewell_at=now)
        self.members[GROUP, name] = silent

    def hangs_up(self, name: str) -> None:
        """Its connection to the broker stays, for the member does."""
        left = copy(self.line)
        left.client_left = True
        self.lines[GROUP, name] = left  # type: ignore[assignment]

    def ends(self, name: str) -> None:
        over = changed(0, group_id=GROUP, member_id=name, phase=Phase.ABSENT, standing=Standing.LEAVING).transition
        self.together.changed(over, self.members.pop((GROUP, name)))
        self.lines.pop((GROUP, name))

    def is_told(self, name: str) -> None:
        told = changed(0, group_id=GROUP, member_id=name, phase_before=Phase.COMPLETING_REBALANCE).transition
        self.together.changed(told, self.members[GROUP, name])

    def is_answered(self, name: str, in_flight: GroupHeartbeat | None = None) -> None:
        """Its heartbeat, a second after the last."""
        self.clock.passed_ms += 1_000
        beaten = msgspec.structs.replace(self.members[GROUP, name], beaten_at=self.clock.now_ms, in_flight=in_flight)
        self.members[GROUP, name] = beaten
        self.together.answered(GROUP)

    def described(self, **hosts: str) -> None:
        self.clock.passed_ms += gr.AGAIN_MS
        self.together.wants_description((GROUP, next(iter(hosts))))
        self.hears(**hosts)

    def hears(self, **hosts: str) -> None:
        members = [
            m.ConsumerGroupDescribeResponseMember(
                member_id=name,
                client_host=host,
                assignment=m.ConsumerGroupDescribeResponseAssignment(),
                target_assignment=m.ConsumerGroupDescribeResponseAssignment(),
            )
            for name, host in hosts.items()
        ]
        group = m.ConsumerGroupDescribeResponseDescribedGroup(group_id=GROUP, group_state="Stable", members=members)
        self.line.heard.pop()(m.ConsumerGroupDescribeResponse(groups=[group]))


async def test_who_is_silent_here_and_heard_from_another_host_is_another_proxys() -> None:
    host = Host("alice", "bob")
    host.falls_silent("bob")
    host.described(alice=HERE, bob=THERE)
    assert host.lost == ["bob"]


async def test_when_all_fall_silent_at_once_we_know_our_host_from_before() -> None:
    host = Host("alice", "bob")
    host.described(alice=HERE, bob=HERE)
    host.falls_silent("alice")
    host.falls_silent("bob")
    host.described(alice=THERE, bob=THERE)
    assert host.lost == ["alice", "bob"]


async def test_who_is_silent_does_not_say_which_host_is_ours() -> None:
    """Both have moved; one of them has yet to be missed."""
    host = Host("alice", "bob")
    host.described(alice=HERE, bob=HERE)
    host.falls_silent("alice")
    host.falls_silent("bob")
    host.members[GROUP, "alice"] = msgspec.structs.replace(host.members[GROUP, "alice"], farewell_at=None)
    host.described(alice=THERE, bob=THERE)
    assert host.lost == ["bob"]


async def test_who_has_hung_up_does_not_say_which_host_is_ours() -> None:
    """Both have moved, and the other proxy's words are in the description before either is missed here."""
    host = Host("alice", "bob")
    host.described(alice=HERE, bob=HERE)
    host.hangs_up("alice")
    host.hangs_up("bob")
    host.described(alice=THERE, bob=THERE)
    assert host.lost == []
    host.falls_silent("alice")
    host.falls_silent("bob")
    host.described(alice=THERE, bob=THERE)
    assert host.lost == ["alice", "bob"]


async def test_a_proxy_may_have_several_addresses() -> None:
    """Its connections leave by one or the other, and the last to be loud is on one of them."""
    host = Host("alice", "bob", "carol")
    host.described(alice=HERE, bob=THERE, carol="/10.0.0.3")
    host.falls_silent("bob")
    host.described(alice=HERE, bob=THERE, carol=HERE)
    assert host.lost == []


async def test_the_host_of_one_that_another_proxy_may_have_is_ours_only_for_now() -> None:
    host = Host("alice", "bob")
    came = msgspec.structs.replace(host.members[GROUP, "alice"], came_at=host.clock.now_ms)
    host.members[GROUP, "alice"] = came
    host.described(alice=THERE, bob=HERE)
    host.falls_silent("bob")
    host.described(alice=HERE, bob=THERE)
    assert host.lost == ["bob"]


async def test_who_was_never_seen_under_another_host_is_not_elsewhere() -> None:
    host = Host("alice")
    host.described(alice=HERE)
    host.falls_silent("alice")
    host.described(alice=HERE)
    assert host.lost == []


async def test_who_was_adopted_and_has_yet_to_be_answered_does_not_say_either() -> None:
    """It may still be shown under the host that it came from."""
    host = Host("alice", "bob")
    host.members[GROUP, "alice"] = msgspec.structs.replace(host.members[GROUP, "alice"], must_say_all=True)
    host.described(alice=THERE, bob=HERE)
    host.falls_silent("alice")
    host.falls_silent("bob")
    host.described(alice=THERE, bob=THERE)
    assert host.lost == ["alice", "bob"]


async def test_who_was_answered_while_its_group_was_asked_for_does_not_say_either() -> None:
    """A proxy that took another's host for its own left for clients that had gone back there, when their sessions ended."""
    host = Host("alice")
    alice = host.members[GROUP, "alice"]
    host.members[GROUP, "alice"] = msgspec.structs.replace(alice, must_say_all=True)
    host.together.wants_description((GROUP, "alice"))
    host.members[GROUP, "alice"] = alice
    host.hears(alice=THERE)
    host.described(alice=HERE)
    host.falls_silent("alice")
    host.described(alice=THERE)
    assert host.lost == ["alice"]


@pytest.mark.parametrize("goes", [Host.hangs_up, Host.ends])
async def test_who_goes_while_its_group_is_asked_for_does_not_say_either(goes: Callable[[Host, str], None]) -> None:
    host = Host("alice", "bob")
    host.falls_silent("bob")
    host.together.wants_description((GROUP, "alice"))
    goes(host, "alice")
    host.hears(alice=THERE)
    host.described(bob=HERE)
    assert host.lost == []


def shared() -> Host:
    """Alice came from another proxy, and that may still beat for her: whoever was last is shown."""
    host = Host("alice")
    host.members[GROUP, "alice"] = msgspec.structs.replace(host.members[GROUP, "alice"], came_at=host.clock.now_ms)
    host.is_told("alice")
    return host


async def test_what_is_shown_behind_two_heartbeats_of_ours_is_our_host() -> None:
    host = shared()
    for each in (HERE, THERE, HERE):
        host.is_answered("alice")
        host.hears(alice=each)
    host.is_answered("alice")
    assert host.line.heard == [], "it need not look any more"
    host.falls_silent("alice")
    host.described(alice=HERE)
    assert host.lost == []
    host.described(alice=THERE)
    assert host.lost == ["alice"]


def some_time_later(host: Host) -> None:
    host.described(alice=THERE)


def slowly(host: Host) -> None:
    host.is_answered("alice")
    host.clock.passed_ms += FRESH_MS + 1
    host.hears(alice=THERE)


def while_one_is_on_its_way(host: Host) -> None:
    host.is_answered("alice", in_flight=GroupHeartbeat(group_id=GROUP, member_id="alice", member_epoch=3))
    host.hears(alice=THERE)


@pytest.mark.parametrize("looks", [some_time_later, slowly, while_one_is_on_its_way])
async def test_where_another_proxys_heartbeat_may_be_between_its_host_is_not_taken_for_ours(
    looks: Callable[[Host], None],
) -> None:
    host = shared()
    for _ in range(3):
        looks(host)
    host.is_answered("alice")
    host.hears(alice=HERE)
    host.is_answered("alice")
    host.hears(alice=HERE)
    host.falls_silent("alice")
    host.described(alice=THERE)
    assert host.lost == ["alice"]


async def test_as_long_as_its_host_is_not_known_a_proxy_looks_for_it_always_less_often() -> None:
    """Until the other has missed its clients, whenever that was."""
    host = shared()
    looked_at = list[int]()
    for second in range(600):
        host.is_answered("alice")
        looked_at += [second] * len(host.line.heard)
        host.line.heard.clear()
    assert len(looked_at) == LOOKS
    assert 60 < looked_at[-1] < 120


def native_beat(group_id: str = GROUP) -> classic.Request:
    body = m.ConsumerGroupHeartbeatRequest(group_id=group_id, member_id="native", member_epoch=3)
    return classic.read(encode_request(keys.CONSUMER_GROUP_HEARTBEAT, 1, 7, "app", body))


async def test_a_group_of_native_members_that_all_ended_without_a_word_is_forgotten(
    autojump_clock: trio.testing.MockClock,
) -> None:
    host = Host()
    async with trio.open_nursery() as tasks:
        tasks.start_soon(host.clock.run)
        for _ in range(20):
            host.together.native_taken(host.line, native_beat())  # type: ignore[arg-type]
            await trio.sleep(5)
            assert GROUP in host.together._groups
        await trio.sleep(180)
        assert not host.together._groups
        tasks.cancel_scope.cancel()


async def test_of_a_client_with_ever_new_groups_not_all_are_remembered() -> None:
    """Their names are its own, of 32 KB if it likes, and its connection may be there for months."""
    host = Host()
    for number in range(MOST_ADMITTED + 10):
        host.together.native_taken(host.line, native_beat(f"group {number}"))  # type: ignore[arg-type]
    assert len(host.line.natives) <= MOST_ADMITTED
    assert f"group {MOST_ADMITTED + 9}" in host.line.natives


@pytest.mark.parametrize("passes", [False, True])
async def test_a_group_with_nobody_here_is_forgotten_whoever_was_seen_in_it(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery, passes: bool
) -> None:
    """A native member that goes to the brokers directly is known from descriptions only, and nothing says when it ends."""
    host = Host("alice")
    nursery.start_soon(host.clock.run)
    host.is_told("alice")
    if passes:
        host.together.native_taken(host.line, native_beat())  # type: ignore[arg-type]
    host.described(alice=HERE, direct=THERE)
    host.ends("alice")
    await trio.sleep(180)
    assert not host.together._groups


async def test_a_native_member_that_bears_no_name_yet_passes_under_the_one_it_is_given() -> None:
    """As older clients begin. A LeaveGroup names nobody at its top either, and must not be taken for its."""
    host, passing = Host("alice"), list[tuple[str, str]]()
    host.requests.untranslated.passes = passing.append
    body = m.ConsumerGroupHeartbeatRequest(group_id=GROUP, member_id="", member_epoch=0)
    joins = classic.read(encode_request(keys.CONSUMER_GROUP_HEARTBEAT, 0, 7, "native", body))
    answer = m.ConsumerGroupHeartbeatResponse(member_id="given", member_epoch=1)
    host.together._paced(host.line, joins, encode_response(keys.CONSUMER_GROUP_HEARTBEAT, 0, 7, answer))  # type: ignore[arg-type]
    assert passing == [(GROUP, "given")]


async def test_who_has_gone_wishes_no_description_any_more(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    """Its line went first, so nobody could be asked; with it the last who would ask again has gone."""
    host = Host("alice")
    nursery.start_soon(host.clock.run)
    host.is_told("alice")
    host.line.heard.clear()
    host.reaches_the_coordinator = False
    host.together.wants_description((GROUP, "alice"))
    host.ends("alice")
    await trio.sleep(180)
    assert not host.together._groups


async def test_hundreds_are_told_of_a_description_in_turns_and_the_next_is_asked_for_when_all_have_heard(
    nursery: trio.Nursery, autojump_clock: trio.testing.MockClock
) -> None:
    """Each answers its client then. Who is told something else meanwhile hears it behind that."""
    names = [f"m{number:03}" for number in range(300)]
    host, asked_when = Host(*names), list[int]()
    host.line.ask = lambda _, heard: asked_when.append(len(host.told))  # type: ignore[method-assign]

    def order(*orders: gr.GroupOrder) -> None:
        host.together._perform(GROUP, orders)

    order(*(gr.Tell(name, ev.BeatWanted()) for name in names), gr.Describe())
    order(gr.Tell("m000", ev.BeatWanted()))
    assert host.told == names[:MOST_AT_ONCE]
    nursery.start_soon(host.clock.run)
    await trio.sleep(1)
    assert host.told == [*names, "m000"]
    assert asked_when == [300]
    order(gr.Tell("m001", ev.BeatWanted()))
    assert host.told[-1] == "m001"
    assert not host.together._undone


async def test_a_description_that_comes_when_all_have_gone_is_of_no_interest(
    autojump_clock: trio.testing.MockClock, nursery: trio.Nursery
) -> None:
    host = Host()
    nursery.start_soon(host.clock.run)
    host.together.native_taken(host.line, native_beat())  # type: ignore[arg-type]
    host.together.wants_description((GROUP, "native"))
    await trio.sleep(180)
    assert not host.together._groups
    host.hears(carol=HERE)
    assert not host.together._groups
