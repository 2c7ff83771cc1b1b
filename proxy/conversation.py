"""The frames of one client connection, both ways, in order. No sockets here: bytes in, bytes out.

Theory of operation. A Kafka connection is a sequence of frames (four bytes of length, then the frame) and a broker
answers in the order it was asked. So all that must be remembered of a forwarded request is one entry in a queue of
answers expected. There are four kinds:

- an `int`, the correlation id: the answer is *opaque* and passes as it comes, in pieces of any size;
- a `Rewritten`: the answer is held until it is whole, and leaves changed (it carries broker addresses, say);
- an `Awaited`: the answer is held until it is whole, and somebody here hears it: it was our own request, or its answer
  leaves as that somebody says;
- a `Local`: the answer is made here and leaves when all that were asked before it have left.

Requests of groups are *taken*: handed whole to the desk, which forwards them (as they came or otherwise) or answers them
now or later. Until it has done either, nothing that the client sends behind is looked at, as it would be with a broker,
which has one request of a connection in hand at a time. The desk's own requests to the broker are no part of this: they
go out in between (`ask`), but never within an authentication.

Nearly all requests are opaque both ways, and for them the work is one look at twelve bytes of header. A chunk that
holds only opaque frames is returned as it came, uncopied.

SaslHandshake v0 is the exception to "frames have headers": what follows it are bare tokens, until a frame begins with
an API and version that we know. No token does: a SCRAM token starts with letters, a GSSAPI one with 0x60 or 0x05, a
PLAIN one with a zero and a user's name, where a version would be above 8,000. While tokens are exchanged no answer is
expected, and whatever the broker sends passes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum
from struct import Struct
from typing import Protocol

from proxy.causes import Cause, Disconnect
from proxy.counts import Counts

Bytes = bytes | bytearray | memoryview

# Length, api key and version as one number, correlation id.
REQUEST_HEADER = Struct(">iIi")
ANSWER_HEADER = Struct(">ii")
LENGTH = Struct(">i")
SMALLEST_REQUEST = REQUEST_HEADER.size - LENGTH.size
SMALLEST_ANSWER = ANSWER_HEADER.size - LENGTH.size
# What a client may send behind a request that is in hand; then it is not read from.
LARGEST_BACKLOG = 256 * 1024


class Treatment(Enum):
    """What is done with a request of some API and version."""

    OPAQUE = "request and answer pass as they are"
    REWRITTEN = "the request passes, the answer is rewritten"
    INTRODUCTION = "as REWRITTEN, and the request says what software the client is (ApiVersions)"
    PRODUCE = "opaque, but there is no answer to expect when acks is 0"
    PRODUCE_REWRITTEN = "as PRODUCE, the answer is rewritten"
    AUTHENTICATION = "opaque, a step of authentication that another follows (SaslHandshake)"
    PROOF = "a step of authentication that ends with its answer (SaslAuthenticate)"
    TOKENS_FOLLOW = "as AUTHENTICATION, and bare tokens follow (SaslHandshake v0)"
    ANSWERED_HERE = "never forwarded"
    TAKEN = "handed whole to the desk of the groups"


# Whose answers are held until they are whole; and after which requests a client is not through with authentication.
HELD = frozenset({Treatment.REWRITTEN, Treatment.INTRODUCTION, Treatment.PRODUCE_REWRITTEN, Treatment.PROOF})
UNAUTHENTICATED = frozenset({Treatment.AUTHENTICATION, Treatment.TOKENS_FOLLOW, Treatment.PROOF})


class Rewritten:
    """An expected answer that leaves changed."""

    __slots__ = ("api", "correlation_id")

    def __init__(self, correlation_id: int, api: int) -> None:
        self.correlation_id = correlation_id
        self.api = api


class Awaited:
    """An expected answer that somebody here hears: its frame, or None when it will never come.

    What `heard` returns goes to the client in its place; None: the client never asked.
    """

    __slots__ = ("correlation_id", "heard")

    def __init__(self, correlation_id: int, heard: Heard) -> None:
        self.correlation_id = correlation_id
        self.heard = heard


class Local:
    """An answer that is made here; `frame` is complete with its length."""

    __slots__ = ("frame",)

    def __init__(self, frame: bytes) -> None:
        self.frame = frame


Heard = Callable[[Bytes | None], Bytes | None]


class Desk(Protocol):
    """Where the requests of groups are taken that come on one connection."""

    def taken(self, api: int, frame: bytes) -> None: ...

    def interrupted(self) -> None:
        """The client has sent more while a request of its is in hand."""

    def needed(self) -> bool:
        """A member speaks to its coordinator on this connection: it must outlive its client's socket."""

    def closed(self) -> None: ...


