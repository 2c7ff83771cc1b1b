"""What a message looks like, as data: the form in which the generator writes Kafka's definitions down.

A message has one or more *layouts*, each for a range of versions: Kafka 4.0 dropped old versions from its definitions, so
those come from an older release. A field says in which versions it exists, may be null, or is tagged.
"""

from __future__ import annotations

from typing import Any, NamedTuple

NEVER = (0, -1)
FOREVER = 32767


class Field(NamedTuple):
    name: str
    # bool, int8 … int64, uint16, uint32, float64, uuid, string, bytes, records, a struct's class name; [] before arrays.
    type: str
    versions: tuple[int, int] = (0, FOREVER)
    default: Any = None
    nullable: tuple[int, int] = NEVER
    tagged: tuple[int, int] = NEVER
    tag: int = -1
    # A string that keeps its two-byte length in flexible versions too (the client id of the request header).
    never_compact: bool = False
    # Of a struct, or of the elements of an array of structs.
    fields: tuple[Field, ...] = ()

    @property
    def element(self) -> str:
        return self.type.removeprefix("[]")

    @property
    def is_array(self) -> bool:
        return self.type.startswith("[]")

    def exists(self, version: int) -> bool:
        return self.versions[0] <= version <= self.versions[1]

    def may_be_null(self, version: int) -> bool:
        return self.nullable[0] <= version <= self.nullable[1]

    def is_tagged(self, version: int) -> bool:
        return self.tagged[0] <= version <= self.tagged[1]


class Layout(NamedTuple):
    versions: tuple[int, int]
    fields: tuple[Field, ...]


class Schema(NamedTuple):
    name: str
    key: int
    # The first flexible version: compact lengths and tagged fields.
    flexible_from: int
    layouts: tuple[Layout, ...]

    @property
    def versions(self) -> tuple[int, int]:
        return min(each.versions[0] for each in self.layouts), max(each.versions[1] for each in self.layouts)

    def fields(self, version: int) -> tuple[Field, ...]:
        """The fields of one version. KeyError when there is no such version."""
        for layout in self.layouts:
            if layout.versions[0] <= version <= layout.versions[1]:
                return tuple(field for field in layout.fields if field.exists(version))
        raise KeyError(version)
