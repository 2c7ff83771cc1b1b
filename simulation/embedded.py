"""The bytes a legacy client puts into JoinGroup and reads out of SyncGroup, written without a look at translation's."""

from __future__ import annotations

import struct
from collections.abc import Iterable

from simulation.invariants import TopicAndNumber

WITH_OWNED = 3


def subscription(topics: Iterable[str], owned: Iterable[TopicAndNumber], generation: int, version: int = 3) -> bytes:
    topics = sorted(topics)
    body = struct.pack(">hi", version, len(topics)) + b"".join(map(_text, topics)) + _NO_USER_DATA
    if version >= 1:
        body += _partitions(owned)
    if version >= 2:
        body += struct.pack(">i", generation)
    if version >= WITH_OWNED:
        body += _NO_RACK
    return body


def partitions_of(assignment: bytes) -> frozenset[TopicAndNumber]:
    found: set[TopicAndNumber] = set()
    _, topics = struct.unpack_from(">hi", assignment)
    at = 6
    for _ in range(topics):
        (length,) = struct.unpack_from(">h", assignment, at)
        name = assignment[at + 2 : at + 2 + length].decode()
        at += 2 + length
        (count,) = struct.unpack_from(">i", assignment, at)
        numbers = struct.unpack_from(f">{count}i", assignment, at + 4)
        at += 4 + 4 * count
        found.update((name, number) for number in numbers)
    return frozenset(found)


_NO_USER_DATA = struct.pack(">i", -1)
_NO_RACK = struct.pack(">h", -1)


def _text(text: str) -> bytes:
    return struct.pack(">h", len(text)) + text.encode()


def _partitions(owned: Iterable[TopicAndNumber]) -> bytes:
    by_topic: dict[str, list[int]] = {}
    for topic, number in sorted(owned):
        by_topic.setdefault(topic, []).append(number)
    parts = [struct.pack(">i", len(by_topic))]
    for topic, numbers in by_topic.items():
        parts.append(_text(topic) + struct.pack(f">i{len(numbers)}i", len(numbers), *numbers))
    return b"".join(parts)
