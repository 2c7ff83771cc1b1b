"""Offsets committed in a member's name: sent again under its epoch, on the very connection they came on.

A coordinator takes a native member's OffsetCommit from version 9 on, so older ones are written anew; what the broker says
is told at the client's own version. Where the epoch is sure not to move meanwhile, what the client sends behind one need not
wait for the answer: who commits each record, and waits for none, sends thousands. Commits in nobody's name pass, and where
the broker has dropped their version they are lifted to one it knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from kafka_protocol.messages import keys
from proxy.answers import Bytes
from proxy.causes import Disconnect
from proxy.groups import classic, native
from proxy.groups.classic import Request
from proxy.groups.line import Key, Line
from proxy.groups.native import Ask
from proxy.memory import Memory
from translation import actions as do
from translation import errors as e
from translation import events as ev

if TYPE_CHECKING:
    from proxy.groups.host import Host
    from proxy.groups.requests import Requests

# The oldest that all brokers know, for commits in nobody's name.
OLDEST_EVERYWHERE = 2

# A client may be a thousand requests ahead, and all that are on their way are kept.
LARGEST_IN_A_ROW = 8 * 1024

# These are about the committer; the rest is about topics, and for the client to hear as it was said.
ABOUT_MEMBER = frozenset(
    {
        e.COORDINATOR_LOAD_IN_PROGRESS,
        e.COORDINATOR_NOT_AVAILABLE,
        e.NOT_COORDINATOR,
        e.ILLEGAL_GENERATION,
        e.UNKNOWN_MEMBER_ID,
        e.REBALANCE_IN_PROGRESS,
        e.GROUP_AUTHORIZATION_FAILED,
        e.UNSUPPORTED_VERSION,
        e.GROUP_ID_NOT_FOUND,
        e.FENCED_INSTANCE_ID,
        e.FENCED_MEMBER_EPOCH,
        e.STALE_MEMBER_EPOCH,
    }
)


class Commits:
    def __init__(self, host: Host, requests: Requests) -> None:
        self._host = host
        self._requests = requests
        # What the broker said last, by the request's number.
        self._answers: dict[int, Any] = {}
        # Commits that hold back nothing behind them: what each is answered, once that is known.
        self._in_a_row: dict[int, bytes | None] = {}
        self._told = Memory()

    def send(self, key: Key, order: do.SendCommit) -> None:
        number = order.request
        line, request = self._requests.line_of(number), self._requests.request_of(number)
        self._say_what_is_lost(line, request)
        body = msgspec.structs.replace(request.body, member_id=key[1], generation_id_or_member_epoch=order.member_epoch)
        ask = Ask(request.key, _version_upstream(request), _without_dropped(body))
        is_small = len(request.frame) <= LARGEST_IN_A_ROW
        if is_small and line.number == number and self._overtakes_nothing(key, line):
            self._in_a_row[number] = None
            frame = native.written(ask, request.correlation_id, request.client_id)
            line.forward(frame, lambda answer: self._heard_in_a_row(key, number, ask, answer), is_prompt=True)
        else:
            line.ask(ask, lambda answer: self._heard(key, number, answer))

    def _overtakes_nothing(self, key: Key, line: Line) -> bool:
        """No heartbeat is on its way that would move the epoch before the commit is there: later ones come behind it."""
        member = self._host.members.get(key)
        is_at_rest = member is not None and member.in_flight is None and not member.must_say_all
        return is_at_rest and self._host.lines.get(key) is line

    def _heard_in_a_row(self, key: Key, number: int, ask: Ask, frame: Bytes | None) -> bytes | None:
        try:
            self._heard(key, number, None if frame is None else native.read(ask, bytes(frame)), is_final=True)
        except Disconnect:
            self._heard(key, number, None)
            raise
        finally:
            told = self._in_a_row.pop(number, None)
        return told

    def _say_what_is_lost(self, line: Line, request: Request) -> None:
        """Once a client and group."""
        group_id, client_id = request.body.group_id, line.client.client_id
        retention_ms = getattr(request.body, "retention_time_ms", -1)
        if retention_ms >= 0 and self._told.is_new((group_id, client_id)):
            self._host.log.warning(
                "a commit's own retention time is not kept",
                group=group_id,
                client=client_id,
                retention_ms=retention_ms,
                remedy="the brokers' offsets.retention.minutes counts; take it out of the client's settings",
            )

    def _heard(self, key: Key, number: int, answer: Any, is_final: bool = False) -> None:
        if self._requests.waiting(number) is None:
            # Dropped with its connection, by a mistake of ours: that is said once, not for each that was on its way.
            return
        if answer is None:
            self._host.feed(key, ev.CommitLost(request=number))
            return
        self._answers[number] = answer
        codes = [each.error_code for topic in answer.topics for each in topic.partitions]
        about_member = next((code for code in codes if code in ABOUT_MEMBER), e.NONE)
        self._host.feed(key, ev.CommitAnswered(request=number, error_code=about_member, is_final=is_final))

    def answer(self, order: do.AnswerCommit) -> None:
        number = order.request
        answer = self._answers.pop(number, None)
        request, code = self._requests.request_of(number), order.error_code or e.NONE
        if code == e.REBALANCE_IN_PROGRESS and request.key == keys.TXN_OFFSET_COMMIT:
            # No coordinator says that to a producer: Java's takes it for the end of its life. This aborts a transaction.
            code = e.ILLEGAL_GENERATION
        is_passed_on = order.error_code is None and answer is not None
        frame = request.answered(answer) if is_passed_on else classic.refusal(request, code)
        if number in self._in_a_row:
            self._in_a_row[number] = frame
        self._requests.answer(number, frame, _refused_of(answer) if is_passed_on else code)

    # ------------------------------------------------------------------------------------------- in nobody's name

    def forward(self, line: Line, request: Request) -> None:
        """As it came, whatever it is; a version that brokers have dropped is lifted."""
        if request.key == keys.OFFSET_COMMIT and request.version < OLDEST_EVERYWHERE:
            ask = Ask(request.key, OLDEST_EVERYWHERE, _without_dropped(request.body))
            line.ask(ask, lambda answer: self._lifted(line, request, answer))
        else:
            line.forward(request.frame)

    def forward_in_doubt(self, line: Line, request: Request) -> None:
        """As it came. Whose it is, the committer's Heartbeat will tell; until then both kinds of client come again when the
        coordinator is loading, and only a native one when its epoch is stale."""
        line.forward(request.frame, lambda frame: None if frame is None else _without_epochs(request, bytes(frame)))

    def _lifted(self, line: Line, request: Request, answer: Any) -> None:
        refused = classic.refusal(request, e.NOT_COORDINATOR)
        line.answer(refused if answer is None else request.answered(answer))


def _refused_of(answer: Any) -> int:
    """What is told of it: the first partition's that was refused, though others may have been taken."""
    return next((each.error_code for topic in answer.topics for each in topic.partitions if each.error_code), e.NONE)


def _without_epochs(request: Request, frame: bytes) -> bytes:
    answer = classic.passed(request, frame)
    stale = [each for topic in answer.topics for each in topic.partitions if each.error_code == e.STALE_MEMBER_EPOCH]
    for each in stale:
        each.error_code = e.COORDINATOR_LOAD_IN_PROGRESS
    return request.answered(answer) if stale else frame


def _version_upstream(request: Request) -> int:
    if request.key == keys.OFFSET_COMMIT:
        return max(request.version, classic.FIRST_COMMIT_OF_NATIVE[request.key])
    return request.version


def _without_dropped(body: Any) -> Any:
    """Fields of old versions that newer ones do not have: how long to keep offsets, and since when."""
    if not hasattr(body, "retention_time_ms"):
        return body
    for topic in body.topics:
        for each in topic.partitions:
            each.commit_timestamp = -1
    return msgspec.structs.replace(body, retention_time_ms=-1)
