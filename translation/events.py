"""Facts that a member can be told: the whole of what `step` understands, in the past tense.

`request` is the host's own number for a client's request: the answer carries it back. Every event can be written as
JSON and read again (`encode`, `decode`); a recorded list of (now, event) replays through `step` to the same
transitions.
"""

from __future__ import annotations

import msgspec

from translation.group_heartbeat import GroupHeartbeatAnswer, TopicPartition


class Event(msgspec.Struct, frozen=True, kw_only=True, tag=True, omit_defaults=True):
    """The common ground of all events."""


class Protocol(msgspec.Struct, frozen=True):
    """One assignor a client offers in JoinGroup, with its embedded subscription as the bytes it sent."""

    name: str
    metadata: bytes


# --- what the client did -------------------------------------------------------------------------------------------


class JoinRequested(Event, frozen=True, kw_only=True):
    """JoinGroup. `fresh_id` is an id nobody has: `<client id>-<uuid>`, drawn by the host.

    `predecessor` is the member id registered for this instance id, where the host knows one: it is released first.
    JoinGroup v0 has no rebalance timeout: the host puts the session timeout there. `company_assignor` is what the other
    members of the group behind this proxy have agreed on. `kin_hurt`: most of them, where their software is the same, cannot
    stand that their Heartbeats are held. `is_issued`: the member id was given out by this host with MEMBER_ID_REQUIRED, on
    this very connection. Of an absent member, which the coordinator does not know either, it is then the first word under
    that id.
    """

    request: int
    version: int
    member_id: str
    protocols: tuple[Protocol, ...]
    session_timeout_ms: int
    rebalance_timeout_ms: int
    fresh_id: str = ""
    protocol_type: str = "consumer"
    instance_id: str | None = None
    predecessor: str | None = None
    company_assignor: str | None = None
    kin_hurt: bool = False
    is_issued: bool = False
    client_id: str = ""
    reason: str | None = None


class SyncRequested(Event, frozen=True, kw_only=True):
    """SyncGroup. The assignments that a client may send along are nobody's business."""

    request: int
    generation: int
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol_name: str | None = None


class HeartbeatRequested(Event, frozen=True, kw_only=True):
    """`others_wait`: until this is answered, the client reads nothing, or it will soon ask for something else."""

    request: int
    generation: int
    instance_id: str | None = None
    others_wait: bool = False


class LeaveRequested(Event, frozen=True, kw_only=True):
    """This member in a LeaveGroup, be it by member id or, for a static one, by instance id."""

    request: int
    instance_id: str | None = None
    reason: str | None = None


class CommitRequested(Event, frozen=True, kw_only=True):
    """OffsetCommit or TxnOffsetCommit in this member's name. `partitions` (topic name, partition): None if unread."""

    request: int
    generation: int
    instance_id: str | None = None
    partitions: tuple[tuple[str, int], ...] | None = None


class ClientLeft(Event, frozen=True, kw_only=True):
    """The connection has closed on which this request waits: nobody will hear its answer. `hung_up`: its client closed it,
    and not because the broker had."""

    request: int
    hung_up: bool = True


class HoldInterrupted(Event, frozen=True, kw_only=True):
    """Another request arrived on the connection whose Heartbeat (this request) is held: answers keep their order."""

    request: int


class HoldHurt(Event, frozen=True, kw_only=True):
    """The client sent something else the moment a held Heartbeat was answered: it had waited for that answer."""


# --- what became of our own requests -------------------------------------------------------------------------------


class CoordinatorAnswered(Event, frozen=True, kw_only=True):
    """The answer to the one heartbeat in flight."""

    answer: GroupHeartbeatAnswer


class CoordinatorLost(Event, frozen=True, kw_only=True):
    """The heartbeat in flight will never be answered, or could not be sent. It may have been heard or not."""


class CommitAnswered(Event, frozen=True, kw_only=True):
    """The coordinator's word on a commit: its first error that is about the member, else NONE. `is_final`: there is no second
    try, for what the client sent behind it is on its way already."""

    request: int
    error_code: int = 0
    is_final: bool = False


class CommitLost(Event, frozen=True, kw_only=True):
    request: int


class TopicsLearned(Event, frozen=True, kw_only=True):
    """Names by topic id. None: there is no such topic (any more)."""

    names: dict[str, str | None]


class TopicsAllowed(Event, frozen=True, kw_only=True):
    """Those of the topics asked about, subscribed to then, that the client's principal may describe."""

    asked: tuple[str, ...]
    names: tuple[str, ...]


