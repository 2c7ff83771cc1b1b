"""Changing or reading the front of a message without decoding the rest, where it pays.

A Metadata answer for fifty brokers and a thousand partitions takes most of a millisecond to decode and encode; its brokers
stand at the front in every version, and exchanging only them takes microseconds.
"""

from __future__ import annotations

import struct

from kafka_protocol.codec import Bytes, decode_prefix, encode_prefix
from kafka_protocol.compiler import read_tags, read_varint
from kafka_protocol.messages import MetadataResponse, OffsetCommitRequest

# A client id and a transactional id of ordinary length fit in the first, of any length in the second.
FRONT_BYTES = 512
LONGEST_FRONT_BYTES = 128 * 1024

FLEXIBLE_PRODUCE = 9
FIRST_PRODUCE_WITH_TRANSACTIONS = 3
FIRST_COMMIT_WITH_INSTANCE = 7
FIRST_COMMIT_WITH_GENERATION = 1


def split_metadata(body: Bytes, version: int) -> tuple[MetadataResponse, int]:
    """The answer's front (throttle time and brokers) and where its topics and all the rest begin."""
    return decode_prefix(MetadataResponse, version, body, "brokers")


def join_metadata(front: MetadataResponse, version: int, rest: Bytes) -> bytes:
    return b"".join((encode_prefix(front, version, "brokers"), rest))


def split_offset_commit(body: Bytes, version: int) -> tuple[OffsetCommitRequest, int]:
    """Who commits (group, generation, member, instance) and where what they commit begins."""
    return decode_prefix(OffsetCommitRequest, version, body, _last_of_committer(version))


def join_offset_commit(front: OffsetCommitRequest, version: int, rest: Bytes) -> bytes:
    return encode_prefix(front, version, _last_of_committer(version)) + bytes(rest)


def _last_of_committer(version: int) -> str:
    if version >= FIRST_COMMIT_WITH_INSTANCE:
        return "group_instance_id"
    return "member_id" if version >= FIRST_COMMIT_WITH_GENERATION else "group_id"


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
        size, at = read_varint(front, at)
        at += max(size - 1, 0)
    elif version >= FIRST_PRODUCE_WITH_TRANSACTIONS:
        (size,) = struct.unpack_from(">h", front, at)
        at += 2 + max(size, 0)
    (acks,) = struct.unpack_from(">h", front, at)
    return int(acks)
