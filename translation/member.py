"""A member, frozen: all that one proxy knows of one legacy client and of the native member it is upstream.

Four words for partitions, and they never mix:

- *assigned*: what the coordinator grants (its last word, complete, by topic id);
- *told*: what the client's last SyncGroup said;
- *owned*: what the client may hold. It is the claim of its last JoinGroup together with what it was told since;
- *grantable*: of what is assigned, that whose topic has a name we know.

The client must give up `owned - assigned` (*losses*) and has yet to hear of `grantable - told` (*gains*).
"""

from __future__ import annotations

import msgspec

from translation.events import JournalEntry
from translation.group_heartbeat import GroupHeartbeat, TopicPartition
from translation.rules import Rules
from translation.states import Phase, Standing

Partitions = frozenset[TopicPartition]
NOTHING: Partitions = frozenset()
# What all libraries beat at unless told otherwise.
USUAL_RHYTHM_MS = 3_000
# A beat is on time within this part of the client's rhythm after the last that was heard here. Had it said one to another
# proxy in between, two rhythms would lie between them.
ON_TIME_PART = 1.5
# Longer ago than any session.
LONG_AGO = -(2**62)
# The member of a silent client beats only once in so many intervals, or in so long if that is less: by default that is three
# times in a coordinator's session.
SILENT_INTERVALS = 3
SILENT_MS = 15_000
# Lulls (events.LullWanted) keep a member from beating for no more intervals than this.
LULLED_INTERVALS = 2


class ParkedJoin(msgspec.Struct, frozen=True):
    """JoinGroup requests that wait for one answer. A second one on a new socket joins the first."""

    requests: tuple[int, ...]
    until: int  # so long it waits for the assignment to become whole
    word_by: int  # so long it waits for the coordinator to say anything at all
    knows_id: bool  # the client has heard its member id before
    rest_at: int = 0  # by then more will have been given up for it, which is worth waiting for
    rest_from: int = 0  # before then nothing more can come
    look_ms: int = 0  # so far apart it may look at the coordinator: the group looks for it


class Rejoin(msgspec.Struct, frozen=True):
    """When the client is to be asked to rejoin. `beat_at`: in time for that beat of whoever receives what it gives; None: in
    time for no beat in particular."""

    at: int
    beat_at: int | None = None


class HeldHeartbeat(msgspec.Struct, frozen=True):
    request: int
    until: int


class Commit(msgspec.Struct, frozen=True):
    """A commit on its way: sent under an epoch, or waiting (epoch None) for its turn or for a newer epoch."""

    request: int
    epoch: int | None
    attempts: int
    partitions: tuple[tuple[str, int], ...] | None = None


class Contract(msgspec.Struct, frozen=True, kw_only=True):
    """What the client said of itself in its last JoinGroup."""

    session_timeout_ms: int = 45_000
    rebalance_timeout_ms: int = 300_000
    protocol_name: str = ""
    subscription_version: int = 0
    topics: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()  # those of them that its principal may not describe
    rack_id: str | None = None
    offers: tuple[str, ...] = ()  # server assignors that its protocols mean, the dearest first
    assignor: str | None = None  # the one of them that it votes for, or what stands in for it
    refused: tuple[str, ...] = ()  # those that the coordinator does not know

    @property
    def ballot(self) -> tuple[str, ...]:
        """The assignors that it could vote for: those of its offers that the coordinator knows, else the one that stands in
        for them. None where it has no vote."""
        known = tuple(name for name in self.offers if name not in self.refused)
        return () if self.assignor is None else known or (self.assignor,)

    @property
    def subscription(self) -> tuple[str, ...]:
        """As the coordinator is told of it."""
        return tuple(topic for topic in self.topics if topic not in self.denied)


class Unseat(msgspec.Struct, frozen=True):
    """A registration to end before ours can begin: an older process with our instance id, or an older self."""

    member_id: str
    epoch: int


