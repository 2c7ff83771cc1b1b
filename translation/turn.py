"""One step under way: the member as it becomes, and the orders so far. It lives no longer than the step."""

from __future__ import annotations

from typing import Any

import msgspec

from translation.actions import AnyAction
from translation.member import Member


class Turn:
    def __init__(self, member: Member, now: int, cause: str) -> None:
        self.before = member
        self.member = member
        self.now = now
        self.cause = cause
        self.reason: str | None = None
        self.request: int | None = None
        # The client has just said what only a client of ours can say.
        self.spoken = False
        self.actions: list[AnyAction] = []

    @property
    def is_here(self) -> bool:
        """The client waits here for an answer, or has just spoken: it is not at another proxy."""
        return self.spoken or self.member.held is not None or self.member.parked is not None

    def becomes(self, **changes: Any) -> None:
        self.member = msgspec.structs.replace(self.member, **changes)

    def order(self, action: AnyAction) -> None:
        self.actions.append(action)

    def because(self, cause: str) -> None:
        """Say more of the cause than the event's name does."""
        self.cause = cause
