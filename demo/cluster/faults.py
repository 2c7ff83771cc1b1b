"""What goes wrong on demand: for which requests, how often. Nothing goes wrong by itself, or by chance."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class Fail(msgspec.Struct, frozen=True):
    """Answered with this error, wherever the request's answer carries one; nothing is done."""

    code: int


class Delay(msgspec.Struct, frozen=True):
    """Done and answered, but later."""

    delay_ms: int


class Cut(msgspec.Struct, frozen=True):
    """The connection is cut before anything is done."""


class Lose(msgspec.Struct, frozen=True):
    """Everything is done, then the connection is cut instead of an answer."""


Fault = Fail | Delay | Cut | Lose


class Planned(msgspec.Struct):
    """None fits any."""

    api: str
    fault: Fault
    left: int
    node: int | None = None
    client_id: str | None = None

    def fits(self, api: str, node: int, client_id: str) -> bool:
        return (
            self.left > 0
            and self.api == api
            and self.node in (None, node)
            and (self.client_id is None or self.client_id == client_id)
        )


class Faults:
    """The first planned fault that fits a request befalls it. `befallen` says what did, in order."""

    def __init__(self) -> None:
        self.befallen: list[tuple[str, Fault]] = []
        self._planned: list[Planned] = []

    def __iter__(self) -> Iterator[Planned]:
        """Those still to come."""
        return (each for each in self._planned if each.left > 0)

    def add(
        self, api: str, fault: Fault, *, times: int = 1, node: int | None = None, client_id: str | None = None
    ) -> None:
        """`api` by its name in the protocol: Fetch, OffsetCommit, ConsumerGroupHeartbeat…"""
        self._planned.append(Planned(api, fault, times, node, client_id))

    def clear(self) -> None:
        self._planned.clear()

    def befall(self, api: str, node: int, client_id: str) -> Fault | None:
        planned = next((each for each in self._planned if each.fits(api, node, client_id)), None)
        if planned is None:
            return None
        planned.left -= 1
        self.befallen.append((api, planned.fault))
        return planned.fault
