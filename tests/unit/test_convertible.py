"""What keeps a coordinator from converting a group."""

from __future__ import annotations

import pytest

from kafka_protocol import encode_request
from kafka_protocol import messages as m
from kafka_protocol.messages import keys
from proxy.groups import classic
from proxy.groups.convertible import keeps_natives_out, sync
from tests.translation.playbook import number, subscription
from translation.embedded import write_assignment

EMPTY = write_assignment(frozenset({("apples", 1)}), 0)
CUT = EMPTY.removesuffix(number(0))
ASSIGNED = CUT + number(-1)
NOTED = CUT + number(3) + b"abc"
KAFKA_GO = b"\0\1" + subscription(["apples"], version=0)[2:]


@pytest.mark.parametrize(
    ("metadata", "assignment", "out"),
    [
        (subscription(version=0), ASSIGNED, False),
        (subscription(version=3), EMPTY, False),
        (subscription(version=3), CUT, False),
        (subscription(version=3), NOTED, True),
        (KAFKA_GO, ASSIGNED, True),
        (b"\0", ASSIGNED, True),
        (b"", b"", False),
        (b"", NOTED, True),
        (KAFKA_GO, b"", True),
    ],
)
def test_user_data_and_what_cannot_be_read_keep_native_members_out(
    metadata: bytes, assignment: bytes, out: bool
) -> None:
    assert keeps_natives_out(metadata, assignment) is out


def synced(*assignments: bytes) -> classic.Request:
    given = [m.SyncGroupRequestAssignment(member_id=str(at), assignment=each) for at, each in enumerate(assignments)]
    body = m.SyncGroupRequest(group_id="g", generation_id=3, member_id="0", assignments=given)
    return classic.read(encode_request(keys.SYNC_GROUP, 3, 7, "client", body))


def test_a_leaders_notes_go_and_all_else_stays() -> None:
    assert sync(synced(NOTED, b"", ASSIGNED)) == synced(ASSIGNED, b"", ASSIGNED)


def test_what_is_no_assignment_is_the_brokers_to_judge() -> None:
    assert sync(synced(NOTED, b"\0")) == synced(NOTED, b"\0")
