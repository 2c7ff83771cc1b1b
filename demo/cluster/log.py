"""One partition's records: batches as producers packed them (magic 2, KIP-98), each given its place.

    base offset 8 │ length 4 │ leader epoch 4 │ magic 1 │ crc 4 │ attributes 2 │ last offset delta 4 │ base timestamp 8
    max timestamp 8 │ producer id 8 │ producer epoch 2 │ base sequence 4 │ count 4 │ records …

The checksum covers what comes after it, so the base offset can be written without counting anew.
"""

from __future__ import annotations

import struct
from bisect import bisect_left
from collections import deque
from typing import NamedTuple

from demo.cluster.codes import Code, Refused

_HEADER = struct.Struct(">qiibIhiqqqhii")
_BASE_OFFSET = struct.Struct(">q")
_BEFORE_LENGTH_COUNTS = 12
MAGIC = 2
NO_PRODUCER = -1
# An idempotent producer has at most so many requests under way, so no older one can come again.
REMEMBERED_BATCHES = 5
_SEQUENCES = 2**31

LATEST, EARLIEST, MAX_TIMESTAMP = -1, -2, -3


class Batch(NamedTuple):
    last_offset_delta: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    source: bytes

    @property
    def next_sequence(self) -> int:
        return (self.base_sequence + self.last_offset_delta + 1) % _SEQUENCES


class ProducerPast(NamedTuple):
    """What one producer appended last: (base sequence, base offset), and which sequence is due."""

    epoch: int
    due: int
    batches: deque[tuple[int, int]]


class PartitionLog:
    def __init__(self) -> None:
        self.next_offset = 0
        self._last_offsets: list[int] = []
        self._max_timestamps: list[int] = []
        self._batches: list[bytes] = []
        self._producers: dict[int, ProducerPast] = {}

    def append(self, records: bytes) -> int:
        """The offset of the first record. What a producer sent twice is where it was."""
        batches = _split(records)
        offsets = [self._append(batch) for batch in batches]
        return offsets[0]

    def read(self, offset: int, max_bytes: int) -> bytes:
        """Whole batches from the one that holds `offset` on; the first comes however large it is (KIP-74)."""
        if not 0 <= offset <= self.next_offset:
            raise Refused(Code.OFFSET_OUT_OF_RANGE)
        at = bisect_left(self._last_offsets, offset)
        found: list[bytes] = []
        size = 0
        while at < len(self._batches) and (not found or size + len(self._batches[at]) <= max_bytes):
            found.append(self._batches[at])
            size += len(self._batches[at])
            at += 1
        return b"".join(found)

    def offset_at(self, timestamp: int) -> tuple[int, int]:
        """(offset, timestamp) as ListOffsets wants them; of times, the first batch that reaches it."""
        if timestamp == LATEST:
            return self.next_offset, -1
        if timestamp == EARLIEST:
            return 0, -1
        if timestamp == MAX_TIMESTAMP:
            timestamp = max(self._max_timestamps, default=0)
        for index, reached in enumerate(self._max_timestamps):
            if reached >= timestamp:
                return (self._last_offsets[index - 1] + 1 if index else 0), reached
        return -1, -1

    def _append(self, batch: Batch) -> int:
        before = self._sent_before(batch)
        if before is not None:
            return before
        base_offset = self.next_offset
        self._remember(batch, base_offset)
        self.next_offset += batch.last_offset_delta + 1
        self._last_offsets.append(self.next_offset - 1)
        self._max_timestamps.append(batch.max_timestamp)
        self._batches.append(_BASE_OFFSET.pack(base_offset) + batch.source[_BASE_OFFSET.size :])
        return base_offset

    def _sent_before(self, batch: Batch) -> int | None:
        past = self._producers.get(batch.producer_id)
        if batch.producer_id == NO_PRODUCER or past is None:
            return None
        if batch.producer_epoch < past.epoch:
            raise Refused(Code.INVALID_PRODUCER_EPOCH)
        due = past.due if batch.producer_epoch == past.epoch else 0
        if batch.base_sequence == due:
            return None
        for sequence, offset in past.batches:
            if sequence == batch.base_sequence and batch.producer_epoch == past.epoch:
                return offset
        raise Refused(Code.OUT_OF_ORDER_SEQUENCE_NUMBER)

    def _remember(self, batch: Batch, base_offset: int) -> None:
        if batch.producer_id == NO_PRODUCER:
            return
        past = self._producers.get(batch.producer_id)
        batches = past.batches if past and past.epoch == batch.producer_epoch else deque(maxlen=REMEMBERED_BATCHES)
        batches.append((batch.base_sequence, base_offset))
        self._producers[batch.producer_id] = ProducerPast(batch.producer_epoch, batch.next_sequence, batches)


def _split(records: bytes) -> list[Batch]:
    batches = []
    while records:
        try:
            _, length, _, magic, _, _, last_delta, _, newest, producer_id, epoch, sequence, _ = _HEADER.unpack_from(
                records
            )
        except struct.error:
            raise Refused(Code.CORRUPT_MESSAGE) from None
        if magic != MAGIC:
            raise Refused(Code.UNSUPPORTED_FOR_MESSAGE_FORMAT)
        end = _BEFORE_LENGTH_COUNTS + length
        if not _HEADER.size <= end <= len(records) or last_delta < 0:
            raise Refused(Code.CORRUPT_MESSAGE)
        batches.append(Batch(last_delta, newest, producer_id, epoch, sequence, records[:end]))
        records = records[end:]
    if not batches:
        raise Refused(Code.CORRUPT_MESSAGE)
    return batches
