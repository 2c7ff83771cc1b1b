"""Who passes is said once a member, and whoever is refused without an id is nobody's memory. Who passes now is known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kafka_protocol import encode_request, encode_response
from kafka_protocol import messages as m
from proxy.groups import classic
from proxy.groups.untranslated import Untranslated
from proxy.observations import Client, GroupPasses, Observation, PassesNoMore
from translation import errors as e

REASON = "a rule says `pass`"


class Passing:
    """Requests that pass, and what the broker answers; `said` are those of whom it was said that they pass, `present` those
    who were observed to, with the reason."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.present: dict[str, str] = {}
        rules = SimpleNamespace(of=lambda _: SimpleNamespace(mode="pass"))
        clock = SimpleNamespace(now_ns=0)
        log = SimpleNamespace(info=lambda *_, client, **__: self.said.append(client))
        host: Any = SimpleNamespace(rules=rules, clock=clock, log=log, observe=self._observe, members={})
        requests: Any = SimpleNamespace(issued=SimpleNamespace(take=lambda _: False))
        self.untranslated = Untranslated(host, requests)

        self.lines: dict[str, Any] = {}

    def join(self, client: str, member_id: str, code: int, told_id: str, reason: str = REASON) -> None:
        join = m.JoinGroupRequest(group_id="group", member_id=member_id, protocol_type="consumer")
        answer = encode_response(11, 4, 1, m.JoinGroupResponse(error_code=code, member_id=told_id))
        self._take(client, encode_request(11, 4, 1, client, join), answer, reason)

    def beat(self, client: str, member_id: str, code: int = e.NONE, reason: str = REASON) -> None:
        beat = m.HeartbeatRequest(group_id="group", member_id=member_id)
        answer = encode_response(12, 3, 1, m.HeartbeatResponse(error_code=code))
        self._take(client, encode_request(12, 3, 1, client, beat), answer, reason)

    def leave(self, *member_ids: str) -> None:
        members = [m.LeaveGroupRequestMemberIdentity(member_id=each) for each in member_ids]
        leave = m.LeaveGroupRequest(group_id="group", members=members)
        self.untranslated.leave(classic.read(encode_request(13, 4, 1, "", leave)))

    def hangs_up(self, client: str) -> None:
        self.untranslated.closed(self.lines.pop(client))

    def _take(self, client: str, request: bytes, answer: bytes, reason: str) -> None:
        def forward(_: bytes, heard: Any) -> None:
            assert heard(answer) == answer

        who = Client(address="", client_id=client)
        line = self.lines.setdefault(client, SimpleNamespace(client=who, open=True, passing=set(), forward=forward))
        line.forward = forward
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
    passing.leave("alice-1", "nobody")
    assert passing.present == {"bob-1": REASON}


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


def test_who_is_translated_passes_no_longer() -> None:
    passing = Passing()
    passing.join("alice", "", e.NONE, "alice-1")
    passing.untranslated.translated(("group", "alice-1"))
    assert passing.present == {}
