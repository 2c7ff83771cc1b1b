"""The host of the members, and what it keeps of those that it does not have."""

from __future__ import annotations

import io

import trio
from trio.testing import MockClock

from proxy.groups.clock import Clock
from proxy.groups.host import RETURN_MS, Host
from proxy.groups.journal import Journal
from proxy.groups.passing import GroupRules
from proxy.logs import Log
from tests.unit.test_journal import entry
from translation.member import Member
from translation.rules import Pacing, Rules


async def test_who_does_not_come_back_after_a_restart_is_forgotten(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    log, clock = Log(out=io.StringIO()), Clock()
    journal = Journal(None, log)
    for name in ("back", "away"):
        journal.remember(entry(name))
    host = Host(clock, GroupRules((), Rules()), Pacing(), journal, log)
    nursery.start_soon(clock.run)
    host.members["g", "back"] = Member(group_id="g", member_id="back")
    await trio.sleep(RETURN_MS / 1000 - 1)
    assert set(journal.entries) == {("g", "back"), ("g", "away")}
    await trio.sleep(2)
    assert set(journal.entries) == {("g", "back")}
