"""A classic member that rejoins here first catches up with its group, whatever the coordinator says meanwhile.

The coordinator's words are written down here; `tests/proxy/test_real_adoption.py` has them from a real one.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_protocol import encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.counts import Counts
from proxy.groups import classic, native
from proxy.groups.clock import Clock
from proxy.groups.host import Host
from proxy.groups.journal import Journal
from proxy.groups.line import Line
from proxy.groups.native import Ask
from proxy.groups.passing import GroupRules
from proxy.groups.recognising import CATCH_UP_TRIES, Recognition
from proxy.logs import Log
from tests.translation.playbook import subscription
from tests.unit.test_journal import entry
from tests.unit.test_line import Lingering
from translation import errors as e
from translation.rules import Pacing, Rules
from translation.states import Standing

KEY = ("group", "member")
JOIN = encode_request(
    keys.JOIN_GROUP, 0, 1, "client", m.JoinGroupRequest(group_id=KEY[0], member_id=KEY[1], session_timeout_ms=9_000)
)
MEMBER = m.ConsumerGroupDescribeResponseMember(
    member_id=KEY[1], member_epoch=3, subscribed_topic_names=["orders"], member_type=0
)
GROUP = m.ConsumerGroupDescribeResponseDescribedGroup(group_id=KEY[0], members=[MEMBER])
DESCRIBED, NAMED = m.ConsumerGroupDescribeResponse(groups=[GROUP]), m.MetadataResponse()
FORGOTTEN = m.ConsumerGroupDescribeResponse(
    groups=[m.ConsumerGroupDescribeResponseDescribedGroup(group_id=KEY[0], error_code=e.UNSUPPORTED_VERSION)]
)
LOOKS = [keys.CONSUMER_GROUP_DESCRIBE, keys.METADATA]
CATCHES_UP = [keys.JOIN_GROUP, keys.SYNC_GROUP]


class Coordinator:
    """A line to it. It answers each SyncGroup with the next of these codes, then with none; None: it is lost. With `forgets`
    it knows no consumer groups any more once it was synced with."""

    versions = {keys.CONSUMER_GROUP_DESCRIBE: (0, 1)}  # noqa: RUF012
    is_free = True

    def __init__(self, *synced: int | None, joined: int = e.NONE, forgets: bool = False) -> None:
        self.asked: list[Ask] = []
        self._forgets = forgets
        self._joined = joined
        self._synced = list(synced)

    def ask(self, ask: Ask, heard: Callable[[Any], None]) -> None:
        self.asked.append(ask)
        heard(self._answer(ask.key))

    def _answer(self, key: int) -> Any:
        match key:
            case keys.JOIN_GROUP:
                return m.JoinGroupResponse(error_code=self._joined, generation_id=4)
            case keys.SYNC_GROUP:
                code = self._synced.pop(0) if self._synced else e.NONE
                return None if code is None else m.SyncGroupResponse(error_code=code)
            case _:
                has_synced = any(ask.key == keys.SYNC_GROUP for ask in self.asked)
                described = FORGOTTEN if self._forgets and has_synced else DESCRIBED
                return NAMED if key == keys.METADATA else described


class Requests:
    """One JoinGroup waits; what becomes of its member is noted."""

    def __init__(self, line: Coordinator) -> None:
        self._line = line
        self.became: list[str] = []

    def line_of(self, _: int) -> Coordinator:
        return self._line

    def request_of(self, _: int) -> classic.Request:
        return classic.read(JOIN)

    def __getattr__(self, what: str) -> Callable[..., None]:
        return lambda *_: self.became.append(what)


def adopted(coordinator: Coordinator, monkeypatch: pytest.MonkeyPatch, became: str = "adopted") -> list[int]:
    """What the coordinator was asked until the member was adopted, or became something else."""
    requests = Requests(coordinator)
    clock = SimpleNamespace(now_ms=0, at=lambda *_: None)
    host: Any = SimpleNamespace(members=set(), journal=SimpleNamespace(entries={}), clock=clock)
    recognition = Recognition(host, requests)  # type: ignore[arg-type]
    monkeypatch.setattr(recognition, "_adopt", lambda *_: requests.became.append("adopted"))
    recognition.ask(1, KEY)
    assert requests.became == [became]
    assert not recognition._asked
    assert not recognition._caught_up
    return [ask.key for ask in coordinator.asked]


def test_it_joins_and_syncs_and_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    coordinator = Coordinator()
    assert adopted(coordinator, monkeypatch) == [*LOOKS, *CATCHES_UP, *LOOKS]
    joined, synced = coordinator.asked[2].body, coordinator.asked[3].body
    assert (joined.member_id, joined.rebalance_timeout_ms) == (KEY[1], 9_000)
    assert (synced.member_id, synced.generation_id) == (KEY[1], 4)


def test_a_group_that_moves_on_meanwhile_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    coordinator = Coordinator(e.REBALANCE_IN_PROGRESS)
    assert adopted(coordinator, monkeypatch) == [*LOOKS, *CATCHES_UP, *CATCHES_UP, *LOOKS]


def test_a_group_that_moves_on_and_on_is_not_followed_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    coordinator = Coordinator(*[e.REBALANCE_IN_PROGRESS] * 1_000)
    assert adopted(coordinator, monkeypatch) == [*LOOKS, *CATCHES_UP * CATCH_UP_TRIES, *LOOKS]


@pytest.mark.parametrize(
    ("coordinator", "asked"),
    [
        (Coordinator(joined=e.UNKNOWN_MEMBER_ID), [keys.JOIN_GROUP]),
        (Coordinator(e.UNKNOWN_MEMBER_ID), CATCHES_UP),
        (Coordinator(None), CATCHES_UP),
    ],
)
def test_who_is_refused_is_looked_at_again(
    coordinator: Coordinator, asked: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert adopted(coordinator, monkeypatch) == [*LOOKS, *asked, *LOOKS]


def test_nothing_is_kept_of_one_whose_group_is_none_of_consumers_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """`group.version` may be taken back while it catches up."""
    asked = adopted(Coordinator(forgets=True), monkeypatch, became="pass_on")
    assert asked == [*LOOKS, *CATCHES_UP, LOOKS[0]]


class Slow(Coordinator):
    """It answers when it is told to."""

    open = True

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[Callable[[], None]] = []

    def ask(self, ask: Ask, heard: Callable[[Any], None]) -> None:
        self.answers.append(lambda: heard(self._answer(ask.key)))

    def soon(self, then: Callable[[], None]) -> None:
        then()


def test_many_who_ask_who_has_their_instances_share_a_description() -> None:
    """The static members of a group and their proxy have all been killed, and are back before their sessions have ended."""
    lines, fed = {("group", f"m{number}"): Slow() for number in range(300)}, list[tuple[str, str]]()
    clock = SimpleNamespace(now_ms=0, at=lambda *_: None)
    host: Any = SimpleNamespace(lines=lines, clock=clock, feed=lambda key, event: fed.append(key))
    recognition = Recognition(host, Requests(Slow()))  # type: ignore[arg-type]
    for key in lines:
        recognition.find_registered(key, "instance")
    described = 0
    while asked := [line for line in lines.values() if line.answers]:
        described += len(asked)
        for line in asked:
            line.answers.pop()()
    assert (sorted(fed), described) == (sorted(lines), 2)


def test_a_broker_that_describes_nothing_has_not_said_who_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """No Kafka answers so. The request would have been in hand for ever, and with it all that the member says later."""
    coordinator = Coordinator()
    monkeypatch.setattr(coordinator, "_answer", lambda _: m.ConsumerGroupDescribeResponse(groups=[]))
    assert adopted(coordinator, monkeypatch, became="refuse") == [keys.CONSUMER_GROUP_DESCRIBE]


def waits(host: Host, request: bytes, line: Line | None = None) -> tuple[int, Lingering]:
    """On this line, or a connection of its own: its broker offers all that is needed, and nothing is ahead."""
    connection = Lingering()
    line = connection.line = line or Line(connection, host.requests)  # type: ignore[arg-type]
    line.versions = {keys.CONSUMER_GROUP_HEARTBEAT: (0, 1), keys.CONSUMER_GROUP_DESCRIBE: (0, 1)}
    connection.conversation.in_hand = True
    return host.requests._wait(line, classic.read(request)), connection


async def test_an_id_that_was_given_out_is_known_to_be_new_in_a_join_only() -> None:
    """Its client may have joined with it at another proxy: whatever else it says, the coordinator knows who it is."""
    host, asked = a_host(), list[tuple[int, tuple[str, str]]]()
    host.requests.issued.add(("g", "given"))
    host.requests.recognition.ask = lambda *what: asked.append(what)  # type: ignore[method-assign]
    beat = m.HeartbeatRequest(group_id="g", member_id="given", generation_id=5)
    number, _ = waits(host, encode_request(keys.HEARTBEAT, 4, 8, "app", beat))
    host.requests._route(number, ("g", "given"))
    assert asked == [(number, ("g", "given"))]


async def test_whoever_claims_nothing_under_an_id_it_was_given_joins_at_once() -> None:
    host, asked = a_host(), list[int]()
    host.requests.issued.add(("g", "given"))
    host.requests.recognition.ask = lambda number, key: asked.append(number)  # type: ignore[method-assign]
    host.requests._route(waits(host, join_of("given"))[0], ("g", "given"))
    assert not asked
    assert host.members["g", "given"].standing is Standing.JOINING


@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_whoever_claims_partitions_under_an_id_it_was_given_may_have_them_from_another_proxy(
    is_elsewhere: bool,
) -> None:
    """The group is asked first. If it does not know the id either, they are a former self's, and not believed; on another
    connection the client may have been let in elsewhere, and must hear that it is nobody."""
    host, asked = a_host(), list[int]()
    host.requests.recognition.ask = lambda number, key: asked.append(number)  # type: ignore[method-assign]
    number, connection = waits(host, join_of("", claims=[0]))
    host.requests._route(number, ("g", ""))
    assert connection.line is not None
    key = connection.line.issued
    assert key is not None
    number, _ = waits(host, join_of(key[1], claims=[0]), None if is_elsewhere else connection.line)
    host.requests._route(number, key)
    assert asked == [number]
    host.requests.speak(number, key)
    assert (key in host.members) is not is_elsewhere


def join_of(member_id: str, claims: Iterable[int] = ()) -> bytes:
    protocol = m.JoinGroupRequestProtocol(name="range", metadata=subscription(owned=claims))
    join = m.JoinGroupRequest(
        group_id="g", member_id=member_id, session_timeout_ms=10_000, protocol_type="consumer", protocols=[protocol]
    )
    return encode_request(keys.JOIN_GROUP, 5, 8, "app", join)


async def test_a_producers_word_does_not_say_where_its_consumer_speaks() -> None:
    """After a restart it may be the first. The consumer's own comes within its next heartbeat."""
    host = a_host()
    host.journal.remember(entry("m"))
    body = m.TxnOffsetCommitRequest(
        transactional_id="t", group_id="g", producer_id=1, member_id="m", generation_id_or_member_epoch=7
    )
    number, connection = waits(host, encode_request(keys.TXN_OFFSET_COMMIT, 3, 8, "the producer", body))
    member = native.SeenMember(
        member_id="m",
        epoch=7,
        instance_id=None,
        rack_id=None,
        client_id="the consumer",
        client_host="/1",
        topics=(),
        assigned=(),
        target=(),
        names={},
        classic=False,
    )
    group = native.SeenGroup(
        error_code=0,
        group_id="g",
        state="Stable",
        epoch=7,
        assignment_epoch=7,
        assignor="uniform",
        members=(member,),
        authorized_operations=0,
    )
    host.requests.recognition._judge(number, ("g", "m"), group, member)
    assert host.members == {}
    assert host.requests.waiting(number) is None
    assert not connection.conversation.in_hand


def a_host() -> Host:
    log = Log(out=io.StringIO())
    return Host(Clock(), GroupRules((), Rules()), Pacing(), Journal(None, log), log, Counts())
