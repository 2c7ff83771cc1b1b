"""The host of the members: the only caller of `step`, as translation/__init__ asks for it.

Requests come from lines (connections), are numbered, and wait here until a member's order answers them. Events are fed
one at a time: what comes up while one is being performed waits its turn, so no member is ever in the middle of a step
when it hears the next thing. A member is found by (group id, member id); the connection it speaks on is the one its client
was last heard on.
"""

from __future__ import annotations

import traceback
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any

import msgspec

from proxy import observations as seen
from proxy.causes import Cause
from proxy.connections import Connection
from proxy.groups import classic, dropped, native
from proxy.groups.classic import Request
from proxy.groups.clock import Clock
from proxy.groups.commits import Commits
from proxy.groups.describing import Describing
from proxy.groups.journal import Journal
from proxy.groups.leaving import Leaves
from proxy.groups.line import Key, Line
from proxy.groups.passing import GroupRules, dry_run
from proxy.groups.recognising import Recognition
from proxy.groups.together import Together
from proxy.logs import Log
from proxy.observations import Observer
from translation import actions as do
from translation import errors as e
from translation import events as ev
from translation.admission import why_not_translated
from translation.heartbeat import GroupHeartbeatAnswer
from translation.member import Contract, Member
from translation.rules import Pacing
from translation.states import Phase, Standing
from translation.step import step
from translation.transition import Transition

# Member ids given out with MEMBER_ID_REQUIRED, and members that pass: remembered, but not for ever.
LARGEST_MEMORY = 20_000


# A Heartbeat that was held for so long has kept from its turn whatever waited behind it; that comes within this time.
LONG_HOLD_MS, BEHIND_MS = 250, 25


class Waiting(msgspec.Struct, frozen=True):
    """A request that has yet to be answered, and where."""

    line: Line
    request: Request
    at_ms: int