class Wire(Protocol):
    """What the conversation asks of the one module that knows the codec."""

    treatments: Mapping[int, Treatment]

    def treatment_of_unlisted(self, api: int) -> Treatment: ...
    def produce_acks(self, frame: Bytes) -> int | None: ...
    def software(self, frame: bytes) -> tuple[str, str]: ...
    def rewrite(self, api: int, answer: Bytes) -> Bytes: ...
    def answer(self, api: int, correlation_id: int) -> bytes: ...


class Conversation:
    """One client's connection. `from_client` and `from_broker` take what arrived and return what must be sent on."""

    __slots__ = (
        "_answer_tail",
        "_answer_wanted",
        "_count",
        "_deferred",
        "_locals_waiting",
        "_max_request_bytes",
        "_max_rewritten_bytes",
        "_open_desk",
        "_request_tail",
        "_request_wanted",
        "_rewritten",
        "_tokens",
        "_treatments",
        "_wire",
        "answer_left",
        "answers",
        "authenticated",
        "desk",
        "expected",
        "in_hand",
        "inside",
        "outbox",
        "request_left",
        "requests",
        "software",
    )

    def __init__(
        self,
        wire: Wire,
        counts: Counts,
        max_request_bytes: int,
        max_rewritten_bytes: int,
        open_desk: Callable[[], Desk] | None = None,
    ) -> None:
        self._wire = wire
        self._open_desk = open_desk
        self._treatments = wire.treatments
        self._count = counts.requests_by_version
        self._rewritten = counts.rewritten
        self._max_request_bytes = max_request_bytes
        self._max_rewritten_bytes = max_rewritten_bytes
        # Of the opaque frame under way: how many of its bytes have yet to come. Whoever moves some of them by another
        # way than through here takes them off.
        self.request_left = 0
        self.answer_left = 0
        # The beginning of a frame that can't be judged (or rewritten) yet, and how long it must grow.
        self._request_tail = bytearray()
        self._request_wanted = 0
        self._answer_tail = bytearray()
        self._answer_wanted = 0
        self._tokens = False
        self._locals_waiting = 0
        self.expected: deque[int | Rewritten | Awaited | Local] = deque()
        # Local answers that are due now, with nothing from the broker before them.
        self.answers: list[bytes] = []
        self.requests = 0
        # Name and version of the client's software, where it said so.
        self.software = ("", "")
        # No step of authentication is under way, as far as can be seen from what was last asked and answered.
        self.authenticated = False
        # Where requests of groups go; set when the first one comes (connections.py).
        self.desk: Desk | None = None
        # The desk has a request in hand that is neither forwarded nor answered yet.
        self.in_hand = False
        # What the desk sends to the broker, in order; it goes before anything the client sends later.
        self.outbox: list[bytes] = []
        # Our own requests that wait for the end of an authentication.
        self._deferred: list[tuple[bytes, Awaited]] = []
        # Bytes are being looked at: what is sent or answered meanwhile leaves with them, or right behind.
        self.inside = False

    def __repr__(self) -> str:
        return (
            f"<Conversation requests={self.requests} expected={len(self.expected)} "
            f"request_left={self.request_left} answer_left={self.answer_left}{' tokens' if self._tokens else ''}>"
        )

    @property
    def request_under_way(self) -> bool:
        """A request has begun and is not whole, or has not been looked at yet."""
        return self.request_left > 0 or len(self._request_tail) > 0

    @property
    def quiet(self) -> bool:
        """Nothing is owed to anybody: the connection may end here without loss."""
        owed = self.request_under_way or self.in_hand or self.answer_left or self._answer_tail
        return not (owed or self.expected or self.answers or self.outbox)

    def full(self, max_pipelined: int) -> bool:
        """The client has asked enough for now."""
        return len(self.expected) >= max_pipelined or (self.in_hand and len(self._request_tail) >= LARGEST_BACKLOG)

    # ------------------------------------------------------------------------------------------- client to broker

    def from_client(self, data: Bytes) -> Bytes:
        if self.desk is None:
            onward = self._from_client(data)
            self.inside = False
            return onward
        self.inside = True
        if self.in_hand:
            self.desk.interrupted()
        waited, data = self._ours_first(data)
        onward = self._from_client(data)
        self.inside = False
        return b"".join((*waited, onward)) if waited else onward

    def _ours_first(self, data: Bytes) -> tuple[tuple[Bytes, ...], Bytes]:
        """What the desk has to say goes out before what the client sent, but never within a frame."""
        left = self.request_left
        if not left or not self.outbox or len(data) < left:
            ours = self.take_outbox()
            return ((ours,), data) if ours else ((), data)
        self.request_left = 0
        return (data[:left], self.take_outbox()), data[left:]

    def _from_client(self, data: Bytes) -> Bytes:
        if self.in_hand:
            self._request_tail += data
            self._request_wanted = 0
            return b""
        if self._request_tail:
            self._request_tail += data
            if len(self._request_tail) < self._request_wanted:
                return b""
            data, self._request_tail = memoryview(self._request_tail), bytearray()
        end = len(data)
        at, self.request_left = self.request_left, 0
        if self._tokens:
            at = self._pass_tokens(data, at, end)
        start, passed = 0, []
        wanted = REQUEST_HEADER.size
        while end - at >= 12:
            size, api, correlation_id = REQUEST_HEADER.unpack_from(data, at)
            if not SMALLEST_REQUEST <= size <= self._max_request_bytes:
                self._refuse(size)
            after = at + 4 + size
            treatment = self._treatments.get(api)
            if treatment is Treatment.OPAQUE:
                self.expected.append(correlation_id)
                self.authenticated = True
            elif treatment is Treatment.TAKEN:
                if size > self._max_rewritten_bytes:
                    raise Disconnect(Cause.REQUEST_TOO_LARGE, f"{size} bytes in a request of a group")
                if end < after:
                    wanted = 4 + size
                    break
                passed.append(data[start:at])
                self._hand_over(api, bytes(data[at + 4 : after]))
                passed.append(self.take_outbox())
                start = after
            else:
                forwarded = self._expect(api, correlation_id, size, data[at + 4 : after])
                if forwarded is None:
                    wanted = min(4 + size, 2 * (end - at))
                    break
                if not forwarded:
                    passed.append(data[start:at])
                    start = after
            self.requests += 1
            self._count[api] += 1
            at = after
            if self.in_hand:
                if at < end and self.desk is not None:
                    self.desk.interrupted()
                    passed.append(self.take_outbox())
                if self.in_hand:
                    wanted = 0
                    break
            if self._tokens:
                at = self._pass_tokens(data, at, end)
        if at < end:
            # A token may be shorter than a request's header, so its length is looked at first.
            self._request_wanted = LENGTH.size if self._tokens and end - at < LENGTH.size else wanted
            self._request_tail = bytearray(data[at:])
            end = at
        else:
            self.request_left = at - end
        if not passed:
            return data[start:end] if start or end < len(data) else data
        passed.append(data[start:end])
        return b"".join(passed)

    def _hand_over(self, api: int, frame: bytes) -> None:
        """The desk may answer or forward it before this returns; if not, and more has come already, it hears of that."""
        if self.desk is None:
            assert self._open_desk is not None, "groups are taken only where there is a desk for them"
            self.desk = self._open_desk()
            self.inside = True
        self.authenticated = True
        self.in_hand = True
        self.desk.taken(api, frame)

    def _expect(self, api: int, correlation_id: int, size: int, frame: Bytes) -> bool | None:
        """Note which answer to expect. True: forward the request; False: don't; None: more of its bytes are needed."""
        treatment = self._treatments.get(api) or self._wire.treatment_of_unlisted(api)
        if treatment is Treatment.ANSWERED_HERE:
            if len(frame) < size:
                return None
            self._answer_here(self._wire.answer(api, correlation_id))
            return False
        if treatment is Treatment.INTRODUCTION:
            if len(frame) < size:
                return None
            self.software = self._wire.software(bytes(frame))
        if treatment is Treatment.PRODUCE or treatment is Treatment.PRODUCE_REWRITTEN:
            acks = self._wire.produce_acks(frame)
            if acks is None and len(frame) < size:
                return None
            if acks is None:
                raise Disconnect(Cause.MALFORMED_REQUEST, "a Produce request that ends before its acks")
            if acks == 0:
                return True
        self.expected.append(Rewritten(correlation_id, api) if treatment in HELD else correlation_id)
        self._tokens = treatment is Treatment.TOKENS_FOLLOW
        self.authenticated = treatment not in UNAUTHENTICATED
        return True

    def _pass_tokens(self, data: Bytes, at: int, end: int) -> int:
        """Skip the bare tokens from `at`; stop at a frame that names an API, or that can't be judged yet."""
        while end - at >= LENGTH.size:
            (size,) = LENGTH.unpack_from(data, at)
            if not 0 <= size <= self._max_request_bytes:
                self._refuse(size)
            if size >= SMALLEST_REQUEST:
                if end - at < REQUEST_HEADER.size:
                    break
                _, api, _ = REQUEST_HEADER.unpack_from(data, at)
                if api in self._treatments:
                    self._tokens = False
                    break
            at += 4 + size
        return at

    # ------------------------------------------------------------------------------------------------- for the desk

    def forward(self, frame: bytes, heard: Heard | None = None) -> None:
        """The request in hand goes to the broker; `heard` may change its answer, else that passes as it comes."""
        correlation_id = int.from_bytes(frame[4:8], "big", signed=True)
        self.in_hand = False
        self.expected.append(correlation_id if heard is None else Awaited(correlation_id, heard))
        self.outbox.append(LENGTH.pack(len(frame)) + frame)

    def answer(self, frame: bytes) -> None:
        """The request in hand is answered here."""
        self.in_hand = False
        self._answer_here(LENGTH.pack(len(frame)) + frame)

    def ask(self, frame: bytes, heard: Heard) -> None:
        """A request of our own."""
        awaited = Awaited(int.from_bytes(frame[4:8], "big", signed=True), heard)
        if self.authenticated:
            self.expected.append(awaited)
            self.outbox.append(LENGTH.pack(len(frame)) + frame)
        else:
            self._deferred.append((frame, awaited))

    def take_outbox(self) -> bytes:
        if self._deferred and self.authenticated:
            deferred, self._deferred = self._deferred, []
            for frame, awaited in deferred:
                self.ask(frame, awaited.heard)
        if not self.outbox or self.request_left:
            return b""
        taken = b"".join(self.outbox)
        self.outbox.clear()
        return taken

    def take_answers(self) -> bytes:
        """Answers made here that are due: they leave before anything that the broker says later."""
        if not self.answers:
            return b""
        due = b"".join(self.answers)
        self.answers.clear()
        return due

    def waiting(self) -> bool:
        """The client has sent more behind a request that is in hand no longer: `from_client(b"")` looks at it."""
        return not self.in_hand and self._request_wanted == 0 and len(self._request_tail) > 0

    def release_locals(self) -> None:
        """What was moved past this object may have been the last before an answer made here."""
        while self._locals_waiting and not self.answer_left and self.expected and type(self.expected[0]) is Local:
            self.answers.append(self._next_local())

    def abandon(self) -> None:
        """The broker will answer no more."""
        lost = [due for due in self.expected if type(due) is Awaited] + [due for _, due in self._deferred]
        self.expected.clear()
        self._deferred.clear()
        for awaited in lost:
            awaited.heard(None)

    def _answer_here(self, frame: bytes) -> None:
        if self._owes_before():
            self.expected.append(Local(frame))
            self._locals_waiting += 1
        else:
            self.answers.append(frame)

    def _owes_before(self) -> bool:
        """Answers that the client has asked for earlier have yet to leave. Our own requests' are none of its business."""
        return self.answer_left > 0 or any(type(due) is not Awaited for due in self.expected)

    def _refuse(self, size: int) -> None:
        if size > self._max_request_bytes:
            raise Disconnect(Cause.REQUEST_TOO_LARGE, f"{size} bytes, the limit is {self._max_request_bytes}")
        raise Disconnect(Cause.MALFORMED_REQUEST, f"a frame of {size} bytes")

    # ------------------------------------------------------------------------------------------- broker to client

    def from_broker(self, data: Bytes) -> Bytes:
        self.inside = True
        due = self.take_answers()
        onward = self._from_broker(data)
        self.inside = False
        return b"".join((due, onward)) if due else onward

    def _from_broker(self, data: Bytes) -> Bytes:
        if self._answer_tail:
            self._answer_tail += data
            if len(self._answer_tail) < self._answer_wanted:
                return b""
            data, self._answer_tail = memoryview(self._answer_tail), bytearray()
        end = len(data)
        at = self.answer_left
        start, passed = 0, []
        wanted = ANSWER_HEADER.size
        expected = self.expected
        while True:
            if self._locals_waiting and at <= end and expected and type(expected[0]) is Local:
                passed.append(data[start:at])
                passed.append(self._next_local())
                start = at
                continue
            if end - at < 8:
                break
            if not expected:
                at = self._unexpected(data, at, end)
                break
            size, correlation_id = ANSWER_HEADER.unpack_from(data, at)
            after = at + 4 + size
            if correlation_id == expected[0]:
                expected.popleft()
                if size < SMALLEST_ANSWER:
                    raise Disconnect(Cause.MALFORMED_ANSWER, f"a frame of {size} bytes")
            else:
                answer = self._rewrite(size, correlation_id, data[at:after])
                if answer is None:
                    wanted = 4 + size
                    break
                passed.append(data[start:at])
                passed.append(answer)
                start = after
            at = after
        if at < end:
            if not expected and self._tokens:
                self.answer_left = 0
                return data
            self._answer_wanted = wanted
            self._answer_tail = bytearray(data[at:])
            self.answer_left, end = 0, at
        else:
            self.answer_left = at - end
        if not passed:
            return data[start:end] if end < len(data) else data
        passed.append(data[start:end])
        return b"".join(passed)

    def _next_local(self) -> bytes:
        local = self.expected.popleft()
        assert isinstance(local, Local)
        self._locals_waiting -= 1
        return local.frame

    def _unexpected(self, data: Bytes, at: int, end: int) -> int:
        """Nothing was asked: right while tokens are exchanged, and wrong at any other time."""
        if self._tokens:
            return end
        raise Disconnect(Cause.ANSWER_OUT_OF_ORDER, f"{end - at} bytes that nobody asked for")

    def _rewrite(self, size: int, correlation_id: int, frame: Bytes) -> Bytes | None:
        """The answer as it leaves, with its length; None while it is not whole."""
        due = self.expected[0]
        if not isinstance(due, Rewritten | Awaited) or due.correlation_id != correlation_id:
            raise Disconnect(Cause.ANSWER_OUT_OF_ORDER, f"correlation id {correlation_id}, expected {due!r}")
        if not SMALLEST_ANSWER <= size <= self._max_rewritten_bytes:
            cause = Cause.MALFORMED_ANSWER if size < SMALLEST_ANSWER else Cause.ANSWER_TOO_LARGE
            raise Disconnect(cause, f"{size} bytes; those to rewrite may have {self._max_rewritten_bytes}")
        if len(frame) < 4 + size:
            return None
        self.expected.popleft()
        if isinstance(due, Awaited):
            told = due.heard(frame[4:])
            return b"" if told is None else LENGTH.pack(len(told)) + bytes(told)
        self._rewritten[due.api >> 16] += 1
        # Who failed to prove who they are is cut off by the broker: this need not read its verdict.
        self.authenticated = True
        answer = self._wire.rewrite(due.api, frame[4:])
        return LENGTH.pack(len(answer)) + answer
