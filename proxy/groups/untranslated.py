"""Requests that pass to the broker, and who is known to send such.

A JoinGroup may pass for many reasons; once it has, whatever else its member says passes too. All passes as it came, but for
what would keep the coordinator from ever converting a group that is to be translated (convertible.py), and for versions of
JoinGroup that its broker does not take.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_protocol.messages import keys
from proxy import observations as seen
from proxy.answers import Bytes
from proxy.groups import classic, convertible
from proxy.groups.classic import Request
from proxy.groups.line import Key, Line
from proxy.groups.native import Ask
from proxy.memory import LARGEST_MEMORY, Memory
from translation import errors as e
from translation.admission import why_not_translated

if TYPE_CHECKING:
    from proxy.groups.host import Host
    from proxy.groups.requests import Requests

# What a broker answers to a member that it has, and to one that it has no more.
THERE = frozenset({e.NONE, e.REBALANCE_IN_PROGRESS})
THERE_NO_MORE = frozenset({e.UNKNOWN_MEMBER_ID, e.FENCED_INSTANCE_ID})


class Untranslated:
    def __init__(self, host: Host, requests: Requests) -> None:
        # Members of classic groups and native ones, and those to whom a broker has said MEMBER_ID_REQUIRED.
        self.passing = Memory()
        self.invited = Memory()
        # Of the passing, those whose group has agreed on an assignor whose notes nobody needs.
        self._without_notes = Memory()
        self._present = Present(host)
        self._host = host
        self._requests = requests

    @property
    def groups(self) -> set[str]:
        """Those with somebody who passes now."""
        return self._present.groups

    def passes(self, key: Key) -> None:
        """This one needs no translation: what else it says passes too."""
        if key not in self._host.members:
            self.passing.add(key)

    def translated(self, key: Key) -> None:
        """From now on: where it passed here until now, its next words would pass as well."""
        self.passing.take(key)
        self._present.ends(key)

    def leave(self, request: Request) -> None:
        for leaver in classic.leavers(request):
            self._present.ends((request.body.group_id, leaver.member_id))

    def closed(self, line: Line) -> None:
        for key in list(line.passing):
            self._present.ends(key)

    def take(self, line: Line, request: Request, reason: str) -> None:
        """To the broker's classic protocol, said once a member."""
        key = (request.body.group_id, request.body.member_id)
        if request.key == keys.SYNC_GROUP and key in self._without_notes:
            request = convertible.sync(request)
        if request.key == keys.HEARTBEAT:
            return self._pass(line, request, lambda answer: self._beaten(line, request, reason, answer))
        if request.key == keys.LEAVE_GROUP:
            return self._pass(line, request, lambda answer: self._left(request, answer))
        if request.key == keys.JOIN_GROUP:
            return self._take_join(line, request, reason)
        return self._requests.commits.forward(line, request)

    def _pass(self, line: Line, request: Request, heard: Callable[[Any], None], sent: Request | None = None) -> None:
        """The broker's answer passes too, once it is known here. `sent`: the request in the words that the broker takes."""

        def passes(frame: Bytes | None) -> Bytes | None:
            if frame is None:
                return None
            answer = classic.passed(sent or request, bytes(frame))
            heard(answer)
            return request.answered(answer) if sent else frame

        line.forward((sent or request).frame, passes)

    def _pass_join(self, line: Line, request: Request, heard: Callable[[Any], None]) -> None:
        """Kafka 4.0.0 hangs up on versions 0 and 1 (KIP-896), 4.0.1 takes them again (KAFKA-19444). What is asked here is
        given up after a while; a JoinGroup may wait for as long as a rebalance takes, so it is forwarded as any other."""

        def known() -> None:
            oldest, _ = line.versions.get(request.key, (classic.OLDEST_JOIN, 0))
            self._pass(line, request, heard, classic.lifted_join(request) if request.version < oldest else None)

        if request.version < classic.OLDEST_JOIN:
            line.know_versions(known)
        else:
            self._pass(line, request, heard)

    def _take_join(self, line: Line, request: Request, reason: str) -> None:
        key = (request.body.group_id, request.body.member_id)
        may_convert = self._may_convert(request)
        if may_convert:
            request = convertible.join(request)
        # Why it passes was found when it first came, without an id.
        why = self.invited.reason(key) or reason
        is_new = key not in self.passing and not self.invited.take(key)

        def heard(joined: Any) -> None:
            # Who may not read the group can make nothing be said of it.
            if is_new and joined.error_code != e.GROUP_AUTHORIZATION_FAILED:
                self._say(line, key, why)
            self._joined(line, request, may_convert, why, joined)

        if self._requests.issued.take(key):
            self._pass_renamed(line, request, heard)
        else:
            self._pass_join(line, request, heard)

    def _pass_renamed(self, line: Line, request: Request, heard: Callable[[Any], None]) -> None:
        """An id of ours means nothing to a broker. It gives one, but not every client takes a second (@platformatic/kafka
        keeps what it was given first, until it is told that nobody knows it)."""

        def answered(joined: Any) -> None:
            if joined is None:
                line.answer(classic.refusal(request, e.NOT_COORDINATOR))
            elif joined.error_code == e.MEMBER_ID_REQUIRED:
                self._pass(line, classic.changed(request, member_id=joined.member_id), heard)
            else:
                heard(joined)
                line.answer(request.answered(joined))

        line.ask(Ask(request.key, request.version, msgspec.structs.replace(request.body, member_id="")), answered)

    def _may_convert(self, request: Request) -> bool:
        """No rule says that it is to pass, and it is a group of consumers."""
        mode, rules = self._host.rules.of(request.body.group_id)
        return mode == "translate" and why_not_translated(classic.join_requested(request), rules) is None

    def _joined(self, line: Line, request: Request, may_convert: bool, reason: str, joined: Any) -> None:
        # Who is refused without an id is nobody yet: the next to come without one is somebody else.
        if joined.member_id:
            key = (request.body.group_id, joined.member_id)
            memory = self.invited if joined.error_code == e.MEMBER_ID_REQUIRED else self.passing
            memory.add(key, reason)
            self._answered(line, key, reason, joined.error_code)
            if may_convert and joined.protocol_name in convertible.NOTES_NOT_NEEDED:
                self._without_notes.add(key)
            else:
                self._without_notes.take(key)

    def _beaten(self, line: Line, request: Request, reason: str, answer: Any) -> None:
        """Who joined before this proxy began, or on a connection that has ended, is met again at its heartbeat."""
        key = (request.body.group_id, request.body.member_id)
        if answer.error_code in THERE and key not in self.passing:
            self._say(line, key, reason)
            self.passing.add(key, reason)
        self._answered(line, key, self.passing.reason(key) or reason, answer.error_code)

    def _left(self, request: Request, answer: Any) -> None:
        """If the broker says so: anybody may ask."""
        if answer.error_code == e.NONE:
            self.leave(request)

    def _answered(self, line: Line, key: Key, reason: str, error_code: int) -> None:
        if error_code in THERE and line.open:
            self._present.on(line, key, reason)
        elif error_code in THERE_NO_MORE:
            self._present.ends(key)

    def _say(self, line: Line, key: Key, reason: str) -> None:
        self._host.log.info("group passes untranslated", group=key[0], client=line.client.client_id, reason=reason)


class Present:
    """Who passes now, as far as can be known of those who only pass: the broker took its JoinGroup or its Heartbeat, on a
    connection that is still there, and it has not left since."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lines: dict[Key, Line] = {}

    @property
    def groups(self) -> set[str]:
        return {group_id for group_id, _ in self._lines}

    def on(self, line: Line, key: Key, reason: str) -> None:
        before = self._lines.get(key)
        if before is not None:
            before.passing.discard(key)
        elif len(self._lines) >= LARGEST_MEMORY:
            self.ends(next(iter(self._lines)))
        self._lines[key] = line
        line.passing.add(key)
        if before is None:
            at_ns = self._host.clock.now_ns
            self._host.observe(
                seen.GroupPasses(at_ns=at_ns, group_id=key[0], member_id=key[1], reason=reason, client=line.client)
            )

    def ends(self, key: Key) -> None:
        line = self._lines.pop(key, None)
        if line is not None:
            line.passing.discard(key)
            at_ns = self._host.clock.now_ns
            self._host.observe(seen.PassesNoMore(at_ns=at_ns, group_id=key[0], member_id=key[1]))
