"""Requests that pass to the broker, and who is known to send such.

A JoinGroup may pass for many reasons; once it has, whatever else its member says passes too. All passes as it came, but for
what would keep the coordinator from ever converting a group that is to be translated (convertible.py).
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from proxy import observations as seen
from proxy.groups import classic, convertible
from proxy.groups.classic import Request
from proxy.groups.line import Key, Line
from translation import errors as e
from translation.admission import why_not_translated

if TYPE_CHECKING:
    from proxy.groups.host import Host
    from proxy.groups.requests import Requests

LARGEST_MEMORY = 20_000


class Memory:
    """Members that came up, but not for ever: the oldest are forgotten."""

    def __init__(self) -> None:
        self._keys: OrderedDict[Key, None] = OrderedDict()

    def __contains__(self, key: Key) -> bool:
        return key in self._keys

    def add(self, key: Key) -> None:
        self._keys[key] = None
        self._keys.move_to_end(key)
        if len(self._keys) > LARGEST_MEMORY:
            self._keys.popitem(last=False)

    def take(self, key: Key) -> bool:
        """It was there, and is no more."""
        was_there = key in self._keys
        self._keys.pop(key, None)
        return was_there


class Untranslated:
    def __init__(self, host: Host, requests: Requests) -> None:
        # Members of classic groups and native ones, and those to whom a broker has said MEMBER_ID_REQUIRED.
        self.passing = Memory()
        self.invited = Memory()
        # Of the passing, those whose group has agreed on an assignor whose notes nobody needs.
        self._without_notes = Memory()
        self._host = host
        self._requests = requests

    def passes(self, key: Key) -> None:
        """This one needs no translation: what else it says passes too."""
        if key not in self._host.members:
            self.passing.add(key)

    def take(self, line: Line, request: Request, reason: str) -> None:
        """To the broker's classic protocol, said once a member."""
        key = (request.body.group_id, request.body.member_id)
        if request.key == classic.SYNC_GROUP and key in self._without_notes:
            request = convertible.sync(request)
        if request.key != classic.JOIN_GROUP:
            return self._requests.commits.forward(line, request)
        may_convert = self._may_convert(request)
        if may_convert:
            request = convertible.join(request)
        if key not in self.passing and not self.invited.take(key):
            self._say(line, key, reason)
        # An id of ours means nothing to a broker.
        if self._requests.issued.take(key):
            request = classic.changed(request, member_id="")
        return line.forward(request.frame, lambda answer: self._heard(request, may_convert, answer))

    def _may_convert(self, request: Request) -> bool:
        """No rule says that it is to pass, and it is a group of consumers."""
        mode = self._host.rules.of(request.body.group_id).mode
        return mode == "translate" and why_not_translated(classic.join_requested(request)) is None

    def _heard(self, request: Request, may_convert: bool, frame: Any) -> Any:
        joined = None if frame is None else classic.joined(request, bytes(frame))
        # Who is refused without an id is nobody yet: the next to come without one is somebody else.
        if joined is not None and joined.member_id:
            key = (request.body.group_id, joined.member_id)
            memory = self.invited if joined.error_code == e.MEMBER_ID_REQUIRED else self.passing
            memory.add(key)
            if may_convert and joined.protocol_name in convertible.NOTES_NOT_NEEDED:
                self._without_notes.add(key)
            else:
                self._without_notes.take(key)
        return frame

    def _say(self, line: Line, key: Key, reason: str) -> None:
        group_id, member_id = key
        self._host.log.info("group passes untranslated", group=group_id, client=line.client.client_id, reason=reason)
        at_ns = self._host.clock.now_ns
        self._host.observe(
            seen.GroupPasses(at_ns=at_ns, group_id=group_id, member_id=member_id, reason=reason, client=line.client)
        )
