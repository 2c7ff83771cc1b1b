"""A legacy client: Join, Sync, Heartbeat, commit and leave as the classic libraries do them.

An eager client revokes everything before each JoinGroup; a cooperative one keeps what it has, compares inside SyncGroup,
gives up what is missing and joins again by itself. Quirks are settings: Join and Sync on one socket and the rest on
another (franz-go), several JoinGroups in a row (aiokafka), heartbeats only between batches (kafkajs), hanging up right
after LeaveGroup (kafka-go).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any

import msgspec

from simulation.clock import Clock
from simulation.embedded import partitions_of, subscription
from simulation.errors import Error
from simulation.host import Proxy
from simulation.invariants import Broken, Ledger, TopicAndNumber, rises
from simulation.network import Upstream
from simulation.sockets import Sockets
from translation import actions as do
from translation import events as ev
from translation.group_heartbeat import STATIC_LEAVE_EPOCH, TopicPartition

FIRST_WITH_GENERATION = 2
LOOK_AGAIN = (Error.NOT_COORDINATOR, Error.COORDINATOR_NOT_AVAILABLE, Error.COORDINATOR_LOAD_IN_PROGRESS)
# What all of the libraries survive, by request: anything else in an answer is a defect of the translation. kafkajs stops for
# good on an error that it holds for final, aiokafka raises a JoinGroup's REBALANCE_IN_PROGRESS to its user, Java whatever
# it does not expect. And two where that is the truth.
_TRUE = {Error.FENCED_INSTANCE_ID, Error.GROUP_AUTHORIZATION_FAILED}
_ALWAYS = {Error.NONE, Error.NOT_COORDINATOR, Error.UNKNOWN_MEMBER_ID} | _TRUE
_AT_WORK = _ALWAYS | {Error.ILLEGAL_GENERATION, Error.REBALANCE_IN_PROGRESS}
_LOADING = {Error.COORDINATOR_LOAD_IN_PROGRESS}
SAFE: dict[Any, set[Error]] = {
    do.AnswerJoin: _ALWAYS | _LOADING | {Error.MEMBER_ID_REQUIRED, Error.GROUP_MAX_SIZE_REACHED},
    do.AnswerSync: _AT_WORK,
    do.AnswerHeartbeat: _AT_WORK,
    do.AnswerCommit: _AT_WORK | _LOADING,
    do.AnswerLeave: _ALWAYS | _LOADING,
}


class LegacyStyle(msgspec.Struct, frozen=True, kw_only=True):
    cooperative: bool = False
    instance_id: str | None = None
    topics: tuple[str, ...] = ("foo",)
    assignor: str = "roundrobin"
    join_version: int = 5
    # Of the bytes in it. Before version 2 they do not say of which generation the claims are.
    subscription_version: int = 3
    session_timeout_ms: int = 10_000
    rebalance_timeout_ms: int = 60_000
    beat_ms: int = 3_000
    beat_jitter_ms: int = 0
    # kafkajs beats between batches, a rhythm after the last answer; the others by a timer, a rhythm after the last beat.
    beats_from_answer: bool = False
    commit_ms: int = 5_000
    revoke_ms: int = 10
    retry_ms: int = 100
    request_timeout_ms: int = 30_000
    sockets: int = 1
    joins_in_a_row: int = 1
    hangs_up_after_leave: bool = False
    # kafka-python does what goes before a JoinGroup once for a rebalance, however often that is refused: who hears in one
    # that it is nobody, or of no generation, claims what it held until it is let in.
    claims_on: bool = False
    # Java's ends where it may not read the group any more; librdkafka goes on asking.
    ends_when_barred: bool = False
    progress_ms: int = 100


class LegacyClient:
    def __init__(
        self,
        name: str,
        group_id: str,
        clock: Clock,
        chance: Random,
        upstream: Upstream,
        ledger: Ledger,
        style: LegacyStyle,
        find_proxy: Callable[[], Proxy | None],
    ) -> None:
        self.name, self.group_id, self.style = name, group_id, style
        self.member_id = ""
        # Its member ids of before: what it said under one of them, to a proxy that stood still, may be heard yet.
        self.former_ids: set[str] = set()
        self.generation = -1
        self.owned: frozenset[TopicAndNumber] = frozenset()
        # What it claims beside that: a former self's, which nobody believes it to hold.
        self._former: frozenset[TopicAndNumber] = frozenset()
        self.alive = False
        self.fatal: Error | None = None
        self.stable = False
        self.refusals: list[tuple[str, Error]] = []
        self.joins = 0
        self.resubscribed = False
        self._was_missed = False
        # When each proxy that it has left heard of it last.
        self._departures: list[int] = []
        self._moved_at = -style.session_timeout_ms
        self._generation_is_void = False
        self._answered_at = 0
        self._clock, self._chance, self._upstream, self._ledger = clock, chance, upstream, ledger
        self._sockets = Sockets(clock, chance, upstream.weather, find_proxy, style)
        self._starts: dict[TopicAndNumber, int] = {}
        # Timers and answers belong to the round in which they began: once there is a newer one they are void.
        self._round = 0

    @property
    def stands(self) -> bool:
        group = self._upstream.coordinator.groups.get(self.group_id)
        member = group.members.get(self.member_id) if group is not None else None
        return self.alive and member is not None and member.epoch != STATIC_LEAVE_EPOCH

    @property
    def partitions(self) -> frozenset[TopicAndNumber]:
        return self.owned

    @property
    def excused(self) -> bool:
        """It may be thrown out, as any coordinator would: its callback takes longer than its rebalance timeout, or it was
        silent when its session ended. Proxies share nothing, so the one that it left counts a session of its own, from the
        last word it heard; if nobody speaks for the client when that ends, it is given up."""
        return self._was_missed or self.style.revoke_ms >= self.style.rebalance_timeout_ms

    @property
    def _says_generations(self) -> bool:
        """Whoever does not may be told a lower one by a proxy that does not know what it was told elsewhere (docs/limits)."""
        return self.style.subscription_version >= FIRST_WITH_GENERATION

    # ----------------------------------------------------------------------------------------------------------- verbs

    def starts(self) -> None:
        self.alive, self.fatal = True, None
        self._forget_membership()
        self._join()

    def stops(self) -> None:
        """A static member says nothing; a dynamic one commits and leaves."""
        self.commits()
        round_ = self._next_round()
        self.stable = False
        if self.style.instance_id is None and self.member_id:
            leave = ev.LeaveRequested(request=0)
            self._ask(0, leave, lambda answer: self._left(round_), lambda: self._left(round_))
            if self.style.hangs_up_after_leave:
                self._clock.after(2, lambda: self._left(round_))
        else:
            self._left(round_)

    def vanishes(self) -> None:
        """kill -9: not a word, and its partitions are in nobody's hands."""
        self._next_round()
        self._gone()

    def rejoins(self) -> None:
        """enforceRebalance (KIP-568)."""
        self._rejoin(self._round)

    def commits(self) -> None:
        """Because its application wants it (commitSync), at any moment."""
        self._commit(self._round, then=lambda: None)

    def loses_its_sockets(self) -> None:
        self._sockets.cut()

    def changes_proxy(self) -> None:
        """Who comes back to one before it was missed there (half a session at most) may name a generation that only the
        other has told it: until it joins again, that is as good as none."""
        now = self._clock.now
        self._generation_is_void |= now - self._moved_at < self.style.session_timeout_ms // 2
        self._moved_at = now
        self._departures.append(self._answered_at)
        self.loses_its_sockets()

    def is_left_by_its_proxy(self) -> None:
        """Its member leaves, whatever it holds. Until it joins again, its generation is nobody's."""
        self._was_missed = self._generation_is_void = True

    def revokes_within(self, ms: int) -> None:
        """From now on its revoke callback takes so long."""
        self.style = msgspec.structs.replace(self.style, revoke_ms=ms)

    def subscribes(self, *topics: str) -> None:
        self.resubscribed = True
        self.style = msgspec.structs.replace(self.style, topics=topics)
        if self.stable:
            self._rejoin(self._round)

    # ------------------------------------------------------------------------------------------- joining and syncing

    def _join(self) -> None:
        round_ = self._next_round()
        self.stable = False
        self.joins += 1
        for number in range(1, self.style.joins_in_a_row):
            self._ask(0, self._join_request(number), lambda answer: None, lambda: None)
        self._ask(0, self._join_request(0), lambda answer: self._joined(round_, answer), lambda: self._later(round_))

    def _join_request(self, number: int) -> ev.JoinRequested:
        style = self.style
        claims = self.owned | self._former if style.cooperative else frozenset()
        metadata = subscription(style.topics, claims, self.generation, style.subscription_version)
        names = (style.assignor, *(f"{style.assignor}-{each}" for each in range(number)))
        return ev.JoinRequested(
            request=0,
            version=style.join_version,
            member_id=self.member_id,
            protocols=tuple(ev.Protocol(name, metadata) for name in names),
            session_timeout_ms=style.session_timeout_ms,
            rebalance_timeout_ms=style.rebalance_timeout_ms,
            instance_id=style.instance_id,
            client_id=self.name,
        )

    def _joined(self, round_: int, answer: do.AnswerJoin) -> None:
        error = Error(answer.error_code)
        if round_ != self._round:
            return
        if error is Error.MEMBER_ID_REQUIRED:
            self.member_id = answer.member_id
            self._join()
        elif error is not Error.NONE:
            self._refused("JoinGroup", round_, error)
        else:
            if answer.member_id == self.member_id and self._says_generations:
                rises(f"generation of {self.name}", self.generation, answer.generation)
            self.member_id, self.generation = answer.member_id, answer.generation
            self._generation_is_void = False
            self._sync(round_)

    def _sync(self, round_: int) -> None:
        sync = ev.SyncRequested(request=0, generation=self.generation, instance_id=self.style.instance_id)
        self._ask(0, sync, lambda answer: self._synced(round_, answer), lambda: self._later(round_))

    def _synced(self, round_: int, answer: do.AnswerSync) -> None:
        if round_ != self._round:
            return None
        if answer.error_code:
            return self._refused("SyncGroup", round_, Error(answer.error_code))
        assigned = partitions_of(answer.assignment)
        lost = (self.owned | self._former) - assigned
        self._former = frozenset()
        self._take(assigned - self.owned)
        self.stable = not lost
        if lost:
            return self._give_up(round_, lost, then=self._join)
        self._clock.after(self._beat_ms(), lambda: self._beat(round_))
        return self._clock.after(self.style.commit_ms, lambda: self._autocommit(round_))

    # ------------------------------------------------------------------------------------------ beating and committing

    def _beat(self, round_: int) -> None:
        if round_ == self._round:
            beat = ev.HeartbeatRequested(request=0, generation=self.generation, instance_id=self.style.instance_id)
            sent_at = self._clock.now
            self._ask(1, beat, lambda answer: self._beaten(round_, sent_at, answer), lambda: self._beat_again(round_))

    def _beaten(self, round_: int, sent_at: int, answer: do.AnswerHeartbeat) -> None:
        if round_ != self._round:
            return
        error = Error(answer.error_code)
        if error is Error.NONE:
            since = self._clock.now if self.style.beats_from_answer else sent_at
            self._clock.at(max(self._clock.now, since + self._beat_ms()), lambda: self._beat(round_))
        elif error in LOOK_AGAIN or (error is Error.GROUP_AUTHORIZATION_FAILED and not self.style.ends_when_barred):
            self._beat_again(round_)
        elif error is Error.REBALANCE_IN_PROGRESS:
            self._rejoin(round_)
        else:
            self._refused("Heartbeat", round_, error)

    def _beat_again(self, round_: int) -> None:
        if round_ == self._round:
            self._clock.after(self.style.retry_ms, lambda: self._beat(round_))

    def _beat_ms(self) -> int:
        return self.style.beat_ms + self._chance.randint(0, self.style.beat_jitter_ms)

    def _rejoin(self, round_: int) -> None:
        """Eager: everything is revoked, and committed first. Cooperative: nothing yet."""
        if round_ != self._round or not self.stable:
            return
        self.stable = False
        if self.style.cooperative or not self.owned:
            self._join()
        else:
            self._give_up(round_, self.owned, then=self._join)

    def _give_up(self, round_: int, lost: frozenset[TopicAndNumber], then: Callable[[], None]) -> None:
        """The revoke callback: it takes its time, commits, and then the partitions are let go."""
        self._ledger.calls_back(lost)

        def over() -> None:
            if round_ == self._round:
                self._let_go(lost)
                then()

        self._clock.after(self.style.revoke_ms, lambda: self._commit(round_, then=over))

    def _autocommit(self, round_: int) -> None:
        if round_ == self._round and self.stable:
            self._commit(round_, then=lambda: self._clock.after(self.style.commit_ms, lambda: self._autocommit(round_)))

    def _commit(self, round_: int, then: Callable[[], None]) -> None:
        if round_ != self._round:
            return None
        topics, now = self._upstream.coordinator.topics, self._clock.now
        held = {
            each: self._starts[each] + now // self.style.progress_ms for each in self.owned if each[0] in topics.ids
        }
        if not held:
            return then()
        commit = ev.CommitRequested(request=0, generation=self.generation, partitions=tuple(sorted(held)))
        offsets = {TopicPartition(topics.ids[topic], number): offset for (topic, number), offset in held.items()}

        def committed(answer: do.AnswerCommit) -> None:
            self._commit_answered(round_, held, answer)
            then()

        return self._ask(1, commit, committed, then, offsets)

    def _commit_answered(self, round_: int, held: dict[TopicAndNumber, int], answer: do.AnswerCommit) -> None:
        error = Error(answer.error_code or 0)
        if error is Error.NONE:
            self._ledger.commit_acknowledged(held)
        elif error not in LOOK_AGAIN:
            self.refusals.append(("OffsetCommit", error))
            is_honest = round_ == self._round and self.stands and self.stable and not self._generation_is_void
            if is_honest and error not in (Error.REBALANCE_IN_PROGRESS, Error.GROUP_AUTHORIZATION_FAILED):
                raise Broken("HonestGeneration", f"{self.name} commits what it holds and hears {error.name}")

    # ------------------------------------------------------------------------------------------------- when it goes wrong

    def _refused(self, request: str, round_: int, error: Error) -> None:
        if error not in LOOK_AGAIN:
            self.refusals.append((request, error))
        claims_on = self.style.claims_on and request != "Heartbeat"
        if error is Error.FENCED_INSTANCE_ID:
            self.fatal = error
            self.vanishes()
        elif error is Error.GROUP_AUTHORIZATION_FAILED and self.style.ends_when_barred:
            self.stops()
        elif error is Error.UNKNOWN_MEMBER_ID:
            self._forget_membership(claims_on)
            self._later(round_)
        elif error is Error.ILLEGAL_GENERATION:
            self._let_go(() if claims_on else self.owned)
            self._later(round_)
        else:
            self._later(round_)

    def _later(self, round_: int) -> None:
        """Join again, in a moment. Whoever held something through a failed round holds it still."""
        if round_ == self._round:
            self._clock.after(self.style.retry_ms, lambda: self._join() if round_ == self._round else None)

    def _forget_membership(self, claims_on: bool = False) -> None:
        self._former = self._former | self.owned if claims_on else frozenset()
        self._let_go(self.owned)
        self.former_ids.add(self.member_id)
        self.member_id, self.generation = "", -1

    def _left(self, round_: int) -> None:
        if round_ == self._round:
            self._next_round()
            self._gone()

    def _gone(self) -> None:
        self.alive = self.stable = False
        self._let_go(self.owned)
        self._sockets.hang_up()

    def _next_round(self) -> int:
        self._round += 1
        return self._round

    # -------------------------------------------------------------------------------------------- partitions and sockets

    def _take(self, gained: frozenset[TopicAndNumber]) -> None:
        self._ledger.takes(self, gained, self._clock.now)
        topics, committed = self._upstream.coordinator.topics, self._upstream.coordinator.offsets.get(self.group_id, {})
        for topic, number in gained:
            start = committed.get(TopicPartition(topics.ids[topic], number), 0) if topic in topics.ids else 0
            self._starts[topic, number] = start - self._clock.now // self.style.progress_ms
            if topic in topics.ids:
                self._ledger.starts_at(self, (topic, number), start)
        self.owned |= gained

    def _let_go(self, lost: Iterable[TopicAndNumber]) -> None:
        self._ledger.lets_go(self, lost, self._clock.now)
        self.owned -= frozenset(lost)

    def _ask(
        self,
        purpose: int,
        event: ev.ClientEvent,
        answered: Callable[[Any], None],
        failed: Callable[[], None],
        offsets: dict[TopicPartition, int] | None = None,
    ) -> None:
        def hear(answer: Any) -> None:
            if answer.error_code not in SAFE[type(answer)]:
                raise Broken("NarrowErrors", f"{self.name} hears {answer}")
            self._note_silence()
            answered(answer)

        self._sockets.ask(purpose, (self.group_id, self.member_id), event, hear, failed, offsets)

    def _note_silence(self) -> None:
        now, session_ms = self._clock.now, self.style.session_timeout_ms
        ends = [left_at + session_ms for left_at in self._departures]
        self._was_missed |= any(self._answered_at < end <= now for end in ends)
        self._departures = [end - session_ms for end in ends if end > now]
        self._answered_at = now
