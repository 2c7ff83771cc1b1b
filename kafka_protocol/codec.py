"""Messages to bytes and back: what is missing, left over or impossible is a CodecError and nothing else is.

As strict as Kafka's own reader and no stricter (tests/codec/test_broken_bodies.py holds one against the other, and names what
is left between them): what a broker takes from a client must not fail here.
"""

from __future__ import annotations

import struct
from importlib import import_module
from typing import Any, TypeVar

from kafka_protocol.compiler import Decoder, Encoder, compile_decoder, compile_encoder
from kafka_protocol.errors import CodecError
from kafka_protocol.explaining import explain_decoding, explain_encoding
from kafka_protocol.schema import Field, Schema

M = TypeVar("M")
Bytes = bytes | bytearray | memoryview

# All that compiled functions raise on bytes or values that are wrong.
_FAILURES = (ValueError, IndexError, struct.error, TypeError, AttributeError, OverflowError, MemoryError)


_decoders: dict[tuple[type, int], Decoder] = {}
_encoders: dict[tuple[type, int], Encoder] = {}
_prefix_decoders: dict[tuple[type, int, str], Decoder] = {}
_prefix_encoders: dict[tuple[type, int, str], Encoder] = {}


def schema_of(cls: type) -> Schema:
    schema: Schema = import_module(cls.__module__).SCHEMAS[cls.__name__]
    return schema


def decode(cls: type[M], version: int, data: Bytes, offset: int = 0, to_the_end: bool = True) -> M:
    """The message that begins at `offset` and ends with the data, or, if not `to_the_end`, before that."""
    read = _decoders.get((cls, version)) or _new_decoder(cls, version)
    data = data if type(data) is bytes else bytes(data)
    try:
        message, end = read(data, offset)
        if end == len(data) or (end < len(data) and not to_the_end):
            return message  # type: ignore[no-any-return]
    except _FAILURES:
        pass
    raise explain_decoding(cls.__name__, fields_of(cls, version), version, _flexible(cls, version), data, offset)


def encode(message: Any, version: int) -> bytes:
    write = _encoders.get((type(message), version)) or _new_encoder(type(message), version)
    written = bytearray()
    try:
        write(message, written)
    except _FAILURES as failure:
        schema = schema_of(type(message))
        raise explain_encoding(schema.name, schema.fields(version), version, message, failure) from None
    return bytes(written)


def decode_prefix(cls: type[M], version: int, data: Bytes, through: str, offset: int = 0) -> tuple[M, int]:
    """The message with its fields up to and including `through`, and where the rest begins."""
    read = _prefix_decoders.get((cls, version, through)) or _new_prefix_decoder(cls, version, through)
    data = data if type(data) is bytes else bytes(data)
    try:
        message, end = read(data, offset)
        if end <= len(data):
            return message, end
    except _FAILURES:
        pass
    fields = _through(cls, version, through)
    raise explain_decoding(cls.__name__, fields, version, _flexible(cls, version), data, offset, whole=False)


def encode_prefix(message: Any, version: int, through: str) -> bytes:
    cls = type(message)
    write = _prefix_encoders.get((cls, version, through)) or _new_prefix_encoder(cls, version, through)
    written = bytearray()
    try:
        write(message, written)
    except _FAILURES as failure:
        raise explain_encoding(cls.__name__, _through(cls, version, through), version, message, failure) from None
    return bytes(written)


def fields_of(cls: type, version: int) -> tuple[Field, ...]:
    schema = schema_of(cls)
    try:
        return schema.fields(version)
    except KeyError:
        first, last = schema.versions
        raise CodecError(schema.name, version, "", None, f"versions {first} to {last} are known") from None


def _through(cls: type, version: int, name: str) -> tuple[Field, ...]:
    fields = fields_of(cls, version)
    return fields[: [field.name for field in fields].index(name) + 1]


def _flexible(cls: type, version: int) -> bool:
    return version >= schema_of(cls).flexible_from


def _new_decoder(cls: type, version: int) -> Decoder:
    made = compile_decoder(cls, fields_of(cls, version), version, _flexible(cls, version))
    return _decoders.setdefault((cls, version), made)


def _new_encoder(cls: type, version: int) -> Encoder:
    made = compile_encoder(fields_of(cls, version), version, _flexible(cls, version))
    return _encoders.setdefault((cls, version), made)


def _new_prefix_decoder(cls: type, version: int, through: str) -> Decoder:
    fields = _through(cls, version, through)
    made = compile_decoder(cls, fields, version, _flexible(cls, version), whole=False)
    return _prefix_decoders.setdefault((cls, version, through), made)


def _new_prefix_encoder(cls: type, version: int, through: str) -> Encoder:
    made = compile_encoder(_through(cls, version, through), version, _flexible(cls, version), whole=False)
    return _prefix_encoders.setdefault((cls, version, through), made)
