"""From a schema to straight-line Python: one decoding and one encoding function for each message and version.

They are compiled when first used (a fraction of a millisecond each), because a proxy meets a dozen of the seven hundred.
What makes them fast: a run of fixed-size fields is one `struct` call, lengths below 127 take one byte and no call, structs
are built by position, and nothing is checked twice. They trust their input to be well formed; what they do with input
that is not (an IndexError, a struct.error, a slice cut short) is turned into a proper error by `kafka_protocol.codec`.

A decoder is `decode(b, o) -> (message, offset)` over bytes, an encoder `encode(message, w)` appends to a bytearray.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any

from kafka_protocol.schema import Field

# Kafka's fixed-size types, in the letters of the struct module.
FIXED = {
    "bool": "?",
    "int8": "b",
    "int16": "h",
    "uint16": "H",
    "int32": "i",
    "uint32": "I",
    "int64": "q",
    "float64": "d",
    "uuid": "16s",
}
# Longest array whose packing is prepared; longer ones format their own.
PREPARED = 64
# Of a string, whatever its length is written in: Kafka's own reader takes no more.
LONGEST_STRING = 32_767
# Half of a pair in UTF-16, written as if it were a letter, or cut short.
_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")

Decoder = Callable[[bytes, int], tuple[Any, int]]
Encoder = Callable[[Any, bytearray], None]


def compile_decoder(
    cls: type, fields: tuple[Field, ...], version: int, flexible: bool, *, whole: bool = True
) -> Decoder:
    """`whole=False` is for a prefix of a message: what follows it, tagged fields included, is left alone."""
    writer = _Decoding(version, flexible)
    writer.struct("r", cls, fields, tags=flexible and whole)
    made: Decoder = writer.function("decode(b, o)", "return r, o")
    return made


def compile_encoder(fields: tuple[Field, ...], version: int, flexible: bool, *, whole: bool = True) -> Encoder:
    writer = _Encoding(version, flexible)
    writer.struct("r", fields, tags=flexible and whole)
    made: Encoder = writer.function("encode(r, w)", "return None")
    return made


class _Writing:
    """Lines of one function, the names it uses, and the indentation we are at."""

    def __init__(self, version: int, flexible: bool) -> None:
        self.version = version
        self.flexible = flexible
        self.lines: list[str] = []
        self.names: dict[str, Any] = {"compact": read_length, "wuv": _varint, "rtags": read_tags, "wtags": write_tags}
        self.names |= {"bad": _bad, "pack": struct.pack, "unpack_from": struct.unpack_from, "text": read_text}
        self.depth = 1
        self.fresh = 0

    def say(self, *lines: str) -> None:
        self.lines += ["    " * self.depth + line for line in lines]

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    def constant(self, value: Any) -> str:
        """A name for a value that the function needs."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def function(self, signature: str, last: str) -> Any:
        source = "\n".join([f"def {signature}:", *self.lines, f"    {last}"])
        exec(compile(source, f"<{signature} v{self.version}>", "exec"), self.names)
        return self.names[signature.partition("(")[0]]

    def compact(self, field: Field) -> bool:
        return self.flexible and not field.never_compact


