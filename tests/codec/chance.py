"""Random messages: every field of a version filled, half of the structs with tags that nobody knows."""

from __future__ import annotations

import random
from typing import Any

from kafka_protocol import messages
from kafka_protocol.compiler import FIXED
from kafka_protocol.schema import Field, Schema

RANGES = {"int8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64}


class Chance:
    def __init__(self, seed: int) -> None:
        self._draw = random.Random(seed)

    def message(self, schema: Schema, version: int, tags: bool) -> Any:
        flexible = version >= schema.flexible_from
        return self._struct(schema.name, schema.fields(version), version, flexible and tags, 0)

    def _struct(self, name: str, fields: tuple[Field, ...], version: int, tags: bool, depth: int) -> Any:
        values = {}
        for field in fields:
            absent = field.is_tagged(version) and self._draw.random() < 0.5
            if field.exists(version) and not absent:
                values[field.name] = self._value(field, version, tags, depth)
        if tags and self._draw.random() < 0.5:
            numbers = sorted(self._draw.sample(range(100, 1000), 2))
            values["unknown_tags"] = tuple((n, self._draw.randbytes(self._draw.choice([0, 3, 150]))) for n in numbers)
        return getattr(messages, name)(**values)

    def _value(self, field: Field, version: int, tags: bool, depth: int) -> Any:
        if field.may_be_null(version) and self._draw.random() < 0.25:
            return None
        if field.is_array:
            element = field._replace(type=field.element, nullable=(0, -1))
            long = [130] if depth == 0 and field.element in FIXED else []
            return [self._one(element, version, tags, depth) for _ in range(self._draw.choice([0, 1, 2, 3, *long]))]
        return self._one(field, version, tags, depth)

    def _one(self, field: Field, version: int, tags: bool, depth: int) -> Any:
        draw = self._draw
        if field.type in RANGES:
            bits, signed = RANGES[field.type], field.type.startswith("i")
            low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
            return draw.choice([0, 1, low, high, draw.randint(low, high)])
        if field.type == "bool":
            return draw.random() < 0.5
        if field.type == "float64":
            return draw.choice([0.0, 1.5, -2.25])
        if field.type == "uuid":
            return draw.randbytes(16)
        if field.type == "string":
            return draw.choice(["", "a", "grüppe", "x" * draw.choice([126, 127, 128, 300])])
        if field.type in ("bytes", "records"):
            return draw.choice([b"", b"\0\1", draw.randbytes(draw.choice([126, 127, 200]))])
        return self._struct(field.type, field.fields, version, tags, depth + 1)
