"""Requests that are taken: one in hand at a time, our own in between, and every answer in the order it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.answers import LENGTH, Bytes
from proxy.asking_ahead import MOST_OF_OURS
from proxy.causes import Disconnect
from proxy.conversation import LARGEST_BACKLOG, LARGEST_BEGINNING, LARGEST_OF_STRANGERS, Conversation
from proxy.counts import Counts
from proxy.settings import Limits
from proxy.treatments import Treatment
from tests.unit.test_conversation import OPAQUE, PROOF, ShoutingWire, answer, asks, request, tells

TAKEN, FETCH = 11 << 16, 1 << 16 | 11


class TakingWire(ShoutingWire):
    treatments: Mapping[int, Treatment] = {**ShoutingWire.treatments, TAKEN: Treatment.TAKEN}


class Desk:
    """Keeps what it takes until told what to do; `at_once` is done with each as it comes."""

    def __init__(self, at_once: Callable[[bytes], None] | None = None) -> None:
        self.at_once = at_once
        self.requests: list[bytes] = []
        self.interruptions = 0
        self.knocks: list[Callable[[], None]] = []
        self.client_left = False
        self.asking = False
        self.client_id = "desk"
        self.groups: set[str] = set()
        self.relies_on: set[tuple[str | None, str]] = set()

    def taken(self, frame: bytes) -> None:
        self.requests.append(frame)
        if self.at_once is not None:
            self.at_once(frame)

    def knock(self, then: Callable[[], None]) -> None:
        self.knocks.append(then)

    def interrupted(self) -> None:
        self.interruptions += 1

    def needed(self) -> bool:
        return False

    def left(self) -> None: ...

    def closed(self) -> None: ...


def known_at_once(_node: int | None, then: Callable[[], None]) -> None:
    """Whether a broker is there, where that is not what is tested."""
    then()


def talk_with(desk: Desk) -> Conversation:
    return Conversation(
        TakingWire(), Counts(), Limits(max_request_bytes=1_000, max_rewritten_bytes=1_000), open_desk=lambda: desk
    )


def body(correlation_id: int, text: bytes = b"") -> bytes:
    """An answer's frame as the desk writes it, without its length."""
    return answer(correlation_id, text)[4:]


def own(correlation_id: int) -> bytes:
    return request(OPAQUE, correlation_id, b"ours")[4:]


def unheard(frame: Bytes | None) -> None:
    return None


def test_what_came_with_a_request_that_ended_its_connection_is_looked_at_no_more() -> None:
    def ends(frame: bytes) -> None:
        talk.answer(body(1))
        talk.end()

    talk = talk_with(desk := Desk(at_once=ends))
    talk.from_client(request(TAKEN, 1) + request(TAKEN, 2) + request(OPAQUE, 3))
    assert len(desk.requests) == 1
    assert talk.requests == 1


def test_an_answer_made_here_waits_for_one_that_is_still_to_be_heard() -> None:
    """Java's consumer sends a heartbeat right behind a commit, and takes answers in no other order."""
    desk = Desk()
    talk = talk_with(desk)
    talk.from_client(request(TAKEN, 1))
    talk.forward(desk.requests[0], lambda told: told)
    talk.from_client(request(TAKEN, 2))
    talk.answer(body(2))
    assert talk.owed.take_due() == b""
    assert bytes(talk.from_broker(answer(1))) == answer(1) + answer(2)


def test_nothing_behind_a_request_in_hand_is_looked_at_until_it_is_answered() -> None:
    desk = Desk()
    talk = talk_with(desk)
    assert bytes(talk.from_client(request(TAKEN, 1) + request(OPAQUE, 2) + request(TAKEN, 3))) == b""
    assert bytes(talk.from_client(request(OPAQUE, 4))) == b""
    assert len(desk.requests) == 1
    assert not talk.waiting()
    talk.answer(body(1))
    assert talk.owed.due == [answer(1)]
    assert talk.waiting()
    assert bytes(talk.from_client(b"")) == request(OPAQUE, 2)
    assert [frame[4:8] for frame in desk.requests] == [LENGTH.pack(1), LENGTH.pack(3)]
    assert not talk.waiting()


def test_who_is_kept_waiting_is_heard_when_more_comes() -> None:
    desk = Desk()
    talk = talk_with(desk)
    talk.from_client(request(TAKEN, 1))
    assert desk.interruptions == 0
    talk.from_client(request(OPAQUE, 2))
    assert desk.interruptions == 1


def test_what_is_forwarded_goes_out_between_its_neighbours() -> None:
    desk = Desk()
    talk = talk_with(desk)
    desk.at_once = talk.forward
    three = request(OPAQUE, 1) + request(TAKEN, 2) + request(OPAQUE, 3)
    assert bytes(talk.from_client(three)) == three
    told = answer(1) + answer(2) + answer(3)
    assert bytes(talk.from_broker(told)) == told
    assert talk.quiet


