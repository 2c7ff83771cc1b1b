"""Who passes is said once a member, and whoever is refused without an id is nobody's memory. Who passes now is known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_protocol import decode_request, decode_response, encode_request, encode_response
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.groups import classic
from proxy.groups.passing import Ruling
from proxy.groups.untranslated import Untranslated
from proxy.memory import Memory
from proxy.observations import Client, GroupPasses, Observation, PassesNoMore
from translation import errors as e
from translation.rules import Rules

REASON = "a rule says `pass`"


class Passing:
    """Requests that pass, and what the broker answers; `said` are those of whom it was said that they pass, `present` those
    who were observed to, with the reason."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.present: dict[str, str] = {}
        rules = SimpleNamespace(of=lambda _: Ruling("pass", Rules()))
        clock = SimpleNamespace(now_ns=0)
        log = SimpleNamespace(info=lambda *_, client, **__: self.said.append(client))
        host: Any = SimpleNamespace(rules=rules, clock=clock, log=log, observe=self._observe, members={})
        # Ids that the proxy gave out; the broker's answer to who comes without one; what was forwarded, and answered here.
        self.issued = Memory()
        self.gives: m.JoinGroupResponse | None = None
        self.forwarded: list[Any] = []
        self.answered: list[bytes] = []
        self.untranslated = Untranslated(host, SimpleNamespace(issued=self.issued))  # type: ignore[arg-type]
        self.lines: dict[str, Any] = {}

    def join(self, client: str, member_id: str, code: int, told_id: str, reason: str = REASON) -> None:
        join = m.JoinGroupRequest(group_id="group", member_id=member_id, protocol_type="consumer")
        answer = encode_response(11, 4, 1, m.JoinGroupResponse(error_code=code, member_id=told_id))
        self._take(client, encode_request(keys.JOIN_GROUP, 4, 1, client, join), answer, reason)

    def beat(self, client: str, member_id: str, code: int = e.NONE, reason: str = REASON) -> None:
        beat = m.HeartbeatRequest(group_id="group", member_id=member_id)
        answer = encode_response(12, 3, 1, m.HeartbeatResponse(error_code=code))
        self._take(client, encode_request(keys.HEARTBEAT, 3, 1, client, beat), answer, reason)

    def leave(self, client: str, *member_ids: str, code: int = e.NONE) -> None:
        members = [m.LeaveGroupRequestMemberIdentity(member_id=each) for each in member_ids]
        leave = m.LeaveGroupRequest(group_id="group", members=members)
        answer = encode_response(13, 4, 1, m.LeaveGroupResponse(error_code=code))
        self._take(client, encode_request(keys.LEAVE_GROUP, 4, 1, client, leave), answer, REASON)

    def hangs_up(self, client: str) -> None:
        self.untranslated.closed(self.lines.pop(client))

    def _take(self, client: str, request: bytes, answer: bytes, reason: str) -> None:
        def forward(frame: bytes, heard: Any) -> None:
            self.forwarded.append(classic.read(frame).body)
            assert heard(answer) == answer

        def ask(asked: Any, heard: Any) -> None:
            assert asked.body.member_id == ""
            heard(self.gives)

        who = Client(address="", client_id=client)
        line = self.lines.setdefault(client, SimpleNamespace(client=who, open=True, passing=set()))
        line.forward, line.ask, line.answer = forward, ask, self.answered.append
        self.untranslated.take(line, classic.read(request), reason)

    def _observe(self, observation: Observation) -> None:
        match observation:
            case GroupPasses():
                assert observation.member_id not in self.present
                self.present[observation.member_id] = observation.reason
            case PassesNoMore():
                del self.present[observation.member_id]


def test_each_member_is_named_once() -> None:
    passing = Passing()
    passing.join("alice", "", e.MEMBER_ID_REQUIRED, "alice-1")
    passing.join("alice", "alice-1", e.NONE, "alice-1")
    passing.join("alice", "alice-1", e.NONE, "alice-1")
    passing.join("bob", "", e.MEMBER_ID_REQUIRED, "bob-1")
    assert passing.said == ["alice", "bob"]


