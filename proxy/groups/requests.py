"""What becomes of a client's request: it is numbered, finds the member it speaks for, and waits here until it is answered.

Whom it speaks for may have to be found out first (recognising.py); and much of what comes is not ours to answer, and goes to
the broker as it came (untranslated.py).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from kafka_protocol.messages import keys
from proxy import observations as seen
from proxy.connections import Connection
from proxy.groups import classic, describing, dropped, fetching
from proxy.groups.classic import Request
from proxy.groups.commits import Commits
from proxy.groups.holding import Holds
from proxy.groups.leaving import Leaves
from proxy.groups.line import Key, Line
from proxy.groups.passing import dry_run
from proxy.groups.recognising import Recognition
from proxy.groups.refusals import Refusals
from proxy.groups.reliance import Reliance
from proxy.groups.untranslated import Untranslated
from proxy.memory import Memory
from translation import actions as do
from translation import errors as e
from translation import events as ev
from translation.admission import why_not_translated
from translation.group_heartbeat import JOIN_EPOCH, unless_blank
from translation.joining import is_proper

if TYPE_CHECKING:
    from proxy.groups.host import Host

# So many characters of a client id go into the member id that is made of it. On the wire either has room for 32,767 bytes,
# and a character takes four at most.
LONGEST_NAME = 8_000
# A member speaks on the connection of these; commits may come on a producer's.
MEMBERS_OWN = frozenset({keys.JOIN_GROUP, keys.SYNC_GROUP, keys.HEARTBEAT})


class Waiting(msgspec.Struct, frozen=True):
    """A request that has yet to be answered, and where."""

    line: Line
    request: Request
    at_ms: int


class Requests:
    def __init__(self, host: Host) -> None:
        self.clock = host.clock
        self.commits = Commits(host, self)
        self.holds = Holds(host, self)
        self.leaves = Leaves(host, self)
        self.recognition = Recognition(host, self)
        self.untranslated = Untranslated(host, self)
        # Ids given out with MEMBER_ID_REQUIRED.
        self.issued = Memory()
        self.refusals = Refusals(host.log)
        self._reliance = Reliance(host.log)
        self._host = host
        self._waiting: dict[int, Waiting] = {}
        self._number = 0

    # ---------------------------------------------------------------------------------------------------------- lines

    def open_line(self, connection: Connection) -> Line:
        return Line(connection, self, connection.conversation.software)

    def taken(self, line: Line, frame: bytes) -> None:
        """A request of a group, whole. It is answered or forwarded, now or later, whatever happens."""
        request = classic.read(frame)
        line.known_as(request.client_id)
        self._reliance.taken(line, request)
        if request.key in (keys.DESCRIBE_GROUPS, keys.LIST_GROUPS):
            return describing.taken(line, request)
        if (request.key, request.version) in dropped.DROPPED:
            return dropped.taken(line, request)
        if request.key == keys.OFFSET_FETCH:
            return fetching.taken(line, request, self._host.translates)
        if request.key == keys.CONSUMER_GROUP_HEARTBEAT:
            return self._native_request(line, request)
        return self._group_request(line, request)

    def interrupted(self, line: Line) -> None:
        self.holds.interrupted(line)

    def left(self, line: Line, hung_up: bool) -> None:
        """What the client waited for is answered to nobody. It may be waiting elsewhere, its member on another line."""
        if line.number is not None and line.number in self._waiting:
            body = self.request_of(line.number).body
            for key in {*line.members, (body.group_id, body.member_id)}:
                self._host.feed(key, ev.ClientLeft(request=line.number, hung_up=hung_up))

    def closed(self, line: Line) -> None:
        self.untranslated.closed(line)
        self._host.line_closed(line)

    # ------------------------------------------------------------------------------------------------ on its way there

    def _native_request(self, line: Line, request: Request) -> None:
        if self._is_refused(request):
            return self._keep_out(line, request)
        return self._host.together.native_taken(line, request)

    def _group_request(self, line: Line, request: Request) -> None:
        group_id = request.body.group_id
        if request.is_nameless and request.key == keys.JOIN_GROUP and not request.body.member_id:
            request.body.member_id = self._had(line, group_id)
        if self._is_refused(request):
            return self._keep_out(line, request)
        if reason := self._why_not_ours(request):
            return self.untranslated.take(line, request, reason)
        number = self._wait(line, request)
        return line.admit(group_id, lambda error: self._admitted(number, error))

    def _had(self, line: Line, group_id: str) -> str:
        """The member of whoever joins anew under an instance id of no letters, without saying which member it is (phpkafka,
        each time): a broker takes it for the one that has the instance. Ours has none; but it speaks here."""
        found = [name for group, name in line.members if group == group_id]
        return found[0] if len(found) == 1 else ""

    def _is_refused(self, request: Request) -> bool:
        """Who was here before the rule goes on until it joins anew: it commits what it has read, and leaves in order."""
        if self._host.rules.of(request.body.group_id).mode != "refuse":
            return False
        passed_before = any(key in self.untranslated.passing for key in self._spoken_for(request))
        return _joins(request) or not (self._is_translated(request) or passed_before)

    def _is_translated(self, request: Request) -> bool:
        """Whatever a rule says by now: as the native member that it is upstream, no client could speak for it to a broker."""
        return any(key in self._host.members for key in self._spoken_for(request))

    def _spoken_for(self, request: Request) -> list[Key]:
        is_leave = request.key == keys.LEAVE_GROUP
        return self.leaves.keys(request) if is_leave else [(request.body.group_id, request.body.member_id)]

    def _keep_out(self, line: Line, request: Request) -> None:
        group_id, client = request.body.group_id, line.client
        self.refusals.by_rule(group_id, client)
        self._host.observe(seen.GroupRefused(at_ns=self.clock.now_ns, group_id=group_id, client=client))
        line.answer(classic.refusal(request, e.GROUP_AUTHORIZATION_FAILED))

    def _why_not_ours(self, request: Request) -> str | None:
        key = (request.body.group_id, request.body.member_id)
        mode, rules = self._host.rules.of(key[0])
        is_join = request.key == keys.JOIN_GROUP
        if key[0] and not unless_blank(key[0]):
            return "a blank group id, which no coordinator of native members takes"
        if mode in ("pass", "dry-run") and not self._is_translated(request):
            is_told = mode == "dry-run" and is_join
            return dry_run(classic.join_requested(request), rules) if is_told else f"a rule says `{mode}`"
        if is_join and key in self.untranslated.invited:
            return "a broker has given it its id"
        if is_join:
            return None if self._is_translated(request) else why_not_translated(classic.join_requested(request), rules)
        if not _speaks_for_member(request) or key in self.untranslated.passing:
            return "it is nobody's that is translated"
        return None

    def _wait(self, line: Line, request: Request) -> int:
        self._number += 1
        number = line.number = self._number
        self._waiting[number] = Waiting(line, request, self.clock.now_ms)
        body = request.body
        line.inherits(self._host.software.get((body.group_id, body.member_id), ("", "")))
        self._host.observe(
            seen.RequestArrived(
                number=number,
                at_ns=self.clock.now_ns,
                group_id=body.group_id,
                member_id=body.member_id,
                instance_id=getattr(body, "group_instance_id", None),
                api=request.name,
                version=request.version,
                client=line.client,
                reason=classic.reason(body),
                committed=(classic.committed(request) or ()) if request.key in classic.COMMITS else (),
            )
        )
        return number

    def _admitted(self, number: int, error: int) -> None:
        line, request = self.line_of(number), self.request_of(number)
        if error:
            return self.refuse(number, error)
        if not (line.offers(keys.CONSUMER_GROUP_HEARTBEAT) and line.offers(keys.CONSUMER_GROUP_DESCRIBE)):
            return self.pass_on(number, "the brokers do not offer ConsumerGroupHeartbeat")
        if request.key == keys.LEAVE_GROUP:
            self.untranslated.leave(request)
            return self.leaves.taken(number, request)
        return self._route(number, (request.body.group_id, request.body.member_id))

    def _route(self, number: int, key: Key) -> None:
        """To the member that is spoken for, if we have it; else it must be found out who that is."""
        if key in self._host.members or not key[1] or self._is_new(number, key):
            self.speak(number, key)
        else:
            self.recognition.ask(number, key)

    def _is_new(self, number: int, key: Key) -> bool:
        """It comes for the first time under the id it was given here. Who says that it holds partitions may have been at
        another proxy with it."""
        request = self.request_of(number)
        return key in self.issued and request.key == keys.JOIN_GROUP and not classic.claims_partitions(request.body)

    # --------------------------------------------------------------------------------------------------- to its member

    def speak(self, number: int, key: Key) -> None:
        """The request, as an event, to this member or to an absent one."""
        request, line = self.request_of(number), self.line_of(number)
        self._host.feed(key, self.event_of(number, key), line if request.key in MEMBERS_OWN else None)
        if line.client_left:
            self._host.feed(key, ev.ClientLeft(request=number))

    def event_of(self, number: int, key: Key) -> ev.ClientEvent:
        request = self.request_of(number)
        match request.key:
            case keys.JOIN_GROUP:
                return self._join(number, key, request)
            case keys.SYNC_GROUP:
                self.line_of(number).beats()
                return classic.sync_requested(request, number)
            case keys.HEARTBEAT:
                return classic.heartbeat_requested(request, number, self.holds.would_hurt(self.line_of(number)))
            case _:
                return classic.commit_requested(request, number)

    def _join(self, number: int, key: Key, request: Request) -> ev.JoinRequested:
        """Whoever has no id gets a fresh one; and whoever had the instance is told that it is taken, if it is."""
        instance_id = request.body.group_instance_id
        registered = None if instance_id is None or key[1] else self._host.instances.get((key[0], instance_id))
        fresh_id = f"{request.client_id[:LONGEST_NAME]}-{uuid.uuid4()}"
        assignor, kin_hurt = self._host.together.assignor(key[0]), self.holds.hurt_kin(key[0], self.line_of(number))
        is_issued = self.line_of(number).issued == key
        join = classic.join_requested(request, number, fresh_id, registered, assignor, kin_hurt, is_issued)
        if registered is not None and is_proper(self._host.absent(key[0]), join):
            self._host.feed((key[0], registered), ev.InstanceTaken())
        return join

    # -------------------------------------------------------------------------------------------------------- answered

    def waiting(self, number: int | None) -> Waiting | None:
        return None if number is None else self._waiting.get(number)

    def request_of(self, number: int) -> Request:
        return self._waiting[number].request

    def line_of(self, number: int) -> Line:
        return self._waiting[number].line

    def answer(self, number: int, frame: bytes, error_code: int = e.NONE) -> None:
        line = self._no_longer_waits(number, error_code)
        if line.number == number:
            line.answer(frame)

    def answer_order(self, order: Any, write: Callable[[Request, Any], bytes]) -> None:
        if order.request in self._waiting:
            self.answer(order.request, write(self.request_of(order.request), order), order.error_code)

    def answer_join(self, group_id: str, order: do.AnswerJoin) -> None:
        waiting = self.waiting(order.request)
        if order.error_code == e.MEMBER_ID_REQUIRED and waiting is not None:
            waiting.line.issued = issued = (group_id, order.member_id)
            self.issued.add(issued)
        if waiting is not None:
            self.refusals.of_join(waiting.request.body, waiting.line.client, order.error_code)
        self.answer_order(order, classic.join_answer)

    def refuse(self, number: int, error_code: int) -> None:
        self.answer(number, classic.refusal(self.request_of(number), error_code), error_code)

    def pass_on(self, number: int, reason: str) -> None:
        """Not ours to answer: the broker hears it as it came."""
        request = self.request_of(number)
        line = self._no_longer_waits(number, e.NONE, is_passed_on=True)
        if line.number == number:
            self.untranslated.take(line, request, reason)

    def pass_in_doubt(self, number: int) -> None:
        """A commit of a native member, or of one of ours before a restart."""
        request = self.request_of(number)
        line = self._no_longer_waits(number, e.NONE, is_passed_on=True)
        if line.number == number:
            self.commits.forward_in_doubt(line, request)

    def drop(self, number: int | None) -> Line | None:
        """Nobody will answer it. Where did it come from?"""
        waiting = self._waiting.pop(number, None) if number is not None else None
        return waiting.line if waiting is not None else None

    def _no_longer_waits(self, number: int, error_code: int, *, is_passed_on: bool = False) -> Line:
        line = self._waiting.pop(number).line
        answered = seen.RequestAnswered(
            number=number,
            at_ns=self.clock.now_ns,
            error_code=error_code,
            is_passed_on=is_passed_on,
            # What members say of a request that is waited for no more (translation/holding.py, joining.py), and of no other.
            is_heard=error_code != e.NETWORK_EXCEPTION,
        )
        self._host.observe(answered)
        return line


def _joins(request: Request) -> bool:
    if request.key == keys.CONSUMER_GROUP_HEARTBEAT:
        return bool(request.body.member_epoch == JOIN_EPOCH)
    return request.key == keys.JOIN_GROUP


def _speaks_for_member(request: Request) -> bool:
    """Simple consumers and admin tools commit in nobody's name; an old LeaveGroup by instance does name somebody."""
    return bool(request.body.member_id) or request.key == keys.LEAVE_GROUP