def test_our_own_requests_go_out_in_order_and_their_answers_stay_here() -> None:
    desk = Desk()
    heard: list[Any] = []
    talk = talk_with(desk)
    desk.at_once = lambda frame: talk.ask(own(77), heard.append)
    sent = bytes(talk.from_client(request(OPAQUE, 1) + request(TAKEN, 2)))
    assert sent == request(OPAQUE, 1) + request(OPAQUE, 77, b"ours")
    assert bytes(talk.from_broker(answer(1) + answer(77, b"for us"))) == answer(1)
    assert [bytes(frame) for frame in heard] == [body(77, b"for us")]
    talk.answer(body(2))
    assert talk.owed.due == [answer(2)]


def test_our_own_requests_wait_for_the_end_of_a_frame_that_has_begun() -> None:
    desk = Desk()
    talk = talk_with(desk)
    desk.at_once = talk.forward
    talk.from_client(request(TAKEN, 1))
    assert bytes(talk.from_broker(answer(1))) == answer(1)
    long, next_one = request(OPAQUE, 2, b"long"), request(OPAQUE, 3)
    sent = bytes(talk.from_client(long[:13]))
    talk.ask(own(77), unheard)
    assert bytes(talk.take_outbox()) == b""
    sent += bytes(talk.from_client(long[13:14]))
    sent += bytes(talk.from_client(long[14:] + next_one))
    assert sent == long + request(OPAQUE, 77, b"ours") + next_one
    assert bytes(talk.from_broker(answer(2) + answer(77) + answer(3))) == answer(2) + answer(3)
    assert talk.quiet


def test_what_waits_for_the_end_of_a_frame_that_has_begun_does_not_keep_it_from_being_read() -> None:
    """Members ask as often as they like; the broker answers them, and then the client's, when it has the rest of that."""
    desk = Desk()
    talk = Conversation(TakingWire(), Counts(), Limits(max_pipelined_requests=2), lambda: desk)
    desk.at_once = talk.forward
    talk.from_client(request(TAKEN, 1))
    talk.from_broker(answer(1))
    long = request(OPAQUE, 2, b"long")
    talk.from_client(long[:13])
    for number in (77, 78):
        talk.ask(own(number), unheard)
    assert not talk.full
    assert talk.from_client(long[13:]) == long[13:] + request(OPAQUE, 77, b"ours") + request(OPAQUE, 78, b"ours")
    assert talk.full


def test_what_is_forwarded_goes_out_right_behind_a_frame_that_had_begun() -> None:
    desk = Desk()
    talk = talk_with(desk)
    desk.at_once = talk.forward
    talk.from_client(request(TAKEN, 1))
    three = request(OPAQUE, 2, b"long") + request(TAKEN, 3) + request(OPAQUE, 4)
    assert bytes(talk.from_client(three[:14])) + bytes(talk.from_client(three[14:])) == three


def test_an_answer_made_here_does_not_wait_for_our_own_requests() -> None:
    desk = Desk()
    talk = talk_with(desk)
    talk.from_client(request(TAKEN, 1))
    talk.ask(own(77), unheard)
    talk.answer(body(1))
    assert talk.owed.due == [answer(1)]


def test_an_answer_made_here_waits_for_what_the_client_asked_before() -> None:
    desk = Desk()
    talk = talk_with(desk)
    talk.from_client(request(OPAQUE, 1) + request(TAKEN, 2))
    talk.answer(body(2, b"late"))
    assert talk.owed.due == []
    assert bytes(talk.from_broker(answer(1))) == answer(1) + answer(2, b"late")


def test_no_request_of_ours_comes_between_the_steps_of_an_authentication() -> None:
    desk = Desk()
    talk = talk_with(desk)
    talk.from_client(request(TAKEN, 1))
    talk.answer(body(1))
    talk.from_client(request(PROOF, 2))
    talk.ask(own(77), unheard)
    assert talk.take_outbox() == b""
    talk.from_broker(answer(2))
    # SCRAM has another step, which may take the client a while.
    assert talk.take_outbox() == b""
    talk.from_client(request(PROOF, 3))
    talk.from_broker(answer(3))
    assert talk.take_outbox() == b""
    assert talk.from_client(request(OPAQUE, 4)) == request(OPAQUE, 4)
    assert talk.take_outbox() == request(OPAQUE, 77, b"ours")


