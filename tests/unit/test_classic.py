"""What a classic request says, as it is taken up here."""

from __future__ import annotations

from kafka_protocol import encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.groups import classic


def test_a_reason_is_cut_where_kafkas_own_clients_cut_it() -> None:
    body = m.JoinGroupRequest(group_id="g", protocol_type="consumer", reason="r" * 1_000)
    joined = classic.read(encode_request(keys.JOIN_GROUP, 9, 7, "client", body))
    assert classic.join_requested(joined).reason == "r" * 255
    # A broker, if it is to judge, hears all of it.
    assert joined.body.reason == "r" * 1_000
