"""Whose a silent member is: two proxies share nothing but what the coordinator shows of their members' hosts."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from proxy.groups.own_hosts import FRESH_MS, LEAD, LOOKS
from tests.unit.described import GROUP, HERE, THERE, Host


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
    """Its connections leave by one or the other."""
    host = Host("alice", "bob", "carol")
    host.described(alice=HERE, bob=THERE, carol="/10.0.0.3")
    host.falls_silent("bob")
    host.described(alice=HERE, bob=THERE, carol=HERE)
    assert host.lost == []


async def test_who_came_from_another_proxy_that_may_still_beat_for_it_does_not_say_which_host_is_ours() -> None:
    host = Host("alice", "bob")
    came = msgspec.structs.replace(host.members[GROUP, "alice"], came_at=host.clock.now_ms)
    host.members[GROUP, "alice"] = came
    host.described(alice=THERE, bob=HERE)
    host.falls_silent("bob")
    host.described(alice=HERE, bob=THERE)
    assert host.lost == ["bob"]


async def test_who_came_back_by_another_connection_does_not_say_which_host_is_ours() -> None:
    """It may have been at another proxy, and so shortly that it was not missed here; that one beats on."""
    host = Host("alice", "bob")
    host.line.returned.add((GROUP, "alice"))
    host.described(alice=THERE, bob=HERE)
    host.falls_silent("alice")
    host.described(alice=THERE, bob=HERE)
    assert host.lost == ["alice"]


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


def looks(host: Host, shown: str) -> None:
    host.is_answered("alice")
    host.hears(alice=shown)


async def test_what_is_shown_behind_our_heartbeats_is_our_host_though_anothers_may_come_between() -> None:
    host = shared()
    for each in (HERE, THERE, HERE, THERE, HERE, HERE):
        looks(host, each)
    host.falls_silent("alice")
    host.described(alice=THERE)
    assert host.lost == [], "there may be chance in it yet"
    looks(host, HERE)
    host.is_answered("alice")
    assert host.line.heard == [], "it need not look any more"
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


def behind_anothers(host: Host) -> None:
    host.is_answered("bob")
    host.hears(alice=THERE)


@pytest.mark.parametrize("looks_so", [some_time_later, slowly, behind_anothers])
async def test_where_another_proxys_heartbeat_is_likely_between_its_host_counts_for_nothing(
    looks_so: Callable[[Host], None],
) -> None:
    host = shared()
    for _ in range(LEAD):
        looks_so(host)
    for _ in range(LEAD):
        looks(host, HERE)
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
