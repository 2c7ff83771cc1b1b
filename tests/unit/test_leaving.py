"""LeaveGroup of members that are not ours: what a coordinator refuses as a whole its client hears as a whole."""

from __future__ import annotations

import io
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_protocol import decode_response, encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy import observations as seen
from proxy.counts import Counts
from proxy.groups import classic
from proxy.groups.clock import Clock
from proxy.groups.host import Host
from proxy.groups.journal import Journal
from proxy.groups.line import Line
from proxy.groups.native import CONSUMER, Ask
from proxy.groups.passing import GroupRules
from proxy.groups.requests import Waiting
from proxy.logs import Log
from proxy.observations import Changed, Client, HeartbeatAnswered, HeartbeatSent, RequestAnswered
from tests.unit.test_journal import entry
from translation import errors as e
from translation.member import Member
from translation.rules import Pacing, Rules
from translation.states import Phase, Standing

GROUP, NUMBER = "g", 1
BATCH = 5
NOT_THERE = (e.COORDINATOR_LOAD_IN_PROGRESS, e.COORDINATOR_NOT_AVAILABLE, e.NOT_COORDINATOR)

ANOTHERS = "app-6f2f0e3a-9d0b-4a71-8a3c-1f9f5ad0c7aa"

Told = tuple[int, list[int]]


class Coordinator:
    """A line to it. It describes the group with `described`, and answers the LeaveGroup of whoever is not ours with `left`;
    with None it says nothing. "ours" is a member here, and leaves in peace."""

    versions = dict.fromkeys((keys.CONSUMER_GROUP_DESCRIBE, keys.CONSUMER_GROUP_HEARTBEAT), (0, 1))
    open, is_free, number = True, True, NUMBER
    # With what it refuses heartbeats.
    refuses = e.NONE
    client, connection = Client(address=""), SimpleNamespace(node=1)

    def __init__(self, described: int | None = e.GROUP_ID_NOT_FOUND, left: int | None = e.NONE) -> None:
        log = Log(out=io.StringIO())
        self.host = Host(Clock(), GroupRules((), Rules()), Pacing(), Journal(None, log), log, Counts())
        at_rest: dict[str, Any] = {"phase": Phase.STABLE, "standing": Standing.STABLE, "epoch": 3, "generation": 3}
        self.host.members[GROUP, "ours"] = Member(group_id=GROUP, member_id="ours", **at_rest)
        self.host.lines[GROUP, "ours"] = cast(Line, self)
        self._described, self._left = described, left
        self.natives: list[m.ConsumerGroupDescribeResponseMember] = []
        self.observed: list[seen.Observation] = []
        self.host.observers.append(self.observed.append)
        self._version = BATCH
        self.asked: list[int] = []
        self._told: Any = None

    def leave(self, *names: str, version: int = BATCH) -> Told:
        """What the client hears of all, and of each."""
        self._version = version
        body = m.LeaveGroupRequest(
            group_id=GROUP,
            member_id=names[0],
            members=[m.LeaveGroupRequestMemberIdentity(member_id=name) for name in names],
        )
        request = classic.read(encode_request(keys.LEAVE_GROUP, version, 1, "c", body))
        self.host.requests._waiting[NUMBER] = Waiting(cast(Line, self), request, 0)
        self.host.requests.leaves.taken(NUMBER, request)
        return self._told.error_code, [member.error_code for member in self._told.members]

    # As a line.

    def ask(self, ask: Ask, heard: Callable[[Any], None]) -> None:
        self.asked.append(ask.key)
        if ask.key == keys.CONSUMER_GROUP_HEARTBEAT and self.refuses:
            return heard(m.ConsumerGroupHeartbeatResponse(error_code=self.refuses))
        match ask.key:
            case keys.CONSUMER_GROUP_DESCRIBE:
                heard(_description(self._described, self.natives))
            case keys.LEAVE_GROUP:
                heard(_left(ask.body, self._left))
            case _:
                heard(
                    m.ConsumerGroupHeartbeatResponse(member_id=ask.body.member_id, member_epoch=ask.body.member_epoch)
                )
        return None

    def answer(self, frame: bytes) -> None:
        self._told = decode_response(keys.LEAVE_GROUP, self._version, frame)[1]

    def release(self, key: object) -> None: ...


def _description(code: int | None, members: list[m.ConsumerGroupDescribeResponseMember]) -> Any:
    group = m.ConsumerGroupDescribeResponseDescribedGroup(group_id=GROUP, error_code=code or e.NONE, members=members)
    return None if code is None else m.ConsumerGroupDescribeResponse(groups=[group])


def _left(body: Any, code: int | None) -> Any:
    gone = [m.LeaveGroupResponseMemberResponse(member_id=each.member_id) for each in body.members]
    return None if code is None else m.LeaveGroupResponse(error_code=code, members=[] if code else gone)