class TargetLearned(Event, frozen=True, kw_only=True):
    """What ConsumerGroupDescribe says of this member. Committed state: it may lag a little behind the answers.

    The rest is the group's word (motion.py). `alone`: nobody else is in the group. `begins`: all was given to one member,
    and the others have joined since. Of what this member lacks (handover.py), `coming` partitions will have been given up
    by `comes_at`, for those who have them are asked already; and none of it can come before `rest_from`. While its JoinGroup
    is parked it need not look for itself more often than each `look_ms`.
    """

    group_epoch: int
    assignment_epoch: int
    member_epoch: int
    target: tuple[TopicPartition, ...]
    alone: bool = False
    begins: bool = False
    coming: int = 0
    comes_at: int = 0
    rest_from: int = 0
    look_ms: int = 0


class TargetUnknown(Event, frozen=True, kw_only=True):
    """The group could not be described (not allowed, not offered)."""


class RegisteredMemberFound(Event, frozen=True, kw_only=True):
    """Who holds this member's instance id at the coordinator: None if nobody does."""

    member_id: str | None


# --- what the group and the proxy know -----------------------------------------------------------------------------


class MotionSeen(Event, frozen=True, kw_only=True):
    """The group moves: look at the coordinator often until then."""

    until: int


class LullWanted(Event, frozen=True, kw_only=True):
    """Somebody has left: until then no heartbeat of ours shall make the coordinator compute without the replacement."""

    until: int


class AssignorAgreed(Event, frozen=True, kw_only=True):
    """What the members of the group behind this proxy vote for, all of them."""

    assignor: str


class BeatWanted(Event, frozen=True, kw_only=True):
    """The coordinator has something for this member that a heartbeat would fetch."""


class BeatPlaced(Event, frozen=True, kw_only=True):
    """When all is quiet this member beats at this part of each interval: the members here take turns (watch.py)."""

    part: float


class HandOverPlanned(Event, frozen=True, kw_only=True):
    """Partitions this member must give up can be taken at `at`: the client should be asked then, and not before.

    `beat_at`: at that beat of their receiver, which beats at intervals; None: at any time.
    """

    at: int
    beat_at: int | None = None


class InstanceTaken(Event, frozen=True, kw_only=True):
    """Another process joined with this member's instance id. The classic contract: the old one is fenced."""


class SeenElsewhere(Event, frozen=True, kw_only=True):
    """Another proxy speaks for this member now."""


class MemberAdopted(Event, frozen=True, kw_only=True):
    """The member is known to the coordinator but not to this proxy (restart, or the client came from another proxy).

    All but the journal is from ConsumerGroupDescribe. `names` are those of the topics assigned and of those subscribed
    to: a member may have to give up partitions of a topic of which it is assigned nothing any more. `journal` is what
    this proxy wrote down when it last told the client something; without it nobody knows what the client was told, and
    it must rejoin. `generation` is the one that its client has named, if it has.
    """

    member_id: str
    member_epoch: int
    assigned: tuple[TopicPartition, ...]
    subscribed_topics: tuple[str, ...]
    names: dict[str, str | None] = {}
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str = ""
    generation: int = -1
    journal: JournalEntry | None = None


class ProxyStopping(Event, frozen=True, kw_only=True):
    """The proxy goes: waiting requests are answered; `leaving` says whether members leave too."""

    leaving: bool = False


class DeadlinePassed(Event, frozen=True, kw_only=True):
    """`member.wake_at` has come."""


class JournalEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What a proxy must remember of a member to carry on after a restart: what it told the client."""

    group_id: str
    member_id: str
    instance_id: str | None
    generation: int
    told: tuple[TopicPartition, ...]
    protocol_name: str
    subscription_version: int
    session_timeout_ms: int
    rebalance_timeout_ms: int
    offers: tuple[str, ...] = ()
    assignor: str | None = None


ClientEvent = JoinRequested | SyncRequested | HeartbeatRequested | LeaveRequested | CommitRequested

WorldEvent = (
    ClientLeft
    | HoldInterrupted
    | HoldHurt
    | CoordinatorAnswered
    | CoordinatorLost
    | CommitAnswered
    | CommitLost
    | TopicsLearned
    | TopicsAllowed
    | TargetLearned
    | AssignorAgreed
    | TargetUnknown
    | RegisteredMemberFound
    | MotionSeen
    | LullWanted
    | BeatWanted
    | BeatPlaced
    | HandOverPlanned
    | InstanceTaken
    | SeenElsewhere
    | MemberAdopted
    | ProxyStopping
    | DeadlinePassed
)

AnyEvent = ClientEvent | WorldEvent

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(AnyEvent)


def encode(event: AnyEvent) -> bytes:
    return _encoder.encode(event)


def decode(line: bytes) -> AnyEvent:
    event: AnyEvent = _decoder.decode(line)
    return event
