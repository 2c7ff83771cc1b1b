"""What the members of one group that live behind one proxy know together, as pure as a member is.

`group_step(group, fact, now) -> (group, orders)`. A group learns from the transitions of its own members, from the
heartbeats of native members that pass through the proxy, and from descriptions of the group (ConsumerGroupDescribe).
It says when to look closely (motion.py), and when partitions can change hands (handover.py).

How to host it: one `Group` per group id; feed each Transition as `MemberChanged`, each member's DescribeGroup order as
`DescriptionWanted`, each native heartbeat as `NativeBeat`, but one that says nothing and is not due (`native_due_at`) answer
yourself, as if nothing were new (`native_put_off_ms`, `NativePutOff`); perform `Describe` (one ConsumerGroupDescribe on any
of the members' connections, answered by `Described`, with each member's `hears_at` and `gives_at`, or by
`DescriptionFailed`) and `Tell` (feed that event to that member); sleep until `group.wake_at` and feed `TimePassed`. A group
that `motion.is_deserted`, and has no time to wake at, need not be kept.
"""

from __future__ import annotations

import msgspec

from translation.assignors import agreed
from translation.events import WorldEvent
from translation.group_heartbeat import TopicPartition
from translation.member import LONG_AGO, NOTHING, Contract, Member, Partitions
from translation.rules import Pacing
from translation.transition import Transition

# --- facts ---------------------------------------------------------------------------------------------------------


class GroupFact(msgspec.Struct, frozen=True, kw_only=True, tag=True, omit_defaults=True):
    """The common ground of all that a group can be told."""


class MemberChanged(GroupFact, frozen=True, kw_only=True):
    """A member here has moved. `contract` is what it says of itself since."""

    transition: Transition
    contract: Contract = Contract()
    interval_ms: int | None = None  # the coordinator's wish, as the member was told last


class NativeBeat(GroupFact, frozen=True, kw_only=True):
    """A native member's heartbeat passed through the proxy and was answered without an error, so long after it was sent."""

    member_id: str
    epoch_sent: int
    epoch_answered: int
    answered_after_ms: int = 0
    interval_ms: int = 0  # the coordinator's wish


class NativePutOff(GroupFact, frozen=True, kw_only=True):
    """A native member's heartbeat was answered here instead (`native_due_at`)."""

    member_id: str


class DescriptionWanted(GroupFact, frozen=True, kw_only=True):
    member_id: str


class DescribedMember(msgspec.Struct, frozen=True, kw_only=True):
    """`hears_at` and `gives_at` are not the coordinator's: of a member here, when its client can be told of a rebalance, and
    when it will have let go."""

    member_id: str
    epoch: int
    assigned: tuple[TopicPartition, ...]
    target: tuple[TopicPartition, ...]
    hears_at: int = LONG_AGO
    gives_at: int = LONG_AGO


def described_member(
    member_id: str,
    epoch: int,
    assigned: tuple[TopicPartition, ...],
    target: tuple[TopicPartition, ...],
    local: Member | None,
) -> DescribedMember:
    """As the coordinator has said; `local` if it is one here."""
    return DescribedMember(
        member_id=member_id,
        epoch=epoch,
        assigned=assigned,
        target=target,
        hears_at=LONG_AGO if local is None else local.hears_at,
        gives_at=LONG_AGO if local is None else local.gives_at,
    )


class Described(GroupFact, frozen=True, kw_only=True):
    """A ConsumerGroupDescribe answer."""

    group_epoch: int
    assignment_epoch: int
    members: tuple[DescribedMember, ...]
    topics: int = 0  # that it names: what each member subscribes to


class DescriptionFailed(GroupFact, frozen=True, kw_only=True):
    """The group cannot be described. `for_good`: not allowed or not offered, rather than lost on the way."""

    for_good: bool


class TimePassed(GroupFact, frozen=True, kw_only=True):
    """`group.wake_at` has come."""


AnyGroupFact = (
    MemberChanged | NativeBeat | NativePutOff | DescriptionWanted | Described | DescriptionFailed | TimePassed
)