def test_so_is_who_comes_after_one_that_was_refused() -> None:
    passing = Passing()
    passing.join("bob", "", e.NOT_COORDINATOR, "")
    passing.join("alice", "", e.MEMBER_ID_REQUIRED, "alice-1")
    assert passing.said == ["bob", "alice"]


def test_of_a_group_that_one_may_not_read_nothing_is_said() -> None:
    """Nor is a word on another that a stranger made up: protocol types are its own."""
    passing = Passing()
    passing.join("mallory", "", e.GROUP_AUTHORIZATION_FAILED, "", "protocol type 'connect'")
    assert (passing.said, passing.present) == ([], {})


def test_a_member_is_present_from_its_join_until_it_leaves() -> None:
    passing = Passing()
    passing.join("alice", "", e.MEMBER_ID_REQUIRED, "alice-1")
    assert passing.present == {}
    passing.join("alice", "alice-1", e.NONE, "alice-1")
    passing.join("alice", "alice-1", e.NONE, "alice-1")
    passing.join("bob", "", e.NONE, "bob-1")
    assert passing.present == {"alice-1": REASON, "bob-1": REASON}
    passing.leave("alice", "alice-1", "nobody")
    assert passing.present == {"bob-1": REASON}


def test_a_stranger_does_not_have_it_leave() -> None:
    passing = Passing()
    passing.join("alice", "", e.NONE, "alice-1")
    passing.leave("mallory", "alice-1", code=e.GROUP_AUTHORIZATION_FAILED)
    assert passing.present == {"alice-1": REASON}


def test_or_until_its_connection_ends_and_again_from_its_next_heartbeat_for_the_same_reason() -> None:
    passing = Passing()
    passing.join("alice", "", e.NONE, "alice-1", "a Kafka Streams assignor")
    passing.hangs_up("alice")
    assert passing.present == {}
    passing.beat("alice", "alice-1", e.REBALANCE_IN_PROGRESS, "it is nobody's that is translated")
    assert passing.present == {"alice-1": "a Kafka Streams assignor"}


def test_who_goes_on_on_another_connection_does_not_end_with_the_first() -> None:
    passing = Passing()
    passing.join("alice", "", e.NONE, "alice-1")
    passing.beat("alice's second", "alice-1")
    passing.hangs_up("alice")
    assert passing.present == {"alice-1": REASON}


def test_after_a_restart_a_member_is_met_at_its_heartbeat() -> None:
    passing = Passing()
    passing.beat("alice", "alice-1")
    passing.beat("alice", "alice-1")
    passing.beat("bob", "bob-1", e.UNKNOWN_MEMBER_ID)
    assert (passing.present, passing.said) == ({"alice-1": REASON}, ["alice"])


def test_whom_the_broker_has_no_more_is_gone() -> None:
    passing = Passing()
    passing.join("alice", "", e.NONE, "alice-1")
    passing.beat("alice", "alice-1", e.UNKNOWN_MEMBER_ID)
    assert passing.present == {}


def test_who_needed_an_id_first_passes_for_the_reason_that_was_found_then() -> None:
    passing = Passing()
    passing.join("alice", "", e.MEMBER_ID_REQUIRED, "alice-1", "a Kafka Streams assignor")
    passing.join("alice", "alice-1", e.NONE, "alice-1", "a broker has given it its id")
    assert passing.present == {"alice-1": "a Kafka Streams assignor"}


def test_who_has_an_id_of_ours_passes_under_the_one_that_the_broker_gives() -> None:
    """It is not told MEMBER_ID_REQUIRED twice: @platformatic/kafka would keep the first."""
    passing = Passing()
    passing.issued.add(("group", "alice-of-ours"))
    passing.gives = m.JoinGroupResponse(error_code=e.MEMBER_ID_REQUIRED, member_id="alice-1")
    passing.join("alice", "alice-of-ours", e.NONE, "alice-1")
    assert [join.member_id for join in passing.forwarded] == ["alice-1"]
    assert (passing.said, passing.present, passing.answered) == (["alice"], {"alice-1": REASON}, [])


