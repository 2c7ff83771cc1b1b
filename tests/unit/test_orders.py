"""What members order, done: the names of topics are asked for once, and remembered, but not for ever."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy import observations as seen
from proxy.causes import Cause
from proxy.groups import native
from proxy.groups.orders import Orders
from proxy.memory import LARGEST_MEMORY
from tests.unit.observing import AT_REST
from translation import actions as do
from translation import errors as e
from translation import events as ev
from translation.group_heartbeat import GroupHeartbeat
from translation.member import Member
from translation.states import Phase, Standing

KEY = ("group", "member")


class Cluster:
    """Each topic has a name: its id. `asked`: how many topics were asked for, each time."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.told: list[ev.AnyEvent] = []

    def ask(self, ask: native.Ask, heard: Callable[[Any], None]) -> None:
        self.asked.append(len(ask.body.topics))
        topics = [
            m.MetadataResponseTopic(name=each.topic_id.hex(), topic_id=each.topic_id, error_code=0)
            for each in ask.body.topics
        ]
        heard(m.MetadataResponse(topics=topics))

    def feed(self, _: tuple[str, str], event: ev.AnyEvent) -> None:
        self.told.append(event)


def test_names_are_asked_for_once_until_there_are_too_many() -> None:
    cluster = Cluster()
    host: Any = SimpleNamespace(lines={KEY: cluster}, feed=cluster.feed, requests=None)
    orders = Orders(host)

    def learns(*numbers: int) -> None:
        orders.perform(KEY, do.LearnTopics(tuple(f"{number:032x}" for number in numbers)), None)

    learns(1, 2)
    learns(2, 3)
    assert cluster.asked == [2, 1]
    learns(*range(4, LARGEST_MEMORY + 1))
    learns(1)
    assert cluster.asked == [2, 1, LARGEST_MEMORY - 3]
    learns(LARGEST_MEMORY + 1)
    learns(1)
    assert cluster.asked[3:] == [1, 1]
    assert cluster.told[-1] == ev.TopicsLearned(names={f"{1:032x}": f"{1:032x}"})


def test_an_answer_is_not_for_the_next_member_of_the_same_id() -> None:
    """One ended while its broker was silent, and its client is back: what that broker says at last is old."""
    heard: list[Callable[[Any], None]] = []
    told: list[ev.AnyEvent] = []
    versions = {keys.CONSUMER_GROUP_HEARTBEAT: (0, 1)}
    line = SimpleNamespace(open=True, versions=versions, ask=lambda _, hear: heard.append(hear))
    host: Any = SimpleNamespace(
        lines={KEY: line},
        members={},
        clock=SimpleNamespace(now_ns=0),
        observe=lambda _: None,
        feed=lambda _, event: told.append(event),
        requests=None,
    )
    orders = Orders(host)

    def beats() -> None:
        beat = GroupHeartbeat(group_id="group", member_id="member", member_epoch=3)
        host.members[KEY] = Member(group_id="group", member_id="member", in_flight=beat)
        orders.perform(KEY, do.SendGroupHeartbeat(beat), None)

    beats()
    beats()
    heard[0](m.ConsumerGroupHeartbeatResponse(error_code=e.UNKNOWN_MEMBER_ID))
    heard[0](None)
    assert told == []
    heard[1](None)
    assert told == [ev.CoordinatorLost()]
    host.members.clear()
    heard[1](None)
    assert told == [ev.CoordinatorLost()]


@pytest.mark.parametrize("line", [None, SimpleNamespace(open=False)], ids=["none", "closed"])
def test_a_heartbeat_that_finds_no_connection_is_not_said_to_have_been_sent(line: Any) -> None:
    """Its member goes on as if it had been lost. A client whose broker is gone has no connection until it dials again."""
    observed: list[seen.Observation] = []
    told: list[ev.AnyEvent] = []
    beat = GroupHeartbeat(group_id="group", member_id="member", member_epoch=3)
    host: Any = SimpleNamespace(
        lines={KEY: line} if line else {},
        members={KEY: Member(group_id="group", member_id="member", in_flight=beat)},
        clock=SimpleNamespace(now_ns=5),
        observe=observed.append,
        feed=lambda _, event: told.append(event),
        requests=None,
    )
    Orders(host).perform(KEY, do.SendGroupHeartbeat(beat), None)
    assert told == [ev.CoordinatorLost()]
    assert observed == [seen.HeartbeatUnsent(at_ns=5, heartbeat=beat)]


@pytest.mark.parametrize("is_unread", [False, True])
@pytest.mark.parametrize("leaves", [(), (7,)])
def test_a_client_that_takes_no_answers_is_waited_for_no_more_when_its_member_has_ended(
    is_unread: bool, leaves: tuple[int, ...]
) -> None:
    """What the member has yet to hear lies behind them, and till then it can't leave. Not if it was the client that left."""
    closed: list[Cause] = []
    connection = SimpleNamespace(
        node=1, leaves_broker_unread=lambda: is_unread, close=lambda cause, _detail: closed.append(cause)
    )
    member = Member(group_id="group", member_id="member", standing=Standing.LEAVING, leaves=leaves)
    host: Any = SimpleNamespace(
        lines={KEY: SimpleNamespace(client=None, connection=connection)},
        members={KEY: member},
        clock=SimpleNamespace(now_ns=0),
        observe=lambda _: None,
        together=SimpleNamespace(changed=lambda *_: None),
        requests=None,
    )
    ended = msgspec.structs.replace(AT_REST, phase=Phase.ABSENT, standing=Standing.LEAVING)
    Orders(host).perform(KEY, do.RecordTransition(ended), None)
    assert closed == ([Cause.CLIENT_LOST] if is_unread and not leaves else [])
