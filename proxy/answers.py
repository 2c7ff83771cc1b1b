"""What one client is owed, in order, and what leaves when its broker speaks. No sockets here: bytes in, bytes out.

A broker answers in the order it was asked, so all that must be remembered of a request is one entry in a queue of answers
expected. There are six kinds:

- an `int`, the correlation id: the answer is *opaque* and passes as it comes, in pieces of any size;
- a `Rewritten`: the answer is held until it is whole, and leaves changed (it carries broker addresses, say);
- an `Awaited`: the answer is held until it is whole, somebody here hears it, and it leaves as that somebody says;
- a `Prompt`: as `Awaited`, and a broker that is there answers it within seconds;
- an `Own`: as `Awaited`, but the request was ours: the client never asked, and need not wait for it;
- a `Local`: the answer is made here and leaves when all that the client asked before it have left.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from struct import Struct
from typing import Protocol

from proxy.causes import Cause, Disconnect
from proxy.counts import Counts

Bytes = bytes | bytearray | memoryview

LENGTH = Struct(">i")
# Length, correlation id.
ANSWER_HEADER = Struct(">ii")
SMALLEST_ANSWER = ANSWER_HEADER.size - LENGTH.size

# Told the frame of an answer, or None when it will never come. What it returns goes to the client; None: nothing does.
Heard = Callable[[Bytes | None], Bytes | None]


class Held:
    """An expected answer that must be whole before it leaves."""

    __slots__ = ("correlation_id",)

    def __init__(self, correlation_id: int) -> None:
        self.correlation_id = correlation_id


class Rewritten(Held):
    __slots__ = ("api",)

    def __init__(self, correlation_id: int, api: int) -> None:
        super().__init__(correlation_id)
        self.api = api


class Awaited(Held):
    __slots__ = ("heard",)

    def __init__(self, correlation_id: int, heard: Heard) -> None:
        super().__init__(correlation_id)
        self.heard = heard


class Prompt(Awaited):
    __slots__ = ()


class Own(Awaited):
    __slots__ = ()


class Local:
    """`frame` is complete with its length."""

    __slots__ = ("frame",)

    def __init__(self, frame: bytes) -> None:
        self.frame = frame


Expected = int | Held | Local


class Rewriter(Protocol):
    def rewrite(self, api: int, answer: Bytes) -> Bytes: ...


class Answers:
    __slots__ = (
        "_locals_waiting",
        "_max_held_bytes",
        "_rewriter",
        "_rewritten",
        "_tail",
        "_wanted",
        "due",
        "expected",
        "hearing",
        "idle",
        "to_come",
        "tokens",
    )

    def __init__(self, rewriter: Rewriter, counts: Counts, max_held_bytes: int) -> None:
        self._rewriter = rewriter
        self._rewritten = counts.rewritten
        self._max_held_bytes = max_held_bytes
        self.expected: deque[Expected] = deque()
        # Local answers that are due now, with nothing from the broker before them.
        self.due: list[bytes] = []
        # Of the opaque answer under way: how many of its bytes have yet to come. Whoever moves some of them by another
        # way than through here takes them off.
        self.to_come = 0
        # Nothing is under way, and nothing made here waits to leave: the next answer is looked at by itself.
        self.idle = False
        # Bare tokens are exchanged: nothing is expected, and what the broker sends passes.
        self.tokens = False
        # Somebody hears an answer just now: what they send or answer leaves right behind.
        self.hearing = False
        self._locals_waiting = 0
        # The beginning of an answer that is held, and how long it must grow.
        self._tail = bytearray()
        self._wanted = 0

    @property
    def quiet(self) -> bool:
        return not (self.to_come or self._tail or self.expected or self.due)

    @property
    def prompt_is_next(self) -> bool:
        """The broker has only to answer us, or what takes no time: whatever the client asked before that, it has answered."""
        return bool(self.expected) and isinstance(self.expected[0], Own | Prompt) and not self.to_come

    # ------------------------------------------------------------------------------------------------- made here

    def make(self, frame: bytes) -> None:
        """An answer made here, with its length, to what the client asked last."""
        self.idle = False
        if self._owes_before():
            self.expected.append(Local(frame))
            self._locals_waiting += 1
        else:
            self.due.append(frame)

    def take_due(self) -> bytes:
        """They leave before anything that the broker says later."""
        if not self.due:
            return b""
        taken = b"".join(self.due)
        self.due.clear()
        return taken

    def release_locals(self) -> None:
        """What was moved past this object may have been the last before an answer made here."""
        while self._local_is_next() and not self.to_come:
            self.due.append(self._next_local())

    def _owes_before(self) -> bool:
        return self.to_come > 0 or any(type(expected) is not Own for expected in self.expected)

    def _local_is_next(self) -> bool:
        return self._locals_waiting > 0 and type(self.expected[0]) is Local

    def _next_local(self) -> bytes:
        local = self.expected.popleft()
        assert isinstance(local, Local)
        self._locals_waiting -= 1
        return local.frame

    # ------------------------------------------------------------------------------------------- from the broker

    def passes(self, data: Bytes, end: int) -> bool:
        """While idle: is what has come (`data` up to `end`) one opaque answer? Then it leaves as it came."""
        size, expected = end - 4, self.expected
        if size < SMALLEST_ANSWER or not expected:
            return False
        its_size, correlation_id = ANSWER_HEADER.unpack_from(data)
        if its_size != size or correlation_id != expected[0]:
            return False
        expected.popleft()
        return True

    def from_broker(self, data: Bytes) -> Bytes:
        """What leaves for the client now that this arrived. Opaque answers with nothing between pass uncopied."""
        if self._tail:
            self._tail += data
            if len(self._tail) < self._wanted:
                return self.take_due()
            data, self._tail = memoryview(self._tail), bytearray()
        passed: list[Bytes] = [self.take_due()] if self.due else []
        start, at = self._pass(data, passed)
        end = len(data)
        self.to_come = max(0, at - end)
        if at < end:
            self._tail, end = bytearray(data[at:]), at
        self.idle = not (self.to_come or self._tail or self.due or self._locals_waiting)
        if passed:
            passed.append(data[start:end])
            return b"".join(passed)
        return data[:end] if end < len(data) else data

    def _pass(self, data: Bytes, passed: list[Bytes]) -> tuple[int, int]:
        """Answer by answer, up to the first that must grow before it is looked at, or to the end of the last. Returns from
        where on all pass as they came, behind what has `passed`; and up to where: past the end, if more has yet to come."""
        end, expected = len(data), self.expected
        at, start = self.to_come, 0
        while True:
            if self._locals_waiting and at <= end and self._local_is_next():
                passed += data[start:at], self._next_local()
                start = at
                continue
            if self.tokens and not expected:
                return start, max(at, end)
            if end - at < ANSWER_HEADER.size:
                self._wanted = ANSWER_HEADER.size
                return start, at
            if not expected:
                raise Disconnect(Cause.ANSWER_OUT_OF_ORDER, f"{end - at} bytes that nobody asked for")
            size, correlation_id = ANSWER_HEADER.unpack_from(data, at)
            after = at + 4 + size
            if correlation_id == expected[0]:
                expected.popleft()
                if size < SMALLEST_ANSWER:
                    raise Disconnect(Cause.MALFORMED_ANSWER, f"a frame of {size} bytes")
            else:
                answer = self._whole(size, correlation_id, data[at:after])
                if answer is None:
                    self._wanted = 4 + size
                    return start, at
                passed += data[start:at], answer
                start = after
            at = after

    def _whole(self, size: int, correlation_id: int, frame: Bytes) -> Bytes | None:
        """The answer as it leaves, with its length; None while it is not whole."""
        held = self.expected[0]
        if not isinstance(held, Held) or held.correlation_id != correlation_id:
            expected = held.correlation_id if isinstance(held, Held) else held
            detail = f"correlation id {correlation_id}, expected {expected}: is this a Kafka broker?"
            raise Disconnect(Cause.ANSWER_OUT_OF_ORDER, detail)
        if not SMALLEST_ANSWER <= size <= self._max_held_bytes:
            cause = Cause.MALFORMED_ANSWER if size < SMALLEST_ANSWER else Cause.ANSWER_TOO_LARGE
            raise Disconnect(cause, f"{size} bytes; those to rewrite may have {self._max_held_bytes}")
        if len(frame) < 4 + size:
            return None
        self.expected.popleft()
        told = self._told(held, frame[4:])
        return b"" if told is None else LENGTH.pack(len(told)) + told

    def _told(self, held: Held, frame: Bytes) -> Bytes | None:
        if isinstance(held, Awaited):
            self.hearing = True
            told = held.heard(frame)
            self.hearing = False
            return told
        assert isinstance(held, Rewritten)
        self._rewritten[held.api >> 16] += 1
        return self._rewriter.rewrite(held.api, frame)

    def abandon(self) -> None:
        """The broker will answer no more."""
        lost = [awaited for awaited in self.expected if isinstance(awaited, Awaited)]
        self.expected.clear()
        for awaited in lost:
            awaited.heard(None)

    def end(self) -> None:
        self._tail = bytearray()
        self.expected.clear()
