"""What the members of a group know together: for how long it is remembered, and who is told of it when."""

from __future__ import annotations

import pytest
import trio
import trio.testing

from kafka_protocol import encode_request, encode_response
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.groups import classic
from proxy.groups.line import MOST_ADMITTED
from proxy.groups.together import MOST_AT_ONCE
from tests.unit.described import GROUP, HERE, THERE, Host
from translation import events as ev
from translation import group as gr


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
