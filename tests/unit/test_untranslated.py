"""Who passes is said once a member, and whoever is refused without an id is nobody's memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kafka_protocol import encode_request, encode_response
from kafka_protocol import messages as m
from proxy.groups import classic
from proxy.groups.untranslated import Untranslated
from translation import errors as e

REASON = "a rule says `pass`"


class Passing:
    """JoinGroups that pass, and what the broker answers; `said` are those of whom it was said that they pass."""

    def __init__(self) -> None:
        self.said: list[str] = []
        rules = SimpleNamespace(of=lambda _: SimpleNamespace(mode="pass"))
        clock = SimpleNamespace(now_ns=0)
        log = SimpleNamespace(info=lambda *_, client, **__: self.said.append(client))
        host: Any = SimpleNamespace(rules=rules, clock=clock, log=log, observe=lambda _: None)
        requests: Any = SimpleNamespace(issued=SimpleNamespace(take=lambda _: False))
        self.untranslated = Untranslated(host, requests)

    def join(self, client: str, member_id: str, code: int, told_id: str) -> None:
        join = m.JoinGroupRequest(group_id="group", member_id=member_id, protocol_type="consumer")
        answer = encode_response(11, 4, 1, m.JoinGroupResponse(error_code=code, member_id=told_id))
        line: Any = SimpleNamespace(
            client=SimpleNamespace(client_id=client),
            forward=lambda _, heard: self._is_heard(heard, answer),
        )
        self.untranslated.take(line, classic.read(encode_request(11, 4, 1, client, join)), REASON)

    def _is_heard(self, heard: Any, answer: bytes) -> None:
        assert heard(answer) == answer


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
