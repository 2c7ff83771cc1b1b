"""Bodies broken on purpose, each in one place that means something: a length, a varint, a tag, a null, a text, the end."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

from kafka_protocol.explaining import Walk
from kafka_protocol.schema import Field

# To Kafka negative numbers, and one whose highest bits it drops.
WRAPPED = (b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x08", b"\x81\x80\x80\x80\x08", b"\x83\x80\x80\x80\x70")
# A continuation of nothing, letters cut short, one that is longer than it need be, halves of pairs, one beyond Unicode.
NO_TEXT = tuple(map(bytes.fromhex, ("80", "e9", "e282", "f09f92", "c0af", "eda080", "edbf", "f4908080")))
# Two that are no number, one of them with something to say; and the zero that equals another.
ODD_FLOATS = (b"\x7f\xf8\0\0\0\0\0\0", b"\xff\xf4\0\0\0\0\0\1", b"\x80\0\0\0\0\0\0\0")

Ways = dict[str, bytes]


class Places(Walk):
    """Where things are in a sound body: of each kind, from and to which byte."""

    def __init__(self, name: str, fields: Iterable[Field], version: int, flexible: bool, body: bytes) -> None:
        super().__init__(name, version, flexible, body, 0)
        self.of: dict[str, list[tuple[int, int]]] = defaultdict(list)
        self._behind_length = 0
        self.fields(fields, flexible)
        self.of["end"].append((0, len(body)))
        for at in range(len(body)):
            self.of["byte"].append((at, at + 1))

    def varint(self) -> int:
        start, value = self.at, super().varint()
        self.of["varint"].append((start, self.at))
        return value

    def length(self, field: Field) -> int:
        start, size = self.at, super().length(field)
        self._behind_length = self.at
        if not self.is_compact(field):
            self.of["length"].append((start, self.at))
        return size

    def sized(self, field: Field) -> None:
        super().sized(field)
        if field.type == "string" and self.at > self._behind_length:
            self.of["text"].append((self._behind_length, self.at))

    def tags(self, known: dict[int, Field]) -> None:
        start = self.at
        super().tags(known)
        self.of["tags"].append((start, self.at))

    def content(self, field: Field) -> None:
        start = self.at
        super().content(field)
        if field.type in ("bool", "float64"):
            self.of[field.type].append((start, self.at))
        elif field.fields and not field.is_array and field.may_be_null(self.version):
            self.of["marker"].append((start, start + 1))


def broken(places: Places, draw: random.Random) -> tuple[str, bytes]:
    """One breakage, by name, and the body with it. All kinds of places have the same chance."""
    kind = draw.choice(sorted(places.of))
    start, end = draw.choice(places.of[kind])
    body = places.data
    ways = WAYS[kind](body[start:end], draw)
    way = draw.choice(sorted(ways))
    return f"{kind} {way}", body[:start] + ways[way] + body[end:]


def _varint(old: bytes, draw: random.Random) -> Ways:
    value = _read_varint(old, 0)[0]
    return {
        "overlong": write_varint(value, draw.randint(min(len(old) + 1, 5), 5)),
        "of six bytes": write_varint(value, 6),
        "wrapped": draw.choice(WRAPPED),
        "zero": b"\0",
        "off by one": write_varint(max(value + draw.choice([-1, 1]), 0)),
        "huge": write_varint(draw.choice([2**15, 2**20, 2**31 - 1])),
    }


def _length(old: bytes, draw: random.Random) -> Ways:
    size, most = int.from_bytes(old, "big", signed=True), 2 ** (8 * len(old) - 1)
    lengths = {"-1": -1, "negative": draw.choice([-2, -3, -most]), "zero": 0, "huge": most - 1}
    lengths["off by one"] = size + draw.choice([-1, 1])
    return {way: length.to_bytes(len(old), "big", signed=True) for way, length in lengths.items()}


def _text(old: bytes, draw: random.Random) -> Ways:
    """Of the same length, so that all behind it stays what it is."""
    odd = draw.choice([each for each in NO_TEXT if len(each) <= len(old)])
    at = draw.randint(0, len(old) - len(odd))
    return {"no text": old[:at] + odd + old[at + len(odd) :], "noise": draw.randbytes(len(old))}


def _tags(old: bytes, draw: random.Random) -> Ways:
    tags = _read_tags(old)
    new = (draw.randint(0, 12), bytes(draw.choice([0, 1, 4, 8])))
    ways = {"one more": _write_tags(sorted([*tags, new])), "one in front": _write_tags([new, *tags])}
    if tags:
        chosen = draw.choice(tags)
        ways["twice"] = _write_tags([*tags, (chosen[0], draw.choice([chosen[1], b"other"]))])
        ways["reversed"] = _write_tags(tags[::-1])
        ways["longer"] = _write_tags([(tag, data + b"\0" * (tag == chosen[0])) for tag, data in tags])
    return ways


def _end(old: bytes, draw: random.Random) -> Ways:
    return {"appended": old + draw.randbytes(draw.randint(1, 5)), "truncated": old[: draw.randrange(len(old) or 1)]}


WAYS: Mapping[str, Callable[[bytes, random.Random], Ways]] = {
    "varint": _varint,
    "length": _length,
    "text": _text,
    "tags": _tags,
    "end": _end,
    "bool": lambda _, draw: {"neither": bytes([draw.randint(2, 255)])},
    "float64": lambda _, draw: {"odd": draw.choice(ODD_FLOATS)},
    "marker": lambda _, draw: {"negative": bytes([draw.randint(128, 254)]), "positive": bytes([draw.randint(0, 127)])},
    "byte": lambda _, draw: {"other": draw.randbytes(1)},
}


def write_varint(value: int, size: int = 0) -> bytes:
    """In `size` bytes, or in as few as it takes."""
    size = max(size, (value.bit_length() + 6) // 7, 1)
    return bytes(value >> 7 * n & 127 | 128 * (n + 1 < size) for n in range(size))


def _read_varint(b: bytes, at: int) -> tuple[int, int]:
    end = next(n for n in range(at, len(b)) if b[n] < 128) + 1
    return sum((b[n] & 127) << 7 * (n - at) for n in range(at, end)), end


def _read_tags(b: bytes) -> list[tuple[int, bytes]]:
    count, at = _read_varint(b, 0)
    tags = []
    for _ in range(count):
        tag, at = _read_varint(b, at)
        size, at = _read_varint(b, at)
        tags.append((tag, b[at : at + size]))
        at += size
    return tags


def _write_tags(tags: list[tuple[int, bytes]]) -> bytes:
    written = [write_varint(tag) + write_varint(len(data)) + data for tag, data in tags]
    return write_varint(len(tags)) + b"".join(written)
