"""One connection's frames: order, pieces, tokens, refusals. The wire here is a small real one, of three made-up rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_protocol import encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.addresses import Directory
from proxy.answers import Bytes
from proxy.causes import Cause, Disconnect
from proxy.conversation import LARGEST_BEGINNING, Conversation
from proxy.counts import Counts
from proxy.settings import Limits, Settings
from proxy.treatments import Treatment
from proxy.wire import Wire

OPAQUE, REWRITTEN, PRODUCE, HANDSHAKE, HERE, PROOF = (12 << 16, 3 << 16, 0, 17 << 16, 18 << 16, 36 << 16)
HANDSHAKE_1 = HANDSHAKE | 1


class ShoutingWire:
    """Rewrites by turning letters to capitals; Produce's first byte is its acks; a proof's answer whether it is the last."""

    treatments: Mapping[int, Treatment] = {
        OPAQUE: Treatment.OPAQUE,
        REWRITTEN: Treatment.REWRITTEN,
        PRODUCE: Treatment.PRODUCE,
        HANDSHAKE: Treatment.TOKENS_FOLLOW,
        HANDSHAKE_1: Treatment.AUTHENTICATION,
        HERE: Treatment.ANSWERED_HERE,
        PROOF: Treatment.PROOF,
    }

    def treatment_of_unlisted(self, api: int) -> Treatment:
        return Treatment.OPAQUE

    def counted_as(self, api: int) -> int:
        return -1

    def produce_acks(self, frame: Bytes) -> int | None:
        return frame[8] if len(frame) > 8 else None

    def software(self, frame: bytes) -> tuple[str, str]:
        raise NotImplementedError

    def group_of(self, frame: Bytes) -> str | None:
        return None

    def client_id(self, frame: Bytes) -> str:
        raise NotImplementedError

    def begins_session(self, api: int, answer: Bytes) -> bool:
        return len(answer) > 4 and answer[4] > 0

    def rewrite(self, api: int, answer: Bytes) -> Bytes:
        return bytes(answer).upper()

    def answer(self, api: int, correlation_id: int) -> bytes:
        return answer(correlation_id, b"made here")


def conversation() -> Conversation:
    return Conversation(ShoutingWire(), Counts(), Limits(max_request_bytes=1_000, max_rewritten_bytes=1_000))


def request(api: int, correlation_id: int, body: bytes = b"") -> bytes:
    return pack(">iIi", 8 + len(body), api, correlation_id) + body


def answer(correlation_id: int, body: bytes = b"") -> bytes:
    return pack(">ii", 4 + len(body), correlation_id) + body


def token(text: bytes) -> bytes:
    return pack(">i", len(text)) + text


# Behind which a broker takes nothing but the rest of it, or the next step.
UNFINISHED = {
    "request": request(OPAQUE, 2, bytes(100))[:50],
    "handshake": request(HANDSHAKE_1, 2),
    "bare tokens": request(HANDSHAKE, 2) + token(b"n,,n=alice"),
    "proof": request(PROOF, 2),
}


def asks(talk: Conversation, data: Bytes) -> Bytes:
    """As a link does: while nothing else is under way, whether it is the usual case comes first."""
    return data if talk.idle and talk.passes(data, len(data)) else talk.from_client(data)


def tells(talk: Conversation, data: Bytes) -> Bytes:
    return data if talk.owed.idle and talk.owed.passes(data, len(data)) else talk.from_broker(data)


def after_one_exchange() -> Conversation:
    talk = conversation()
    talk.from_client(request(OPAQUE, 1))
    talk.from_broker(answer(1))
    assert talk.idle
    assert talk.owed.idle
    return talk


def test_after_the_first_an_opaque_request_and_its_answer_are_looked_at_by_themselves() -> None:
    talk = after_one_exchange()
    asked, told = request(OPAQUE, 2, b"anything"), answer(2, b"something")
    # A buffer holds what came before behind it.
    assert talk.passes(asked + b"rest", len(asked))
    assert list(talk.expected) == [2]
    assert talk.requests == 2
    assert talk.owed.passes(told + b"rest", len(told))
    assert talk.quiet


@pytest.mark.parametrize(
    "arrived",
    [
        b"",
        request(OPAQUE, 2)[:-1],
        request(OPAQUE, 2, b"a body")[:-1],
        request(OPAQUE, 2) + request(OPAQUE, 3),
        request(REWRITTEN, 2),
        request(PRODUCE, 2, b"\1"),
        request(HERE, 2),
        request(PROOF, 2),
        request(OPAQUE, 2, bytes(1_000)),
        pack(">iIi", 7, OPAQUE, 2)[:11],
    ],
)
def test_any_other_request_is_not_the_usual_case(arrived: bytes) -> None:
    talk = after_one_exchange()
    behind = request(OPAQUE, 9, b"what the buffer held before")
    assert not talk.passes(arrived + behind[len(arrived) :], len(arrived))
    assert talk.quiet
    assert talk.requests == 1


@pytest.mark.parametrize("arrived", [b"", answer(2)[:7], answer(2, b"a body")[:-1], answer(2) + answer(3), answer(3)])
def test_any_other_answer_is_not_the_usual_case(arrived: bytes) -> None:
    talk = after_one_exchange()
    assert talk.passes(request(OPAQUE, 2), 12)
    behind = answer(2, b"what the buffer held before")
    assert not talk.owed.passes(arrived + behind[len(arrived) :], len(arrived))
    assert list(talk.expected) == [2]


def test_an_answer_that_is_to_be_rewritten_is_not_the_usual_case() -> None:
    talk = after_one_exchange()
    asks(talk, request(REWRITTEN, 2))
    assert bytes(tells(talk, answer(2, b"abc"))) == answer(2, b"ABC")
    asks(talk, request(REWRITTEN, 3))
    tells(talk, answer(3, b"in two pieces")[:10])
    assert not talk.owed.idle


def test_the_usual_case_never_makes_a_client_ask_more_than_it_may() -> None:
    counts = Counts()
    talk = Conversation(ShoutingWire(), counts, Limits(max_pipelined_requests=3))
    asks(talk, request(OPAQUE, 1))
    assert talk.passes(request(OPAQUE, 2), 12)
    assert not talk.passes(request(OPAQUE, 3), 12)
    asks(talk, request(OPAQUE, 3))
    assert talk.full
    assert counts.requests_by_version == {OPAQUE: 3}


def test_a_request_that_is_not_whole_is_read_to_its_end_whatever_may_be_pipelined() -> None:
    """Nobody answers it before."""
    talk = Conversation(ShoutingWire(), Counts(), Limits(max_pipelined_requests=1))
    asked = request(OPAQUE, 1, b"in two pieces")
    talk.from_client(asked[:14])
    assert not talk.full
    talk.from_client(asked[14:])
    assert talk.full
    talk.from_broker(answer(1))
    assert not talk.full


def test_behind_as_many_as_may_be_asked_one_that_has_begun_is_not_read_on() -> None:
    talk = Conversation(ShoutingWire(), Counts(), Limits(max_pipelined_requests=2))
    talk.from_client(request(OPAQUE, 1) + request(OPAQUE, 2) + request(OPAQUE, 3, b"in two pieces")[:14])
    assert talk.full
    talk.from_broker(answer(1))
    assert not talk.full


def test_who_goes_on_without_waiting_for_its_verdict_is_through_with_authentication() -> None:
    talk = after_one_exchange()
    asks(talk, request(PROOF, 2))
    assert not talk.authenticated
    assert talk.passes(request(OPAQUE, 3), 12)
    assert talk.authenticated


def test_while_something_is_under_way_nothing_is_looked_at_by_itself() -> None:
    talk = after_one_exchange()
    asks(talk, request(OPAQUE, 2, b"in two pieces")[:14])
    assert not talk.idle
    talk = after_one_exchange()
    asks(talk, request(OPAQUE, 2)[:6])
    assert not talk.idle
    talk = after_one_exchange()
    asks(talk, request(HANDSHAKE, 2))
    assert not talk.idle
    talk = after_one_exchange()
    asks(talk, request(OPAQUE, 2))
    tells(talk, answer(2, b"in two pieces")[:10])
    assert not talk.owed.idle
    asks(talk, request(HERE, 3))
    tells(talk, answer(2, b"in two pieces")[10:])
    assert talk.owed.idle
    asks(talk, request(HERE, 4))
    assert not talk.owed.idle


def test_an_opaque_request_and_its_answer_pass_uncopied() -> None:
    talk = conversation()
    asked, told = request(OPAQUE, 1, b"anything"), answer(1, b"something")
    assert talk.from_client(asked) is asked
    assert talk.from_broker(told) is told
    assert talk.quiet


def test_a_rewritten_answer_waits_until_it_is_whole() -> None:
    talk = conversation()
    talk.from_client(request(REWRITTEN, 1))
    told = answer(1, b"abc")
    assert bytes(talk.from_broker(told[:9])) == b""
    assert bytes(talk.from_broker(told[9:])) == answer(1, b"ABC")


def test_a_local_answer_leaves_after_those_that_were_asked_before() -> None:
    talk = conversation()
    sent = talk.from_client(request(OPAQUE, 1) + request(HERE, 2) + request(OPAQUE, 3))
    assert bytes(sent) == request(OPAQUE, 1) + request(OPAQUE, 3)
    assert talk.owed.due == []
    told = talk.from_broker(answer(1, b"first") + answer(3, b"third"))
    assert bytes(told) == answer(1, b"first") + answer(2, b"made here") + answer(3, b"third")


def test_a_local_answer_waits_for_the_rest_of_the_answer_under_way() -> None:
    talk = conversation()
    talk.from_client(request(OPAQUE, 1))
    told = answer(1, b"a long answer")
    assert bytes(talk.from_broker(told[:10])) == told[:10]
    talk.from_client(request(HERE, 2))
    assert talk.owed.due == []
    assert bytes(talk.from_broker(told[10:])) == told[10:] + answer(2, b"made here")


def test_a_local_answer_with_nothing_before_it_is_due_at_once() -> None:
    talk = conversation()
    assert bytes(talk.from_client(request(HERE, 7))) == b""
    assert talk.owed.due == [answer(7, b"made here")]


def test_a_produce_without_acks_expects_no_answer() -> None:
    talk = conversation()
    talk.from_client(request(PRODUCE, 1, b"\x00records") + request(PRODUCE, 2, b"\x01records"))
    assert list(talk.expected) == [2]


def test_bare_tokens_pass_until_a_request_that_is_known() -> None:
    talk = conversation()
    talk.from_client(request(HANDSHAKE, 1))
    talk.from_broker(answer(1, b"\x00\x00"))
    for text in (b"\0u\0p", b"c=biws,r=abc", b"", b"\x01"):
        assert bytes(talk.from_client(token(text))) == token(text)
        assert bytes(talk.from_broker(token(text))) == token(text)
    assert not talk.authenticated
    talk.from_client(request(OPAQUE, 2))
    assert talk.authenticated
    assert list(talk.expected) == [2]


def test_who_produces_behind_bare_tokens_is_through_with_authentication_though_it_wants_no_answers() -> None:
    """It may never ask for anything else, and was cut off each half minute."""
    talk = conversation()
    talk.from_client(request(HANDSHAKE, 1))
    talk.from_broker(answer(1, b"\x00\x00"))
    talk.from_client(token(b"\0u\0p"))
    talk.from_client(request(PRODUCE, 2, b"\x00records"))
    assert talk.authenticated
    assert talk.quiet


def test_a_client_is_through_with_authentication_once_its_proof_is_answered() -> None:
    """Clients may say nothing for a long time after it, and must not be cut off for that."""
    talk = conversation()
    talk.from_client(request(PROOF, 1))
    assert not talk.authenticated
    talk.from_broker(answer(1, b"\0\0"))
    assert talk.authenticated


@pytest.mark.parametrize("sent", UNFINISHED.values(), ids=UNFINISHED)
def test_a_broker_waits_for_the_rest_of_a_request_and_for_the_next_step_of_an_authentication(sent: bytes) -> None:
    talk = after_one_exchange()
    assert not talk.is_unfinished
    talk.from_client(sent)
    assert talk.is_unfinished


@pytest.mark.parametrize(
    ("sent", "cause"),
    [
        (pack(">iIi", -1, OPAQUE, 1), Cause.MALFORMED_REQUEST),
        (pack(">iIi", 7, OPAQUE, 1), Cause.MALFORMED_REQUEST),
        (pack(">iIi", 1_001, OPAQUE, 1), Cause.REQUEST_TOO_LARGE),
    ],
)
def test_bytes_that_are_no_request_are_refused_with_their_cause(sent: bytes, cause: Cause) -> None:
    with pytest.raises(Disconnect) as refused:
        conversation().from_client(sent)
    assert refused.value.cause is cause


@pytest.mark.parametrize(
    ("sent", "detail"),
    [
        (b"GET / HTTP/1.1\r\n", "HTTP, not Kafka"),
        (b"POST /topics HTTP/1.1\r\n", "HTTP, not Kafka"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\x00", "a TLS ClientHello, and this port is plaintext"),
    ],
)
def test_who_speaks_another_protocol_is_told_so_and_not_of_a_limit(sent: bytes, detail: str) -> None:
    with pytest.raises(Disconnect, match=f"^malformed_request: {detail}"):
        conversation().from_client(sent)


def test_an_answer_that_is_not_the_one_expected_is_told_by_both_numbers() -> None:
    for api in (REWRITTEN, OPAQUE):
        talk = conversation()
        talk.from_client(request(api, 1))
        with pytest.raises(Disconnect, match=r"correlation id 2, expected 1: is this a Kafka broker\?$"):
            talk.from_broker(answer(2))


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        (answer(2), Cause.ANSWER_OUT_OF_ORDER),
        (answer(1) + answer(1), Cause.ANSWER_OUT_OF_ORDER),
        (pack(">ii", 3, 1), Cause.MALFORMED_ANSWER),
    ],
)
def test_answers_that_nobody_asked_for_end_the_connection(told: bytes, cause: Cause) -> None:
    talk = conversation()
    talk.from_client(request(OPAQUE, 1))
    with pytest.raises(Disconnect) as refused:
        talk.from_broker(told)
    assert refused.value.cause is cause


def test_an_answer_to_rewrite_that_is_too_large_is_not_held() -> None:
    talk = conversation()
    talk.from_client(request(REWRITTEN, 1))
    with pytest.raises(Disconnect, match="answer_too_large"):
        talk.from_broker(pack(">ii", 1_001, 1))


bodies = st.binary(min_size=1, max_size=60)
exchanges = st.lists(st.tuples(st.sampled_from([OPAQUE, REWRITTEN, PRODUCE, HERE]), bodies), min_size=1, max_size=12)


def pieces(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    at = 0
    for size in sizes:
        yield data[at : at + size]
        at += size
    yield data[at:]


@given(exchanges, st.lists(st.integers(1, 40), max_size=40), st.lists(st.integers(1, 40), max_size=40), st.booleans())
def test_how_the_network_cuts_the_bytes_changes_nothing(
    exchange: list[tuple[int, bytes]], requests_cut: list[int], answers_cut: list[int], by_frame: bool
) -> None:
    asked = [(api, request(api, number, body)) for number, (api, body) in enumerate(exchange)]
    onward = b"".join(frame for api, frame in asked if api != HERE)
    replies, expected = [], b""
    for number, (api, body) in enumerate(exchange):
        told = answer(number, body)
        silent = api == HERE or (api == PRODUCE and body[0] == 0)
        replies += [] if silent else [told]
        if api == HERE:
            expected += answer(number, b"made here")
        elif not silent:
            expected += told.upper() if api == REWRITTEN and told.upper()[4:8] == told[4:8] else told

    if by_frame:
        requests_cut, answers_cut = [len(frame) for _, frame in asked], [len(told) for told in replies]
    talk = conversation()
    forwarded, received = b"", b""
    for piece in pieces(b"".join(frame for _, frame in asked), requests_cut):
        forwarded += bytes(asks(talk, piece)) if piece else b""
        received += b"".join(talk.owed.due)
        talk.owed.due.clear()
    for piece in pieces(b"".join(replies), answers_cut):
        received += bytes(tells(talk, piece)) if piece else b""
    assert forwarded == onward
    assert received == expected
    assert talk.quiet


def test_what_clients_make_up_is_counted_as_one() -> None:
    counts, directory = Counts(), Directory(Settings(upstream=("kafka:9092",)))
    talk = Conversation(Wire(directory), counts, Limits())
    for key, version in product((3_000, 3_001, 32_000), range(50)):
        talk.from_client(request(key << 16 | version, 1))
    for version in range(900, 950):
        talk.from_client(request(keys.CREATE_TOPICS << 16 | version, 1))
    assert len(counts.requests_by_version) == 2
    assert counts.requests[keys.CREATE_TOPICS] == 50


def test_what_a_client_says_that_it_is_is_kept_as_far_as_it_is_a_name() -> None:
    """A thousand connections of strangers made the list of connections 32 MB long."""
    talk = Conversation(Wire(Directory(Settings(upstream=("kafka:9092",)))), Counts(), Limits())
    body = m.ApiVersionsRequest(client_software_name="x" * 32_000, client_software_version="y" * 32_000)
    frame = encode_request(keys.API_VERSIONS, 3, 1, "client", body)
    assert talk.from_client(pack(">i", len(frame)) + frame)
    assert talk.software == ("x" * 100, "y" * 100)


def test_a_request_that_must_be_seen_whole_is_not_waited_for_for_ever() -> None:
    directory = Directory(Settings(upstream=("kafka:9092",)))
    talk = Conversation(Wire(directory), Counts(), Limits())
    endless = request(keys.API_VERSIONS << 16 | 3, 1, bytes(8 * LARGEST_BEGINNING))
    assert talk.from_client(endless[:LARGEST_BEGINNING]) == b""
    with pytest.raises(Disconnect, match="not in its first"):
        talk.from_client(endless[LARGEST_BEGINNING : 3 * LARGEST_BEGINNING])