@pytest.mark.parametrize("code", [*NOT_THERE, e.GROUP_AUTHORIZATION_FAILED])
async def test_what_is_refused_as_a_whole_is_told_so(code: int) -> None:
    """As by a broker. Java's `removeMembersFromConsumerGroup` comes again for that alone."""
    assert Coordinator(left=code).leave("a", "b") == (code, [])
    assert Coordinator(left=code).leave("a", version=2) == (code, [])
    assert Coordinator(left=None).leave("a", "b") == (e.NOT_COORDINATOR, [])


@pytest.mark.parametrize("code", NOT_THERE)
async def test_where_it_cannot_be_known_who_is_native_nobody_is_sent_on_as_if_it_were_classic(code: int) -> None:
    coordinator = Coordinator(described=code)
    assert coordinator.leave("a", "b") == (code, [])
    assert coordinator.asked == [keys.CONSUMER_GROUP_DESCRIBE]
    assert Coordinator(described=None).leave("a") == (e.NOT_COORDINATOR, [])


@pytest.mark.parametrize("where", ["described", "left"])
async def test_beside_one_of_ours_that_has_left_it_is_told_of_each_of_the_others(where: str) -> None:
    refused: dict[str, int | None] = {where: e.COORDINATOR_LOAD_IN_PROGRESS}
    told = Coordinator(**refused).leave("a", "ours", "b")
    assert told == (e.NONE, [e.COORDINATOR_LOAD_IN_PROGRESS, e.NONE, e.COORDINATOR_LOAD_IN_PROGRESS])


async def test_who_may_read_the_group_and_not_describe_it_has_its_classic_members_leave() -> None:
    assert Coordinator(described=e.GROUP_AUTHORIZATION_FAILED).leave("a", "b") == (e.NONE, [e.NONE, e.NONE])


class Restarted(Coordinator):
    """Its proxy was here before: `old` had been told `t:0` and `t:1`. Native members are described beside it."""

    def __init__(self, *names: str) -> None:
        super().__init__(described=e.NONE)
        self.natives = [
            m.ConsumerGroupDescribeResponseMember(member_id=name, member_epoch=7, client_id="app", member_type=CONSUMER)
            for name in names
        ]
        self.host.journal.remember(entry("old", generation=4))

    def steps(self) -> list[Changed]:
        return [each for each in self.observed if isinstance(each, Changed)]


async def test_one_of_an_earlier_life_that_leaves_with_its_first_word_is_seen_to_go() -> None:
    """Else whoever reads traces held it present, and an owner of what it had been told, for good."""
    proxy = Restarted("old")
    assert proxy.leave("old") == (e.NONE, [e.NONE])
    sent, answered, *_ = proxy.observed
    assert isinstance(sent, HeartbeatSent)
    assert isinstance(answered, HeartbeatAnswered)
    assert (sent.heartbeat.member_id, sent.heartbeat.member_epoch, sent.request) == ("old", -1, NUMBER)
    came, went = proxy.steps()
    had = entry().told
    it = came.transition
    assert (it.cause, it.phase_before, it.phase, it.generation, it.epoch, it.owned) == (
        "MemberAdopted",
        Phase.ABSENT,
        Phase.STABLE,
        4,
        7,
        had,
    )
    it = went.transition
    assert (it.cause, it.request, it.phase_before, it.phase, it.standing) == (
        "LeaveRequested",
        NUMBER,
        Phase.STABLE,
        Phase.ABSENT,
        Standing.ABSENT,
    )
    assert (it.epoch_before, it.generation_before, it.owned, it.revoked) == (7, 4, (), had)
    assert came.at_ns < went.at_ns <= sent.at_ns, "before anybody else may have what it had"
    assert proxy.host.journal.entries == {}
    assert (GROUP, "old") not in proxy.host.members


async def test_one_that_a_proxy_named_is_seen_to_go_though_nothing_was_written_down_of_it() -> None:
    proxy = Restarted(ANOTHERS)
    proxy.leave(ANOTHERS, "ours")
    steps = [each.transition for each in proxy.steps() if each.transition.member_id == ANOTHERS]
    assert [(it.cause, it.phase) for it in steps] == [
        ("MemberAdopted", Phase.PREPARE_REBALANCE),
        ("LeaveRequested", Phase.ABSENT),
    ]
    assert (steps[1].request or 0) < 0, "one of several"


async def test_nothing_is_said_of_a_native_clients_member_that_an_admin_tool_removes() -> None:
    proxy = Restarted("1f9f5ad0-9d0b-4a71-8a3c-6f2f0e3ac7aa")
    assert proxy.leave(proxy.natives[0].member_id) == (e.NONE, [e.NONE])
    assert [type(each) for each in proxy.observed] == [RequestAnswered]


async def test_whom_the_coordinator_does_not_let_go_is_not_said_to_have_gone() -> None:
    proxy = Restarted("old")
    proxy.refuses = e.COORDINATOR_LOAD_IN_PROGRESS
    assert proxy.leave("old") == (e.NONE, [e.COORDINATOR_LOAD_IN_PROGRESS])
    assert proxy.steps() == []
    assert (GROUP, "old") in proxy.host.journal.entries
