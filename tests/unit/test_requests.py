"""A JoinGroup of whoever has no id yet: the one it is given can be said, and nothing is left of one that was of no use."""

from __future__ import annotations

import msgspec
import pytest

from kafka_protocol import encode, encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.causes import Cause
from proxy.groups.host import Host
from proxy.observations import Observation, RequestAnswered
from tests.unit.test_line import Lingering
from tests.unit.test_recognising import a_host, waits

NOBODY = ("g", "")
# A client id of that many bytes is the longest there is.
LONGEST = 32_767
# Of JoinGroup: its answer comes when there is something to tell, and it needs no id before that.
WITHOUT_ID = 3


def joins(host: Host, client_id: str) -> tuple[int, Lingering]:
    subscription = bytes(2) + encode(m.ConsumerProtocolSubscription(topics=["orders"], user_data=None), 0)
    protocols = [m.JoinGroupRequestProtocol(name="range", metadata=subscription)]
    body = m.JoinGroupRequest(
        group_id="g",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=10_000,
        protocol_type="consumer",
        protocols=protocols,
    )
    return waits(host, encode_request(keys.JOIN_GROUP, WITHOUT_ID, 1, client_id, body))


@pytest.mark.parametrize("client_id", ["app", "x" * LONGEST, "\N{GRINNING FACE}" * (LONGEST // 4)])
async def test_the_longest_client_id_makes_a_member_id_that_can_be_said(client_id: str) -> None:
    host = a_host()
    number, connection = joins(host, client_id)
    host.requests.speak(number, NOBODY)
    assert connection.closed_for is None
    [(_, name)] = host.members
    assert name.startswith(client_id[:1_000])
    assert host.members["g", name].in_flight is not None


async def test_a_mistake_over_a_newcomer_leaves_nothing_of_it_here() -> None:
    """It would be a member of which nobody has heard, under an id that nobody knows."""
    host = a_host()
    number, connection = joins(host, "app")
    assert connection.line is not None
    connection.line.versions = {}
    host.requests.speak(number, NOBODY)
    assert connection.closed_for is Cause.OUR_MISTAKE
    assert host.members == {}
    assert host.together.here("g") == ()
    assert host.requests.waiting(number) is None


async def test_a_join_that_its_client_hung_up_on_is_seen_to_have_been_heard_by_nobody() -> None:
    """And not as an answer: no client is told NETWORK_EXCEPTION."""
    host = a_host()
    number, connection = joins(host, "app")
    observed: list[Observation] = []
    host.observers.append(observed.append)
    host.requests.speak(number, NOBODY)
    assert connection.line is not None
    connection.line.number = number
    connection.line.left()
    (answered,) = (each for each in observed if isinstance(each, RequestAnswered))
    assert (answered.number, answered.is_heard) == (number, False)


async def test_who_says_what_it_is_on_its_first_connection_only_is_known_on_the_next() -> None:
    """franz-go asks for a broker's versions once, and not again when that connection has ended."""
    host, known = a_host(), [("franz-go", "1.20.0"), ("", "")]
    number, connection = joins(host, "app")
    assert connection.line is not None
    connection.line.inherits(known[0])
    host.requests.speak(number, NOBODY)
    [(group_id, name)] = host.members
    host.line_closed(connection.line)
    beat = m.HeartbeatRequest(group_id=group_id, member_id=name, generation_id=0)
    _, another = waits(host, encode_request(keys.HEARTBEAT, 0, 1, "app", beat))
    stranger = msgspec.structs.replace(beat, member_id="stranger")
    _, others = waits(host, encode_request(keys.HEARTBEAT, 0, 1, "app", stranger))
    assert [each.line and each.line.software for each in (another, others)] == known
    host.drop((group_id, name))
    assert host.software == {}
