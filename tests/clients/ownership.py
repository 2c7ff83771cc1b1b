"""Who owned what, when: the intervals between being assigned a partition and having let go of it."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

import trio

from tests.clients.driver import Event, Partition, partitions


class Witness(Protocol):
    """What of a Client is looked at."""

    name: str
    events: list[Event]
    killed_at_ms: float | None


class Holder(Protocol):
    """And here."""

    @property
    def name(self) -> str: ...

    @property
    def owned(self) -> set[Partition]: ...


class Span(NamedTuple):
    partition: Partition
    owner: str
    since_ms: float
    # Infinite for what is owned still.
    until_ms: float


def spans(client: Witness) -> list[Span]:
    """A client that was killed owned what it owned until then."""
    found: list[Span] = []
    since: dict[Partition, float] = {}

    def ends(ended: Iterable[Partition], at_ms: float) -> None:
        found.extend(Span(each, client.name, since.pop(each), at_ms) for each in list(ended) if each in since)

    for event in client.events:
        if event["event"] == "assigned":
            since = dict.fromkeys(partitions(event), float(event["at_ms"])) | since
        elif event["event"] in ("revoked", "lost"):
            ends(partitions(event), event["at_ms"])
        elif event["event"] == "closed":
            ends(since, event["at_ms"])
    ends(since, float("inf") if client.killed_at_ms is None else client.killed_at_ms)
    return found


def overlaps(clients: Iterable[Witness], tolerance_ms: float = 0) -> list[tuple[Span, Span]]:
    """Pairs of members that owned the same partition at the same time: none is what a group promises."""
    every = sorted(
        (span for client in clients for span in spans(client)), key=lambda span: (span.partition, span.since_ms)
    )
    return [
        (one, other)
        for one, other in itertools.combinations(every, 2)
        if one.partition == other.partition
        and other.since_ms + tolerance_ms < one.until_ms
        and one.owner != other.owner
    ]


async def shared_out(clients: Sequence[Holder], partitions: int, calm_seconds: float, within: float) -> None:
    """Until every partition has one owner among them, each has some, and nothing moves for a moment."""
    deadline = trio.current_time() + within
    since, held = trio.current_time(), [set[Partition]()]
    while trio.current_time() - since < calm_seconds:
        now = [client.owned for client in clients]
        is_whole = all(now) and sum(map(len, now)) == len(set[Partition]().union(*now)) == partitions
        if now != held or not is_whole:
            since, held = trio.current_time(), now
        if trio.current_time() > deadline:
            raise TimeoutError(f"not settled: {[(client.name, len(client.owned)) for client in clients]}")
        await trio.sleep(0.05)
