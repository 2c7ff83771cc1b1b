"""The bytes inside JoinGroup and SyncGroup, read leniently and written strictly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.translation.playbook import number, subscription, text
from translation.embedded import (
    Malformed,
    Subscription,
    as_written,
    has_user_data,
    read_subscription,
    without_user_data,
    write_assignment,
)


@pytest.mark.parametrize("version", [0, 1, 2, 3, 9])
def test_every_version_is_read(version: int) -> None:
    read = read_subscription(subscription(["a", "b"], [3, 1], version))
    owned = frozenset({("apples", 1), ("apples", 3)}) if version else frozenset()
    assert read == Subscription(version=version, topics=("a", "b"), owned=owned)


def test_the_rack_is_read_behind_the_generation() -> None:
    body = b"\0\3" + number(0) + number(2) + b"xx" + number(0) + number(17) + text("r1")
    assert read_subscription(body) == Subscription(
        version=3, topics=(), generation=17, rack_id="r1", has_user_data=True
    )


@pytest.mark.parametrize("version", [1, 2, 3])
def test_missing_fields_at_the_end_count_as_not_there(version: int) -> None:
    """segmentio/kafka-go says version 1 and sends the body of version 0; brokers refuse it for ever."""
    whole = subscription(["a"], [1], version)
    header_only = version.to_bytes(2, "big") + subscription(["a"], version=0)[2:]
    assert read_subscription(header_only) == Subscription(version=version, topics=("a",))
    assert read_subscription(header_only[:-4]) == Subscription(version=version, topics=("a",))
    assert read_subscription(whole).owned == {("apples", 1)}


def test_what_follows_the_last_known_field_is_of_a_newer_version() -> None:
    assert read_subscription(subscription(["a"], version=3) + b"more").topics == ("a",)


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"\0",
        b"\xff\xff" + number(0),
        b"\0\0",
        b"\0\0" + number(-1),
        b"\0\0" + number(1_000_000_000),
        b"\0\0" + number(1) + b"\0\5ab",
        b"\0\0" + number(1) + b"\xff\xff",
        b"\0\0" + number(0) + number(9),
        b"\0\1" + number(0) + number(-1) + number(1) + text("a") + number(2) + number(1),
    ],
)
def test_bytes_that_no_version_explains_are_malformed(bad: bytes) -> None:
    with pytest.raises(Malformed):
        read_subscription(bad)


@pytest.mark.parametrize(
    ("lenient", "read"),
    [
        (b"\0\0" + number(1) + b"\0\1\xff", Subscription(version=0, topics=("\ufffd",))),
        (b"\0\0" + number(0) + number(-2), Subscription(version=0, topics=())),
        (
            b"\0\3" + number(0) + number(-1) + number(0) + number(1) + b"\xff\xfe",
            Subscription(version=3, topics=(), generation=1),
        ),
    ],
    ids=["no UTF-8", "user data of a negative length", "rack of a negative length"],
)
def test_what_brokers_read_is_read_as_they_do(lenient: bytes, read: Subscription) -> None:
    assert read_subscription(lenient) == read


@given(st.binary(max_size=60))
def test_nothing_but_malformed_escapes_on_any_bytes(noise: bytes) -> None:
    try:
        read_subscription(noise)
    except Malformed:
        pass


@given(st.frozensets(st.tuples(st.text(max_size=8), st.integers(0, 99)), max_size=12), st.integers(0, 3))
def test_an_assignment_has_the_layout_of_owned_partitions_and_reads_back(
    partitions: frozenset[tuple[str, int]], version: int
) -> None:
    """An assignment is a subscription's owned partitions with a version before and user data after them."""
    written = write_assignment(partitions, version)
    assert written[:2] == version.to_bytes(2, "big")
    assert written[-4:] == number(0)
    as_claims = b"\0\1" + number(0) + number(-1) + written[2:-4]
    assert read_subscription(as_claims).owned == partitions


@pytest.mark.parametrize("said", [1, 2, 3])
@pytest.mark.parametrize("written", [0, 1, 2, 3, 9])
def test_a_subscription_that_says_too_much_says_what_it_is(said: int, written: int) -> None:
    fields = subscription(["a"], [1], written)[2:]
    claim = said.to_bytes(2, "big") + fields
    assert as_written(claim) == min(said, written).to_bytes(2, "big") + fields


def test_a_newer_version_than_we_know_is_left_as_it_is() -> None:
    newer = subscription(["a"], version=9) + b"more"
    assert as_written(newer) == newer


@pytest.mark.parametrize("version", [0, 3])
@pytest.mark.parametrize("notes", [b"", number(-1), number(0), number(3) + b"abc"])
def test_an_assignment_loses_its_user_data_and_nothing_else(version: int, notes: bytes) -> None:
    bare = write_assignment(frozenset({("a", 1), ("a", 2), ("b", 0)}), version).removesuffix(number(0))
    more = b"more" if notes else b""
    assert without_user_data(bare + notes) == bare + number(-1)
    assert without_user_data(bare + notes + more) == bare + number(-1) + more


@pytest.mark.parametrize(
    ("notes", "has"), [(b"", False), (number(-1), False), (number(0), False), (number(1) + b"a", True)]
)
def test_user_data_is_there_when_there_is_a_byte_of_it(notes: bytes, has: bool) -> None:
    bare = write_assignment(frozenset({("a", 1), ("b", 0)}), 1)
    assert has_user_data(bare.removesuffix(number(0)) + notes) is has


@given(st.binary(max_size=60))
def test_nothing_but_malformed_escapes_on_any_assignment(noise: bytes) -> None:
    try:
        without_user_data(noise)
    except Malformed:
        pass
