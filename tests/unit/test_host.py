"""The host of the members, and what it keeps of those that it does not have."""

from __future__ import annotations

import io
from typing import cast

import trio
from trio.testing import MockClock

from proxy.causes import Cause
from proxy.counts import Counts
from proxy.groups.clock import Clock, Moment
from proxy.groups.host import RETURN_MS, Host
from proxy.groups.journal import Journal
from proxy.groups.leaving import Batch
from proxy.groups.line import Line
from proxy.groups.lines import Lines
from proxy.groups.passing import GroupRules
from proxy.groups.requests import Waiting
from proxy.logs import Log
from proxy.observations import Changed
from tests.unit.observing import changed
from tests.unit.test_commits import KEY, Connection
from tests.unit.test_journal import entry
from translation import errors as e
from translation.events import CoordinatorAnswered, HeartbeatRequested, MemberAdopted
from translation.group_heartbeat import GroupHeartbeat, GroupHeartbeatAnswer
from translation.member import Commit, Member, ParkedJoin
from translation.rules import Pacing, Rules
from translation.states import Phase, Standing

ADOPTED = MemberAdopted(member_id="new", member_epoch=3, assigned=(), subscribed_topics=())


async def test_who_does_not_come_back_after_a_restart_is_forgotten(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    log, clock = Log(out=io.StringIO()), Clock()
    journal = Journal(None, log)
    for name in ("back", "away"):
        journal.remember(entry(name))
    host = Host(clock, GroupRules((), Rules()), Pacing(), journal, log, Counts())
    nursery.start_soon(clock.run)
    host.members["g", "back"] = Member(group_id="g", member_id="back")
    await trio.sleep(RETURN_MS / 1000 - 1)
    assert set(journal.entries) == {("g", "back"), ("g", "away")}
    await trio.sleep(2)
    assert set(journal.entries) == {("g", "back")}


async def test_a_mistake_leaves_no_request_of_its_member_waiting() -> None:
    """Whoever waits would do so for ever, and its request with it: so all its connections end."""
    out = io.StringIO()
    log = Log(out=out)
    host = Host(Clock(), GroupRules((), Rules()), Pacing(), Journal(None, log), log, Counts())
    lines = {number: Waits(host, number) for number in (1, 2, 3)}
    host.members["g", "m"] = Member(
        group_id="g",
        member_id="m",
        phase=Phase.COMPLETING_REBALANCE,
        standing=Standing.JOINING,
        in_flight=GroupHeartbeat(group_id="g", member_id="m", member_epoch=0),
        parked=ParkedJoin((1,), until=1, word_by=1, knows_id=True),
        commits=(Commit(2, epoch=None, attempts=0),),
    )
    refused = GroupHeartbeatAnswer(error_code=e.INVALID_REQUEST, error_message="MemberId can't be empty.")
    host.feed(("g", "m"), CoordinatorAnswered(answer=refused))
    assert "calls this invalid (MemberId can't be empty.)" in out.getvalue()
    assert [line.ended for line in lines.values()] == [True, True, False]
    assert [host.requests.drop(number) for number in (1, 2)] == [None, None]
    assert ("g", "m") not in host.members


async def test_whoever_was_lost_by_mistake_is_no_part_of_its_group_any_more() -> None:
    """It would have a vote there, be asked first, and keep the group in memory, for ever. Nor is it in the journal."""
    log, counts = Log(out=io.StringIO()), Counts()
    host = Host(Clock(), GroupRules((), Rules()), Pacing(), Journal(None, log), log, counts)
    member = Member(group_id="g", member_id="m", phase=Phase.STABLE, standing=Standing.STABLE, epoch=3, generation=3)
    host.members["g", "m"] = member
    host.journal.remember(entry("m"))
    host.together.changed(changed(0, group_id="g", member_id="m", phase_before=Phase.ABSENT).transition, member)
    assert host.together.here("g") == ("m",)
    host.feed(("g", "m"), CoordinatorAnswered(answer=GroupHeartbeatAnswer(member_epoch=4)))
    assert ("g", "m") not in host.members
    assert host.together.here("g") == ()
    assert host.journal.entries == {}
    assert counts.mistakes == 1, "no connection ends for it, to be counted instead"


async def test_a_mistake_over_one_of_many_who_leave_ends_the_connection_that_waits_for_all() -> None:
    log = Log(out=io.StringIO())
    host = Host(Clock(), GroupRules((), Rules()), Pacing(), Journal(None, log), log, Counts())
    line = Waits(host, 1)
    host.requests.leaves._batches[-5] = (Batch(1, [0, 0], 2), [0])
    host.members["g", "m"] = Member(group_id="g", member_id="m", standing=Standing.LEAVING, leaves=(-5,))
    host.feed(("g", "m"), CoordinatorAnswered(answer=GroupHeartbeatAnswer(member_epoch=-1)))
    assert line.ended
    assert host.requests.drop(1) is None
    assert host.requests.leaves._batches == {}


async def test_a_group_is_asked_where_nothing_is_waited_for_or_else_where_it_can_be() -> None:
    log = Log(out=io.StringIO())
    host = Host(Clock(), GroupRules((), Rules()), Pacing(), Journal(None, log), log, Counts())

    def asked_on(*names: str) -> str | None:
        host.members = {("g", name): Member(group_id="g", cut=name == "cut", barred=name == "barred") for name in names}
        host.lines = Lines()
        for name in names:
            host.lines["g", name] = cast(Line, Asked(name))
        line = cast(Asked | None, host.line_into("g"))
        return line.name if line else None

    host.lines["another", "free"] = cast(Line, Asked("another's"))
    assert host.line_into("g") is None
    assert asked_on("busy", "gone", "cut", "barred", "free") == "free"
    assert asked_on("gone", "busy") == "busy"
    assert asked_on("gone", "cut", "barred") is None


class Asked:
    """A connection on which a group could be asked about."""

    def __init__(self, name: str) -> None:
        self.name, self.open, self.is_free = name, name != "gone", name != "busy"


class Waits:
    """A connection on which a request waits."""

    def __init__(self, host: Host, number: int) -> None:
        self.ended = False
        self.connection = self
        host.requests._waiting[number] = Waiting(self, None, 0)  # type: ignore[arg-type]

    def close(self, cause: Cause, detail: str) -> None:
        self.ended = cause is Cause.OUR_MISTAKE


def test_a_group_of_which_nobody_speaks_any_more_is_not_kept() -> None:
    lines, one, other = Lines(), cast(Line, Asked("one")), cast(Line, Asked("other"))
    lines["g", "a"], lines["g", "b"] = one, other
    assert (lines.pop(("g", "a")), lines.pop(("g", "a"))) == (one, None)
    assert dict(lines.of("g")) == {"b": other}
    assert lines.pop(("g", "b")) is other
    assert not lines._of


async def test_who_is_found_and_gone_went_when_that_was_asked_for_by_both_clocks() -> None:
    """If by one of them only, audits would have it that somebody has set the other."""
    log = Log(out=io.StringIO())
    host, told = Host(Clock(), GroupRules((), Rules()), Pacing(), Journal(None, log), log, Counts()), list[Changed]()
    host.observers.append(lambda observed: told.append(cast(Changed, observed)))
    host.say_found_and_gone("g", ADOPTED, "client has not come back", Moment(ms=123, ns=456))
    assert [(each.transition.at, each.at_ns, each.transition.phase) for each in told] == [
        (123, 456, Phase.PREPARE_REBALANCE),
        (123, 457, Phase.ABSENT),
    ]


async def test_whoever_speaks_on_another_connection_has_returned() -> None:
    """It may have been elsewhere between the two. (Who is adopted may have been, too: its member knows when.)"""
    connection = Connection()
    host, first = connection.host, connection.line
    second = host.requests.open_line(connection)  # type: ignore[arg-type]
    host.feed(KEY, HeartbeatRequested(request=1, generation=2), first)
    host.feed(("g", "new"), ADOPTED, first)
    assert (first.members, first.returned) == ({KEY, ("g", "new")}, set())
    host.feed(KEY, HeartbeatRequested(request=2, generation=2), second)
    assert (second.members, second.returned) == ({KEY}, {KEY})
    second.release(KEY)
    assert second.returned == set()
