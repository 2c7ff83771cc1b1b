"""What coordinators answer, read: one client after the other hears the same description of a large group."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_protocol import decode_response, encode_response
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.causes import Disconnect
from proxy.groups import native
from proxy.groups.native import Ask, SeenMember

ASK = Ask(keys.CONSUMER_GROUP_DESCRIBE, 1, m.ConsumerGroupDescribeRequest(group_ids=["group"]))


def answer(correlation_id: int, epoch: int, version: int = 1) -> bytes:
    nothing = m.ConsumerGroupDescribeResponseAssignment()
    member = m.ConsumerGroupDescribeResponseMember(
        member_id="m", member_epoch=epoch, assignment=nothing, target_assignment=nothing
    )
    group = m.ConsumerGroupDescribeResponseDescribedGroup(group_id="group", group_epoch=epoch, members=[member])
    said = m.ConsumerGroupDescribeResponse(groups=[group])
    return encode_response(keys.CONSUMER_GROUP_DESCRIBE, version, correlation_id, said)


def test_a_description_that_many_hear_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    seen = native._seen

    def reads(key: int, version: int, frame: bytes) -> tuple[int, Any]:
        made.append("read")
        return decode_response(key, version, frame)

    def sees(member: Any) -> SeenMember:
        made.append("seen")
        return seen(member)

    monkeypatch.setattr(native, "decode_response", reads)
    monkeypatch.setattr(native, "_seen", sees)
    native._read_once.cache_clear()
    epochs = [native.descriptions(native.read(ASK, answer(number, 7)))[0].epoch for number in range(300)]
    assert epochs == [7] * 300
    assert made == ["read", "seen"]
    assert native.descriptions(native.read(ASK, answer(1, 8)))[0].members[0].epoch == 8
    assert native.descriptions(native.read(ASK, answer(2, 7)))[0].members[0].epoch == 7


def test_one_that_cannot_be_read_is_refused_each_time() -> None:
    for _ in range(2):
        with pytest.raises(Disconnect):
            native.read(ASK, answer(1, 7)[:-3])


def test_of_the_longest_none_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "LARGEST_KEPT_BYTES", 10)
    assert native.read(ASK, answer(1, 7)) is not native.read(ASK, answer(1, 7))
