"""What members order, done: answers to clients, heartbeats and questions to coordinators, entries in the journal.

What comes back is fed to the member. Nothing is tried again here: if no answer comes, the member knows what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from proxy import observations as seen
from proxy.causes import Cause
from proxy.groups import classic, native
from proxy.groups.line import Key, Line
from proxy.memory import LARGEST_MEMORY, Memory
from translation import actions as do
from translation import errors as e
from translation import events as ev
from translation.admission import WELL_KNOWN
from translation.group_heartbeat import JOIN_EPOCH, GroupHeartbeat, GroupHeartbeatAnswer
from translation.member import Member
from translation.states import Standing

if TYPE_CHECKING:
    from proxy.groups.host import Host

BeatHeard = Callable[[GroupHeartbeatAnswer | None], None]


class Orders:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._requests = host.requests
        self._heartbeats = 0
        # Names of topics, by id. What is forgotten is asked for again.
        self._names: dict[str, str] = {}
        # Groups with what was said of them: members ask again and again.
        self._warned = Memory()

    def perform(self, key: Key, order: do.AnyAction, request: int | None) -> None:
        """`request`: the client's, by number, that made the member give this order."""
        match order:
            case do.AnswerJoin():
                self._requests.answer_join(key[0], order)
                if order.error_code == e.NONE:
                    self._warn_of_an_assignor_of_its_own(key)
            case do.ForwardJoin():
                self._requests.pass_on(order.request, f"the coordinator says {order.reason}")
            case do.AnswerSync():
                self._requests.answer_order(order, classic.sync_answer)
            case do.AnswerHeartbeat():
                self._requests.holds.answer(key, order)
            case do.AnswerLeave():
                self._requests.leaves.answered(order)
            case do.AnswerCommit():
                self._requests.commits.answer(order)
            case do.SendGroupHeartbeat():
                self._send_heartbeat(key, order, request)
            case do.SendCommit():
                self._requests.commits.send(key, order)
            case do.DescribeGroup():
                self._host.together.wants_description(key)
            case do.FindRegisteredMember():
                self._requests.recognition.find_registered(key, order.instance_id)
            case do.LearnTopics():
                self._learn_topics(key, order)
            case do.LearnAllowedTopics():
                self._ask(key, native.ask_allowed(order.names), partial(self._allowed, key, order.names))
            case do.Remember():
                self._host.journal.remember(order.entry)
            case do.Forget():
                self._host.journal.forget(key)
                self._host.drop(key)
            case do.RecordTransition():
                self._record(key, order)

    def _send_heartbeat(self, key: Key, order: do.SendGroupHeartbeat, request: int | None) -> None:
        def heard(told: GroupHeartbeatAnswer | None) -> None:
            if told is not None and told.error_code == e.UNSUPPORTED_ASSIGNOR:
                self._warn_of_assignor(key, order.heartbeat.server_assignor or "")
            member = self._host.members.get(key)
            if member is None or member.in_flight is not order.heartbeat:
                # Whoever asked has ended since. Another one of its id may be here, and waits for an answer of its own.
                return
            self._host.feed(key, ev.CoordinatorLost() if told is None else ev.CoordinatorAnswered(answer=told))
            if told is not None and told.error_code == e.GROUP_AUTHORIZATION_FAILED:
                self._warn_of_a_right_withdrawn(key)
            if told is not None and told.error_code == e.NONE:
                self._host.together.answered(key)

        leaves = order.heartbeat.member_epoch < JOIN_EPOCH
        line = self._host.line_out(key) if leaves else self._host.lines.get(key)
        self.ask_coordinator(line, order.heartbeat, heard, request)

    def ask_coordinator(
        self, line: Line | None, heartbeat: GroupHeartbeat, heard: BeatHeard, request: int | None = None
    ) -> None:
        """In a member's name, be it here or not. `heard` is called once. What finds no connection is never sent, and so is
        not lost on the way."""
        if line is None or not line.open:
            self._host.observe(seen.HeartbeatUnsent(at_ns=self._host.clock.now_ns, heartbeat=heartbeat))
            return heard(None)
        self._heartbeats += 1
        serial = self._heartbeats

        def answered(answer: Any) -> None:
            told = None if answer is None else native.heartbeat_answer(answer)
            self._host.observe(seen.HeartbeatAnswered(serial=serial, at_ns=self._host.clock.now_ns, answer=told))
            heard(told)

        at_ns = self._host.clock.now_ns
        self._host.observe(seen.HeartbeatSent(serial=serial, at_ns=at_ns, heartbeat=heartbeat, request=request))
        return line.ask(native.ask_heartbeat(heartbeat, line.versions), answered)

    def _record(self, key: Key, order: do.RecordTransition) -> None:
        transition = order.transition
        line, member = self._host.lines.get(key), self._host.members.get(key)
        changed = seen.Changed(
            at_ns=self._host.clock.now_ns,
            transition=transition,
            names=member.names if member is not None else {},
            client=line.client if line is not None else seen.Client(address="", client_id=transition.client_id),
            node=line.connection.node if line is not None else None,
        )
        self._host.observe(changed)
        self._host.together.changed(transition, member or Member(group_id=transition.group_id))
        if transition.standing is Standing.LEAVING and line is not None and member is not None and not member.leaves:
            _hear_out(line)

    # ---------------------------------------------------------------------------------------------------------- topics

    def _learn_topics(self, key: Key, order: do.LearnTopics) -> None:
        """A topic keeps its name as long as it keeps its id, so what is known of it stays true."""
        known: dict[str, str | None] = {topic: self._names[topic] for topic in order.topic_ids if topic in self._names}
        if known:
            self._host.feed(key, ev.TopicsLearned(names=known))
        if unknown := [topic for topic in order.topic_ids if topic not in known]:
            self._ask(key, native.ask_names(unknown), self._named)

    def _named(self, answer: Any) -> ev.TopicsLearned:
        names = native.names(answer)
        if len(self._names) >= LARGEST_MEMORY:
            self._names.clear()
        self._names.update((topic, name) for topic, name in names.items() if name is not None)
        return ev.TopicsLearned(names=names)

    def _ask(self, key: Key, ask: native.Ask, event: Callable[[Any], ev.WorldEvent]) -> None:
        """Ask on the member's line, feed what comes back; if nothing does, the member asks again when it matters."""
        line = self._host.lines.get(key)
        if line is not None:
            line.ask(ask, lambda answer: self._host.feed(key, event(answer)) if answer is not None else None)

    def _allowed(self, key: Key, asked: tuple[str, ...], answer: Any) -> ev.TopicsAllowed:
        names = native.allowed(answer)
        if denied := ",".join(sorted(set(asked) - set(names))):
            remedy = "grant DESCRIBE on them; it is looked at once in a while"
            self._warn(key, "topics left out: their client may not describe them", topics=denied, remedy=remedy)
        return ev.TopicsAllowed(asked=asked, names=names)

    # ---------------------------------------------------------------------------------------- what an operator can mend

    def _warn_of_assignor(self, key: Key, assignor: str) -> None:
        remedy = (
            "another is asked for instead; `assignor` of a rule takes what brokers have in group.consumer.assignors"
        )
        self._warn(key, "the coordinator does not know the assignor", assignor=assignor, remedy=remedy)

    def _warn_of_an_assignor_of_its_own(self, key: Key) -> None:
        """Unless a rule says which one is to be asked for: then it is known to whoever wrote the rule."""
        member = self._host.members.get(key)
        if member is None or member.rules.assignor is not None or member.contract.protocol_name in WELL_KNOWN:
            return
        remedy = "if the application depends on it, a rule lets the group `pass`; `assignor` of a rule ends this line"
        name = member.contract.protocol_name
        self._warn(key, "the client's own assignor does not run: the coordinator assigns", assignor=name, remedy=remedy)

    def _warn_of_a_right_withdrawn(self, key: Key) -> None:
        """Who had joined stays for its client's session; whoever asked to join is told, and is gone."""
        if key in self._host.members:
            remedy = "grant READ on the group; else what it has goes to others when its client's session is over"
            self._warn(key, "the client may not read its group any more", remedy=remedy)

    def _warn(self, key: Key, event: str, **facts: str) -> None:
        """Once for a client of a group, not for each of its members' attempts."""
        member = self._host.members.get(key)
        client_id = member.client_id if member is not None else ""
        told = (key[0], " ".join((client_id, event, *facts.values())))
        if self._warned.is_new(told):
            self._host.log.warning(event, group=key[0], client=client_id, **facts)


def _hear_out(line: Line) -> None:
    """A client that went in the middle of an answer takes no more of it, and what the member has yet to hear lies behind:
    as long as the client is waited for, nobody gets what it had."""
    if line.connection.leaves_broker_unread():
        line.connection.close(Cause.CLIENT_LOST, "its member has ended, and it takes no answers")
