"""A memory that forgets: who came up before, and about whom something was said already."""

from __future__ import annotations

from collections import OrderedDict

# Mostly a group and who is in it.
Pair = tuple[str, str]

LARGEST_MEMORY = 20_000
# All that is remembered of them, in characters. Ids are the clients' own, and may be 32 KB long each.
LONGEST_MEMORY = 4_000_000


class Memory:
    """Pairs that came up, each with the reason why if there is one. When there are too many the oldest are forgotten."""

    def __init__(self) -> None:
        self._keys: OrderedDict[Pair, str] = OrderedDict()
        self._length = 0

    def __contains__(self, key: Pair) -> bool:
        return key in self._keys

    def add(self, key: Pair, reason: str = "") -> None:
        self.take(key)
        self._keys[key] = reason
        self._length += _length(key, reason)
        while len(self._keys) > LARGEST_MEMORY or self._length > LONGEST_MEMORY:
            self._length -= _length(*self._keys.popitem(last=False))

    def is_new(self, key: Pair) -> bool:
        """It was not there, and is now: whoever says something once asks this first."""
        was_there = key in self._keys
        if not was_there:
            self.add(key)
        return not was_there

    def reason(self, key: Pair) -> str:
        return self._keys.get(key, "")

    def take(self, key: Pair) -> bool:
        """It was there, and is no more."""
        reason = self._keys.pop(key, None)
        if reason is None:
            return False
        self._length -= _length(key, reason)
        return True


def _length(key: Pair, reason: str) -> int:
    return len(key[0]) + len(key[1]) + len(reason)
