"""Commits that a client sends one behind another: they need not wait for each other, unless the epoch may move."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_protocol import decode_request, decode_response, encode_request, encode_response
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy import observations as seen
from proxy.addresses import Directory
from proxy.answers import LENGTH
from proxy.causes import Cause, Disconnect
from proxy.conversation import Conversation
from proxy.counts import Counts
from proxy.groups.clock import Clock
from proxy.groups.commits import LARGEST_IN_A_ROW
from proxy.groups.host import Host
from proxy.groups.journal import Journal
from proxy.groups.line import FIRST_CORRELATION_ID
from proxy.groups.passing import GroupRules
from proxy.logs import Log
from proxy.settings import Limits, Settings
from proxy.wire import Wire
from translation import errors as e
from translation.events import MemberAdopted
from translation.group_heartbeat import GroupHeartbeat
from translation.member import Member
from translation.rules import Pacing, Rules
from translation.states import Phase, Standing

KEY = ("g", "m")
# What the client speaks, and what a coordinator takes of a native member.
CLIENTS, BROKERS = 7, 9
EPOCH = 5
ADOPTED_TWICE = MemberAdopted(member_id="m", member_epoch=EPOCH, assigned=(), names={}, subscribed_topics=())


class Connection:
    """Of a member at rest, or with a heartbeat on its way. `said`: what the broker has heard."""

    node, client = 1, "127.0.0.1:9"

    def __init__(self, *, in_flight: bool = False) -> None:
        self.log = io.StringIO()
        log = Log(out=self.log)
        self.host = Host(Clock(), GroupRules((), Rules()), Pacing(), Journal(None, log), log, Counts())
        wire = Wire(Directory(Settings(upstream=("kafka:9092",))))
        self.conversation = Conversation(wire, Counts(), Limits(), open_desk=lambda: self.line)
        self.line = self.host.requests.open_line(self)  # type: ignore[arg-type]
        self.line.versions = dict.fromkeys((keys.CONSUMER_GROUP_HEARTBEAT, keys.CONSUMER_GROUP_DESCRIBE), (0, 1))
        self.line._admitted["g"] = 2**62
        self.host.members[KEY] = Member(
            group_id="g",
            member_id="m",
            phase=Phase.STABLE,
            standing=Standing.STABLE,
            generation=2,
            epoch=EPOCH,
            in_flight=GroupHeartbeat(group_id="g", member_id="m", member_epoch=EPOCH) if in_flight else None,
            heard_at=self.host.clock.now_ms,
            heartbeat_at=self.host.clock.now_ms + 5_000,
        )
        self.host._speaks_on(KEY, self.line, is_new=True)
        self.closed_for: Cause | None = None
        self._said = b""

    def flush(self) -> None:
        if not self.conversation.inside:
            self._said += self.conversation.take_outbox()

    def close(self, cause: Cause, detail: str) -> None:
        self.closed_for = cause
        self.conversation.abandon()

    def release(self) -> None: ...

    def commits(self, *offsets: int, metadata: str = "") -> None:
        """All in one piece; the offset is the correlation id."""
        bodies = [_commit(offset, metadata) for offset in offsets]
        frames = [
            encode_request(keys.OFFSET_COMMIT, CLIENTS, offset, "c", body)
            for offset, body in zip(offsets, bodies, strict=True)
        ]
        self._said += bytes(self.conversation.from_client(b"".join(map(_framed, frames))))

    def said(self) -> list[tuple[int, Any]]:
        """Correlation ids and bodies, since this was last asked."""
        said, self._said = self._said, b""
        requests = [decode_request(frame) for frame in _frames(said)]
        return [(header.correlation_id, body) for header, body in requests]

    def answers(self, correlation_id: int, *codes: int) -> bytes:
        told = encode_response(keys.OFFSET_COMMIT, BROKERS, correlation_id, _answer(*(codes or (e.NONE,))))
        return bytes(self.conversation.from_broker(_framed(told)))

    def told(self, data: bytes) -> list[tuple[int, int]]:
        """Correlation ids and error codes of what its client hears."""
        heard = [decode_response(keys.OFFSET_COMMIT, CLIENTS, frame) for frame in _frames(data)]
        return [(number, body.topics[0].partitions[0].error_code) for number, body in heard]


def _framed(frame: bytes) -> bytes:
    return LENGTH.pack(len(frame)) + frame


def _frames(data: bytes) -> Iterator[bytes]:
    while data:
        (size,) = LENGTH.unpack_from(data)
        yield data[4 : 4 + size]
        data = data[4 + size :]


def _commit(offset: int, metadata: str) -> m.OffsetCommitRequest:
    partition = m.OffsetCommitRequestPartition(partition_index=0, committed_offset=offset, committed_metadata=metadata)
    topic = m.OffsetCommitRequestTopic(name="apples", partitions=[partition])
    return m.OffsetCommitRequest(group_id="g", member_id="m", generation_id_or_member_epoch=2, topics=[topic])


def _answer(*codes: int) -> m.OffsetCommitResponse:
    partitions = [
        m.OffsetCommitResponsePartition(partition_index=index, error_code=code) for index, code in enumerate(codes)
    ]
    return m.OffsetCommitResponse(topics=[m.OffsetCommitResponseTopic(name="apples", partitions=partitions)])


async def test_commits_of_a_member_at_rest_go_on_one_behind_another_and_are_told_in_order() -> None:
    connection = Connection()
    connection.commits(1, 2, 3)
    said = connection.said()
    assert [correlation_id for correlation_id, _ in said] == [1, 2, 3]
    assert {body.generation_id_or_member_epoch for _, body in said} == {EPOCH}
    heard = b"".join(connection.answers(number) for number in (1, 2, 3))
    assert connection.told(heard) == [(1, e.NONE), (2, e.NONE), (3, e.NONE)]
    assert connection.host.members[KEY].commits == ()
    assert not connection.host.requests._waiting


async def test_while_a_heartbeat_may_move_the_epoch_each_waits_for_the_one_before_and_can_be_sent_again() -> None:
    connection = Connection(in_flight=True)
    connection.commits(1, 2)
    assert [correlation_id for correlation_id, _ in connection.said()] == [FIRST_CORRELATION_ID]
    assert connection.answers(FIRST_CORRELATION_ID, e.STALE_MEMBER_EPOCH) == b""
    assert connection.host.members[KEY].commits[0].epoch is None


async def test_large_ones_are_not_kept_by_the_thousand() -> None:
    connection = Connection()
    connection.commits(1, 2, metadata="x" * LARGEST_IN_A_ROW)
    assert [correlation_id for correlation_id, _ in connection.said()] == [FIRST_CORRELATION_ID]


async def test_a_commit_that_is_stale_though_nothing_moved_is_told_so_at_once_in_words_that_bring_it_back() -> None:
    """Its successors are on their way: were it sent again, offsets would go back."""
    connection = Connection()
    connection.commits(1, 2)
    connection.said()
    assert connection.told(connection.answers(1, e.STALE_MEMBER_EPOCH)) == [(1, e.COORDINATOR_LOAD_IN_PROGRESS)]
    connection.flush()
    assert [type(body) for _, body in connection.said()] == [m.ConsumerGroupHeartbeatRequest]
    assert connection.told(connection.answers(2)) == [(2, e.NONE)]


@pytest.mark.parametrize("in_flight", [False, True], ids=["in a row", "alone"])
async def test_what_a_broker_refuses_of_single_partitions_is_told_as_it_was_said_and_seen_to_be_refused(
    in_flight: bool,
) -> None:
    """Not as a success: whoever asks why offsets were not committed looks at metrics and traces first."""
    connection, observed = Connection(in_flight=in_flight), list[seen.Observation]()
    connection.host.observers.append(observed.append)
    connection.commits(1)
    ((correlation_id, _),) = connection.said()
    heard = connection.answers(correlation_id, e.NONE, e.OFFSET_METADATA_TOO_LARGE, e.UNKNOWN_TOPIC_OR_PARTITION)
    (frame,) = _frames(heard + connection.conversation.owed.take_due())
    (topic,) = decode_response(keys.OFFSET_COMMIT, CLIENTS, frame)[1].topics
    told = [each.error_code for each in topic.partitions]
    assert told == [e.NONE, e.OFFSET_METADATA_TOO_LARGE, e.UNKNOWN_TOPIC_OR_PARTITION]
    (answered,) = (each for each in observed if isinstance(each, seen.RequestAnswered))
    assert answered.error_code == e.OFFSET_METADATA_TOO_LARGE


async def test_a_mistake_is_said_once_however_many_were_on_their_way() -> None:
    connection = Connection()
    connection.commits(1, 2, 3)
    connection.host.feed(KEY, ADOPTED_TWICE)
    assert connection.closed_for is Cause.OUR_MISTAKE
    assert connection.log.getvalue().count("our mistake") == 1
    assert not connection.host.requests._waiting


@pytest.mark.parametrize("answered", [True, False])
async def test_nothing_is_left_waiting_by_an_answer_that_cannot_be_read_or_never_comes(answered: bool) -> None:
    connection = Connection()
    connection.commits(1, 2)
    if answered:
        with pytest.raises(Disconnect, match="malformed_answer"):
            connection.conversation.from_broker(_framed(LENGTH.pack(1) + b"?"))
    connection.conversation.abandon()
    assert not connection.host.requests._waiting
    assert not connection.host.requests.commits._in_a_row
    assert connection.host.members[KEY].commits == ()