def test_who_has_a_session_that_ends_is_through_with_authentication_and_need_not_ask_for_anything() -> None:
    """Who authenticates anew may do so by a timer of its own: a member's heartbeats must not wait for what it says next."""
    desk = Desk()
    talk = talk_with(desk)
    talk.from_client(request(TAKEN, 1))
    talk.answer(body(1))
    talk.from_client(request(PROOF, 2))
    talk.ask(own(77), unheard)
    talk.from_broker(answer(2, b"\0"))
    talk.from_client(request(PROOF, 3))
    assert talk.take_outbox() == b""
    assert bytes(talk.from_broker(answer(3, b"\1"))) == answer(3, b"\1")
    assert talk.take_outbox() == request(OPAQUE, 77, b"ours")


def test_whose_client_has_gone_within_an_authentication_need_not_wait_for_its_next_step() -> None:
    desk = Desk()
    talk = talk_with(desk)
    talk.from_client(request(TAKEN, 1))
    talk.answer(body(1))
    talk.from_client(request(PROOF, 2))
    talk.ask(own(77), unheard)
    talk.from_broker(answer(2))
    talk.client_left()
    assert talk.take_outbox() == request(OPAQUE, 77, b"ours")


def test_when_the_broker_has_gone_everybody_who_waits_is_told() -> None:
    desk = Desk()
    heard: list[Any] = []
    talk = talk_with(desk)
    talk.from_client(request(TAKEN, 1))
    talk.ask(own(77), heard.append)
    talk.from_client(request(PROOF, 2))
    talk.abandon()
    assert heard == [None]
    assert not talk.expected


def test_a_listener_may_change_the_answer_on_its_way() -> None:
    desk = Desk()
    talk = talk_with(desk)
    desk.at_once = lambda frame: talk.forward(frame, lambda told: None if told is None else bytes(told)[:4] + b"ours")
    talk.from_client(request(TAKEN, 5))
    assert bytes(talk.from_broker(answer(5, b"theirs"))) == answer(5, b"ours")


def test_where_there_is_a_desk_nothing_goes_past_it() -> None:
    desk = Desk()
    talk = talk_with(desk)
    talk.from_client(request(OPAQUE, 1))
    assert talk.idle
    desk.at_once = talk.forward
    talk.from_client(request(TAKEN, 2))
    assert not talk.idle


def test_nor_past_an_answer_that_is_due() -> None:
    talk = talk_with(Desk())
    talk.from_client(request(TAKEN, 1))
    talk.ask(own(77), lambda _: talk.answer(body(1)))
    talk.from_broker(answer(77))
    assert talk.owed.due
    assert not talk.owed.idle


def test_a_client_that_asks_on_and_on_behind_a_request_in_hand_is_not_read() -> None:
    talk = talk_with(Desk())
    talk.from_client(request(TAKEN, 1))
    assert not talk.full
    talk.from_client(bytes(256 * 1024))
    assert talk.full


@given(
    kinds=st.lists(st.sampled_from(["opaque", "answered", "forwarded", "asked"]), min_size=1, max_size=12),
    cuts=st.lists(st.integers(1, 40), min_size=1, max_size=30),
    late=st.booleans(),
)
def test_whatever_is_mixed_and_however_it_is_cut_answers_come_in_order(
    kinds: list[str], cuts: list[int], late: bool
) -> None:
    """A broker that answers whatever it is sent; a desk that does one of three things, now or a little later."""
    desk = Desk()
    talk = talk_with(desk)
    todo: list[Callable[[], None]] = []

    def at_once(frame: bytes) -> None:
        number = int.from_bytes(frame[4:8], "big")
        kind = kinds[number - 1]
        if kind == "forwarded":
            act: Callable[[], None] = lambda: talk.forward(frame)  # noqa: E731
        elif kind == "answered":
            act = lambda: talk.answer(body(number))  # noqa: E731
        else:
            act = lambda: talk.ask(own(1_000 + number), lambda _: talk.answer(body(number)))  # noqa: E731
        if late:
            todo.append(act)
        else:
            act()

    desk.at_once = at_once
    stream = b"".join(
        request(OPAQUE if kind == "opaque" else TAKEN, number, b"x" * number) for number, kind in enumerate(kinds, 1)
    )
    told, upstream = bytearray(), bytearray()

    def move(sent: Bytes) -> None:
        upstream.extend(sent)
        before = None
        while before != (len(upstream), len(told)) or talk.waiting():
            before = (len(upstream), len(told))
            answered = bytearray()
            while len(upstream) >= 12:
                size = int.from_bytes(upstream[:4], "big")
                if len(upstream) < 4 + size:
                    break
                answered += answer(int.from_bytes(upstream[8:12], "big"))
                del upstream[: 4 + size]
            told.extend(tells(talk, bytes(answered)) if answered else b"")
            while todo:
                todo.pop(0)()
            upstream.extend(talk.take_outbox())
            talk.owed.release_locals()
            told.extend(talk.owed.take_due())
            if talk.waiting():
                upstream.extend(talk.from_client(b""))

    at = 0
    for cut in [*cuts, len(stream)]:
        if at < len(stream):
            move(asks(talk, stream[at : at + cut]))
            at += cut
    while talk.waiting() or todo or talk.owed.due or talk.outbox:
        move(b"")
    assert bytes(told) == b"".join(answer(number) for number in range(1, len(kinds) + 1))
    assert talk.quiet


