"""On which line each member speaks. By group: one that moves is asked about again and again, and a proxy has thousands."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proxy.groups.line import Key, Line

NONE: Mapping[str, Line] = MappingProxyType({})


class Lines:
    def __init__(self) -> None:
        self._of: dict[str, dict[str, Line]] = {}

    def of(self, group_id: str) -> Mapping[str, Line]:
        """By member id, the oldest first."""
        return self._of.get(group_id, NONE)

    def get(self, key: Key) -> Line | None:
        return self.of(key[0]).get(key[1])

    def __contains__(self, key: Key) -> bool:
        return key[1] in self.of(key[0])

    def __getitem__(self, key: Key) -> Line:
        return self._of[key[0]][key[1]]

    def __setitem__(self, key: Key, line: Line) -> None:
        self._of.setdefault(key[0], {})[key[1]] = line

    def pop(self, key: Key) -> Line | None:
        line = self.get(key)
        if line is not None:
            of_group = self._of[key[0]]
            del of_group[key[1]]
            if not of_group:
                del self._of[key[0]]
        return line
