"""A client's connection, as its members see it: when it may go, and how long an answer is waited for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from struct import pack

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from kafka_protocol import encode_request, encode_response
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.addresses import Directory
from proxy.answers import LENGTH
from proxy.causes import Cause, Disconnect
from proxy.conversation import Conversation
from proxy.counts import Counts
from proxy.groups import native
from proxy.groups.clock import Clock
from proxy.groups.line import ANSWER_MS, FIRST_CORRELATION_ID, PROMPT_MS, REQUESTS_A_TURN, Key, Line
from proxy.settings import Limits, Settings
from proxy.wire import Wire
from translation import errors as e
from translation.group_heartbeat import GroupHeartbeat

MEMBER: Key = ("group", "member")
HEARTBEAT = GroupHeartbeat(group_id="group", member_id="member", member_epoch=1)
OFFERED = {keys.CONSUMER_GROUP_HEARTBEAT: (0, 1)}
SAID = m.ApiVersionsResponse(
    api_keys=[m.ApiVersionsResponseApiVersion(api_key=keys.CONSUMER_GROUP_HEARTBEAT, min_version=0, max_version=1)]
)
JOIN = m.JoinGroupRequest(group_id="group", protocol_type="consumer")
# Behind its answer.
CLIENTS_FETCH = 7


Taken = Callable[[Line, bytes], None]


class Host:
    """Nobody is asked anything here."""

    def __init__(self, taken: Taken = lambda line, frame: None) -> None:
        self.clock = Clock()
        self.taken = taken

    def interrupted(self, line: Line) -> None: ...


class Lingering:
    """A connection whose client has gone."""

    node, client = 1, "127.0.0.1:9"

    def __init__(self) -> None:
        wire = Wire(Directory(Settings(upstream=("kafka:9092",))))
        self.conversation = Conversation(wire, Counts(), Limits(max_request_bytes=1_000, max_rewritten_bytes=1_000))
        self.conversation.authenticated = True
        self.line: Line | None = None
        self.ended = False
        self.is_behind = False
        self.is_swallowing = False
        self.said_at = trio.current_time()
        self.closed_for: Cause | None = None

    def close(self, cause: Cause, detail: str) -> None:
        self.closed_for = cause
        self.conversation.abandon()

    def flush(self) -> None:
        self.conversation.take_outbox()

    def leaves_broker_unread(self) -> bool:
        return self.is_behind

    def swallows(self) -> bool:
        return self.is_swallowing

    def silent_ms(self) -> int:
        return int((trio.current_time() - self.said_at) * 1_000)

    def broker_says(self, answer: bytes) -> None:
        self.said_at = trio.current_time()
        self.conversation.from_broker(LENGTH.pack(len(answer)) + answer)

    def release(self) -> None:
        assert self.line is not None
        self.ended = self.ended or not self.line.needed()


def lingering(host: Host | None = None) -> tuple[Lingering, Line]:
    connection = Lingering()
    line = connection.line = Line(connection, host or Host())  # type: ignore[arg-type]
    line.members.add(MEMBER)
    return connection, line


async def test_a_connection_goes_with_its_last_member() -> None:
    connection, line = lingering()
    line.release(MEMBER)
    assert connection.ended


async def test_a_connection_does_not_go_before_what_was_asked_on_it_is_answered() -> None:
    """Else whoever has moved to another connection would take its coordinator for lost, and its client would hear so."""
    connection, line = lingering()
    heard: list[object] = []
    line.ask(native.ask_versions(), heard.append)
    line.release(MEMBER)
    assert not connection.ended
    answer = encode_response(18, 0, FIRST_CORRELATION_ID, m.ApiVersionsResponse(error_code=35))
    connection.conversation.from_broker(LENGTH.pack(len(answer)) + answer)
    assert heard == [m.ApiVersionsResponse(error_code=35)]
    assert connection.ended


async def test_but_for_what_has_yet_to_arrive_nobody_waits() -> None:
    """It would come behind what is said on the other connection: an old commit after a newer one."""
    connection, line = lingering()
    heard: list[object] = []
    line.ask(native.ask_versions(), heard.append)
    connection.is_swallowing = True
    assert not connection.ended
    line.release(MEMBER)
    assert connection.ended


async def test_neither_what_was_asked_is_kept_until_it_would_have_been_given_up_nor_where() -> None:
    """Thirty seconds of commits, each as large as a request may be; and of connections that have come and gone."""
    connection, line = lingering()
    body = m.ApiVersionsRequest()
    held = sys.getrefcount(body), sys.getrefcount(line)
    line.ask(native.Ask(18, 0, body), lambda answer: None)
    answer = encode_response(18, 0, FIRST_CORRELATION_ID, m.ApiVersionsResponse())
    connection.conversation.from_broker(LENGTH.pack(len(answer)) + answer)
    assert (sys.getrefcount(body), sys.getrefcount(line)) == held


@pytest.mark.parametrize(
    ("said", "told"),
    [
        *((code, e.NONE) for code in (0, 14, 22, 25, 27, 82)),
        *((code, code) for code in (e.INVALID_GROUP_ID, e.GROUP_AUTHORIZATION_FAILED)),
        # Elsewhere; and an authorizer that throws, credentials that have run out, what is not there yet.
        *((code, e.NOT_COORDINATOR) for code in (15, 16, e.UNKNOWN_SERVER_ERROR, 31, 58, 999)),
    ],
)
async def test_only_a_coordinators_word_on_nobody_opens_the_door(said: int, told: int) -> None:
    """What says nothing of a right shows none."""
    connection, line = lingering()
    heard: list[int] = []
    line.admit("group", heard.append)
    versions = encode_response(18, 0, FIRST_CORRELATION_ID, SAID)
    verdict = encode_response(12, 0, FIRST_CORRELATION_ID + 1, m.HeartbeatResponse(error_code=said))
    for answer in (versions, verdict):
        connection.conversation.from_broker(LENGTH.pack(len(answer)) + answer)
    assert heard == [told]
    line.admit("group", heard.append)
    assert heard == [told] * (2 if told == e.NONE else 1)


async def test_whose_right_was_seen_in_a_native_join_still_waits_for_what_its_broker_offers() -> None:
    """A client that was native may join as a legacy one on the same connection: its first heartbeat went out at no version,
    and its connection was closed for our mistake."""
    connection, line = lingering()
    heard: list[int] = []
    join = m.ConsumerGroupHeartbeatRequest(group_id="group", instance_id="instance")
    line.ask(native.Ask(keys.CONSUMER_GROUP_HEARTBEAT, 0, join), lambda _: None)
    joined = encode_response(68, 0, FIRST_CORRELATION_ID, m.ConsumerGroupHeartbeatResponse())
    connection.conversation.from_broker(LENGTH.pack(len(joined)) + joined)
    line.admit("group", heard.append)
    assert heard == []
    versions = encode_response(18, 0, FIRST_CORRELATION_ID + 1, SAID)
    verdict = encode_response(12, 0, FIRST_CORRELATION_ID + 2, m.HeartbeatResponse(error_code=e.UNKNOWN_MEMBER_ID))
    for answer in (versions, verdict):
        connection.conversation.from_broker(LENGTH.pack(len(answer)) + answer)
    assert heard == [e.NONE]
    assert line.versions == OFFERED


def at_the_desk(taken: Taken) -> tuple[Lingering, Line]:
    connection, line = lingering(Host(taken))
    connection.conversation.desk = line
    return connection, line


async def test_a_client_that_hangs_up_is_told_from_a_broker_that_does() -> None:
    class Counting(Host):
        def left(self, line: Line, hung_up: bool) -> None:
            told.append(hung_up)

        def closed(self, line: Line) -> None: ...

    told: list[bool] = []
    host = Counting()
    for ends in (Line.left, Line.closed):
        ends(lingering(host)[1])
    assert told == [True, False]


async def test_between_the_requests_that_a_client_sends_at_once_others_have_a_turn(nursery: trio.Nursery) -> None:
    """Those, too, that are answered here, and at once."""
    answered: list[bytes] = []

    def answer(line: Line, frame: bytes) -> None:
        answered.append(frame)
        line.answer(frame[4:8])

    connection, line = at_the_desk(answer)
    beat = encode_request(keys.HEARTBEAT, 0, 1, None, m.HeartbeatRequest())
    connection.conversation.from_client((LENGTH.pack(len(beat)) + beat) * 100)
    assert len(answered) == REQUESTS_A_TURN - 1
    assert not connection.conversation.waiting()
    nursery.start_soon(line._taker.clock.run)
    await wait_all_tasks_blocked(0.01)
    assert len(answered) == REQUESTS_A_TURN
    connection.conversation.from_client(b"")
    assert len(answered) == 2 * REQUESTS_A_TURN - 1


@pytest.mark.parametrize(
    ("failure", "cause"),
    [(Disconnect(Cause.MALFORMED_REQUEST), Cause.MALFORMED_REQUEST), (KeyError(), Cause.OUR_MISTAKE)],
)
async def test_one_that_had_to_wait_for_its_turn_ends_its_own_connection_only(
    nursery: trio.Nursery, failure: Exception, cause: Cause
) -> None:
    def fail(line: Line, frame: bytes) -> None:
        if frame == b"late":
            raise failure

    connection, line = at_the_desk(fail)
    for _ in range(REQUESTS_A_TURN - 1):
        line.taken(b"in time")
    line.taken(b"late")
    nursery.start_soon(line._taker.clock.run)
    await wait_all_tasks_blocked(0.01)
    assert connection.closed_for is cause


async def test_nor_is_it_looked_at_when_the_connection_has_ended(nursery: trio.Nursery) -> None:
    looked_at: list[bytes] = []
    _, line = at_the_desk(lambda _, frame: looked_at.append(frame))
    for _ in range(REQUESTS_A_TURN):
        line.taken(b"")
    line.open = False
    nursery.start_soon(line._taker.clock.run)
    await wait_all_tasks_blocked(0.01)
    assert len(looked_at) == REQUESTS_A_TURN - 1


@pytest.fixture
async def patient(nursery: trio.Nursery) -> Line:
    _, line = lingering()
    nursery.start_soon(line._taker.clock.run)
    return line


def closed_for(line: Line) -> Cause | None:
    assert isinstance(line.connection, Lingering)
    return line.connection.closed_for


async def waits_seconds(line: Line, ask: native.Ask) -> int:
    """Alarms ring a moment after their time."""
    heard: list[int] = []
    asked_at = line._taker.clock.now_ms
    line.ask(ask, lambda answer: heard.append(line._taker.clock.now_ms) if answer is None else None)
    await trio.sleep(2 * ANSWER_MS / 1_000)
    (given_up_at,) = heard
    return round((given_up_at - asked_at) / 1_000)


async def test_who_asks_a_coordinator_that_says_nothing_is_cut_off_long_before_its_successor_gives_its_members_up(
    patient: Line, autojump_clock: MockClock
) -> None:
    assert await waits_seconds(patient, native.ask_heartbeat(HEARTBEAT, OFFERED)) == PROMPT_MS / 1_000
    assert closed_for(patient) is Cause.BROKER_SILENT


async def test_whose_client_has_gone_keeps_its_only_connection(patient: Line, autojump_clock: MockClock) -> None:
    patient.client_left = True
    assert await waits_seconds(patient, native.ask_heartbeat(HEARTBEAT, OFFERED)) == PROMPT_MS / 1_000
    assert closed_for(patient) is None


async def test_the_broker_may_be_busy_with_what_the_client_asked_before(
    patient: Line, autojump_clock: MockClock
) -> None:
    patient.connection.conversation.expected.append(CLIENTS_FETCH)
    assert await waits_seconds(patient, native.ask_heartbeat(HEARTBEAT, OFFERED)) == ANSWER_MS / 1_000
    assert closed_for(patient) is None


async def test_but_not_with_a_commit(patient: Line, autojump_clock: MockClock) -> None:
    commit = encode_request(keys.OFFSET_COMMIT, 9, CLIENTS_FETCH, None, m.OffsetCommitRequest())
    patient.connection.conversation.forward(commit, lambda answer: None, is_prompt=True)
    assert await waits_seconds(patient, native.ask_heartbeat(HEARTBEAT, OFFERED)) == PROMPT_MS / 1_000
    assert closed_for(patient) is Cause.BROKER_SILENT


async def test_or_be_in_the_midst_of_an_answer_to_that(patient: Line, autojump_clock: MockClock) -> None:
    patient.connection.conversation.owed.to_come = 1_000
    assert await waits_seconds(patient, native.ask_heartbeat(HEARTBEAT, OFFERED)) == ANSWER_MS / 1_000
    assert closed_for(patient) is None


async def test_nor_is_a_broker_silent_whose_client_has_yet_to_take_what_it_said_before(
    patient: Line, autojump_clock: MockClock
) -> None:
    """The answer may lie there, and a client that reads slowly was cut off in the middle of its own. Its member asks anew."""
    assert isinstance(patient.connection, Lingering)
    patient.connection.is_behind = True
    assert await waits_seconds(patient, native.ask_heartbeat(HEARTBEAT, OFFERED)) == ANSWER_MS / 1_000
    assert closed_for(patient) is None


@pytest.mark.parametrize(
    ("answered", "given_up_after"),
    [(1, 11), (15, 25), (40, ANSWER_MS // 1_000)],
    ids=["one, then silence", "fifteen, then silence", "more than are waited for"],
)
async def test_who_answers_one_commit_after_another_is_silent_from_the_last_on(
    patient: Line, autojump_clock: MockClock, nursery: trio.Nursery, answered: int, given_up_after: int
) -> None:
    """A client commits each record, and waits for none: a coordinator that takes a second for each was hung up on in the
    midst of its answers. The member asks anew when it has heard none for as long as any answer is waited for."""
    connection = patient.connection
    assert isinstance(connection, Lingering)
    for number in range(50):
        commit = encode_request(keys.OFFSET_COMMIT, 9, number, None, m.OffsetCommitRequest())
        connection.conversation.forward(commit, lambda answer: None, is_prompt=True)

    async def answer_each_second() -> None:
        for number in range(answered):
            await trio.sleep(1)
            if connection.closed_for is None:
                connection.broker_says(encode_response(keys.OFFSET_COMMIT, 9, number, m.OffsetCommitResponse()))

    nursery.start_soon(answer_each_second)
    assert await waits_seconds(patient, native.ask_heartbeat(HEARTBEAT, OFFERED)) == given_up_after
    assert (closed_for(patient) is Cause.BROKER_SILENT) == (given_up_after < ANSWER_MS // 1_000)


async def test_nor_is_one_silent_that_has_just_answered_what_took_its_time(
    patient: Line, autojump_clock: MockClock, nursery: trio.Nursery
) -> None:
    """Who has a single connection fetches there, too: ours is the next to be answered since a moment ago."""
    connection = patient.connection
    assert isinstance(connection, Lingering)
    connection.conversation.expected.append(CLIENTS_FETCH)

    async def answer_late() -> None:
        await trio.sleep(PROMPT_MS / 1_000 - 1)
        connection.broker_says(encode_response(keys.FETCH, 4, CLIENTS_FETCH, m.FetchResponse()))

    nursery.start_soon(answer_late)
    assert await waits_seconds(patient, native.ask_heartbeat(HEARTBEAT, OFFERED)) == 2 * PROMPT_MS / 1_000 - 1
    assert closed_for(patient) is Cause.BROKER_SILENT


async def test_an_answer_that_cannot_be_read_is_none_to_who_waits_for_it() -> None:
    """The connection ends; whoever would wait for ever would let others wait behind it."""
    connection, line = lingering()
    heard: list[object] = []
    line.ask(native.ask_versions(), heard.append)
    answer = pack(">ihi", FIRST_CORRELATION_ID, 0, 1_000)
    with pytest.raises(Disconnect, match="malformed_answer"):
        connection.conversation.from_broker(LENGTH.pack(len(answer)) + answer)
    assert heard == [None]


async def test_a_classic_rebalance_takes_its_time(patient: Line, autojump_clock: MockClock) -> None:
    assert await waits_seconds(patient, native.Ask(keys.JOIN_GROUP, 5, JOIN)) == ANSWER_MS / 1_000
    assert closed_for(patient) is None
