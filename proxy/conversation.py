"""The frames that one client sends, and what becomes of each. No sockets here: bytes in, bytes out.

Theory of operation. A Kafka connection is a sequence of frames (four bytes of length, then the frame). A request is looked
at once, when its header is here: it is forwarded, or answered, or handed to somebody; and `answers.py` notes what the
client is owed for it.

Requests of groups are *taken*: handed whole to the desk, which forwards them (as they came or otherwise) or answers them
now or later. Until it has done either, nothing that the client sends behind is looked at, as it would be with a broker,
which has one request of a connection in hand at a time. The desk's own requests to the broker are no part of this: they
go out in between (`ask`), but never within an authentication.

Nearly all requests are opaque both ways, and for them the work is one look at twelve bytes of header. A chunk that
holds only opaque frames is returned as it came, uncopied. And where nothing else is under way (`idle`), what arrives is
mostly one of them, whole: that is asked first (`passes`, and so with answers).

SaslHandshake v0 is the exception to "frames have headers": what follows it are bare tokens, until a frame begins with
an API and version that we know. No token does: a SCRAM token starts with letters, a GSSAPI one with 0x60 or 0x05, a
PLAIN one with a zero and a user's name, where a version would be above 8,000. While tokens are exchanged no answer is
expected, and whatever the broker sends passes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from struct import Struct
from typing import Literal

from proxy.answers import LENGTH, Answers, Awaited, Bytes, Heard, Own, Prompt, Rewritten
from proxy.asking_ahead import AskingAhead
from proxy.causes import Cause, Disconnect
from proxy.counts import Counts
from proxy.not_kafka import refused
from proxy.settings import Limits
from proxy.treatments import Desk, Treatment, Wire

# Length, api key and version as one number, correlation id.
REQUEST_HEADER = Struct(">iIi")
SMALLEST_REQUEST = REQUEST_HEADER.size - LENGTH.size
# What a client may send behind a request that is in hand; then it is not read from.
LARGEST_BACKLOG = 256 * 1024
# Of a request that is judged by its beginning, or answered here. More than any that a client has reason to send.
LARGEST_BEGINNING = 256 * 1024
# Of a request of a group that is read, to the last field, of a client that has yet to show who it is.
LARGEST_OF_STRANGERS = 32 * 1024
# An enum's attribute costs ten times a global's, and this one is asked for with every request.
OPAQUE = Treatment.OPAQUE
# What goes to the broker for most requests, where others have bytes instead.
AS_IT_CAME: Literal[True] = True
# After which requests a client is not through with authentication; whose answers leave changed.
UNAUTHENTICATED = (Treatment.AUTHENTICATION, Treatment.TOKENS_FOLLOW, Treatment.PROOF)
REWRITTEN = (Treatment.PRODUCE_REWRITTEN, Treatment.REWRITTEN, Treatment.INTRODUCTION)
PRODUCE = (Treatment.PRODUCE, Treatment.PRODUCE_REWRITTEN, Treatment.PRODUCE_DROPPED)
DROPPED = (Treatment.DROPPED, Treatment.PRODUCE_DROPPED)


class Conversation:
    """One client's connection. `from_client` and `from_broker` take what arrived and return what must be sent on."""

    __slots__ = (
        "_count",
        "_deferred",
        "_is_let_in",
        "_looking",
        "_max_pipelined",
        "_max_request_bytes",
        "_max_taken_bytes",
        "_open_desk",
        "_proving",
        "_tail",
        "_treatments",
        "_wanted",
        "_where_else",
        "_wire",
        "ahead",
        "authenticated",
        "bound_for",
        "desk",
        "dropped",
        "expected",
        "from_broker",
        "idle",
        "in_hand",
        "is_plain",
        "outbox",
        "owed",
        "requests",
        "software",
        "to_come",
    )

    def __init__(
        self,
        wire: Wire,
        counts: Counts,
        limits: Limits,
        open_desk: Callable[[], Desk] | None = None,
        where_else: Callable[[str], int | None] | None = None,
    ) -> None:
        """`where_else`: which of our siblings has a group; None where that is us."""
        self._where_else = where_else
        self._wire = wire
        self._open_desk = open_desk
        self._treatments = wire.treatments
        self._count = counts.requests_by_version
        self._max_pipelined = limits.max_pipelined_requests
        self._max_request_bytes = limits.max_request_bytes
        self._max_taken_bytes = limits.max_group_request_bytes
        self.owed = Answers(wire, counts, limits.max_rewritten_bytes)
        self.from_broker = self.owed.from_broker
        self.expected = self.owed.expected
        # Of the opaque request under way: how many of its bytes have yet to come. Whoever moves some of them by another
        # way than through here takes them off.
        self.to_come = 0
        # The beginning of a request that can't be judged yet, and how long it must grow.
        self._tail = bytearray()
        self._wanted = 0
        # The first request that brokers since 4.0 have dropped: its correlation id, API and version, and the client's id.
        self.dropped: tuple[int, int, str] | None = None
        # Nothing is under way, and nobody here has ever had anything to say: the next request is looked at by itself.
        self.idle = False
        # Something was asked that is nothing to us: neither who the client is, nor of brokers, nor of a group.
        self.is_plain = False
        self.requests = 0
        # Name and version of the client's software, where it said so.
        self.software = ("", "")
        # No step of authentication is under way, as far as can be seen from what was last asked and answered.
        self.authenticated = False
        # One may be under way all the same: it may have more steps, which the client takes before it asks anything else.
        self._proving = False
        # The broker knows who is at the client's end, if it wants to. It is asked only about a client with a large request.
        self._is_let_in = False
        # Where requests of groups go; set when the first one comes (connections.py).
        self.desk: Desk | None = None
        # The desk has a request in hand that is neither forwarded nor answered yet.
        self.in_hand = False
        # The request in hand is of a group that this sibling has: all goes there, once what was asked before is answered.
        self.bound_for: int | None = None
        # Noted since there is a desk.
        self.ahead = AskingAhead(self.expected)
        # What the desk sends to the broker, in order; it goes before anything the client sends later.
        self.outbox: list[bytes] = []
        # Our own requests that wait for the end of an authentication.
        self._deferred: list[tuple[bytes, Own]] = []
        self._looking = False

    def __repr__(self) -> str:
        return (
            f"<Conversation requests={self.requests} expected={len(self.expected)} "
            f"to_come={self.to_come} answer_to_come={self.owed.to_come}{' tokens' if self.owed.tokens else ''}>"
        )

    @property
    def inside(self) -> bool:
        """Bytes are being looked at: what is sent or answered meanwhile leaves with them, or right behind."""
        return self._looking or self.owed.hearing

    @property
    def request_under_way(self) -> bool:
        """A request has begun and is not whole, or has not been looked at yet."""
        return self.to_come > 0 or len(self._tail) > 0

    @property
    def quiet(self) -> bool:
        """Nothing is owed to anybody: the connection may end here without loss."""
        return self.owed.quiet and not (self.request_under_way or self.in_hand or self.outbox)

    @property
    def is_unfinished(self) -> bool:
        """Should the client go now, the broker would wait for the rest of a request, or for the next step of an
        authentication, and could be asked nothing else any more."""
        return self.to_come > 0 or not self.authenticated

    @property
    def asks(self) -> bool:
        """The desk has a request in hand, and waits for what the broker says before it does something with it."""
        return self.in_hand and any(isinstance(each, Awaited) for each in self.expected)

    @property
    def asks_of_its_own(self) -> bool:
        """The broker has yet to answer the desk: that a member leaves, it may be."""
        return self.desk is not None and self.desk.asking

    @property
    def is_needed(self) -> bool:
        """A member speaks to its coordinator here: the connection must outlive its client's socket."""
        return self.desk is not None and self.desk.needed()

    @property
    def full(self) -> bool:
        """The client has asked enough for now. A request that is not whole is not answered before its rest is read, nor are
        ours that wait behind it: who counted those would wait for ever."""
        if len(self.expected) < self._max_pipelined:
            return self.in_hand and len(self._tail) >= LARGEST_BACKLOG
        unsent = 1 + len(self.outbox) if self.to_come else 0
        return len(self.expected) - unsent >= self._max_pipelined

    # ------------------------------------------------------------------------------------------- client to broker

    def passes(self, data: Bytes, end: int) -> bool:
        """While idle: is what has come (`data` up to `end`) one opaque request? Then it is noted, and sent on as it came."""
        size = end - 4
        if not SMALLEST_REQUEST <= size <= self._max_request_bytes or len(self.expected) + 1 >= self._max_pipelined:
            return False
        its_size, api, correlation_id = REQUEST_HEADER.unpack_from(data)
        if its_size != size or self._treatments.get(api) is not OPAQUE:
            return False
        self.expected.append(correlation_id)
        self.authenticated = True
        self.requests += 1
        self._count[api] += 1
        return True

    def from_client(self, data: Bytes) -> Bytes:
        if self.desk is None:
            onward = self._from_client(data)
            self._looking = False
            self.idle = self.desk is None and not (self.to_come or self._tail or self.owed.tokens)
            return onward
        self._looking = True
        if self.in_hand:
            self.desk.interrupted()
        waited, data = self._ours_first(data)
        onward = self._from_client(data)
        self._looking = False
        return b"".join((*waited, onward)) if waited else onward

    def _ours_first(self, data: Bytes) -> tuple[tuple[Bytes, ...], Bytes]:
        """What the desk has to say goes out before what the client sent, but never within a frame."""
        to_come = self.to_come
        if not to_come or not self.outbox or len(data) < to_come:
            ours = self.take_outbox()
            return ((ours,), data) if ours else ((), data)
        self.to_come = 0
        return (data[:to_come], self.take_outbox()), data[to_come:]

    def _from_client(self, data: Bytes) -> Bytes:
        if self._tail:
            self._tail += data
            if self.in_hand or len(self._tail) < self._wanted:
                return b""
            data, self._tail = memoryview(self._tail), bytearray()
        elif self.in_hand:
            self._keep(data, 0)
            return b""
        end = len(data)
        at, self.to_come = self.to_come, 0
        if self.owed.tokens:
            at = self._pass_tokens(data, at, end)
        start = 0
        passed: list[Bytes] = []
        wanted = REQUEST_HEADER.size
        while end - at >= REQUEST_HEADER.size and not self.in_hand:
            size, api, correlation_id = REQUEST_HEADER.unpack_from(data, at)
            if not SMALLEST_REQUEST <= size <= self._max_request_bytes:
                raise refused(size, self._max_request_bytes)
            after = at + 4 + size
            treatment = self._treatments.get(api)
            if self.desk is not None and not self.ahead.is_seen:
                self.ahead.asked(api, correlation_id)
            if treatment is OPAQUE:
                self.expected.append(correlation_id)
                self.authenticated, self._proving = True, False
                self.is_plain = True
            else:
                instead = self._instead_of(data[at + 4 : after], api, correlation_id, size, after < end)
                if instead is None:
                    wanted = min(4 + size, 2 * (end - at))
                    break
                if instead is not AS_IT_CAME:
                    passed += data[start:at], instead
                    start = after
            self.requests += 1
            self._count[api if treatment is not None else self._wire.counted_as(api)] += 1
            at = after
            if self.owed.tokens:
                at = self._pass_tokens(data, at, end)
        if at < end:
            self._keep(data[at:], wanted)
            end = at
        else:
            self.to_come = at - end
        if not passed:
            return data[:end] if end < len(data) else data
        passed.append(data[start:end])
        return b"".join(passed)

    def _keep(self, data: Bytes, wanted: int) -> None:
        """What can't be looked at before so much of it is there; or, behind a request in hand, before that is no longer."""
        if self.in_hand:
            wanted = 0
        elif self.owed.tokens and len(data) < LENGTH.size:
            # A token may be shorter than a request's header, so its length is looked at first.
            wanted = LENGTH.size
        self._tail, self._wanted = bytearray(data), wanted

    def _instead_of(
        self, frame: Bytes, api: int, correlation_id: int, size: int, more_has_come: bool
    ) -> bytes | Literal[True] | None:
        """What goes to the broker for a request that is not opaque. None: more of it must be seen."""
        if self._treatments.get(api) is not Treatment.TAKEN:
            return self._expect(api, correlation_id, size, frame)
        if size > self._max_taken_bytes:
            raise Disconnect(Cause.REQUEST_TOO_LARGE, f"{size} bytes of a group; see `limits.max_group_request_bytes`")
        if self._where_else is not None and self.desk is None and not self._is_ours(self._where_else, frame, size):
            return None
        if size > LARGEST_OF_STRANGERS and not self._is_let_in:
            # No more of it is read meanwhile than of what comes behind a request in hand.
            self._before_the_desk().knock(self._let_in)
            return None
        if len(frame) < size:
            return None
        self._hand_over(bytes(frame), more_has_come)
        return self.take_outbox()

    def _hand_over(self, frame: bytes, more_has_come: bool) -> None:
        """The desk may answer or forward it before this returns; if not, and more has come already, it hears of that."""
        desk = self._before_the_desk()
        desk.taken(frame)
        if self.in_hand and more_has_come:
            desk.interrupted()

    def _before_the_desk(self) -> Desk:
        if self.desk is None:
            assert self._open_desk is not None, "groups are taken only where there is a desk for them"
            self.desk = self._open_desk()
            self._looking = True
        self.authenticated, self._proving, self.in_hand = True, False, True
        return self.desk

    def _is_ours(self, where_else: Callable[[str], int | None], frame: Bytes, size: int) -> bool:
        """Whether the request is of no sibling's group; False as well while that can't be read."""
        group_id = self._wire.group_of(frame[:LARGEST_OF_STRANGERS])
        if group_id is None and len(frame) < min(size, LARGEST_OF_STRANGERS):
            return False
        self.bound_for = where_else(group_id) if group_id else None
        if self.bound_for is None:
            return True
        # A mark: once it has left, nothing is owed to the client any more.
        self.owed.make(b"")
        self.in_hand = True
        return False

    @property
    def can_move(self) -> bool:
        return self.bound_for is not None and self.owed.quiet

    @property
    def unseen(self) -> bytes:
        """What the client has said, and nobody has looked at: whoever goes on with this conversation is to begin with it."""
        return bytes(self._tail)

    def stay(self) -> None:
        """Whosever its groups are."""
        self._where_else = None
        if self.bound_for is not None:
            self.bound_for, self.in_hand = None, False

    def _let_in(self) -> None:
        self.in_hand, self._is_let_in = False, True

    def _expect(self, api: int, correlation_id: int, size: int, frame: Bytes) -> bytes | Literal[True] | None:
        """Note which answer to expect, and say what goes to the broker."""
        treatment = self._treatments.get(api) or self._wire.treatment_of_unlisted(api)
        if treatment is Treatment.ANSWERED_HERE:
            if len(frame) < size:
                _bound_beginning(frame)
                return None
            self.owed.make(self._wire.answer(api, correlation_id))
            return b""
        if treatment is Treatment.INTRODUCTION:
            if len(frame) < size:
                _bound_beginning(frame)
                return None
            self.software = self._wire.software(bytes(frame))
        if treatment in PRODUCE:
            self.is_plain = True
            acks = self._wire.produce_acks(frame)
            if acks is None and len(frame) < size:
                _bound_beginning(frame)
                return None
            if acks is None:
                raise Disconnect(Cause.MALFORMED_REQUEST, "a Produce request that ends before its acks")
            if acks == 0:
                self.authenticated, self._proving = True, False
                return AS_IT_CAME
        if treatment in DROPPED and self.dropped is None:
            self.dropped = (correlation_id, api, self._wire.client_id(frame))
        self.owed.tokens = treatment is Treatment.TOKENS_FOLLOW
        self._proving = treatment in UNAUTHENTICATED
        self.authenticated = not self._proving
        if treatment in REWRITTEN:
            self.expected.append(Rewritten(correlation_id, api))
        elif treatment is Treatment.PROOF:
            self.expected.append(Awaited(correlation_id, partial(self._proven, api)))
        else:
            self.expected.append(correlation_id)
        return AS_IT_CAME

    def _proven(self, api: int, verdict: Bytes | None) -> Bytes | None:
        """Who failed to prove who they are is cut off by the broker. Who did it anew may have nothing to ask for minutes, and
        what waits for the end of it must not wait for that: a member would be given up meanwhile."""
        self.authenticated = True
        if verdict is not None and self._wire.begins_session(api, verdict):
            self._proving = False
        return verdict

    def _pass_tokens(self, data: Bytes, at: int, end: int) -> int:
        """Skip the bare tokens from `at`; stop at a frame that names an API, or that can't be judged yet."""
        while end - at >= LENGTH.size:
            (size,) = LENGTH.unpack_from(data, at)
            if not 0 <= size <= self._max_request_bytes:
                raise refused(size, self._max_request_bytes)
            if size >= SMALLEST_REQUEST:
                if end - at < REQUEST_HEADER.size:
                    break
                _, api, _ = REQUEST_HEADER.unpack_from(data, at)
                if api in self._treatments:
                    self.owed.tokens = False
                    break
            at += 4 + size
        return at

    # ------------------------------------------------------------------------------------------------- for the desk

    def forward(self, frame: bytes, heard: Heard | None = None, is_prompt: bool = False) -> None:
        """The request in hand goes to the broker; `heard` may change its answer, else that passes as it comes."""
        correlation_id = int.from_bytes(frame[4:8], "big", signed=True)
        awaited = Prompt if is_prompt else Awaited
        self.in_hand = False
        self.expected.append(correlation_id if heard is None else awaited(correlation_id, heard))
        self.outbox.append(LENGTH.pack(len(frame)) + frame)

    def answer(self, frame: bytes) -> None:
        """The request in hand is answered here."""
        self.in_hand = False
        self.owed.make(LENGTH.pack(len(frame)) + frame)

    def ask(self, frame: bytes, heard: Heard) -> None:
        """A request of our own."""
        own = Own(int.from_bytes(frame[4:8], "big", signed=True), heard)
        if self.authenticated and not self._proving:
            self.expected.append(own)
            self.outbox.append(LENGTH.pack(len(frame)) + frame)
        else:
            self._deferred.append((frame, own))

    def take_outbox(self) -> bytes:
        if self._deferred and self.authenticated and not self._proving:
            deferred, self._deferred = self._deferred, []
            for frame, own in deferred:
                self.ask(frame, own.heard)
        if not self.outbox or self.to_come:
            return b""
        taken = b"".join(self.outbox)
        self.outbox.clear()
        return taken

    def client_left(self) -> None:
        """And the connection outlives it. No step of an authentication will follow; whether one should have is not known
        where the last was answered."""
        self._proving = False
        if self.desk is not None:
            self.desk.left()

    def waiting(self) -> bool:
        """The client has sent more behind a request that is in hand no longer: `from_client(b"")` looks at it."""
        return not self.in_hand and self._wanted == 0 and len(self._tail) > 0

    def abandon(self) -> None:
        """The broker will answer no more."""
        self.owed.abandon()
        deferred, self._deferred = self._deferred, []
        for _, own in deferred:
            own.heard(None)

    def end(self) -> None:
        """The connection is closed. Nothing here is to keep it, nor what it had yet to be told, until somebody looks for
        garbage."""
        self._open_desk = self.desk = None
        self._tail = bytearray()
        # Whatever came with the request that it ended with is looked at no more.
        self.in_hand = True
        self.owed.end()


def _bound_beginning(frame: Bytes) -> None:
    """What must be seen is short, and is kept until it is whole: of clients, too, that have yet to show who they are."""
    if len(frame) > LARGEST_BEGINNING:
        raise Disconnect(Cause.REQUEST_TOO_LARGE, f"what it wants is not in its first {LARGEST_BEGINNING} bytes")