# --- orders --------------------------------------------------------------------------------------------------------


class Describe(msgspec.Struct, frozen=True, tag=True):
    """Ask the coordinator for a description of the group, once for all who want it."""


class Tell(msgspec.Struct, frozen=True, tag=True):
    """Feed this event to this member."""

    member_id: str
    event: WorldEvent


GroupOrder = Describe | Tell

# A lull that is to last longer than its members know is made longer so long before they take it to be over.
HUSH_AHEAD_MS = 100
# Where descriptions take long, who waits looks for itself sooner by so many times that, but no more often than this for each
# member here: of a hundred, none does.
TIMES_AS_SOON = 4
LOOK_APART_MS = 10
# Who waits asks for a description ten times a second, and fifty each would have one of their own: this far apart, they share.
AGAIN_MS = 25
# What comes later than this after a leave has nothing to do with it.
REPLACED_MS = 60_000
# The next answer may take so many times as long as the slowest of the last half minute.
TIMES_AS_SLOW = 4
SLOWEST_MS = 30_000

# --- the group -----------------------------------------------------------------------------------------------------


class Known(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of one member. *Local*: a legacy member of this proxy. *Passing*: a native one that goes through."""

    epoch: int = 0
    local: bool = False
    passing: bool = False
    beat_at: int | None = None  # a direct native member: it was last seen to have beaten, at this time or later
    beat_within_ms: int = 0  # but no later than so long after it
    put_off_at: int | None = None  # a passing one: since then its heartbeats have been answered here
    seat: int = 0  # a local one: whose turn it is to beat when all is quiet (watch.py)
    hears_at: int = LONG_AGO  # a local one: its client hears of a rebalance then, if told before, as last described
    gives_at: int = LONG_AGO  # and will have let go then
    asked: bool = False  # a local one: its client has been asked to rejoin, and has not been told what it gets
    losses: Partitions = NOTHING  # what its client must give up
    gains: Partitions = NOTHING  # what is granted to it and its client has not been told of
    offers: tuple[str, ...] = ()  # the assignors it could vote for
    vote: str | None = None
    refused: tuple[str, ...] = ()  # those that the coordinator does not know


class Group(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    group_id: str
    pacing: Pacing = Pacing()
    members: dict[str, Known] = {}
    locals: tuple[str, ...] = ()  # who of them lives behind this proxy, in order
    interval_ms: int = 0  # how often all are to beat by the coordinator's wish; 0: nobody has heard it
    moving_until: int = 0
    quiet_until: int = 0  # the grace after a leave: nobody is hurried before
    left_at: int | None = None  # somebody left then, and nobody has come since
    away_ms: int = 0  # so long it took the last time
    hushed_until: int = 0  # how far all members have been told of that
    told_until: int = 0  # and how far of motion
    wishers: frozenset[str] = frozenset()  # members here that want a description
    asked_at: int | None = None  # a description is on its way since then
    described_at: int | None = None
    stirred: bool = True  # somebody here or passing has moved since a description was asked for
    described_ids: frozenset[str] = frozenset()  # whom that named
    described_topics: int = 0  # and how many topics
    epoch: int = 0  # the newest that is known
    rose_at: int | None = None  # it rose (for somebody came, went or asked) at this time or later
    rose_within_ms: int = 0  # but no later than so long after it
    rises: bool = False  # a sign of the next one has been seen
    describe_at: int | None = None
    slowest_ms: int = 0  # the slowest of the answers to native members that pass
    slowest_until: int = 0  # how long it is remembered
    forgot_at: int = 0  # when those who had ended without a word were last forgotten

    def is_moving(self, now: int) -> bool:
        return now < self.moving_until

    @property
    def heartbeat_ms(self) -> int:
        """How often a direct native member beats: a coordinator tells all members of a group the same."""
        return self.interval_ms or self.pacing.heartbeat_ms

    @property
    def grace_ms(self) -> int:
        """How long a replacement is waited for: see replacing.py."""
        if self.away_ms <= self.pacing.longest_away_ms:
            return max(self.pacing.grace_ms, 2 * self.away_ms)
        return 0 if self.away_ms <= REPLACED_MS else self.pacing.grace_ms

    @property
    def assignor(self) -> str | None:
        """What the members here vote for."""
        refused = {name for known in self.members.values() for name in known.refused}
        return agreed((known.offers for known in self.members.values()), refused)

    @property
    def is_watched(self) -> bool:
        """One description is cheaper than the heartbeats of so many."""
        return len(self.locals) > self.pacing.describe_from

    def look_ms(self, now: int) -> int:
        """How far apart who is parked may look for itself, as a description comes. If that took long, what it says is late,
        and the heartbeat that it asks for will be later still: a few look for themselves then. Many would make a coordinator
        that is slow slower."""
        if not self.is_watched:
            return 0
        took_ms = 0 if self.asked_at is None else now - self.asked_at
        least_ms = min(self.pacing.look_ms, len(self.locals) * LOOK_APART_MS)
        return max(least_ms, self.pacing.look_ms - TIMES_AS_SOON * took_ms)

    @property
    def describe_apart_ms(self) -> int:
        """A description is as dear as it is long, to the coordinator and here: nobody's wish brings the next one sooner.
        And where nobody here has moved since the last, others may wish for it too: it has time."""
        length_us = len(self.members) * self.pacing.describe_us + self.described_topics * self.pacing.describe_topic_us
        return max(length_us // 1000, 0 if self.stirred else AGAIN_MS)

    @property
    def wake_at(self) -> int | None:
        grace = self.quiet_until if self.told_until < self.moving_until else None
        lull = self.hush_at if self.hushed_until < self.quiet_until else None
        return min((t for t in (grace, lull, self.describe_at) if t is not None), default=None)

    @property
    def hush_at(self) -> int:
        """Who is told already until when not to beat need not hear of each leave meanwhile: a word to all for each of many
        who leave at once is a great many words."""
        return self.hushed_until - HUSH_AHEAD_MS


def native_due_at(group: Group, member_id: str, epoch: int, now: int) -> int:
    """A native member that passes through, and has nothing to say, is put off for the grace after a leave, lest the
    coordinator compute a target without the replacement. Not for longer, whoever else may leave meanwhile; and nobody, where
    the coordinator's interval is to be told while the group moves."""
    known = group.members.get(member_id)
    if known is None or not known.passing or known.epoch != epoch or not group.pacing.paces_natives:
        return now
    since = now if known.put_off_at is None else known.put_off_at
    return max(now, min(group.quiet_until, since + group.grace_ms))


def native_put_off_ms(group: Group, due_at: int, now: int) -> int:
    """The interval told to who is put off: what is left of the grace, and of a long one a part, for the replacement may come
    sooner. All of a crowd would be back at one moment then, and in step ever after: for as long as a grace they keep their
    distance."""
    left_ms = min(due_at - now, group.pacing.grace_ms)
    crowd_ms = min(_crowd_ms(group), group.grace_ms)
    return min(max(left_ms, _answerable_ms(group), crowd_ms), group.heartbeat_ms)


def native_interval_ms(group: Group, interval_ms: int, now: int) -> int:
    """The heartbeat interval told to a native member that passes through. It obeys: measured, a group whose natives
    are paced converges in a fraction of a second. Never slower than the coordinator wishes."""
    paced_ms = group.pacing.native_moving_ms if group.is_moving(now) else group.pacing.native_quiet_ms
    return min(max(paced_ms, _answerable_ms(group), _crowd_ms(group)), interval_ms) if paced_ms else interval_ms


def _answerable_ms(group: Group) -> int:
    """librdkafka takes the interval for the timeout of its next heartbeat too, and hangs up when that has passed: the
    coordinator must have time to answer, also when it begins to be slow."""
    return max(group.pacing.native_moving_ms, TIMES_AS_SLOW * group.slowest_ms)


def _crowd_ms(group: Group) -> int:
    """Heartbeats of many leave the coordinator time for others."""
    return (len(group.members) - len(group.locals)) * group.pacing.native_us // 1000