@pytest.mark.parametrize(
    ("gives", "told"),
    [(m.JoinGroupResponse(error_code=e.GROUP_MAX_SIZE_REACHED), e.GROUP_MAX_SIZE_REACHED), (None, e.NOT_COORDINATOR)],
)
def test_or_hears_why_it_gives_none(gives: m.JoinGroupResponse | None, told: int) -> None:
    passing = Passing()
    passing.issued.add(("group", "alice-of-ours"))
    passing.gives = gives
    passing.join("alice", "alice-of-ours", e.NONE, "")
    [answer] = passing.answered
    assert decode_response(keys.JOIN_GROUP, 4, answer)[1].error_code == told
    assert (passing.forwarded, passing.present) == ([], {})


TAKES_FROM_0, FROM_2 = (0, 9), (2, 9)


class OldJoin:
    """A JoinGroup of an old version that passes: in which version, and with which rebalance timeout, the broker hears it; and
    what its client is told."""

    def __init__(self, version: int, offered: tuple[int, int] | None) -> None:
        self.passing = Passing()
        self.version = version
        line: Any = SimpleNamespace(
            client=Client(address="", client_id="alice"),
            open=True,
            passing=set(),
            versions={},
            know_versions=lambda then: (line.versions.update({11: offered} if offered else {}), then()),
            forward=self._forward,
        )
        protocols = [m.JoinGroupRequestProtocol(name="range", metadata=b"as it is")]
        body = m.JoinGroupRequest(
            group_id="group",
            session_timeout_ms=9_000,
            rebalance_timeout_ms=60_000 if version else -1,
            protocol_type="consumer",
            protocols=protocols,
        )
        self.frame = encode_request(keys.JOIN_GROUP, version, 5, "alice", body)
        self.passing.untranslated.take(line, classic.read(self.frame), REASON)

    def _forward(self, frame: bytes, heard: Any) -> None:
        self.sent = frame
        header, body = decode_request(frame)
        self.heard = (header.api_version, body.rebalance_timeout_ms)
        assert (header.correlation_id, header.client_id) == (5, "alice")
        assert body.protocols[0].metadata == b"as it is"
        joined = m.JoinGroupResponse(generation_id=3, protocol_name="range", member_id="alice-1", leader="alice-1")
        joined.members = [m.JoinGroupResponseMember(member_id="alice-1", metadata=b"as it is")]
        if header.api_version >= 2:
            joined.throttle_time_ms = 7
        self.answer = encode_response(11, header.api_version, 5, joined)
        self.told = heard(self.answer)
        assert heard(None) is None


@pytest.mark.parametrize("offered", [FROM_2, None])
@pytest.mark.parametrize(("version", "timeout_ms"), [(0, 9_000), (1, 60_000)])
def test_a_version_that_the_broker_would_hang_up_on_passes_in_one_that_it_takes(
    version: int, timeout_ms: int, offered: tuple[int, int] | None
) -> None:
    """And is answered in its own. It may be parked for minutes: the client waits, as for any broker."""
    old = OldJoin(version, offered)
    assert old.heard == (2, timeout_ms)
    correlation_id, told = decode_response(keys.JOIN_GROUP, version, old.told)
    assert (correlation_id, told.generation_id, told.member_id, told.leader) == (5, 3, "alice-1", "alice-1")
    assert [(each.member_id, each.metadata) for each in told.members] == [("alice-1", b"as it is")]
    assert (old.passing.said, old.passing.present) == (["alice"], {"alice-1": REASON})


@pytest.mark.parametrize("version", [0, 1])
def test_where_the_broker_takes_it_it_passes_as_it_came(version: int) -> None:
    old = OldJoin(version, TAKES_FROM_0)
    assert (old.sent, old.told) == (old.frame, old.answer)


def test_who_is_translated_passes_no_longer() -> None:
    passing = Passing()
    passing.join("alice", "", e.NONE, "alice-1")
    passing.untranslated.translated(("group", "alice-1"))
    assert passing.present == {}
