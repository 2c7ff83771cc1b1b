"""How does a member go that was here in an earlier life of this proxy, and has not been in this one?

Its first word may be that it leaves; or its client does not come back, and somebody else gets what it has. Nothing of it was
seen in this life: whoever watches would take it for present, and for the owner of what it was told, for good. So when its
coordinator has let it go two things are said: that it was found, as if it had spoken (of a member that proxy is believed
which found it last: pipeline/life.py), and that it has gone. It went when that was asked for, not when it was answered: by
then others may have what it had.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from proxy.groups.clock import Moment
from proxy.groups.line import Key, Line
from proxy.groups.native import SeenMember
from translation import errors as e
from translation.events import JournalEntry, MemberAdopted
from translation.group_heartbeat import LEAVE_EPOCH, GroupHeartbeat, GroupHeartbeatAnswer

if TYPE_CHECKING:
    from proxy.groups.host import Host

NOT_BACK = "client has not come back"


class Departure(msgspec.Struct, frozen=True, kw_only=True):
    """`seen`: as its coordinator has described it. `epoch`: with which it goes. `request`: the client's, that asks for it."""

    group_id: str
    seen: SeenMember
    cause: str
    epoch: int = LEAVE_EPOCH
    request: int | None = None
    reason: str | None = None

    @property
    def key(self) -> Key:
        return self.group_id, self.seen.member_id


class Departures:
    def __init__(self, host: Host) -> None:
        self._host = host

    def ask(self, line: Line, leave: Departure, heard: Callable[[GroupHeartbeatAnswer | None], None]) -> None:
        """`heard` is called once, with its coordinator's answer, or with None where there will be none."""
        asked = self._host.clock.now
        member = leave.seen

        def answered(answer: GroupHeartbeatAnswer | None) -> None:
            entry = self._host.journal.entries.get(leave.key)
            heard(answer)
            if answer is not None and answer.error_code == e.NONE:
                self._gone(leave, entry, asked)

        beat = GroupHeartbeat(
            group_id=leave.group_id,
            member_id=member.member_id,
            member_epoch=leave.epoch,
            instance_id=member.instance_id,
        )
        self._host.orders.ask_coordinator(line, beat, answered, leave.request)

    def given_up(self, entry: JournalEntry) -> None:
        """By its coordinator, while nobody spoke for it: that may have been long ago, so it had nothing any more."""
        found = MemberAdopted(
            member_id=entry.member_id,
            member_epoch=0,
            assigned=(),
            subscribed_topics=(),
            instance_id=entry.instance_id,
            journal=msgspec.structs.replace(entry, told=()),
        )
        self._host.say_found_and_gone(entry.group_id, found, NOT_BACK, self._host.clock.now)

    def _gone(self, leave: Departure, entry: JournalEntry | None, at: Moment) -> None:
        if leave.key in self._host.members:
            # Its client is back, and it will be refused: that is said of it as of any member.
            return
        self._host.journal.forget(leave.key)
        found = leave.seen.found(entry)
        self._host.say_found_and_gone(leave.group_id, found, leave.cause, at, leave.request, leave.reason)
