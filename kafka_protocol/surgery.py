"""Changing or reading the front of a message without decoding the rest, where it pays.

A Metadata answer for fifty brokers and a thousand partitions takes most of a millisecond to decode and encode; its brokers
stand at the front in every version, and exchanging only them takes microseconds.
"""

from __future__ import annotations

import struct

from kafka_protocol.codec import Bytes, decode_prefix, encode_prefix
from kafka_protocol.compiler import read_length, read_tags
from kafka_protocol.messages import MetadataResponse

# A client id and a transactional id of ordinary length fit in the first, of any length in the second.
FRONT_BYTES = 512
LONGEST_FRONT_BYTES = 128 * 1024

FLEXIBLE_PRODUCE = 9
FIRST_PRODUCE_WITH_TRANSACTIONS = 3
FIRST_PRODUCE_BY_TOPIC_ID = 13
# Of a partition in a Produce answer: index, error, two offsets and a time; then no errors of records, no message, no tags.
PARTITION_FIGURES = 30
AS_EVER = b"\x01\x00\x00"


def split_metadata(body: Bytes, version: int) -> tuple[MetadataResponse, int]:
    """The answer's front (throttle time and brokers) and where its topics and all the rest begin."""
    return decode_prefix(MetadataResponse, version, body, "brokers")


def join_metadata(front: MetadataResponse, version: int, rest: Bytes) -> bytes:
    return b"".join((encode_prefix(front, version, "brokers"), rest))


def produce_acks(frame: Bytes) -> int | None:
    """The acks of a Produce request (header included), of which perhaps only the front is here; None: more is needed."""
    for front in (FRONT_BYTES, LONGEST_FRONT_BYTES):
        try:
            return _produce_acks(bytes(frame[:front]))
        except (IndexError, ValueError, struct.error):
            if len(frame) <= front:
                break
    return None


def _produce_acks(front: bytes) -> int:
    version, client_id_size = struct.unpack_from(">hxxxxh", front, 2)
    at = 10 + max(client_id_size, 0)
    if version >= FLEXIBLE_PRODUCE:
        # Tags first, so that a front that ends within them is not taken for a whole one.
        if front[at] != 0:
            _, at = read_tags(front, at)
        else:
            at += 1
        size, at = read_length(front, at)
        at += max(size, 0)
    elif version >= FIRST_PRODUCE_WITH_TRANSACTIONS:
        (size,) = struct.unpack_from(">h", front, at)
        at += 2 + max(size, 0)
    (acks,) = struct.unpack_from(">h", front, at)
    return int(acks)


def names_no_broker(answer: Bytes, version: int) -> bool:
    """True: this Produce answer (from v10, header included) is of the shape that nearly all have, with no tags anywhere,
    and brokers stand in tags. False: it must be decoded to know."""
    try:
        return answer[4] == 0 and _has_no_tags(bytes(answer), 5, version)
    except (IndexError, ValueError):
        return False


def _has_no_tags(answer: bytes, at: int, version: int) -> bool:
    topics, at = read_length(answer, at)
    for _ in range(topics):
        if version >= FIRST_PRODUCE_BY_TOPIC_ID:
            at += 16
        else:
            size, at = read_length(answer, at)
            at += max(size, 0)
        partitions, at = read_length(answer, at)
        for _ in range(partitions):
            at += PARTITION_FIGURES + len(AS_EVER)
            if answer[at - len(AS_EVER) : at] != AS_EVER:
                return False
        if answer[at] != 0:
            return False
        at += 1
    # What is left is the throttle time, and no tags.
    return len(answer) == at + 5 and answer[at + 4] == 0