def talk_at_length(desk: Desk) -> Conversation:
    return Conversation(TakingWire(), Counts(), Limits(max_group_request_bytes=2 * LARGEST_BEGINNING), lambda: desk)


def test_a_large_request_is_read_when_the_broker_has_let_its_client_in_and_the_next_at_once() -> None:
    """Who has yet to show who they are may send as much as a broker would take of them."""
    desk = Desk()
    talk = talk_at_length(desk)
    large = request(TAKEN, 1, bytes(LARGEST_BEGINNING + 1))
    assert bytes(talk.from_client(large[:20])) == b""
    assert len(desk.knocks) == 1
    assert not talk.full
    talk.from_client(large[20 : LARGEST_BACKLOG + 1])
    assert talk.full
    assert not desk.requests
    desk.knocks.pop()()
    assert not talk.full
    assert talk.waiting()
    assert bytes(talk.from_client(b"")) == b""
    talk.from_client(large[LARGEST_BACKLOG + 1 :])
    assert desk.requests == [large[4:]]
    talk.answer(body(1))
    talk.from_client(large)
    assert desk.requests == [large[4:]] * 2
    assert not desk.knocks


def test_of_a_client_that_was_not_let_in_a_large_request_that_came_at_once_is_kept_too() -> None:
    desk = Desk()
    talk = talk_at_length(desk)
    large, next_one = request(TAKEN, 1, bytes(LARGEST_OF_STRANGERS)), request(OPAQUE, 2)
    assert bytes(talk.from_client(large + next_one)) == b""
    desk.at_once = talk.forward
    desk.knocks.pop()()
    assert bytes(talk.from_client(b"")) == large + next_one


def test_a_request_of_a_group_that_is_larger_than_any_is_not_kept() -> None:
    with pytest.raises(Disconnect, match="max_group_request_bytes"):
        talk_at_length(Desk()).from_client(request(TAKEN, 1, bytes(2 * LARGEST_BEGINNING))[:20])


def fetches(talk: Conversation, correlation_id: int) -> None:
    assert bytes(talk.from_client(request(FETCH, correlation_id)))


def test_who_fetches_here_and_asks_for_one_thing_at_a_time_keeps_itself_waiting() -> None:
    """sarama's commits do not wait for anything, and what comes behind those proves nothing."""
    desk = Desk()
    talk = talk_with(desk)
    desk.at_once = talk.forward
    talk.from_client(request(TAKEN, 1))
    assert not talk.ahead.keeps_itself_waiting, "it does not fetch here"
    for number in (2, 4):
        fetches(talk, number)
        talk.ask(own(100 + number), unheard)
        talk.from_broker(answer(number - 1) + answer(number))
        talk.from_client(request(TAKEN, number + 1))
        talk.from_broker(answer(100 + number))
    assert talk.ahead.keeps_itself_waiting


class Looked(int):
    """A correlation id that counts how often it is compared with another."""

    times = 0

    def __eq__(self, other: object) -> bool:
        Looked.times += 1
        return super().__eq__(other)

    __hash__ = int.__hash__


def test_a_client_that_sends_ever_more_is_not_searched_for_what_it_has_sent() -> None:
    """For each request that lay behind the one in hand all of them were looked through: seconds, for a quarter of a MB."""
    desk = Desk()
    talk = talk_with(desk)
    talk.from_client(request(TAKEN, 1))
    talk.from_client(request(FETCH, 2) + request(OPAQUE, 3) * 1_000)
    talk.answer(body(1))
    talk.expected.extend(map(Looked, range(10, 20_000)))
    Looked.times = 0
    talk.from_client(b"")
    assert len(talk.expected) > 20_000
    assert Looked.times <= 2 * MOST_OF_OURS


def test_who_asks_for_more_behind_a_fetch_does_not() -> None:
    desk = Desk()
    talk = talk_with(desk)
    desk.at_once = lambda frame: talk.answer(body(int.from_bytes(frame[4:8], "big")))
    talk.from_client(request(TAKEN, 1))
    fetches(talk, 2)
    assert talk.ahead.keeps_itself_waiting
    talk.from_client(request(TAKEN, 3))
    talk.from_broker(answer(2))
    fetches(talk, 4)
    assert not talk.ahead.keeps_itself_waiting
