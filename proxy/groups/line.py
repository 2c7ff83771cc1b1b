"""One client's connection as the members see it: what may be asked on it, and what is known of who is at its end.

Nothing about a member is trusted for a connection that has not shown that its principal may read the group: the first
request for a group asks the broker first (`admit`), on this very connection. In the same breath the broker's versions
are learnt, for clients need not have asked. What the broker says counts for a while: a right may be withdrawn, and a broker
would look at it with each request. Heartbeats of members that speak here show it again and again, so they need not ask.
"""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from kafka_protocol.messages import keys
from proxy.answers import Bytes, Heard
from proxy.causes import Cause, Disconnect
from proxy.connections import Connection
from proxy.groups import native
from proxy.groups.clock import Clock
from proxy.groups.native import Ask, Versions
from proxy.observations import Client
from translation import errors as e

Key = tuple[str, str]

# Our own correlation ids begin here, so that they are told from clients' when somebody reads a capture.
FIRST_CORRELATION_ID = 0x4B00_0000
# As clients do by default.
ANSWER_MS = 30_000
# A coordinator that is there answers these within 5 s, with an error if need be (`offsets.commit.timeout.ms`). One that does
# not, though nothing has ended its connections (its machine hangs, or is cut off), has a successor that gives its members one
# session to come. Clients look for it when their connection ends: so it must end long before that has passed. Silent is one
# that has said nothing at all for so long.
PROMPT = frozenset({keys.CONSUMER_GROUP_HEARTBEAT, keys.CONSUMER_GROUP_DESCRIBE, keys.OFFSET_COMMIT})
PROMPT_MS = 10_000
# For so long it counts that a broker has let this client read a group: as long as a member may be without an answer. It beats
# every five seconds, and is waited for PROMPT_MS.
ADMITTED_MS = 15_000
# Groups are many, and their names a client's own; of those that are forgotten the broker is asked again.
MOST_ADMITTED = 1_000
# After so many requests everybody else has a turn: a client may send thousands at once, and what is known here is answered
# at once, in tenths of a millisecond each.
REQUESTS_A_TURN = 32

# What a coordinator says of a member that does not exist, to whoever may read the group (GroupCoordinatorService.heartbeat,
# 3.9 to 4.4; of a group of any other type, or of none, UNKNOWN_MEMBER_ID). While it loads it says NONE.
OF_NOBODY = frozenset(
    {
        e.NONE,
        e.COORDINATOR_LOAD_IN_PROGRESS,
        e.ILLEGAL_GENERATION,
        e.UNKNOWN_MEMBER_ID,
        e.REBALANCE_IN_PROGRESS,
        e.FENCED_INSTANCE_ID,
    }
)
# "Not you", and "not of such a group".
TURNED_AWAY = frozenset({e.GROUP_AUTHORIZATION_FAILED, e.INVALID_GROUP_ID})


class Taker(Protocol):
    """Who takes the requests, as a line needs it."""

    clock: Clock

    def taken(self, line: Line, frame: bytes) -> None: ...
    def interrupted(self, line: Line) -> None: ...
    def left(self, line: Line, hung_up: bool) -> None: ...
    def closed(self, line: Line) -> None: ...


class Question:
    """Asked of the broker, and yet to be answered. The alarm for it outlives the answer, and must then keep nothing: what was
    asked may be as large as a commit, and the connection be closed since."""

    __slots__ = ("_open", "until_ms")

    def __init__(self, line: Line, ask: Ask, heard: Callable[[Any], None], until_ms: int) -> None:
        self._open: tuple[Line, Ask, Callable[[Any], None]] | None = (line, ask, heard)
        self.until_ms = until_ms

    def hear(self, frame: Bytes | None) -> None:
        if self._open is not None:
            (line, ask, heard), self._open = self._open, None
            line.hear(ask, heard, frame)

    def ring(self) -> None:
        if self._open is not None:
            line = self._open[0]
            line.do(lambda: line.doubt(self))


