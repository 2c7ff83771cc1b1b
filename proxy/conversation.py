"""The frames of one client connection, both ways, in order. No sockets here: bytes in, bytes out.

Theory of operation. A Kafka connection is a sequence of frames (four bytes of length, then the frame) and a broker
answers in the order it was asked. So all that must be remembered of a forwarded request is one entry in a queue of
answers expected. There are three kinds:

- an `int`, the correlation id: the answer is *opaque* and passes as it comes, in pieces of any size;
- a `Rewritten`: the answer is held until it is whole, and leaves changed (it carries broker addresses, say);
- a `Local`: the answer is made here and leaves when all that were asked before it have left.

Nearly all requests are opaque both ways, and for them the work is one look at twelve bytes of header. A chunk that
holds only opaque frames is returned as it came, uncopied.

SaslHandshake v0 is the exception to "frames have headers": what follows it are bare tokens, until a frame begins with
an API and version that we know. No token does: a SCRAM token starts with letters, a GSSAPI one with 0x60 or 0x05, a
PLAIN one with a zero and a user's name, where a version would be above 8,000. While tokens are exchanged no answer is
expected, and whatever the broker sends passes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
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


class Treatment(Enum):
    """What is done with a request of some API and version."""

    OPAQUE = "request and answer pass as they are"
    REWRITTEN = "the request passes, the answer is rewritten"
    PRODUCE = "opaque, but there is no answer to expect when acks is 0"
    PRODUCE_REWRITTEN = "as PRODUCE, the answer is rewritten"
    AUTHENTICATION = "opaque, a step of authentication that another follows (SaslHandshake)"
    PROOF = "a step of authentication that ends with its answer (SaslAuthenticate)"
    TOKENS_FOLLOW = "as AUTHENTICATION, and bare tokens follow (SaslHandshake v0)"
    ANSWERED_HERE = "never forwarded"


# Whose answers are held until they are whole; and after which requests a client is not through with authentication.
HELD = frozenset({Treatment.REWRITTEN, Treatment.PRODUCE_REWRITTEN, Treatment.PROOF})
UNAUTHENTICATED = frozenset({Treatment.AUTHENTICATION, Treatment.TOKENS_FOLLOW, Treatment.PROOF})


class Rewritten:
    """An expected answer that leaves changed."""

    __slots__ = ("api", "correlation_id")

    def __init__(self, correlation_id: int, api: int) -> None:
        self.correlation_id = correlation_id
        self.api = api


class Local:
    """An answer that is made here; `frame` is complete with its length."""

    __slots__ = ("frame",)

    def __init__(self, frame: bytes) -> None:
        self.frame = frame


class Wire(Protocol):
    """What the conversation asks of the one module that knows the codec."""

    treatments: Mapping[int, Treatment]

    def treatment_of_unlisted(self, api: int) -> Treatment: ...
    def produce_acks(self, frame: Bytes) -> int | None: ...
    def rewrite(self, api: int, answer: Bytes) -> Bytes: ...
    def answer(self, api: int, correlation_id: int) -> bytes: ...


class Conversation:
    """One client's connection. `from_client` and `from_broker` take what arrived and return what must be sent on."""

    __slots__ = (
        "_answer_tail",
        "_answer_wanted",
        "_count",
        "_locals_waiting",
        "_max_request_bytes",
        "_max_rewritten_bytes",
        "_request_tail",
        "_request_wanted",
        "_rewritten",
        "_tokens",
        "_treatments",
        "_wire",
        "answer_left",
        "answers",
        "authenticated",
        "expected",
        "request_left",
        "requests",
    )

    def __init__(self, wire: Wire, counts: Counts, max_request_bytes: int, max_rewritten_bytes: int) -> None:
        self._wire = wire
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
        self.expected: deque[int | Rewritten | Local] = deque()
        # Local answers that are due now, with nothing from the broker before them.
        self.answers: list[bytes] = []
        self.requests = 0
        # No step of authentication is under way, as far as can be seen from what was last asked and answered.
        self.authenticated = False

    def __repr__(self) -> str:
        return (
            f"<Conversation requests={self.requests} expected={len(self.expected)} "
            f"request_left={self.request_left} answer_left={self.answer_left}{' tokens' if self._tokens else ''}>"
        )

    @property
    def request_under_way(self) -> bool:
        """A request has begun and is not whole."""
        return self.request_left > 0 or len(self._request_tail) > 0

    @property
    def quiet(self) -> bool:
        """Nothing is owed to anybody: the connection may end here without loss."""
        return not (self.request_under_way or self.expected or self.answers or self.answer_left or self._answer_tail)

    # ------------------------------------------------------------------------------------------- client to broker

    def from_client(self, data: Bytes) -> Bytes:
        if self._request_tail:
            self._request_tail += data
            if len(self._request_tail) < self._request_wanted:
                return b""
            data, self._request_tail = memoryview(self._request_tail), bytearray()
        end = len(data)
        at = self.request_left
        if self._tokens:
            at = self._pass_tokens(data, at, end)
        start, passed = 0, []
        wanted = REQUEST_HEADER.size
        while end - at >= 12:
            size, api, correlation_id = REQUEST_HEADER.unpack_from(data, at)
            if not SMALLEST_REQUEST <= size <= self._max_request_bytes:
                self._refuse(size)
            after = at + 4 + size
            if self._treatments.get(api) is Treatment.OPAQUE:
                self.expected.append(correlation_id)
                self.authenticated = True
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
            if self._tokens:
                at = self._pass_tokens(data, at, end)
        if at < end:
            # A token may be shorter than a request's header, so its length is looked at first.
            self._request_wanted = LENGTH.size if self._tokens and end - at < LENGTH.size else wanted
            self._request_tail = bytearray(data[at:])
            self.request_left, end = 0, at
        else:
            self.request_left = at - end
        if not passed:
            return data[start:end] if start or end < len(data) else data
        passed.append(data[start:end])
        return b"".join(passed)

    def _expect(self, api: int, correlation_id: int, size: int, frame: Bytes) -> bool | None:
        """Note which answer to expect. True: forward the request; False: don't; None: more of its bytes are needed."""
        treatment = self._treatments.get(api) or self._wire.treatment_of_unlisted(api)
        if treatment is Treatment.ANSWERED_HERE:
            if len(frame) < size:
                return None
            self._answer_here(self._wire.answer(api, correlation_id))
            return False
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

    def _answer_here(self, frame: bytes) -> None:
        if self.expected or self.answer_left or self._answer_tail:
            self.expected.append(Local(frame))
            self._locals_waiting += 1
        else:
            self.answers.append(frame)

    def _refuse(self, size: int) -> None:
        if size > self._max_request_bytes:
            raise Disconnect(Cause.REQUEST_TOO_LARGE, f"{size} bytes, the limit is {self._max_request_bytes}")
        raise Disconnect(Cause.MALFORMED_REQUEST, f"a frame of {size} bytes")

    # ------------------------------------------------------------------------------------------- broker to client

    def from_broker(self, data: Bytes) -> Bytes:
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
        if not isinstance(due, Rewritten) or due.correlation_id != correlation_id:
            raise Disconnect(Cause.ANSWER_OUT_OF_ORDER, f"correlation id {correlation_id}, expected {due!r}")
        if not SMALLEST_ANSWER <= size <= self._max_rewritten_bytes:
            cause = Cause.MALFORMED_ANSWER if size < SMALLEST_ANSWER else Cause.ANSWER_TOO_LARGE
            raise Disconnect(cause, f"{size} bytes; those to rewrite may have {self._max_rewritten_bytes}")
        if len(frame) < 4 + size:
            return None
        self.expected.popleft()
        self._rewritten[due.api >> 16] += 1
        # Who failed to prove who they are is cut off by the broker: this need not read its verdict.
        self.authenticated = True
        answer = self._wire.rewrite(due.api, frame[4:])
        return LENGTH.pack(len(answer)) + answer