class Member(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """See the module's text. `Member(group_id="g")` is the absent member that every story begins with."""

    group_id: str
    rules: Rules = Rules()
    member_id: str = ""
    instance_id: str | None = None
    client_id: str = ""
    contract: Contract = Contract()

    # The legacy face.
    phase: Phase = Phase.ABSENT
    generation: int = -1
    floor: int = -1  # below this no generation is told: it may have been, by another proxy and with other partitions
    told: Partitions = NOTHING
    owned: Partitions = NOTHING
    spared: Partitions = NOTHING  # let go of to rejoin, and never taken away: until it syncs it may commit these
    asked_at: int | None = None  # when the client heard REBALANCE_IN_PROGRESS, if it has yet to rejoin

    # The upstream face.
    standing: Standing = Standing.ABSENT
    epoch: int = 0
    assigned: Partitions = NOTHING
    names: dict[str, str | None] = {}
    interval_ms: int | None = None
    in_flight: GroupHeartbeat | None = None
    voted: str | None = None  # the assignor that the coordinator has heard
    must_say_all: bool = False  # an answer is missing, or more is to be said: the next heartbeat says all
    cut: bool = False  # the coordinator is out of reach or not one: clients are told to look for it
    barred: bool = False  # the coordinator is there, and may not listen to it: its principal may not read the group
    unseat: Unseat | None = None
    settled: bool = False  # a description said that this assignment is whole
    blind: bool = False  # the group cannot be described
    verdict: int = 0  # fenced and fatal: the error the client is told

    # Who waits for us.
    parked: ParkedJoin | None = None
    held: HeldHeartbeat | None = None
    leaves: tuple[int, ...] = ()
    commits: tuple[Commit, ...] = ()

    # Times, absolute. None: not pending.
    heard_at: int = 0
    answered_at: int = LONG_AGO  # when it last heard what became of a commit: until then its next word may have waited
    served_at: int = LONG_AGO  # when a coordinator was there again after a loss: a silent client's time begins anew
    told_at: int | None = None  # when a SyncGroup here told it what it has: its beats begin then
    beat_seen_at: int | None = None
    beat_ms: int | None = None  # the client's own rhythm
    rejoin_ms: int = 0  # from when it was asked to rejoin until it did, the last time
    gap_ms: int = 0  # between its last two beats
    held_ms: int = 0  # how long its last beat was held
    hurt_by_holds: int = 0  # how often something had to wait behind a held beat
    hung_up: int = 0  # how often in a row its client hung up on a held beat
    late_after_hold: int = 0  # how often in a row it came late by as long as it had been held
    late_gap_ms: int = 0  # since the beat before, when that was last judged
    doubtful_hold_ms: int = 0  # its rhythm is known from a beat that was held for so long, and may have that in it
    came_at: int = LONG_AGO  # the client came from another proxy then, or may have been at one
    changed_at: int = 0
    moving_until: int = 0
    quiet_until: int = 0  # after a leave: no heartbeat that nobody waits for
    beaten_at: int = LONG_AGO  # when the last heartbeat went out
    heartbeat_at: int | None = None
    beat_part: float | None = None  # of each quiet interval: its turn among the members here
    describe_at: int | None = None
    rejoin: Rejoin | None = None  # the client is to be asked to
    rebalance_by: int | None = None
    farewell_at: int | None = None
    farewell_since: int | None = None  # when it was first asked who else beats for this member
    unclaimed_since: int | None = None  # descriptions say that nobody else beats for this member
    leave_by: int | None = None

    @property
    def waiting(self) -> tuple[int, ...]:
        """Requests of its client that have yet to be answered."""
        parked = self.parked.requests if self.parked else ()
        held = (self.held.request,) if self.held else ()
        return (*parked, *held, *self.leaves, *(commit.request for commit in self.commits))

    @property
    def is_stranger(self) -> bool:
        """Adopted, and nobody here knows what the client holds until it says so in a JoinGroup."""
        return self.generation == -1 and self.phase is Phase.PREPARE_REBALANCE

    @property
    def has_just_come(self) -> bool:
        """It was silent until what it says now, and may have been told more elsewhere."""
        return self.came_at == self.heard_at

    @property
    def grantable(self) -> Partitions:
        return frozenset(tp for tp in self.assigned if self.names.get(tp.topic_id))

    @property
    def is_idle(self) -> bool:
        """The client holds nothing, and something is there for it."""
        return bool(self.grantable) and not self.owned

    @property
    def losses(self) -> Partitions:
        return self.owned - self.assigned

    @property
    def gains(self) -> Partitions:
        return self.grantable - self.told

    @property
    def unnamed(self) -> frozenset[str]:
        """Topics of the assignment that are neither named nor known to be deleted."""
        return frozenset(tp.topic_id for tp in self.assigned if tp.topic_id not in self.names)

    @property
    def session_ends_at(self) -> int | None:
        """When the client has been silent for too long. Whoever is leaving, or waits for our answer, has no session."""
        if self.standing in (Standing.ABSENT, Standing.LEAVING) or self.parked or self.held or self.commits:
            return None
        return max(self.heard_at, self.answered_at, self.served_at) + self.contract.session_timeout_ms

    @property
    def is_forsaken(self) -> bool:
        """Nobody waits to join any more. Whoever joins says that its client holds nothing: only the client may say that
        again."""
        return self.standing is Standing.JOINING and self.is_to_sync

    @property
    def is_nameless(self) -> bool:
        """Its client, which waits to join, has not heard the id: without that answer nobody comes back as this member."""
        return self.parked is not None and not self.parked.knows_id and self.instance_id is None

    @property
    def is_kept_away(self) -> bool:
        """Its coordinator was lost since the client was last heard, and none has been found: it could not be heard."""
        return self.cut and self.served_at <= self.heard_at

    @property
    def is_heard(self) -> bool:
        """Where its client speaks, a coordinator listens."""
        return not (self.cut or self.barred)

    @property
    def rhythm_ms(self) -> int:
        """How often the client beats, as far as it is known."""
        return self.beat_ms or min(USUAL_RHYTHM_MS, self.contract.session_timeout_ms // 3)

    @property
    def hears_at(self) -> int:
        """When the client can hear of a rebalance: in an answer that it waits for, else in that to its next beat."""
        return LONG_AGO if self.held or self.parked or self.asked_at is not None else self.beats_at

    @property
    def gives_at(self) -> int:
        """When the client will have let go of what it must, if it takes as long as the last time: what it has polled is dealt
        with first, or a Fetch must end."""
        return (self.hears_at if self.asked_at is None else self.asked_at) + self.rejoin_ms

    @property
    def beats_at(self) -> int:
        """When the client will beat again."""
        began_at = self.came_at if self.told_at is None else self.told_at
        return (began_at if self.beat_seen_at is None else self.beat_seen_at) + self.rhythm_ms

    @property
    def fade_ms(self) -> int:
        """Long enough for another proxy's beat to be heard, if there is one, and short for the coordinator's session."""
        return min(int(1.5 * self.pace_ms), self.contract.session_timeout_ms * 2 // 3)

    @property
    def patience_ms(self) -> int:
        """A client that has not been heard for so long may be at another proxy."""
        session_ms = self.contract.session_timeout_ms
        rhythm_ms = session_ms if self.beat_ms is None else 2 * self.beat_ms
        return min(max(rhythm_ms, self.pace_ms), session_ms // 2)

    @property
    def pace_ms(self) -> int:
        """How often the coordinator wishes to hear of the member."""
        return self.interval_ms or self.rules.heartbeat_ms

    def is_silent(self, at: int) -> bool:
        """Nobody knows where the client is. What it is told by others, and lets go of there, is not known here."""
        return self.phase is not Phase.ABSENT and self.parked is None and at >= self.heard_at + self.patience_ms

    def is_on_time(self, now: int) -> bool:
        """A client that beats no more than twice a session counts as silent before each beat, though it was here all the
        time. Had it said a beat elsewhere meanwhile, this one would come later."""
        if self.beat_ms is None or self.beat_seen_at is None:
            return False
        return now < self.beat_seen_at + int(ON_TIME_PART * self.beat_ms)

    def is_shared(self, now: int) -> bool:
        """Another proxy may still beat for this member: it would be told what we should have been. If it has adopted the
        client itself and never heard its session timeout, it goes by the default one."""
        return now < self.came_at + max(self.contract.session_timeout_ms, Contract().session_timeout_ms)

    @property
    def ends_at(self) -> int | None:
        """When the client will have been silent, or will have let others wait, for too long."""
        session_ends_at, rebalance_by = self.session_ends_at, self.rebalance_by
        if session_ends_at is None or rebalance_by is None:
            return rebalance_by if session_ends_at is None else session_ends_at
        return min(session_ends_at, rebalance_by)

    @property
    def has_farewell(self) -> bool:
        return self.phase is not Phase.ABSENT and self.rules.farewell_ms > 0 and not self.blind

    @property
    def farewell_begins_at(self) -> int | None:
        ends_at = self.ends_at
        if ends_at is None or not self.has_farewell:
            return ends_at
        return min(ends_at, max(ends_at - self.rules.farewell_ms, self.heard_at + self.patience_ms))

    @property
    def fades_at(self) -> int | None:
        """A silent client's member stops to beat shortly before it is given up: if somebody else beats for it by then,
        the coordinator's description says so."""
        ends_at = self.ends_at
        if ends_at is None or self.session_ends_at is None:
            return None
        return max(ends_at - self.fade_ms, self.heard_at + self.fade_ms)

    @property
    def is_to_sync(self) -> bool:
        """Its JoinGroup is answered, and what it may hold is for SyncGroup to tell."""
        return self.phase is Phase.COMPLETING_REBALANCE and self.parked is None

    @property
    def is_waited_for(self) -> bool:
        """A parked JoinGroup cannot be answered yet: the coordinator has not said what there is to say."""
        return self.standing in (Standing.JOINING, Standing.ACKNOWLEDGING)

    def is_stirring(self, now: int) -> bool:
        """Something changed lately, so more may come."""
        return now < max(self.changed_at + self.rules.motion_ms, self.moving_until)

    @property
    def calm_at(self) -> int | None:
        """When the assignment counts as whole because it has not changed for a while.

        Where the client has let go of everything, what it may have lies idle meanwhile: that is soon (`idle_ms`), but not
        before what is worth waiting for (`rest_at`), and sooner still if nothing more can come in that time (`rest_from`).
        Else only where nobody can say whether it is whole, and then late (`calm_ms`).
        """
        if self.parked is None or self.is_waited_for or self.unnamed:
            return None
        if self.is_idle:
            since = max(self.changed_at, self.parked.until - self.rules.park_ms, self.parked.rest_at)
            in_time = since + self.rules.idle_ms
            return since if self.parked.rest_from > in_time else in_time
        return self.changed_at + self.rules.calm_ms if self.blind else None

    @property
    def answer_by(self) -> int | None:
        """When the parked JoinGroup is answered at the latest. A client that holds nothing is not told so before `word_by`:
        it does better to wait than to hear of its partitions with its first beat. (When some are there: `calm_at`.)"""
        if self.parked is None:
            return None
        can_tell = not self.is_waited_for and (self.owned or self.blind)
        return self.parked.until if can_tell else self.parked.word_by

    @property
    def wake_at(self) -> int | None:
        """When `step` must be told DeadlinePassed, if nothing else happens before. None: never."""
        held = self.held.until if self.held else None
        beat = None if self.in_flight else self.heartbeat_at
        farewell = self.farewell_at or self.farewell_begins_at
        parked = (self.answer_by, self.calm_at) if self.parked else ()
        rejoin = self.rejoin.at if self.rejoin else None
        times = [t for t in (*parked, held, beat, farewell, rejoin, self.describe_at) if t is not None]
        return min(times, default=None)

    @property
    def journal_entry(self) -> JournalEntry:
        """What the client was told, and what it may still hold beyond that: partitions that it was told to give up, and has
        yet to let go of. Brokers before 4.3 do not describe those, so nobody else knows."""
        return JournalEntry(
            group_id=self.group_id,
            member_id=self.member_id,
            instance_id=self.instance_id,
            generation=self.generation,
            told=tuple(sorted(self.told | self.owned)),
            protocol_name=self.contract.protocol_name,
            subscription_version=self.contract.subscription_version,
            session_timeout_ms=self.contract.session_timeout_ms,
            rebalance_timeout_ms=self.contract.rebalance_timeout_ms,
            offers=self.contract.offers,
            assignor=self.contract.assignor,
        )

    def __repr__(self) -> str:
        face = f"{self.phase!r}/{self.standing!r} E{self.epoch} g{self.generation}"
        return f"<{self.member_id or 'nobody'} {face} told {short(self.told)} assigned {short(self.assigned)}>"


def short(partitions: Partitions) -> str:
    """Partitions for people: `a:0,1 b:3`."""
    by_topic: dict[str, list[int]] = {}
    for tp in sorted(partitions):
        by_topic.setdefault(tp.topic_id, []).append(tp.partition)
    return " ".join(f"{topic[:8]}:{','.join(map(str, ps))}" for topic, ps in by_topic.items()) or "-"
