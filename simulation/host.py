"""A proxy in the small: it hosts members as translation/__init__ says, without sockets.

Requests come in on connections and are numbered; `step` decides; its orders are performed in order. Members sleep
until their `wake_at`. What the coordinator is asked goes by `Upstream`; its answer, or the word that it was lost, is fed
back. A proxy that dies leaves its journal behind, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from simulation.clock import Clock
from simulation.description import GroupDescription
from simulation.errors import Error
from simulation.groups import Groups, Key
from simulation.invariants import Broken, one_in_flight, rises
from simulation.network import Connection, Upstream
from simulation.offsets import Commit
from simulation.process import Process
from translation import actions as do
from translation import events as ev
from translation.adopting import may_be_adopted, still_valid
from translation.embedded import read_subscription
from translation.group_heartbeat import JOIN_EPOCH, GroupHeartbeatAnswer, TopicPartition
from translation.joining import is_proper
from translation.member import Member
from translation.rules import Pacing, Rules
from translation.states import Phase, Standing
from translation.step import step
from translation.transition import Transition

Journal = dict[Key, ev.JournalEntry]


class CommitToSend(msgspec.Struct, frozen=True):
    key: Key
    offsets: Mapping[TopicPartition, int]


class Proxy:
    def __init__(
        self, name: str, clock: Clock, upstream: Upstream, rules: Rules, pacing: Pacing, journal: Journal
    ) -> None:
        self.name = name
        self.process = Process(clock)
        # Ids that it gives out are its own, as a real one's are: its predecessor's members may still be there.
        self._life = f"{name}@{clock.now}" if clock.now else name
        self.alive = True
        self.is_told_to_stop = False
        self.members: dict[Key, Member] = {}
        self.journal = journal
        self.steps = 0
        self.rejoins_asked = 0
        self.on_transition: Callable[[Transition], None] = lambda transition: None
        self.groups = Groups(self.process, upstream, pacing, self.feed, self.members.get, self._described)
        self._upstream, self._rules = upstream, rules
        self._instances: dict[Key, str] = {}
        self._wakes: dict[Key, int] = {}
        self._waiting: dict[int, Connection] = {}
        self._heard_on: dict[Key, Connection] = {}
        self._commits: dict[int, CommitToSend] = {}
        self._brokers_word: dict[int, int] = {}
        self._unknown: dict[Key, list[ev.ClientEvent]] = {}
        # Ids given out with MEMBER_ID_REQUIRED, until the coordinator knows them.
        self._issued: set[Key] = set()
        self._in_flight: dict[Key, int] = {}
        self._serial = 0

    @property
    def serves(self) -> bool:
        return self.alive and not self.is_told_to_stop

    # -------------------------------------------------------------------------------------------------- what comes in

    def receive(
        self,
        connection: Connection,
        key: Key,
        event: ev.ClientEvent,
        reply: Callable[[Any], None],
        offsets: Mapping[TopicPartition, int] | None = None,
    ) -> None:
        """A client's request has arrived on a connection of ours."""
        connection.on_closed = self.process.hears(lambda: self._closed(connection))
        self.process.hears(self._received)(connection, key, event, reply, offsets)

    def _received(
        self,
        connection: Connection,
        key: Key,
        event: ev.ClientEvent,
        reply: Callable[[Any], None],
        offsets: Mapping[TopicPartition, int] | None,
    ) -> None:
        if not self.serves:
            return
        self._serial += 1
        number = self._serial
        connection.expect(number, reply)
        self._waiting[number] = connection
        if offsets is not None:
            self._commits[number] = CommitToSend(key, offsets)
        self._interrupt(connection)
        numbered = msgspec.structs.replace(event, request=number)
        if self._is_barred(key):
            self._refuse([numbered], Error.GROUP_AUTHORIZATION_FAILED)
        else:
            self._heard_on[key] = connection
            self._route(key, numbered)

    def _is_barred(self, key: Key) -> bool:
        """A broker is asked once more about whom its coordinator did not listen to."""
        member = self.members.get(key)
        return member is not None and member.barred and not self._upstream.may_read(member.client_id)

    def feed(self, key: Key, event: ev.AnyEvent) -> None:
        member = self.members.get(key)
        if self.alive and member is not None:
            self._step(key, member, event)

    def dies(self) -> None:
        self.alive = self.groups.alive = False

    def stops(self, leaving: bool = False) -> None:
        """Told to: from now on it takes no requests, until it dies. Who may be at another proxy by now does not leave."""
        self.is_told_to_stop = True
        for key in list(self.members):
            self.feed(key, ev.ProxyStopping(leaving=leaving and self._is_loud(key)))

    def _is_loud(self, key: Key) -> bool:
        member, connection = self.members[key], self._heard_on.get(key)
        is_heard = not (member.must_say_all or member.is_silent(self.process.now))
        return is_heard and connection is not None and connection.open

    def _interrupt(self, connection: Connection) -> None:
        holder, connection.holder = connection.holder, None
        member = self.members.get(holder) if holder else None
        if holder and member and member.held:
            self.feed(holder, ev.HoldInterrupted(request=member.held.request))

    def _closed(self, connection: Connection) -> None:
        for key, member in list(self.members.items()):
            waits = (
                *(member.parked.requests if member.parked else ()),
                *((member.held.request,) if member.held else ()),
            )
            for request in waits:
                if self._waiting.get(request) is connection:
                    self.feed(key, ev.ClientLeft(request=request))

    def _route(self, key: Key, event: ev.ClientEvent) -> None:
        group_id, member_id = key
        if isinstance(event, ev.JoinRequested):
            event = self._introduce(group_id, event)
        if key in self._unknown:
            self._unknown[key].append(event)
        elif member_id and key not in self.members and not self._is_new(key, event):
            self._unknown[key] = [event]
            self._describe(group_id, lambda group: self._recognise(key, group))
        else:
            self._step(key, self.members.get(key) or self._absent(group_id), event)

    def _is_new(self, key: Key, event: ev.ClientEvent) -> bool:
        """It comes for the first time under the id it was given here. Who says that it holds partitions may have been at
        another proxy with it."""
        return key in self._issued and isinstance(event, ev.JoinRequested) and not _claims_partitions(event)

    def _introduce(self, group_id: str, join: ev.JoinRequested) -> ev.JoinRequested:
        """A fresh id for whoever has none; and whoever had the instance is told that it is taken."""
        join = msgspec.structs.replace(
            join,
            fresh_id=f"{join.client_id}-{self._life}.{join.request}",
            company_assignor=self.groups.assignor(group_id),
            is_issued=self._waiting[join.request].issued == (group_id, join.member_id),
        )
        registered = self._instances.get((group_id, join.instance_id or ""))
        if join.instance_id is None or join.member_id or registered is None:
            return join
        if is_proper(self._absent(group_id), join):
            self.feed((group_id, registered), ev.InstanceTaken())
        return msgspec.structs.replace(join, predecessor=registered)

    def _recognise(self, key: Key, group: GroupDescription | None) -> None:
        """Adopts a member that the coordinator knows and we do not, then gives it what it has asked meanwhile."""
        requests = self._unknown.pop(key, [])
        if group is None or group.error_code not in (Error.NONE, Error.GROUP_ID_NOT_FOUND):
            return self._refuse(requests)
        for known in group.members:
            if known.member_id == key[1] and may_be_adopted(known.epoch, requests[0]):
                adopted = ev.MemberAdopted(
                    member_id=known.member_id,
                    member_epoch=known.epoch,
                    assigned=known.assignment,
                    subscribed_topics=known.topic_names,
                    names=self._upstream.coordinator.topics.named(known.topic_names),
                    instance_id=known.instance_id,
                    client_id=known.client_id,
                    generation=getattr(requests[0], "generation", -1),
                    journal=still_valid(self.journal.get(key), requests[0], known.assignment),
                )
                self._step(key, self._absent(key[0]), adopted)
        for event in requests:
            self._step(key, self.members.get(key) or self._absent(key[0]), event)
            waiting = self._waiting.get(event.request)
            if waiting is not None and not waiting.open:
                self.feed(key, ev.ClientLeft(request=event.request))
        return None

    def _refuse(self, requests: list[ev.ClientEvent], code: Error = Error.NOT_COORDINATOR) -> None:
        """NOT_COORDINATOR: it is out of reach, so nobody can say who this is. They look for it, and ask again."""
        for event in requests:
            match event:
                case ev.JoinRequested():
                    self._answer(do.AnswerJoin(event.request, code))
                case ev.SyncRequested():
                    self._answer(do.AnswerSync(event.request, code))
                case ev.HeartbeatRequested():
                    self._answer(do.AnswerHeartbeat(event.request, code))
                case ev.LeaveRequested():
                    self._answer(do.AnswerLeave(event.request, code))
                case ev.CommitRequested():
                    self._answer(do.AnswerCommit(event.request, code))

    def _absent(self, group_id: str) -> Member:
        return Member(group_id=group_id, rules=self._rules)

    # ------------------------------------------------------------------------------------------ one step of one member

    def _step(self, key: Key, member: Member, event: ev.AnyEvent) -> None:
        self.steps += 1
        after, orders = step(member, event, self.process.now)
        self._store(after)
        key = (after.group_id, after.member_id)
        if member.generation >= 0 and after.generation >= 0 and after.member_id == member.member_id:
            rises(f"generation of {key}", member.generation, after.generation)
        if member.phase is not Phase.PREPARE_REBALANCE and after.phase is Phase.PREPARE_REBALANCE:
            self.rejoins_asked += 1
        for order in orders:
            self._perform(key, order)

    def _store(self, member: Member) -> None:
        own = (member.group_id, member.member_id)
        if member.phase is Phase.ABSENT and member.standing is Standing.ABSENT:
            self._drop(own)
            return
        self.members[own] = member
        if member.epoch > 0:
            self._issued.discard(own)
        if member.held is not None:
            self._waiting[member.held.request].holder = own
        if member.instance_id is not None and member.phase is not Phase.ABSENT:
            self._instances[member.group_id, member.instance_id] = member.member_id
        wake_at = member.wake_at
        if wake_at is not None and self._wakes.get(own, wake_at + 1) > wake_at:
            self._wakes[own] = wake_at
            self.process.at(wake_at, lambda: self._wake(own, wake_at))

    def _drop(self, key: Key) -> None:
        member = self.members.pop(key, None)
        self._wakes.pop(key, None)
        if member is not None and member.instance_id is not None:
            instance = (key[0], member.instance_id)
            if self._instances.get(instance) == key[1]:
                del self._instances[instance]

    def _wake(self, key: Key, wake_at: int) -> None:
        if self._wakes.get(key) != wake_at:
            return
        del self._wakes[key]
        member = self.members.get(key)
        if member is None or not self.alive:
            return
        if member.wake_at is not None and member.wake_at > self.process.now:
            self._store(member)
        else:
            self.feed(key, ev.DeadlinePassed())

    # --------------------------------------------------------------------------------------------------- what it orders

    def _perform(self, key: Key, order: do.AnyAction) -> None:
        match order:
            case do.SendGroupHeartbeat():
                self._send_heartbeat(key, order)
            case do.SendCommit():
                self._send_commit(key, order)
            case do.DescribeGroup():
                self.groups.wants_description(key)
            case do.FindRegisteredMember():
                self._describe(key[0], lambda group: self._tell_registered(key, order.instance_id, group))
            case do.LearnTopics():
                learnt = self.process.hears(lambda names: self.feed(key, ev.TopicsLearned(names=names)))
                self._upstream.names(order.topic_ids, learnt, _idle)
            case do.LearnAllowedTopics():
                self.feed(key, ev.TopicsAllowed(asked=order.names, names=order.names))
            case do.Remember():
                self.journal[key] = order.entry
            case do.Forget():
                self.journal.pop(key, None)
                self._drop(key)
            case do.RecordTransition():
                self.on_transition(order.transition)
                member = self.members.get(key)
                self.groups.changed(order.transition, member or Member(group_id=key[0]))
            case do.AnswerJoin(error_code=Error.MEMBER_ID_REQUIRED):
                issued = self._waiting[order.request].issued = (key[0], order.member_id)
                self._issued.add(issued)
                self._answer(order)
            case do.ForwardJoin():
                raise Broken("Translatable", f"{key} is handed to the broker: {order.reason}")
            case _:
                self._answer(order)

    def _answer(self, order: Any) -> None:
        if isinstance(order, do.AnswerCommit):
            word = self._brokers_word.pop(order.request, 0)
            self._commits.pop(order.request, None)
            if order.error_code is None:
                order = do.AnswerCommit(order.request, word)
        connection = self._waiting.pop(order.request)
        connection.answer(order.request, order)

    def _send_heartbeat(self, key: Key, order: do.SendGroupHeartbeat) -> None:
        heartbeat = order.heartbeat
        self._in_flight[key] = self._in_flight.get(key, 0) + 1
        one_in_flight(str(key), self._in_flight[key])

        def answered(answer: GroupHeartbeatAnswer) -> None:
            self._in_flight[key] -= 1
            if answer.error_code == 0 and heartbeat.member_epoch > JOIN_EPOCH:
                rises(f"epoch of {key}", heartbeat.member_epoch, answer.member_epoch)
            hear(ev.CoordinatorAnswered(answer=answer))

        def lost() -> None:
            self._in_flight[key] -= 1
            hear(ev.CoordinatorLost())

        def hear(event: ev.CoordinatorAnswered | ev.CoordinatorLost) -> None:
            """Not for the next member of the same id."""
            member = self.members.get(key)
            if member is not None and member.in_flight is heartbeat:
                self.feed(key, event)

        hears, speaker = self.process.hears, self._speaker(key, heartbeat.member_epoch < JOIN_EPOCH)
        self._upstream.heartbeat(heartbeat, speaker, self.name, hears(answered), hears(lost))

    def _speaker(self, key: Key, leaves: bool) -> str:
        """On whose connection it is said. That somebody leaves who is not listened to, a neighbour's says."""
        member = self.members.get(key)
        if member is None:
            return ""
        neighbours = (each for other, each in self.members.items() if other[0] == key[0] and each.is_heard)
        heard = member if member.is_heard or not leaves else next(neighbours, member)
        return heard.client_id

    def _send_commit(self, key: Key, order: do.SendCommit) -> None:
        number = order.request
        sent = self._commits[number]
        commit = Commit(group_id=key[0], member_id=key[1], epoch=order.member_epoch, offsets=sent.offsets)

        def answered(error: Error) -> None:
            self._brokers_word[number] = error
            over(ev.CommitAnswered(request=number, error_code=error))

        def over(event: ev.CommitAnswered | ev.CommitLost) -> None:
            """It may outlive its member."""
            if self.alive:
                self._step(key, self.members.get(key) or self._absent(key[0]), event)

        hears = self.process.hears
        self._upstream.commit(commit, hears(answered), hears(lambda: over(ev.CommitLost(request=number))))

    def _describe(self, group_id: str, tell: Callable[[GroupDescription | None], None]) -> None:
        def described(group: GroupDescription | None) -> None:
            if self.alive:
                tell(group)

        hears = self.process.hears
        self._upstream.describe(group_id, hears(described), hears(lambda: described(None)))

    def _described(self, group: GroupDescription) -> None:
        """Who was silent here and has been heard by another proxy since is that proxy's member."""
        for known in group.members:
            key = (group.group_id, known.member_id)
            member = self.members.get(key)
            if member is not None and member.farewell_at is not None and known.client_host != self.name:
                self.feed(key, ev.SeenElsewhere())

    def _tell_registered(self, key: Key, instance_id: str, group: GroupDescription | None) -> None:
        if group is None or group.error_code:
            return
        registered = [known.member_id for known in group.members if known.instance_id == instance_id]
        self.feed(key, ev.RegisteredMemberFound(member_id=registered[0] if registered else None))


def _claims_partitions(join: ev.JoinRequested) -> bool:
    return any(read_subscription(each.metadata).owned for each in join.protocols[:1])


def _idle() -> None:
    """A question about names that was lost: the member asks again when it matters."""
