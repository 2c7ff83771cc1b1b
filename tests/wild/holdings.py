"""Who may read which partition. As the clients see it: what was told to a second before the first has let go is a fault."""

from __future__ import annotations

import threading


class Holdings:
    def __init__(self) -> None:
        self.faults: list[str] = []
        self._lock = threading.Lock()
        self._holder: dict[int, str] = {}

    def of(self, who: str) -> set[int]:
        with self._lock:
            return self._of(who)

    def shares(self) -> dict[str, int]:
        """How many each of those has that have any."""
        with self._lock:
            return {who: len(self._of(who)) for who in self._holder.values()}

    def keeps(self, who: str, partitions: set[int]) -> None:
        """It lets go of all others."""
        with self._lock:
            for partition in self._of(who) - partitions:
                del self._holder[partition]

    def takes(self, who: str, partitions: set[int]) -> None:
        with self._lock:
            for partition in partitions:
                holder = self._holder.get(partition, who)
                if holder != who:
                    self.faults.append(f"partition {partition} is told to {who} while {holder} has it")
                self._holder[partition] = who

    def fault(self, fault: str) -> None:
        with self._lock:
            self.faults.append(fault)

    def _of(self, who: str) -> set[int]:
        return {partition for partition, holder in self._holder.items() if holder == who}
