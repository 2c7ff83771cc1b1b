"""Who came up before, and of what was said already: remembered, but not for ever."""

from __future__ import annotations

from collections import OrderedDict

from proxy.groups.line import Key

LARGEST_MEMORY = 20_000


class Memory:
    """Members that came up, each with the reason why, but not for ever: the oldest are forgotten."""

    def __init__(self) -> None:
        self._keys: OrderedDict[Key, str] = OrderedDict()

    def __contains__(self, key: Key) -> bool:
        return key in self._keys

    def add(self, key: Key, reason: str = "") -> None:
        self._keys[key] = reason
        self._keys.move_to_end(key)
        if len(self._keys) > LARGEST_MEMORY:
            self._keys.popitem(last=False)

    def is_new(self, key: Key) -> bool:
        """It was not there, and is now: whoever says something once asks this first."""
        was_there = key in self._keys
        if not was_there:
            self.add(key)
        return not was_there

    def reason(self, key: Key) -> str:
        return self._keys.get(key, "")

    def take(self, key: Key) -> bool:
        """It was there, and is no more."""
        was_there = key in self._keys
        self._keys.pop(key, None)
        return was_there
