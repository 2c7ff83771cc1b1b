"""The bytes inside JoinGroup and SyncGroup: subscriptions read leniently, assignments written strictly.

ConsumerProtocolSubscription (KIP-429, KIP-792, KIP-881): version, topics, user data, and since version 1 owned
partitions, since 2 the generation, since 3 the rack. The lenient rule: whatever is missing at the *end* counts as not
there. segmentio/kafka-go says version 1 and sends the body of version 0 (kafka-go issue 1156); brokers refuse it, and
there is no reason to. ruby-kafka sends null user data. Versions above 3 are read as 3, as Kafka does.
"""

from __future__ import annotations

import struct

import msgspec

HIGHEST_VERSION = 3
_SHORT = struct.Struct(">h")
_INT = struct.Struct(">i")


class Malformed(Exception):
    """Bytes that no version of the subscription explains. A refusal: the client hears INCONSISTENT_GROUP_PROTOCOL."""


class Subscription(msgspec.Struct, frozen=True, kw_only=True):
    version: int
    topics: tuple[str, ...]
    owned: frozenset[tuple[str, int]] = frozenset()
    generation: int = -1
    rack_id: str | None = None
    has_user_data: bool = False


class _Reader:
    """Big-endian fields from the front; never beyond the end, never a negative count."""

    def __init__(self, source: bytes) -> None:
        self.source, self.at = source, 0

    @property
    def ended(self) -> bool:
        return self.at == len(self.source)

    def number(self, shape: struct.Struct) -> int:
        if self.at + shape.size > len(self.source):
            raise Malformed(f"ends at {len(self.source)}, inside a number at {self.at}")
        (value,) = shape.unpack_from(self.source, self.at)
        self.at += shape.size
        return int(value)

    def count(self, smallest: int) -> int:
        """An array's length: each element takes at least `smallest` bytes, so a lie about it is seen at once."""
        count = self.number(_INT)
        if not 0 <= count * smallest <= len(self.source) - self.at:
            raise Malformed(f"{count} elements at {self.at}")
        return count

    def bytes(self, length: int) -> bytes:
        if not 0 <= length <= len(self.source) - self.at:
            raise Malformed(f"{length} bytes at {self.at}")
        self.at += length
        return self.source[self.at - length : self.at]

    def text(self) -> str:
        return self._utf8(self.number(_SHORT))

    def nullable_text(self) -> str | None:
        length = self.number(_SHORT)
        return None if length < 0 else self._utf8(length)

    def skip_nullable_bytes(self) -> int:
        """How many there were."""
        length = self.number(_INT)
        return len(self.bytes(length)) if length >= 0 else 0

    def _utf8(self, length: int) -> str:
        """As Kafka reads it: a name that is none is nobody's topic, and no reason to refuse the others."""
        return self.bytes(length).decode(errors="replace")


def read_subscription(metadata: bytes) -> Subscription:
    """Bytes behind the last known field are ignored: a newer version may have put them there."""
    return _read_subscription(metadata)[0]


def _read_subscription(metadata: bytes) -> tuple[Subscription, int]:
    """And the highest version of which all fields are there."""
    reader = _Reader(metadata)
    version = reader.number(_SHORT)
    if version < 0:
        raise Malformed(f"version {version}")
    topics = tuple(reader.text() for _ in range(reader.count(2)))
    has_user_data = not reader.ended and reader.skip_nullable_bytes() > 0
    owned, generation, rack_id, written = frozenset[tuple[str, int]](), -1, None, 0
    if version >= 1 and not reader.ended:
        owned, written = _read_owned(reader), 1
    if version >= 2 and not reader.ended:
        # In which it owned them. Whether the claim is true, the coordinator's assignment says.
        generation = reader.number(_INT)
        written = 2
    if version >= 3 and not reader.ended:
        rack_id, written = reader.nullable_text(), 3
    subscription = Subscription(
        version=version,
        topics=topics,
        owned=owned,
        generation=generation,
        rack_id=rack_id or None,
        has_user_data=has_user_data,
    )
    return subscription, written


def _read_owned(reader: _Reader) -> frozenset[tuple[str, int]]:
    owned: set[tuple[str, int]] = set()
    for _ in range(reader.count(6)):
        topic = reader.text()
        owned.update((topic, reader.number(_INT)) for _ in range(reader.count(4)))
    return frozenset(owned)


def as_written(metadata: bytes) -> bytes:
    """The same subscription, which says no higher version than it is of: so that others who read it understand it."""
    subscription, written = _read_subscription(metadata)
    if written == min(subscription.version, HIGHEST_VERSION):
        return metadata
    return _SHORT.pack(written) + metadata[_SHORT.size :]


def without_user_data(assignment: bytes) -> bytes:
    """The same assignment, but for what the leader's assignor has noted in it for itself."""
    reader = _at_user_data(assignment)
    end = reader.at
    if not reader.ended:
        reader.skip_nullable_bytes()
    return assignment[:end] + _INT.pack(-1) + assignment[reader.at :]


def has_user_data(assignment: bytes) -> bool:
    reader = _at_user_data(assignment)
    return not reader.ended and reader.number(_INT) > 0


def _at_user_data(assignment: bytes) -> _Reader:
    reader = _Reader(assignment)
    reader.number(_SHORT)
    for _ in range(reader.count(6)):
        reader.text()
        reader.bytes(4 * reader.count(4))
    return reader


def write_assignment(partitions: frozenset[tuple[str, int]], version: int) -> bytes:
    """ConsumerProtocolAssignment at the member's own version. The layout is that of version 0 in all of them.

    Always whole, also when it is empty: the Java client fails on fewer than two bytes, franz-go on none at all. And with user
    data of no length, as half of the libraries' own leaders write it: kafka_ex can't read null.
    """
    by_topic: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        by_topic.setdefault(topic, []).append(partition)
    parts = [struct.pack(">hi", min(version, HIGHEST_VERSION), len(by_topic))]
    for topic, numbers in by_topic.items():
        name = topic.encode()
        parts.append(struct.pack(f">h{len(name)}si{len(numbers)}i", len(name), name, len(numbers), *numbers))
    return b"".join((*parts, _INT.pack(0)))
