"""What can be seen of the translation, as it happens: the host says it once, and traces, metrics and pages listen.

An observer is a function that takes one of these and returns at once; it may not raise. Times are nanoseconds of the
wall clock. `number` is the host's own number of a client's request; what it caused, a `Transition` or a heartbeat, bears it
in `request` (below zero there: one member of many in a LeaveGroup). `serial` is that of a heartbeat sent upstream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from translation.group_heartbeat import GroupHeartbeat, GroupHeartbeatAnswer
from translation.transition import Transition


class Client(msgspec.Struct, frozen=True, kw_only=True):
    """Who is at the other end of a connection. Software is what its ApiVersions said (KIP-511), where it did."""

    address: str
    client_id: str = ""
    software: str = ""
    software_version: str = ""


class RequestArrived(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A classic group request that is answered here. `api` is its name: JoinGroup, SyncGroup, OffsetCommit...
    `committed`: for which partitions (topic and number), where a commit names topics."""

    number: int
    at_ns: int
    group_id: str
    member_id: str
    instance_id: str | None
    api: str
    version: int
    client: Client
    reason: str | None = None
    committed: tuple[tuple[str, int], ...] = ()


class RequestAnswered(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """`is_passed_on`: not answered here at all, but handed to the broker. `is_heard`: not where its client hung up on it
    while it was held or parked, and so was told nothing."""

    number: int
    at_ns: int
    error_code: int
    is_passed_on: bool = False
    is_heard: bool = True


class HeartbeatSent(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A ConsumerGroupHeartbeat upstream. `request`: the client's request in whose step it was sent, where one was."""

    serial: int
    at_ns: int
    heartbeat: GroupHeartbeat
    request: int | None = None


class HeartbeatUnsent(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """It was due, and there was no connection to send it on: its client's has ended, or its broker's."""

    at_ns: int
    heartbeat: GroupHeartbeat


class HeartbeatAnswered(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """None: it was lost on the way, there or back."""

    serial: int
    at_ns: int
    answer: GroupHeartbeatAnswer | None


class Changed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A member moved. `names`: of its topics, by id, as far as they are known."""

    at_ns: int
    transition: Transition
    names: Mapping[str, str | None]
    client: Client
    node: int | None = None


class GroupPasses(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A member of a group is in it, untranslated: why its requests are handed to the broker."""

    at_ns: int
    group_id: str
    member_id: str
    reason: str
    client: Client


class PassesNoMore(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """It has left, its connection has ended, or it is translated from now on."""

    at_ns: int
    group_id: str
    member_id: str


class GroupRefused(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A request of a group that a rule keeps out."""

    at_ns: int
    group_id: str
    client: Client


Observation = (
    RequestArrived
    | RequestAnswered
    | HeartbeatSent
    | HeartbeatUnsent
    | HeartbeatAnswered
    | Changed
    | GroupPasses
    | PassesNoMore
    | GroupRefused
)

Observer = Callable[[Observation], None]
