"""A client's connection, as its members see it: when it may go."""

from __future__ import annotations

from kafka_protocol import encode_response
from kafka_protocol import messages as m
from proxy.addresses import Directory
from proxy.answers import LENGTH
from proxy.conversation import Conversation
from proxy.counts import Counts
from proxy.groups import native
from proxy.groups.clock import Clock
from proxy.groups.line import FIRST_CORRELATION_ID, Key, Line
from proxy.settings import Limits, Settings
from proxy.wire import Wire

MEMBER: Key = ("group", "member")


class Host:
    """Nobody is asked anything here."""

    def __init__(self) -> None:
        self.clock = Clock()


class Lingering:
    """A connection whose client has gone."""

    node, client = 1, "127.0.0.1:9"

    def __init__(self) -> None:
        wire = Wire(Directory(Settings(upstream=("kafka:9092",))))
        self.conversation = Conversation(wire, Counts(), Limits(max_request_bytes=1_000, max_rewritten_bytes=1_000))
        self.conversation.authenticated = True
        self.line: Line | None = None
        self.ended = False

    def flush(self) -> None:
        self.conversation.take_outbox()

    def release(self) -> None:
        assert self.line is not None
        self.ended = self.ended or not self.line.needed()


def lingering() -> tuple[Lingering, Line]:
    connection = Lingering()
    line = connection.line = Line(connection, Host())  # type: ignore[arg-type]
    line.members.add(MEMBER)
    return connection, line


async def test_a_connection_goes_with_its_last_member() -> None:
    connection, line = lingering()
    line.release(MEMBER)
    assert connection.ended


async def test_but_not_before_what_was_asked_on_it_is_answered() -> None:
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
