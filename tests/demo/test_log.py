"""A partition's log: where batches come to lie, and what is done about those sent twice."""

from __future__ import annotations

import struct

import pytest

from demo.cluster.codes import Code, Refused
from demo.cluster.log import EARLIEST, LATEST, MAX_TIMESTAMP, PartitionLog


def batch(
    count: int = 1, *, producer: int = -1, epoch: int = 0, sequence: int = -1, time_ms: int = 0, magic: int = 2
) -> bytes:
    body = b"r" * count
    return (
        struct.pack(">qiibIhi", 0, 49 + count, 0, magic, 0, 0, count - 1)
        + struct.pack(">qqqhii", time_ms, time_ms, producer, epoch, sequence, count)
        + body
    )


def base_offsets(records: bytes) -> list[int]:
    found = []
    while records:
        offset, length = struct.unpack_from(">qi", records)
        found.append(offset)
        records = records[12 + length :]
    return found


def test_batches_get_their_places_one_after_the_other() -> None:
    log = PartitionLog()
    assert [log.append(batch(3)), log.append(batch(2) + batch(1)), log.next_offset] == [0, 3, 6]
    assert base_offsets(log.read(0, 10_000)) == [0, 3, 5]


def test_a_read_begins_with_the_batch_that_holds_the_offset() -> None:
    log = PartitionLog()
    log.append(batch(3) + batch(3))
    assert base_offsets(log.read(4, 10_000)) == [3]
    assert log.read(6, 10_000) == b""


def test_the_first_batch_is_read_however_large_it_is() -> None:
    log = PartitionLog()
    log.append(batch(100) + batch(100))
    assert base_offsets(log.read(0, 1)) == [0]


@pytest.mark.parametrize("offset", [-1, 2])
def test_nothing_is_read_outside_the_log(offset: int) -> None:
    log = PartitionLog()
    log.append(batch())
    with pytest.raises(Refused) as refused:
        log.read(offset, 100)
    assert refused.value.code == Code.OFFSET_OUT_OF_RANGE


def test_an_idempotent_producer_finds_what_it_sent_twice_where_it_was() -> None:
    log = PartitionLog()
    first = batch(2, producer=7, sequence=0)
    assert [log.append(first), log.append(batch(1, producer=7, sequence=2)), log.append(first)] == [0, 2, 0]
    assert log.next_offset == 3


def test_a_gap_in_a_producers_sequence_is_refused() -> None:
    log = PartitionLog()
    log.append(batch(2, producer=7, sequence=0))
    with pytest.raises(Refused) as refused:
        log.append(batch(1, producer=7, sequence=3))
    assert refused.value.code == Code.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_producer_of_an_older_epoch_is_fenced() -> None:
    log = PartitionLog()
    log.append(batch(1, producer=7, epoch=1, sequence=0))
    with pytest.raises(Refused) as refused:
        log.append(batch(1, producer=7, epoch=0, sequence=1))
    assert refused.value.code == Code.INVALID_PRODUCER_EPOCH


def test_offsets_are_found_by_time() -> None:
    log = PartitionLog()
    log.append(batch(2, time_ms=1_000) + batch(2, time_ms=3_000) + batch(2, time_ms=2_000))
    asked = (EARLIEST, LATEST, MAX_TIMESTAMP, 1_000, 2_000, 3_001)
    assert [log.offset_at(time)[0] for time in asked] == [0, 6, 2, 0, 2, -1]


@pytest.mark.parametrize(
    ("records", "code"),
    [
        (b"", Code.CORRUPT_MESSAGE),
        (batch()[:-1], Code.CORRUPT_MESSAGE),
        (b"x" * 5, Code.CORRUPT_MESSAGE),
        (batch(magic=1), Code.UNSUPPORTED_FOR_MESSAGE_FORMAT),
    ],
)
def test_bytes_that_are_no_batch_are_refused(records: bytes, code: Code) -> None:
    with pytest.raises(Refused) as refused:
        PartitionLog().append(records)
    assert refused.value.code == code