class Line:
    def __init__(self, connection: Connection, taker: Taker, software: tuple[str, str] = ("", "")) -> None:
        self.connection = connection
        self.open = True
        self.client_left = False
        self.client = Client(address=connection.client, software=software[0], software_version=software[1])
        self.versions: Versions = {}
        # The members that speak to their coordinator here.
        self.members: set[Key] = set()
        # Those of them that spoke on another connection before: between the two they may have been anywhere.
        self.returned: set[Key] = set()
        # Those who are there for all we know, untranslated (untranslated.py).
        self.passing: set[Key] = set()
        # The id that was last given out here with MEMBER_ID_REQUIRED. Who has been elsewhere with it comes on another line.
        self.issued: Key | None = None
        # Groups of native members.
        self.natives: set[str] = set()
        # What it asked in versions that its broker has dropped, and about which group if about one (reliance.py).
        self.relies_on: set[tuple[str | None, str]] = set()
        # The request in hand, by its number in requests.py.
        self.number: int | None = None
        # How many requests had come on the connection when its last Heartbeat, or the SyncGroup before the first, came.
        self._asked_before = 0
        self._taker = taker
        # Groups that its principal may read, and until when that counts.
        self._admitted: dict[str, int] = {}
        self._at_the_door: dict[str, list[Callable[[int], None]]] = {}
        self._correlation_ids = itertools.count(FIRST_CORRELATION_ID)
        # How many questions have yet to be answered, and whether a member has gone to speak elsewhere.
        self._asked = 0
        self._left_for_another = False
        self._taken = 0

    def __repr__(self) -> str:
        return f"<Line {self.client.address} {len(self.members)} members>"

    # ------------------------------------------------------------------------------------------ for the conversation

    @property
    def client_id(self) -> str:
        return self.client.client_id

    @property
    def software(self) -> tuple[str, str]:
        return self.client.software, self.client.software_version

    def is_like(self, other: Line) -> bool:
        """The same software, of the same version, as far as both say. Who says nothing is like others who don't."""
        return self.software == other.software

    @property
    def is_free(self) -> bool:
        """The broker owes it no answer."""
        return not self.connection.conversation.expected

    def beats(self) -> int:
        """A Heartbeat has come, or the SyncGroup before the first: how much else has been asked here since the last?"""
        asked_before, self._asked_before = self._asked_before, self.connection.conversation.requests
        return self._asked_before - asked_before - 1

    @property
    def groups(self) -> set[str]:
        return self.natives | {group_id for group_id, _ in self.members | self.passing}

    def taken(self, frame: bytes) -> None:
        self._taken += 1
        if self._taken % REQUESTS_A_TURN:
            self._taker.taken(self, frame)
        else:
            self.soon(lambda: self._take_later(frame))

    def _take_later(self, frame: bytes) -> None:
        """As the conversation does, which has said already that more has come behind it."""
        if not self.open:
            return
        conversation = self.connection.conversation
        self._taker.taken(self, frame)
        if conversation.in_hand and conversation.request_under_way:
            self.interrupted()

    def knock(self, then: Callable[[], None]) -> None:
        """A broker that wants to know who asks says nothing of groups before that, of none by this name either."""

        def heard(answer: Any) -> None:
            if answer is not None:
                then()
            elif self.open:
                self.connection.close(Cause.BROKER_LOST, "no answer to a client that has a large request of a group")

        self.ask(native.ask_leave_to_read(""), heard)

    def interrupted(self) -> None:
        self._taker.interrupted(self)

    def needed(self) -> bool:
        """Who went to speak elsewhere still hears what it asked here: else it would take its coordinator for lost. But not of
        what has yet to arrive there: it would come behind what is said elsewhere."""
        return bool(self.members) or (self._left_for_another and self.asking and not self.connection.swallows())

    @property
    def asking(self) -> bool:
        return self._asked > 0

    def left(self) -> None:
        self.client_left = True
        self._taker.left(self, hung_up=True)

    def closed(self) -> None:
        self.client_left = True
        self._taker.left(self, hung_up=False)
        self.open = False
        self._taker.closed(self)

    # ------------------------------------------------------------------------------------------------- for the host

    def known_as(self, client_id: str) -> None:
        if client_id != self.client.client_id:
            self.client = msgspec.structs.replace(self.client, client_id=client_id)

    def inherits(self, software: tuple[str, str]) -> None:
        """Some clients say what they are once to a broker, and not again when they connect anew (franz-go)."""
        if not self.client.software and any(software):
            name, version = software
            self.client = msgspec.structs.replace(self.client, software=name, software_version=version)

    def offers(self, key: int) -> bool:
        return key in self.versions

    def answer(self, frame: bytes) -> None:
        """To the request in hand."""
        self.number = None
        if self.open:
            self.connection.conversation.answer(frame)
            self.connection.flush()

    def forward(self, frame: bytes, heard: Heard | None = None, is_prompt: bool = False) -> None:
        """The request in hand goes to the broker."""
        self.number = None
        if self.open:
            self.connection.conversation.forward(frame, heard, is_prompt)
            self.connection.flush()

    def ask(self, ask: Ask, heard: Callable[[Any], None]) -> None:
        """Ask the broker. `heard` is called once: with the answer's body, or with None when there will be none."""
        if not self.open:
            heard(None)
            return
        now_ms = self._taker.clock.now_ms
        question = Question(self, ask, heard, now_ms + ANSWER_MS)
        self._asked += 1
        self._taker.clock.at(now_ms + (PROMPT_MS if ask.key in PROMPT else ANSWER_MS), question.ring)
        frame = native.written(ask, next(self._correlation_ids), self.client.client_id)
        self.connection.conversation.ask(frame, question.hear)
        self.connection.flush()

    def hear(self, ask: Ask, heard: Callable[[Any], None], frame: Bytes | None) -> None:
        self._asked -= 1
        try:
            answer = None if frame is None else native.read(ask, bytes(frame))
        except Disconnect:
            heard(None)
            raise
        if answer is not None and ask.key == keys.CONSUMER_GROUP_HEARTBEAT:
            self._remember_right(ask.body.group_id, answer.error_code)
        heard(answer)
        self._let_go()

    def doubt(self, question: Question) -> None:
        """Whose client has gone opens no other connection: on this one it may still be said that its member leaves."""
        now_ms = self._taker.clock.now_ms
        rest_ms = question.until_ms - now_ms
        patience_ms = min(rest_ms, self._patience_ms())
        if patience_ms > 0:
            self._taker.clock.at(now_ms + patience_ms, question.ring)
        elif rest_ms <= 0 or self.client_left:
            question.hear(None)
        else:
            self.connection.close(Cause.BROKER_SILENT, f"no answer within {PROMPT_MS // 1000} s")

    def _patience_ms(self) -> int:
        """The answer to what the client asked before may take its time, and so may a client that has to take it: ours lies
        unread meanwhile. And who commits each record has a thousand commits before ours: a coordinator that answers them one
        by one is slow, not silent."""
        connection = self.connection
        if not connection.conversation.owed.prompt_is_next or connection.leaves_broker_unread():
            return ANSWER_MS
        return PROMPT_MS - connection.silent_ms()

    def soon(self, then: Callable[[], None]) -> None:
        """When others have had their turn."""
        self._taker.clock.at(self._taker.clock.now_ms, lambda: self.do(then))

    def do(self, what: Callable[[], None]) -> None:
        """Whatever is wrong then ends this connection and no other, as when something arrives on it."""
        try:
            what()
        except Disconnect as end:
            self.connection.close(end.cause, end.detail)
        except Exception:
            self.connection.close(Cause.OUR_MISTAKE, traceback.format_exc())

    def release(self, key: Key) -> None:
        """This member speaks elsewhere, or no more."""
        self.members.discard(key)
        self.returned.discard(key)
        self._left_for_another = True
        self._let_go()

    def _let_go(self) -> None:
        if self._left_for_another and self.open and not self.needed():
            self.connection.release()

    # -------------------------------------------------------------------------------------------------------- the door

    def admit(self, group_id: str, then: Callable[[int], None]) -> None:
        """`then` hears 0, or the error with which whatever is asked about this group here must be refused."""
        # The right of a native client may have been seen in an answer to it, and nothing asked about its broker yet.
        if self.versions and self._taker.clock.now_ms < self._admitted.get(group_id, 0):
            then(e.NONE)
        elif group_id in self._at_the_door:
            self._at_the_door[group_id].append(then)
        else:
            self._at_the_door[group_id] = [then]
            self.know_versions(lambda: None)
            self.ask(native.ask_leave_to_read(group_id), lambda answer: self._judged(group_id, answer))

    def know_versions(self, then: Callable[[], None]) -> None:
        """`then`, once it has been asked what the broker offers."""

        def learnt(answer: Any) -> None:
            if answer is not None and answer.error_code == e.NONE:
                self.versions = native.versions_of(answer)
            then()

        if self.versions:
            then()
        else:
            self.ask(native.ask_versions(), learnt)

    def _judged(self, group_id: str, answer: Any) -> None:
        error = _verdict(answer)
        self._remember_right(group_id, error)
        for then in self._at_the_door.pop(group_id, ()):
            then(error)

    def _remember_right(self, group_id: str, error: int) -> None:
        if error == e.GROUP_AUTHORIZATION_FAILED:
            self._admitted.pop(group_id, None)
        elif error == e.NONE:
            if len(self._admitted) >= MOST_ADMITTED:
                self._admitted.clear()
            self._admitted[group_id] = self._taker.clock.now_ms + ADMITTED_MS


def _verdict(answer: Any) -> int:
    """Any word on the member that does not exist means: this is the coordinator, and you may ask it. Whatever else is said
    shows no right (of an authorizer that failed UNKNOWN_SERVER_ERROR is told): the client comes again."""
    code = e.NOT_COORDINATOR if answer is None else int(answer.error_code)
    if code in OF_NOBODY:
        return e.NONE
    return code if code in TURNED_AWAY else e.NOT_COORDINATOR
