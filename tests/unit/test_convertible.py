"""What keeps a coordinator from converting a group."""

from __future__ import annotations

import pytest

from proxy.groups.convertible import keeps_natives_out
from tests.translation.playbook import number, subscription
from translation.embedded import write_assignment

ASSIGNED = write_assignment(frozenset({("apples", 1)}), 0)
NOTED = ASSIGNED.removesuffix(number(-1)) + number(3) + b"abc"
EMPTY = ASSIGNED.removesuffix(number(-1)) + number(0)
CUT = ASSIGNED.removesuffix(number(-1))
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
