"""Where decoding or encoding went wrong: slow walks along the schema, taken only after the fast way has failed.

Ten times as slow, and nobody else has a turn meanwhile: whoever sends megabytes of small things and one byte that is wrong
behind them is told how far we looked.

They are also a second opinion: written apart from the compiler, so a test can hold one against the other.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, NoReturn

from kafka_protocol.compiler import FIXED, LONGEST_STRING, as_java_reads
from kafka_protocol.errors import CodecError
from kafka_protocol.schema import Field

# Fields and elements that are walked through: some hundredths of a second.
FARTHEST = 10_000


class Walk:
    """Reads a message field by field; `path` and `at` say where it is."""

    def __init__(self, message: str, version: int, flexible: bool, data: bytes, at: int) -> None:
        self.message = message
        self.version = version
        self.flexible = flexible
        self.data = data
        self.at = at
        self.path: list[str] = []
        self._to_go = FARTHEST

    def step(self) -> None:
        if not self._to_go:
            self.fail(f"something is wrong behind this, and {FARTHEST:,} fields were right")
        self._to_go -= 1

    def fail(self, reason: str) -> NoReturn:
        raise CodecError(self.message, self.version, ".".join(self.path), self.at, reason)

    def take(self, size: int) -> bytes:
        left = len(self.data) - self.at
        if size > left:
            self.fail(f"{size} bytes are needed, {max(left, 0)} are left")
        self.at += size
        return self.data[self.at - size : self.at]

    def varint(self) -> int:
        value = 0
        for shift in range(0, 35, 7):
            byte = self.take(1)[0]
            value |= (byte & 127) << shift
            if byte < 128:
                return value % 2**32
        self.fail("a varint of more than five bytes")

    def fields(self, fields: Iterable[Field], tags: bool) -> None:
        present = [field for field in fields if field.exists(self.version)]
        for field in present:
            if not field.is_tagged(self.version):
                self.value(field)
        if tags:
            self.tags({field.tag: field for field in present if field.is_tagged(self.version)})

    def tags(self, known: dict[int, Field]) -> None:
        seen = set()
        count = self.varint()
        if count > len(self.data) - self.at:
            self.fail(f"{count} tagged fields in {len(self.data) - self.at} bytes")
        for _ in range(count):
            self.step()
            tag, size = self.varint(), self.varint()
            if tag in seen:
                self.fail(f"tag {tag} twice")
            seen.add(tag)
            start, end = self.at, self.at + size
            if end > len(self.data):
                self.fail(f"tag {tag} says {size} bytes, {len(self.data) - start} are left")
            if tag not in known:
                self.at = end
                continue
            self.value(known[tag])
            if self.at != end:
                self.fail(f"tag {tag} says {size} bytes and has {self.at - start}")

    def value(self, field: Field) -> None:
        self.path.append(field.name)
        self.content(field)
        self.path.pop()

    def content(self, field: Field) -> None:
        self.step()
        if field.type in FIXED:
            self.take(struct.calcsize(">" + FIXED[field.type]))
        elif field.is_array:
            self.array(field)
        elif field.type in ("string", "bytes", "records"):
            self.sized(field)
        elif not (field.may_be_null(self.version) and self.take(1) >= b"\x80"):
            self.fields(field.fields, self.flexible)

    def is_compact(self, field: Field) -> bool:
        return self.flexible and not field.never_compact

    def length(self, field: Field) -> int:
        if self.is_compact(field):
            size = self.varint() - 1
            if size >= 2**31:
                # To Kafka, whose numbers have a sign.
                size -= 2**32
        else:
            letter = "h" if field.type == "string" else "i"
            (size,) = struct.unpack(">" + letter, self.take(struct.calcsize(letter)))
        if size < 0 and not field.may_be_null(self.version):
            self.fail("null where null may not be")
        return int(size)

    def sized(self, field: Field) -> None:
        taken = self.take(max(self.length(field), 0))
        # As it will be written: what is not UTF-8 takes more bytes then.
        size = len(as_java_reads(taken).encode()) if field.type == "string" else 0
        if size > LONGEST_STRING:
            self.at -= len(taken)
            self.fail(f"a string of {size:,} bytes, of at most {LONGEST_STRING:,}")

    def array(self, field: Field) -> None:
        count = self.length(field)
        if count > len(self.data) - self.at:
            self.fail(f"{count} elements in {len(self.data) - self.at} bytes")
        element = field._replace(type=field.element, nullable=(0, -1))
        for index in range(count):
            self.path[-1] = f"{field.name}[{index}]"
            self.content(element)


def explain_decoding(
    message: str,
    fields: Iterable[Field],
    version: int,
    flexible: bool,
    data: bytes,
    at: int,
    *,
    whole: bool = True,
) -> CodecError:
    """`whole=False`: of a prefix, as in `compile_decoder`."""
    walk = Walk(message, version, flexible, data, at)
    try:
        walk.fields(fields, tags=flexible and whole)
    except CodecError as error:
        return error
    left = len(data) - walk.at
    return CodecError(message, version, "", walk.at, f"{left} bytes are left over")


def explain_encoding(
    message: str, fields: Iterable[Field], version: int, value: Any, failure: Exception, path: str = ""
) -> CodecError:
    """The first field that can't be written, or the failure itself if each of them could."""
    for field in fields:
        if not field.exists(version):
            continue
        here = f"{path}.{field.name}".lstrip(".")
        try:
            found = getattr(value, field.name)
        except AttributeError:
            return CodecError(message, version, here, None, f"{type(value).__name__} has no such field")
        if found is None and (field.may_be_null(version) or field.is_tagged(version)):
            continue
        reason = _unwritable(field, found)
        if reason is not None:
            return CodecError(message, version, here, None, reason)
        if field.fields:
            for inner in found if field.is_array else [found]:
                error = explain_encoding(message, field.fields, version, inner, failure, here)
                if error.offset is None and error.field:
                    return error
    return CodecError(message, version, "", None, str(failure))


def _unwritable(field: Field, value: Any) -> str | None:
    if value is None:
        return "null where null may not be"
    if field.is_array:
        element = field._replace(type=field.element)
        try:
            return next(filter(None, (_unwritable(element, each) for each in value)), None)
        except TypeError:
            return f"{value!r} is no list"
    try:
        if field.type in FIXED:
            struct.pack(">" + FIXED[field.type], value)
        elif field.type == "string":
            if len(value.encode()) > LONGEST_STRING:
                return f"longer than {LONGEST_STRING:,} bytes"
        elif field.type in ("bytes", "records"):
            bytes(memoryview(value))
    except (struct.error, AttributeError, TypeError, UnicodeEncodeError) as error:
        return f"{value!r} is no {field.type}: {error}"
    return None