class _Decoding(_Writing):
    def struct(self, target: str, cls: type, fields: Iterable[Field], *, tags: bool) -> None:
        """Read a struct into `target`. Fields that this version lacks keep their defaults."""
        present = {field.name: field for field in fields if field.exists(self.version)}
        local = {name: self.name("f") for name in present}
        run: list[tuple[str, str]] = []
        tagged = []
        for name, field in present.items():
            if field.is_tagged(self.version):
                tagged.append(field)
            elif field.type in FIXED:
                run.append((local[name], FIXED[field.type]))
            else:
                self.fixed(run)
                self.value(local[name], field)
        unknown = "()"
        if tags:
            unknown = self.name("u")
            self.tagged(run, [(local[field.name], field) for field in tagged], unknown)
        self.fixed(run)
        self.build(target, cls, present, local, unknown)

    def build(self, target: str, cls: type, present: dict[str, Field], local: dict[str, str], unknown: str) -> None:
        said = [f"{name}={local[name]}" if name in present else "" for name in cls.__struct_fields__]  # type: ignore[attr-defined]
        if all(said[: len(present)]):
            said = [each.partition("=")[2] for each in said[: len(present)]] + said[len(present) :]
        arguments = [each for each in said if each] + ([f"unknown_tags={unknown}"] if unknown != "()" else [])
        self.say(f"{target} = {self.constant(cls)}({', '.join(arguments)})")

    def fixed(self, run: list[tuple[str, str]]) -> None:
        """One call for all the fixed-size fields in a row."""
        if run:
            layout = struct.Struct(">" + "".join(letter for _, letter in run))
            targets = ", ".join(target for target, _ in run)
            self.say(f"{targets}, = {self.constant(layout.unpack_from)}(b, o)", f"o += {layout.size}")
            run.clear()

    def tagged(self, run: list[tuple[str, str]], fields: list[tuple[str, Field]], unknown: str) -> None:
        """The tag section: nearly always one zero byte, read along with the fixed fields before it."""
        count = self.name("t")
        run.append((count, "B"))
        self.fixed(run)
        for target, field in fields:
            self.say(f"{target} = {_literal(field.default)}")
        self.say(f"{unknown} = ()", f"if {count}:")
        self.depth += 1
        found = self.name("g")
        self.say(f"{found}, o = rtags(b, o - 1)")
        for target, field in fields:
            outer, at = self.name("b"), self.name("o")
            self.say(f"if {field.tag} in {found}:")
            self.depth += 1
            self.say(f"{outer} = b", f"{at} = o", f"b = {found}.pop({field.tag})", "o = 0")
            self.value(target, field)
            self.say("if o != len(b): bad('a tagged field of the wrong length')", f"b = {outer}", f"o = {at}")
            self.depth -= 1
        self.say(f"{unknown} = tuple({found}.items())")
        self.depth -= 1

    def value(self, target: str, field: Field) -> None:
        if field.type in FIXED:
            self.fixed([(target, FIXED[field.type])])
        elif field.is_array:
            self.array(target, field)
        elif field.type in ("string", "bytes", "records"):
            self.sized(target, field)
        elif field.may_be_null(self.version):
            self.say("o += 1", f"if b[o - 1] > 127: {target} = None", "else:")
            self.depth += 1
            self.struct(target, self.class_of(field), field.fields, tags=self.flexible)
            self.depth -= 1
        else:
            self.struct(target, self.class_of(field), field.fields, tags=self.flexible)

    def class_of(self, field: Field) -> type:
        return _class(field.element)

    def length(self, target: str, field: Field, letter: str) -> None:
        if self.compact(field):
            self.say(f"{target} = b[o] - 1", "o += 1")
            self.say(f"if {target} > 126:", f"    {target}, o = compact(b, o - 1)")
            if field.type == "string":
                self.say(f"    if {target} > {LONGEST_STRING}: bad('too long a string')")
        else:
            self.fixed([(target, letter)])

    def null(self, target: str, length: str, field: Field) -> None:
        """Any negative length, as Kafka's own reader takes it."""
        null = f"{target} = None" if field.may_be_null(self.version) else "bad('null where null may not be')"
        self.say(f"if {length} < 0: {null}")

    def sized(self, target: str, field: Field) -> None:
        size = self.name("n")
        self.length(size, field, "h" if field.type == "string" else "i")
        self.null(target, size, field)
        self.say("else:")
        self.depth += 1
        if field.type == "string":
            self.say(f"try: {target} = str(b[o:o + {size}], 'utf-8')")
            self.say(f"except UnicodeDecodeError: {target} = text(b[o:o + {size}])")
        else:
            self.say(f"{target} = b[o:o + {size}]")
        self.say(f"o += {size}")
        self.depth -= 1

    def array(self, target: str, field: Field) -> None:
        count = self.name("n")
        self.length(count, field, "i")
        self.null(target, count, field)
        # Every element takes a byte at least: a count beyond that is refused before any memory is taken.
        self.say(f"elif {count} > len(b) - o: bad('more elements than bytes')", "else:")
        self.depth += 1
        letter = FIXED.get(field.element)
        if letter is not None and letter != "16s":
            size = struct.calcsize(">" + letter)
            ready = self.constant(_unpackers(letter))
            self.say(f"if {count} < {PREPARED}: {target} = list({ready}[{count}](b, o))")
            self.say(f"else: {target} = list(unpack_from(f'>{{{count}}}{letter}', b, o))", f"o += {count} * {size}")
        else:
            self.elements(target, count, field)
        self.depth -= 1

    def elements(self, target: str, count: str, field: Field) -> None:
        each, append = self.name("x"), self.name("a")
        self.say(f"{target} = []", f"{append} = {target}.append", f"for _ in range({count}):")
        self.depth += 1
        self.value(each, field._replace(type=field.element, nullable=(0, -1)))
        self.say(f"{append}({each})")
        self.depth -= 1


