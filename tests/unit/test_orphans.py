"""Who has not come back after a restart, as its coordinator describes it: who leaves, and who is let alone."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Iterator
from types import MappingProxyType
from typing import Any, cast

import msgspec
import pytest
import trio
from trio.testing import MockClock

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.counts import Counts
from proxy.groups.clock import Clock
from proxy.groups.host import Host
from proxy.groups.journal import Journal
from proxy.groups.line import Line
from proxy.groups.native import Ask
from proxy.groups.orphans import DIAL_MS, LAG_MS, LONGEST_MS, LOOK_MS
from proxy.groups.passing import GroupRules
from proxy.logs import Log
from proxy.observations import Changed, HeartbeatAnswered, HeartbeatSent, Observation
from tests.unit.observing import changed
from tests.unit.test_journal import entry
from translation.member import Member
from translation.rules import Pacing, Rules
from translation.states import Phase
from translation.transition import Transition

GROUP, CLIENT = "g", "a client"
OURS, ANOTHERS = "/10.0.0.1", "/10.0.0.2"
EPOCH = 7
A_LOOK, ANSWER_MS = LOOK_MS / 1000, 100
SESSION_MS, SHORT_MS = 30_000, 10_000
SELDOM_MS = 15_000


class Scene:
    """A restarted proxy: `old` was here before, `new` has come since, and speaks to the coordinator."""

    def __init__(
        self, session_ms: int = SESSION_MS, instance_id: str | None = None, names: tuple[str, ...] = ("old", "older")
    ) -> None:
        self.out = io.StringIO()
        log, clock = Log(out=self.out), Clock()
        journal = Journal(None, log)
        for name in names:
            journal.remember(
                msgspec.structs.replace(entry(name), session_timeout_ms=session_ms, instance_id=instance_id)
            )
        self.clock = clock
        self.host = Host(clock, GroupRules((), Rules()), Pacing(), journal, log, Counts())
        self.group: dict[str, tuple[int, str]] = {"old": (EPOCH - 1, OURS), "new": (EPOCH, OURS)}
        self.left: list[str] = []
        self.observed: list[Observation] = []
        self.host.observers.append(self.observed.append)
        self.looks = 0
        self.error_code = 0
        # How often a leave is not answered.
        self.fails = self.tries = 0
        self.comes("new")

    def steps(self, name: str) -> list[Transition]:
        steps = [each.transition for each in self.observed if isinstance(each, Changed)]
        return [each for each in steps if each.member_id == name]

    def comes(self, name: str, client_id: str = CLIENT) -> None:
        self.host.members[GROUP, name] = Member(group_id=GROUP, member_id=name, client_id=client_id)
        self.host.lines[GROUP, name] = cast(Line, self)

    # As a line.
    open = is_free = True
    versions = MappingProxyType({keys.CONSUMER_GROUP_DESCRIBE: (0, 1), keys.CONSUMER_GROUP_HEARTBEAT: (0, 1)})

    def ask(self, ask: Ask, heard: Callable[[Any], None]) -> None:
        if ask.key == keys.CONSUMER_GROUP_DESCRIBE:
            self.looks += 1
            heard(self._description())
        else:
            assert (ask.body.group_id, ask.body.member_epoch) == (GROUP, -1)
            self.host.clock.at(self.host.clock.now_ms + ANSWER_MS, lambda: self._hears_leave(ask.body.member_id, heard))

    def _hears_leave(self, name: str, heard: Callable[[Any], None]) -> None:
        self.tries += 1
        if self.tries <= self.fails:
            heard(None)
            return
        self.left.append(name)
        del self.group[name]
        heard(m.ConsumerGroupHeartbeatResponse())

    def _description(self) -> Any:
        members = [
            m.ConsumerGroupDescribeResponseMember(
                member_id=name, member_epoch=epoch, client_host=host, client_id=CLIENT, member_type=1
            )
            for name, (epoch, host) in self.group.items()
        ]
        group = m.ConsumerGroupDescribeResponseDescribedGroup(
            group_id=GROUP, group_epoch=EPOCH, members=members, error_code=self.error_code
        )
        return m.ConsumerGroupDescribeResponse(groups=[group])


@pytest.fixture
async def begun(nursery: trio.Nursery) -> AsyncIterator[Callable[..., Scene]]:
    def begin(*how: Any, **more: Any) -> Scene:
        scene = Scene(*how, **more)
        nursery.start_soon(scene.clock.run)
        return scene

    yield begin
    nursery.cancel_scope.cancel()


async def test_for_a_newcomer_of_its_client_id_it_leaves_when_it_has_had_time_to_dial(
    begun: Callable[..., Scene],
    autojump_clock: MockClock,
) -> None:
    scene = begun()
    await trio.sleep(DIAL_MS / 1000 - 0.1)
    assert scene.left == []
    await trio.sleep(A_LOOK)
    assert scene.left == ["old"]
    assert ("g", "old") not in scene.host.journal.entries
    assert "info member leaves, whose client has not come back group=g member=old " in scene.out.getvalue()


async def test_who_leaves_so_is_seen_to_go_with_what_it_had_been_told(
    begun: Callable[..., Scene], autojump_clock: MockClock
) -> None:
    scene = begun()
    await trio.sleep(DIAL_MS / 1000 + A_LOOK)
    assert {HeartbeatSent, HeartbeatAnswered} < {type(each) for each in scene.observed}
    came, went = scene.steps("old")
    assert (came.cause, came.phase, came.epoch, came.owned) == ("MemberAdopted", Phase.STABLE, EPOCH - 1, entry().told)
    assert (went.cause, went.phase, went.revoked) == ("client has not come back", Phase.ABSENT, entry().told)


async def test_whom_its_coordinator_gave_up_in_the_meantime_is_seen_to_have_gone_with_nothing(
    begun: Callable[..., Scene], autojump_clock: MockClock
) -> None:
    """Whoever is silent for longer than a coordinator waits, and asks for a session as long. Others may have it all."""
    scene = begun()
    del scene.group["old"]
    await trio.sleep(2 * A_LOOK)
    assert [(each.cause, each.phase, each.owned, each.revoked) for each in scene.steps("old")] == [
        ("MemberAdopted", Phase.STABLE, (), ()),
        ("client has not come back", Phase.ABSENT, (), ()),
    ]


async def test_one_leaves_for_each_newcomer(begun: Callable[..., Scene], autojump_clock: MockClock) -> None:
    scene = begun()
    scene.group["older"] = (EPOCH - 2, OURS)
    await trio.sleep(DIAL_MS / 1000 + 4 * A_LOOK)
    assert scene.left == ["old"]
    scene.comes("newer")
    await trio.sleep(2 * A_LOOK)
    assert scene.left == ["old", "older"]
    assert scene.group.keys() == {"new"}


async def test_a_leave_that_is_not_answered_is_tried_again(
    begun: Callable[..., Scene], autojump_clock: MockClock
) -> None:
    scene = begun()
    scene.fails = 1
    await trio.sleep(DIAL_MS / 1000 + 2 * A_LOOK)
    assert (scene.left, scene.tries) == (["old"], 2)


@pytest.mark.parametrize("instance_id", [None, "i-1"])
async def test_without_one_it_leaves_when_its_session_is_over(
    begun: Callable[..., Scene], autojump_clock: MockClock, instance_id: str | None
) -> None:
    scene = begun(instance_id=instance_id)
    if instance_id is None:
        scene.comes("new", "another client")
    await trio.sleep(SESSION_MS / 1000 - 0.1)
    assert scene.left == []
    await trio.sleep(A_LOOK)
    assert scene.left == ["old"]


async def test_a_short_session_is_one_with_a_newcomer_too(
    begun: Callable[..., Scene], autojump_clock: MockClock
) -> None:
    scene = begun(session_ms=SHORT_MS)
    await trio.sleep(SHORT_MS / 1000 + A_LOOK)
    assert scene.left == ["old"]


def is_elsewhere(scene: Scene) -> None:
    scene.group["old"] = (EPOCH - 1, ANOTHERS)


def follows(scene: Scene) -> None:
    scene.group["old"] = (EPOCH, OURS)


def is_back(scene: Scene) -> None:
    scene.comes("old")


def is_not_told(scene: Scene) -> None:
    scene.error_code = 30


@pytest.mark.parametrize(
    ("otherwise", "looks_go_on"), [(is_elsewhere, False), (follows, True), (is_back, False), (is_not_told, True)]
)
async def test_it_is_let_alone_if_it_may_be_spoken_for(
    begun: Callable[..., Scene], autojump_clock: MockClock, otherwise: Callable[[Scene], None], looks_go_on: bool
) -> None:
    scene = begun(session_ms=SHORT_MS)
    otherwise(scene)
    await trio.sleep(2 * SESSION_MS / 1000)
    assert scene.left == []
    looks = scene.looks
    await trio.sleep(SESSION_MS / 1000)
    assert (scene.looks > looks) is looks_go_on
    await trio.sleep(LONGEST_MS / 1000)
    looks = scene.looks
    await trio.sleep(SESSION_MS / 1000)
    assert scene.looks == looks
    assert ("g", "old") in scene.host.journal.entries


async def test_one_that_follows_late_is_looked_at_anew(begun: Callable[..., Scene], autojump_clock: MockClock) -> None:
    scene = begun(session_ms=SHORT_MS)
    for epoch in range(1, EPOCH):
        scene.group["old"] = (epoch, OURS)
        await trio.sleep(LAG_MS / 1000 - 0.1)
        assert scene.left == []
    await trio.sleep(A_LOOK)
    assert scene.left == ["old"]


async def test_where_members_are_to_beat_seldom_it_may_follow_as_late(
    begun: Callable[..., Scene], autojump_clock: MockClock
) -> None:
    """Its client may be at another proxy of this host, which hears of the group at its own beats."""
    scene = begun(session_ms=SHORT_MS)
    told = Member(group_id=GROUP, member_id="told", interval_ms=SELDOM_MS)
    scene.host.together.changed(changed(0, group_id=GROUP, member_id="told").transition, told)
    await trio.sleep(SELDOM_MS / 1000 + A_LOOK)
    assert scene.left == []
    await trio.sleep(2 * A_LOOK)
    assert scene.left == ["old"]


async def test_nobody_is_asked_about_when_all_have_spoken(
    begun: Callable[..., Scene], autojump_clock: MockClock
) -> None:
    scene = begun()
    for name in ("old", "older"):
        scene.comes(name)
    await trio.sleep(10 * A_LOOK)
    assert scene.looks == 0


class Walked(dict[tuple[str, str], Member]):
    """Counts how often all members are gone through."""

    walks = 0

    def __iter__(self) -> Iterator[tuple[str, str]]:
        self.walks += 1
        return super().__iter__()

    def items(self) -> Any:
        self.walks += 1
        return super().items()


async def test_newcomers_are_counted_once_a_look_however_many_are_silent(
    begun: Callable[..., Scene], autojump_clock: MockClock
) -> None:
    """Thousands come back at once, each group with an answer of its own, and everybody else waits meanwhile."""
    names = tuple(f"old-{number}" for number in range(20))
    scene = begun(names=names)
    scene.group |= dict.fromkeys(names, (EPOCH - 1, OURS))
    scene.host.members = walked = Walked(scene.host.members)
    await trio.sleep(DIAL_MS / 1000 + A_LOOK)
    assert len(scene.left) == 1
    assert walked.walks == scene.looks
