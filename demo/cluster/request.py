"""A request as it reaches those who answer it."""

from __future__ import annotations

from typing import Any, NamedTuple

from demo.cluster.codes import Refused


class Request(NamedTuple):
    node: int
    version: int
    body: Any
    client_id: str = ""
    # As brokers show it in descriptions: with a slash.
    client_host: str = ""
    # A fault: every item that is asked for is refused with this code.
    refusal: int = 0

    def admit(self) -> None:
        """Called before anything is looked at or done for an item."""
        if self.refusal:
            raise Refused(self.refusal)