class _Encoding(_Writing):
    def struct(self, source: str, fields: Iterable[Field], *, tags: bool) -> None:
        present = [field for field in fields if field.exists(self.version)]
        run: list[tuple[str, str]] = []
        for field in present:
            if field.is_tagged(self.version):
                continue
            if field.type in FIXED:
                run.append((f"{source}.{field.name}", FIXED[field.type]))
            else:
                self.fixed(run)
                self.value(f"{source}.{field.name}", field)
        if tags:
            run.append(("0", "B"))
        self.fixed(run)
        if tags:
            self.tagged(source, [field for field in present if field.is_tagged(self.version)])

    def fixed(self, run: list[tuple[str, str]]) -> None:
        if run == [("0", "B")]:
            self.say("w.append(0)")
        elif run:
            layout = struct.Struct(">" + "".join(letter for _, letter in run))
            self.say(f"w += {self.constant(layout.pack)}({', '.join(source for source, _ in run)})")
        run.clear()

    def tagged(self, source: str, fields: list[Field]) -> None:
        """The zero byte is written; take it back in the rare case that there is something to say."""
        differs = [f"{source}.{field.name} != {_literal(field.default)}" for field in fields]
        said, outer = self.name("g"), self.name("w")
        self.say(f"if {' or '.join([f'{source}.unknown_tags', *differs])}:")
        self.depth += 1
        self.say("del w[-1:]", f"{said} = dict({source}.unknown_tags)", f"{outer} = w")
        for field, differ in zip(fields, differs, strict=True):
            self.say(f"if {differ}:")
            self.depth += 1
            self.say("w = bytearray()")
            self.value(f"{source}.{field.name}", field)
            self.say(f"{said}[{field.tag}] = w")
            self.depth -= 1
        self.say(f"w = {outer}", f"wtags(w, {said})")
        self.depth -= 1

    def value(self, source: str, field: Field) -> None:
        if field.type in FIXED:
            self.fixed([(source, FIXED[field.type])])
            return
        simple = field.is_array or field.type in ("string", "bytes", "records")
        nullable = field.may_be_null(self.version)
        if nullable:
            null = "w.append(0)" if self.compact(field) else f"w += {_null_length(field)!r}"
            self.say(f"if {source} is None: {null if simple else 'w.append(255)'}", "else:")
            self.depth += 1
        if field.is_array:
            self.array(source, field)
        elif simple:
            self.sized(source, field)
        else:
            if nullable:
                self.say("w.append(1)")
            inner = self.name("x")
            self.say(f"{inner} = {source}")
            self.struct(inner, field.fields, tags=self.flexible)
        if nullable:
            self.depth -= 1

    def length(self, size: str, field: Field, letter: str) -> None:
        if self.compact(field):
            self.say(f"if {size} < 127: w.append({size} + 1)")
            if field.type == "string":
                self.say(f"elif {size} > {LONGEST_STRING}: bad('too long a string')")
            self.say(f"else: w += wuv({size} + 1)")
        else:
            self.fixed([(size, letter)])

    def sized(self, source: str, field: Field) -> None:
        value, size = self.name("y"), self.name("n")
        self.say(f"{value} = {source}{'.encode()' if field.type == 'string' else ''}", f"{size} = len({value})")
        self.length(size, field, "h" if field.type == "string" else "i")
        self.say(f"w += {value}")

    def array(self, source: str, field: Field) -> None:
        values, size = self.name("y"), self.name("n")
        self.say(f"{values} = {source}", f"{size} = len({values})")
        self.length(size, field, "i")
        letter = FIXED.get(field.element)
        if letter is not None and letter != "16s":
            ready = self.constant(_packers(letter))
            self.say(f"if {size} < {PREPARED}: w += {ready}[{size}](*{values})")
            self.say(f"else: w += pack(f'>{{{size}}}{letter}', *{values})")
            return
        each = self.name("x")
        self.say(f"for {each} in {values}:")
        self.depth += 1
        self.value(each, field._replace(type=field.element, nullable=(0, -1)))
        self.depth -= 1