class Host:
    def __init__(self, clock: Clock, rules: GroupRules, pacing: Pacing, journal: Journal, log: Log) -> None:
        self.clock = clock
        self.rules = rules
        self.journal = journal
        self.log = log
        self.observers: list[Observer] = []
        self.members: dict[Key, Member] = {}
        self.lines: dict[Key, Line] = {}
        self.instances: dict[Key, str] = {}
        self.names: dict[str, str | None] = {}
        self.together = Together(clock, pacing, self)
        self._recognition = Recognition(self)
        self._commits = Commits(self)
        self._leaves = Leaves(self)
        self._describing = Describing(self)
        self._waiting: dict[int, Waiting] = {}
        self._wakes: dict[Key, int] = {}
        self._events: deque[tuple[Key, ev.AnyEvent, Line | None]] = deque()
        self._busy = False
        self._interrupting = False
        self._number = 0
        self._heartbeats = 0
        self._issued: OrderedDict[Key, None] = OrderedDict()
        # Members of classic groups, and those to whom a broker has said MEMBER_ID_REQUIRED.
        self._passing: OrderedDict[Key, None] = OrderedDict()
        self._invited: OrderedDict[Key, None] = OrderedDict()

    # ------------------------------------------------------------------------------------------------------- lines

    def open_line(self, connection: Connection) -> Line:
        return Line(connection, self, connection.conversation.software)

    def taken(self, line: Line, frame: bytes) -> None:
        """A request of a group, whole. It is answered or forwarded, now or later, whatever happens."""
        request = classic.read(frame)
        line.known_as(request.client_id)
        if request.key in (classic.DESCRIBE_GROUPS, classic.LIST_GROUPS):
            return self._describing.taken(line, request)
        if request.key in dropped.DROPPED:
            return dropped.taken(line, request)
        if request.key == classic.GROUP_HEARTBEAT:
            return self.together.native_taken(line, request)
        return self._group_request(line, request)

    def interrupted(self, line: Line) -> None:
        """More has come on a connection whose Heartbeat may be held: answers keep their order."""
        waiting = self._waiting.get(line.number) if line.number is not None else None
        if waiting is not None and waiting.request.key == classic.HEARTBEAT and line.number is not None:
            key = (waiting.request.body.group_id, waiting.request.body.member_id)
            self._interrupting = True
            self.feed(key, ev.HoldInterrupted(request=line.number))
            self._interrupting = False

    def closed(self, line: Line) -> None:
        """A closed connection is no event for its members. What it waited for is answered to nobody."""
        for key in list(line.members):
            if self.lines.get(key) is line:
                del self.lines[key]
        line.members.clear()

    # ---------------------------------------------------------------------------------------------------- requests

    def _group_request(self, line: Line, request: Request) -> None:
        group_id = request.body.group_id
        mode, rules = self.rules.of(group_id)
        if mode == "refuse":
            return line.answer(classic.refusal(request, e.GROUP_AUTHORIZATION_FAILED))
        if mode == "dry-run" and request.key == classic.JOIN_GROUP:
            return self._pass(line, request, dry_run(classic.join_requested(request), rules))
        if mode in ("pass", "dry-run"):
            return self._pass(line, request, "a rule says `pass`")
        if request.key == classic.JOIN_GROUP:
            if (group_id, request.body.member_id) in self._invited:
                return self._pass(line, request, "a broker has given it its id")
            if reason := why_not_translated(classic.join_requested(request)):
                return self._pass(line, request, reason)
        elif not self._speaks_for_member(request) or (group_id, request.body.member_id) in self._passing:
            return self._commits.forward(line, request)
        number = self._wait(line, request)
        return line.admit(group_id, lambda error: self._admitted(number, error))

    def _speaks_for_member(self, request: Request) -> bool:
        """Simple consumers and admin tools commit in nobody's name; an old LeaveGroup by instance does name somebody."""
        return bool(request.body.member_id) or request.key == classic.LEAVE_GROUP

    def _wait(self, line: Line, request: Request) -> int:
        self._number += 1
        number = line.number = self._number
        self._waiting[number] = Waiting(line, request, self.clock.now_ms)
        body = request.body
        self.observe(
            seen.RequestArrived(
                number=number,
                at_ns=self.clock.now_ns,
                group_id=body.group_id,
                member_id=body.member_id,
                instance_id=getattr(body, "group_instance_id", None),
                api=request.name,
                version=request.version,
                client=line.client,
                reason=getattr(body, "reason", None),
            )
        )
        return number

    def _admitted(self, number: int, error: int) -> None:
        line, request = self._of(number)
        if error:
            return self.refuse(number, error)
        if not line.offers(native.GROUP_HEARTBEAT):
            return self.pass_on(number, "the brokers do not offer ConsumerGroupHeartbeat")
        if request.key == classic.LEAVE_GROUP:
            return self._leaves.taken(number, request)
        return self.route(number, (request.body.group_id, request.body.member_id))

    def route(self, number: int, key: Key) -> None:
        """To the member that is spoken for, if we have it; else it must be found out who that is."""
        if key in self.members or not key[1] or key in self._issued:
            self.speak(number, key)
        else:
            self._recognition.ask(number, key)

    def speak(self, number: int, key: Key) -> None:
        """The request, as an event, to this member or to an absent one."""
        line, request = self._of(number)
        self._feed(key, self.event_of(number, key), line if request.key in MEMBERS_OWN else None)

    def event_of(self, number: int, key: Key) -> ev.ClientEvent:
        _, request = self._of(number)
        match request.key:
            case classic.JOIN_GROUP:
                return self._join(number, key, request)
            case classic.SYNC_GROUP:
                return classic.sync_requested(request, number)
            case classic.HEARTBEAT:
                return classic.heartbeat_requested(request, number)
            case _:
                return classic.commit_requested(request, number)

    def _join(self, number: int, key: Key, request: Request) -> ev.JoinRequested:
        """Whoever has no id gets a fresh one; and whoever had the instance is told that it is taken."""
        instance_id = request.body.group_instance_id
        registered = None if instance_id is None or key[1] else self.instances.get((key[0], instance_id))
        if registered is not None:
            self.feed((key[0], registered), ev.InstanceTaken())
        fresh_id = f"{request.client_id}-{uuid.uuid4()}"
        return classic.join_requested(request, number, fresh_id, registered, self.together.assignor(key[0]))

    # ------------------------------------------------------------------------------------------------ what they need

    def _of(self, number: int) -> tuple[Line, Request]:
        waiting = self._waiting[number]
        return waiting.line, waiting.request

    def request_of(self, number: int) -> Request:
        return self._waiting[number].request

    def line_of(self, number: int) -> Line:
        return self._waiting[number].line

    def observe(self, observation: seen.Observation) -> None:
        for observer in self.observers:
            observer(observation)

    def absent(self, group_id: str) -> Member:
        return Member(group_id=group_id, rules=self.rules.of(group_id).rules)

    def answer(self, number: int, frame: bytes, error_code: int = e.NONE) -> None:
        line, _ = self._of(number)
        del self._waiting[number]
        self.observe(seen.RequestAnswered(number=number, at_ns=self.clock.now_ns, error_code=error_code))
        if line.number == number:
            line.answer(frame)

    def refuse(self, number: int, error_code: int) -> None:
        self.answer(number, classic.refusal(self.request_of(number), error_code), error_code)

    def pass_on(self, number: int, reason: str) -> None:
        """Not ours to answer: the broker hears it as it came."""
        line, request = self._of(number)
        del self._waiting[number]
        self.observe(seen.RequestAnswered(number=number, at_ns=self.clock.now_ns, error_code=e.NONE))
        if line.number != number:
            return
        if request.key == classic.JOIN_GROUP:
            self._pass(line, request, reason)
        else:
            self._commits.forward(line, request)

    def passes(self, key: Key) -> None:
        """This one needs no translation: what else it says passes too."""
        if key not in self.members:
            _remember(self._passing, key)

    def _pass(self, line: Line, request: Request, reason: str) -> None:
        """To the broker's classic protocol, said once a member."""
        if request.key != classic.JOIN_GROUP:
            return self._commits.forward(line, request)
        group_id = request.body.group_id
        key = (group_id, request.body.member_id)

        def heard(frame: Any) -> Any:
            if frame is not None:
                joined = classic.joined(request, bytes(frame))
                is_invited = joined.error_code == e.MEMBER_ID_REQUIRED
                _remember(self._invited if is_invited else self._passing, (group_id, joined.member_id))
            return frame

        if key not in self._passing and not _taken_from(self._invited, key):
            self.log.info("group passes untranslated", group=group_id, client=line.client.client_id, reason=reason)
            self.observe(
                seen.GroupPasses(
                    at_ns=self.clock.now_ns,
                    group_id=group_id,
                    member_id=request.body.member_id,
                    reason=reason,
                    client=line.client,
                )
            )
        # An id of ours means nothing to a broker.
        is_ours = _taken_from(self._issued, key)
        return line.forward(classic.nameless(request) if is_ours else request.frame, heard)

    # ----------------------------------------------------------------------------------------- one step of one member

    def feed(self, key: Key, event: ev.AnyEvent) -> None:
        """Something a member should know. Who is not here any more need not."""
        self._feed(key, event, None)

    def adopt(self, key: Key, event: ev.MemberAdopted, line: Line) -> None:
        self._feed(key, event, line)

    def _feed(self, key: Key, event: ev.AnyEvent, line: Line | None) -> None:
        self._events.append((key, event, line))
        if self._busy:
            return
        self._busy = True
        try:
            while self._events:
                self._one(*self._events.popleft())
        finally:
            self._busy = False

    def _one(self, key: Key, event: ev.AnyEvent, line: Line | None) -> None:
        # A commit may outlive its member, and is answered all the same.
        is_first_word = isinstance(event, ev.ClientEvent | ev.MemberAdopted | ev.CommitAnswered | ev.CommitLost)
        member = self.members.get(key) or (self.absent(key[0]) if is_first_word else None)
        if member is None:
            return
        try:
            after, orders = step(member, event, self.clock.now_ms)
            own = (after.group_id, after.member_id)
            self._store(own, after, line)
            for order in orders:
                self._perform(own, order)
        except Exception:
            self._mistaken(key, event)

    def _mistaken(self, key: Key, event: ev.AnyEvent) -> None:
        """It ends the connection of that member, and no other."""
        self.log.error("our mistake", group=key[0], member=key[1], fed=repr(event), trace=traceback.format_exc())
        request = getattr(event, "request", None)
        waiting = self._waiting.pop(request, None) if isinstance(request, int) else None
        line = waiting.line if waiting is not None else self.lines.get(key)
        self._say_dropped(key)
        self._drop(key)
        if line is not None:
            line.connection.close(Cause.OUR_MISTAKE, f"{type(event).__name__} to {key[1]} of {key[0]}")

    def _say_dropped(self, key: Key) -> None:
        """Whoever counts members must hear that this one is here no more."""
        member = self.members.get(key)
        if member is None:
            return
        over = Transition(
            group_id=member.group_id,
            member_id=member.member_id,
            instance_id=member.instance_id,
            client_id=member.client_id,
            at=self.clock.now_ms,
            cause="our mistake",
            phase_before=member.phase,
            phase=Phase.ABSENT,
            standing_before=member.standing,
            standing=Standing.ABSENT,
            epoch_before=member.epoch,
            epoch=member.epoch,
            generation_before=member.generation,
            generation=-1,
            revoked=tuple(sorted(member.owned)),
        )
        client = seen.Client(address="", client_id=member.client_id)
        self.observe(seen.Changed(at_ns=self.clock.now_ns, transition=over, names=member.names, client=client))

    def _store(self, key: Key, member: Member, line: Line | None) -> None:
        if member.phase is Phase.ABSENT and member.standing is Standing.ABSENT:
            self._drop(key)
            return
        self.members[key] = member
        if line is not None:
            self._speaks_on(key, line)
        if member.instance_id is not None and member.phase is not Phase.ABSENT:
            self.instances[member.group_id, member.instance_id] = member.member_id
        self._sleep(key, member)

    def _speaks_on(self, key: Key, line: Line) -> None:
        before = self.lines.get(key)
        if before is line or not line.open:
            return
        self.lines[key] = line
        line.members.add(key)
        if before is not None:
            before.release(key)

    def _drop(self, key: Key) -> None:
        member = self.members.pop(key, None)
        self._wakes.pop(key, None)
        line = self.lines.pop(key, None)
        if line is not None:
            line.release(key)
        if member is not None and member.instance_id is not None:
            instance = (key[0], member.instance_id)
            if self.instances.get(instance) == key[1]:
                del self.instances[instance]

    def _sleep(self, key: Key, member: Member) -> None:
        wake_at = member.wake_at
        if wake_at is not None and self._wakes.get(key, wake_at + 1) > wake_at:
            self._wakes[key] = wake_at
            self.clock.at(wake_at, lambda: self._wake(key, wake_at))

    def _wake(self, key: Key, wake_at: int) -> None:
        if self._wakes.get(key) != wake_at:
            return
        del self._wakes[key]
        member = self.members.get(key)
        if member is None:
            return
        if member.wake_at is not None and member.wake_at > self.clock.now_ms:
            self._sleep(key, member)
        else:
            self.feed(key, ev.DeadlinePassed())

    # -------------------------------------------------------------------------------------------------- what it orders

    def _perform(self, key: Key, order: do.AnyAction) -> None:
        match order:
            case do.AnswerJoin():
                if order.error_code == e.MEMBER_ID_REQUIRED:
                    _remember(self._issued, (key[0], order.member_id))
                self._answer(order, classic.join_answer)
            case do.ForwardJoin():
                self.pass_on(order.request, f"the coordinator says {order.reason}")
            case do.AnswerSync():
                self._answer(order, classic.sync_answer)
            case do.AnswerHeartbeat():
                self._answer_heartbeat(key, order)
            case do.AnswerLeave():
                self._leaves.answered(order)
            case do.AnswerCommit():
                self._commits.answer(order)
            case do.SendGroupHeartbeat():
                self._send_heartbeat(key, order)
            case do.SendCommit():
                self._commits.send(key, order)
            case do.DescribeGroup():
                self.together.wants_description(key)
            case do.FindRegisteredMember():
                self._recognition.find_registered(key, order.instance_id)
            case do.LearnTopics():
                self._learn_topics(key, order)
            case do.LearnAllowedTopics():
                self._ask(key, native.ask_allowed(order.names), lambda it: ev.TopicsAllowed(names=native.allowed(it)))
            case do.Remember():
                self.journal.remember(order.entry)
            case do.Forget():
                self.journal.forget(key)
                self._drop(key)
            case do.RecordTransition():
                self._record(key, order)

    def _answer(self, order: Any, write: Callable[[Request, Any], bytes]) -> None:
        if order.request in self._waiting:
            self.answer(order.request, write(self.request_of(order.request), order), order.error_code)

    def _answer_heartbeat(self, key: Key, order: do.AnswerHeartbeat) -> None:
        waiting = self._waiting.get(order.request)
        self._answer(order, lambda request, told: classic.heartbeat_answer(request, told.error_code))
        if waiting is None or order.error_code != e.NONE or self._interrupting:
            return
        if self.clock.now_ms - waiting.at_ms >= LONG_HOLD_MS:
            conversation = waiting.line.connection.conversation
            requests = conversation.requests
            look_at = self.clock.now_ms + BEHIND_MS
            self.clock.at(look_at, lambda: self.feed(key, ev.HoldHurt()) if conversation.requests > requests else None)

    def _record(self, key: Key, order: do.RecordTransition) -> None:
        transition = order.transition
        line, member = self.lines.get(key), self.members.get(key)
        client = line.client if line is not None else seen.Client(address="", client_id=transition.client_id)
        names = member.names if member is not None else {}
        node = line.connection.node if line is not None else None
        at_ns = self.clock.now_ns
        self.observe(seen.Changed(at_ns=at_ns, transition=transition, names=names, client=client, node=node))
        self.together.changed(transition, member.contract if member is not None else Contract())

    def _send_heartbeat(self, key: Key, order: do.SendGroupHeartbeat) -> None:
        self._heartbeats += 1
        serial = self._heartbeats

        def heard(answer: Any) -> None:
            told: GroupHeartbeatAnswer | None = None if answer is None else native.heartbeat_answer(answer)
            self.observe(seen.HeartbeatAnswered(serial=serial, at_ns=self.clock.now_ns, answer=told))
            self.feed(key, ev.CoordinatorLost() if told is None else ev.CoordinatorAnswered(answer=told))

        self.observe(seen.HeartbeatSent(serial=serial, at_ns=self.clock.now_ns, heartbeat=order.heartbeat))
        line = self.lines.get(key)
        if line is None:
            heard(None)
        else:
            line.ask(native.ask_heartbeat(order.heartbeat, line.versions), heard)

    def _learn_topics(self, key: Key, order: do.LearnTopics) -> None:
        """A topic keeps its name as long as it keeps its id, so what is known of it stays true."""
        known = {topic: self.names[topic] for topic in order.topic_ids if topic in self.names}
        if known:
            self.feed(key, ev.TopicsLearned(names=known))
        if unknown := [topic for topic in order.topic_ids if topic not in known]:
            self._ask(key, native.ask_names(unknown), self._named)

    def _named(self, answer: Any) -> ev.TopicsLearned:
        names = native.names(answer)
        self.names.update((topic, name) for topic, name in names.items() if name is not None)
        return ev.TopicsLearned(names=names)

    def _ask(self, key: Key, ask: native.Ask, event: Callable[[Any], ev.WorldEvent]) -> None:
        """Ask on the member's line, feed what comes back; if nothing does, the member asks again when it matters."""
        line = self.lines.get(key)
        if line is not None:
            line.ask(ask, lambda answer: self.feed(key, event(answer)) if answer is not None else None)

    # ------------------------------------------------------------------------------------------------------- the end

    def stop(self, leaving: bool) -> None:
        """The proxy goes: nobody is left waiting."""
        for key in list(self.members):
            self.feed(key, ev.ProxyStopping(leaving=leaving))


# A member speaks on the connection of these; commits may come on a producer's.
MEMBERS_OWN = frozenset({classic.JOIN_GROUP, classic.SYNC_GROUP, classic.HEARTBEAT, classic.LEAVE_GROUP})


def _remember(memory: OrderedDict[Key, None], key: Key) -> None:
    memory[key] = None
    memory.move_to_end(key)
    if len(memory) > LARGEST_MEMORY:
        memory.popitem(last=False)


def _taken_from(memory: OrderedDict[Key, None], key: Key) -> bool:
    """It was there, and is no more."""
    was_there = key in memory
    memory.pop(key, None)
    return was_there
