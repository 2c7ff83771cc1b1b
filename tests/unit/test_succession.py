"""What a native client with a taken instance id hears, whatever becomes of the questions that are asked for it.

The coordinator's words are written down here; `tests/proxy/test_static_upgrade.py` has them from a real one.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_protocol import encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy import observations as seen
from proxy.groups import classic, native
from proxy.groups.clock import Moment
from proxy.groups.departures import Departures
from proxy.groups.line import Key
from proxy.groups.orders import Orders
from proxy.groups.recognising import Recognition
from proxy.groups.succession import Succession
from proxy.logs import Log
from proxy.observations import Client
from translation import errors as e
from translation import events as ev
from translation.member import Member
from translation.states import Phase, Standing

GROUP, INSTANCE = "group", "instance"
LEGACY = "app-6f2f0e3a-9d0b-4a71-8a3c-1f9f5ad0c7aa"
NATIVE = "1f9f5ad0-9d0b-4a71-8a3c-6f2f0e3ac7aa"
JOINS = classic.read(
    encode_request(
        keys.CONSUMER_GROUP_HEARTBEAT,
        1,
        7,
        "app",
        m.ConsumerGroupHeartbeatRequest(group_id=GROUP, member_id="new", member_epoch=0, instance_id=INSTANCE),
    )
)
OFFERED = {keys.CONSUMER_GROUP_HEARTBEAT: (0, 1), keys.CONSUMER_GROUP_DESCRIBE: (0, 1)}


class Coordinator:
    """A line to it. `holder` has the instance until it steps out; "": nobody; None: somebody, and no description comes."""

    client = Client(address="10.0.0.7", client_id="app")
    open = is_free = True

    def __init__(self, holder: str | None, versions: Mapping[int, tuple[int, int]] = OFFERED) -> None:
        self.asked: list[tuple[int, str, int]] = []
        self.versions = versions
        self._holder = holder

    def know_versions(self, then: Callable[[], None]) -> None:
        then()

    def soon(self, then: Callable[[], None]) -> None:
        then()

    def offers(self, key: int) -> bool:
        return key in self.versions

    def ask(self, ask: native.Ask, heard: Callable[[Any], None]) -> None:
        if ask.key == keys.CONSUMER_GROUP_DESCRIBE:
            self.asked.append((ask.key, "", 0))
            heard(self._described())
        else:
            self.asked.append((ask.key, ask.body.member_id, ask.body.member_epoch))
            heard(self._judged(ask.body))

    def _described(self) -> Any:
        if self._holder is None:
            return None
        holder = m.ConsumerGroupDescribeResponseMember(
            member_id=self._holder, instance_id=INSTANCE, client_id="app", member_type=native.CONSUMER
        )
        other = m.ConsumerGroupDescribeResponseMember(member_id=LEGACY.replace("6", "7"), client_id="app")
        group = m.ConsumerGroupDescribeResponseDescribedGroup(group_id=GROUP, members=[other, holder])
        return m.ConsumerGroupDescribeResponse(groups=[group])

    def _judged(self, body: Any) -> Any:
        if body.member_epoch == -2:
            self._holder = "" if body.member_id == self._holder else self._holder
            return m.ConsumerGroupHeartbeatResponse(member_epoch=-2)
        code = e.UNRELEASED_INSTANCE_ID if self._holder != "" else e.NONE
        return m.ConsumerGroupHeartbeatResponse(error_code=code)


class Lost(Coordinator):
    def _judged(self, body: Any) -> Any:
        return None


class Slow(Coordinator):
    """It describes groups when it is told to."""

    def __init__(self, holder: str) -> None:
        super().__init__(holder)
        self.descriptions: list[Callable[[], None]] = []

    def ask(self, ask: native.Ask, heard: Callable[[Any], None]) -> None:
        if ask.key == keys.CONSUMER_GROUP_DESCRIBE:
            self.descriptions.append(lambda: heard(self._described()))
        else:
            super().ask(ask, heard)


class Host:
    """`phase`: of the member here that has the instance, if there is one."""

    def __init__(self, phase: Phase | None) -> None:
        self.log = Log(out=io.StringIO())
        self.fed: list[tuple[Key, ev.AnyEvent]] = []
        self.observed: list[seen.Observation] = []
        self.gone: list[tuple[str, str]] = []
        self.observe = self.observed.append
        self.clock = SimpleNamespace(now=Moment(0, 0), now_ns=0, now_ms=0, at=lambda *_: None)
        self.journal = SimpleNamespace(entries={}, forget=lambda _: None)
        self.requests = SimpleNamespace(recognition=Recognition(self, self))  # type: ignore[arg-type]
        self.orders, self.departures = Orders(self), Departures(self)  # type: ignore[arg-type]
        standing = Standing.FATAL if phase is Phase.ABSENT else Standing.STABLE
        ours = None if phase is None else Member(group_id=GROUP, member_id=LEGACY, phase=phase, standing=standing)
        self.members = {(GROUP, LEGACY): ours} if ours else {}
        self.instances = {(GROUP, INSTANCE): LEGACY} if ours else {}

    def feed(self, key: Key, event: ev.AnyEvent) -> None:
        self.fed.append((key, event))

    def say_found_and_gone(self, group_id: str, found: ev.MemberAdopted, cause: str, *_: Any) -> None:
        assert group_id == GROUP
        self.gone.append((found.member_id, cause))


def joins(line: Coordinator, phase: Phase | None = None) -> tuple[int | None, Host]:
    host = Host(phase)
    codes: list[int | None] = []
    succession: Any = Succession(host)  # type: ignore[arg-type]
    succession.join(line, JOINS, lambda answer: codes.append(None if answer is None else answer.error_code))
    (code,) = codes
    return code, host


NEW, STEPS_OUT = (keys.CONSUMER_GROUP_HEARTBEAT, "new", 0), (keys.CONSUMER_GROUP_HEARTBEAT, LEGACY, -2)
LOOKS = (keys.CONSUMER_GROUP_DESCRIBE, "", 0)


def test_where_nobody_has_the_instance_it_is_asked_once() -> None:
    line = Coordinator(holder="")
    code, host = joins(line, Phase.STABLE)
    assert (code, line.asked, host.fed) == (e.NONE, [NEW], [])


def test_a_member_here_hears_that_it_was_taken_over_and_steps_out() -> None:
    line = Coordinator(LEGACY)
    code, host = joins(line, Phase.STABLE)
    assert (code, line.asked) == (e.NONE, [NEW, STEPS_OUT, NEW])
    assert host.fed == [((GROUP, LEGACY), ev.InstanceTaken())]
    assert host.gone == [], "it says so itself"


@pytest.mark.parametrize("phase", [None, Phase.ABSENT])
def test_one_that_is_not_here_any_more_is_looked_for_in_the_group(phase: Phase | None) -> None:
    line = Coordinator(LEGACY)
    code, host = joins(line, phase)
    assert code == e.NONE
    assert line.asked == [NEW, LOOKS, STEPS_OUT, NEW]
    assert [type(each) for each in host.observed] == [seen.HeartbeatSent, seen.HeartbeatAnswered]
    assert host.gone == ([(LEGACY, "InstanceTaken")] if phase is None else []), "who was here has gone before"


@pytest.mark.parametrize("holder", [NATIVE, f"app-{NATIVE[:-1]}", "app", None])
def test_who_is_not_known_to_be_a_legacy_member_keeps_it(holder: str | None) -> None:
    line = Coordinator(holder)
    assert joins(line)[0] == e.UNRELEASED_INSTANCE_ID
    assert STEPS_OUT not in line.asked


def test_where_groups_cannot_be_described_the_coordinators_word_stands() -> None:
    line = Coordinator(LEGACY, versions={})
    assert joins(line)[0] == e.UNRELEASED_INSTANCE_ID


def test_where_it_is_not_known_what_the_broker_takes_nobody_is_fenced_for_it() -> None:
    """It froze, or was cut off, before it had said what it offers: nobody could be stepped out."""
    line = Coordinator(LEGACY, versions={})
    code, host = joins(line, Phase.STABLE)
    assert (code, line.asked, host.fed) == (e.UNRELEASED_INSTANCE_ID, [NEW, NEW], [])


def test_a_coordinator_that_is_lost_has_no_last_word() -> None:
    assert joins(Lost(LEGACY))[0] is None


def test_many_whose_instances_others_have_share_what_is_asked_about_them() -> None:
    """The static natives of a group crash, and are back before their sessions have ended. Each is refused; and a description
    is as long as the group is large: among a thousand, 9 ms of the processor's time and more."""
    codes, lines = list[int](), [Slow(NATIVE) for _ in range(300)]
    succession: Any = Succession(Host(None))  # type: ignore[arg-type]
    for line in lines:
        succession.join(line, JOINS, lambda answer: codes.append(answer.error_code))
    described = 0
    while asked := [line for line in lines if line.descriptions]:
        described += len(asked)
        for line in asked:
            line.descriptions.pop()()
    assert (codes, described) == ([e.UNRELEASED_INSTANCE_ID] * 300, 2)