def _null_length(field: Field) -> bytes:
    return b"\xff\xff" if field.type == "string" else b"\xff\xff\xff\xff"


def _literal(default: Any) -> str:
    return repr(default)


@cache
def _class(name: str) -> type:
    found: type = getattr(import_module("kafka_protocol.messages"), name)
    return found


# ------------------------------------------------------------------------------------ what compiled functions call


def _bad(reason: str) -> None:
    raise ValueError(reason)


def as_java_reads(b: bytes) -> str:
    """What is not UTF-8: Java puts one replacement character where Python does, but for a surrogate one, not three."""
    return _SURROGATE.sub(b"\xff", b).decode(errors="replace")


def read_text(b: bytes) -> str:
    """What is not UTF-8, as Kafka's own reader takes it: a client's name in Latin-1, for one."""
    text = as_java_reads(b)
    if len(text.encode()) > LONGEST_STRING:
        _bad("too long a string")
    return text


def read_varint(b: bytes, o: int) -> tuple[int, int]:
    """Of five bytes at most. What a fifth has beyond 32 bits is dropped, as in Kafka's own reader."""
    value = shift = 0
    while shift < 28:
        byte = b[o]
        o += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, o
        shift += 7
    if b[o] > 127:
        _bad("a varint of more than five bytes")
    return value | (b[o] & 15) << 28, o + 1


def read_length(b: bytes, o: int) -> tuple[int, int]:
    """One less than is written, and of 32 bits with a sign: there are clients who write null as a varint of -1."""
    first = b[o]
    if first < 128:
        return first - 1, o + 1
    if b[o + 1] < 128:
        return (first & 127 | b[o + 1] << 7) - 1, o + 2
    size, o = read_varint(b, o)
    return size - (1 if size <= 2**31 else 2**32 + 1), o


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 127:
        written.append(value & 127 | 128)
        value >>= 7
    written.append(value)
    return bytes(written)


def read_tags(b: bytes, o: int) -> tuple[dict[int, bytes], int]:
    count, o = read_varint(b, o)
    if count > len(b) - o:
        _bad("more tagged fields than bytes")
    tags: dict[int, bytes] = {}
    for _ in range(count):
        tag, o = read_varint(b, o)
        size, o = read_varint(b, o)
        if tag in tags or size > len(b) - o:
            _bad("a tag twice" if tag in tags else "a tagged field beyond the message")
        tags[tag] = b[o : o + size]
        o += size
    return tags, o


def write_tags(w: bytearray, tags: dict[int, bytes]) -> None:
    w += _varint(len(tags))
    for tag in sorted(tags):
        w += _varint(tag) + _varint(len(tags[tag])) + tags[tag]


@cache
def _unpackers(letter: str) -> list[Callable[..., tuple[Any, ...]]]:
    """By count: arrays of a few numbers are what messages are full of."""
    return [struct.Struct(f">{count}{letter}").unpack_from for count in range(PREPARED)]


@cache
def _packers(letter: str) -> list[Callable[..., bytes]]:
    return [struct.Struct(f">{count}{letter}").pack for count in range(PREPARED)]
