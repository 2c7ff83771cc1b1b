"""From what the clients said to figures: how much members were disturbed, and for how long partitions and records waited."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec

from bench.rebalance.requests import Reading, between
from bench.rebalance.stage import PARTITIONS
from tests.clients import overlaps, spans
from tests.clients.ownership import Span, Witness

LATE_MS = 1_000
# Two programs' clocks are one, but a callback is told a moment after it ran.
OVERLAP_TOLERANCE_MS = 5
NOBODY = "nobody"


class Subscriber(Witness, Protocol):
    """What of a Client is looked at."""

    subscribed_at_ms: float | None

    @property
    def records(self) -> list[tuple[str, int, int, str]]: ...


class Gap(NamedTuple):
    """When a partition was nobody's, and whose it was before and after."""

    at_ms: float
    for_ms: float
    left_by: str
    taken_by: str


class Figures(msgspec.Struct):
    """One run of one scenario."""

    revocations: float  # revoke callbacks at members that stay
    revoked: float  # partitions in them
    idle_partition_seconds: float  # that nobody owned
    seconds: float  # from the beginning until all was settled
    late: float  # records later than a second
    p99_ms: float
    max_ms: float
    first_record_s: float | None  # the newcomer's, from its subscribing
    lost: int
    duplicated: int
    overlapping: int
    requests_per_member_s: float | None = None  # that the broker answered, of groups


def figures(
    everybody: Sequence[Subscriber],
    stay: Sequence[Subscriber],
    newcomer: Subscriber | None,
    window: tuple[float, float],
    sent: int,
) -> Figures:
    since_ms, until_ms = window
    revoked = [event for client in stay for event in _during(client, "revoked", window) if event["partitions"]]
    latencies = sorted(_latencies(everybody, window))
    numbers = [int(value.partition(":")[0]) for client in everybody for *_, value in client.records]
    return Figures(
        revocations=len(revoked),
        revoked=sum(len(event["partitions"]) for event in revoked),
        idle_partition_seconds=idle_ms(everybody, window) / 1000,
        seconds=(until_ms - since_ms) / 1000,
        late=sum(each > LATE_MS for each in latencies),
        p99_ms=latencies[int(len(latencies) * 0.99)] if latencies else 0,
        max_ms=latencies[-1] if latencies else 0,
        first_record_s=None if newcomer is None else _first_record_s(newcomer),
        lost=sent - len(set(numbers)),
        duplicated=len(numbers) - len(set(numbers)),
        overlapping=len(overlaps(everybody, OVERLAP_TOLERANCE_MS)),
    )


def _during(client: Subscriber, kind: str, window: tuple[float, float]) -> Iterable[dict[str, Any]]:
    """Not what it lets go of by leaving: that is told after `close`, by `closed`."""
    end = min(window[1], _closed_ms(client) - 1_000)
    for event in client.events:
        if event["event"] == kind and window[0] <= event["at_ms"] <= end:
            yield event


def _closed_ms(client: Subscriber) -> float:
    return next((event["at_ms"] for event in client.events if event["event"] == "closed"), float("inf"))


def requests_per_member_s(everybody: Sequence[Subscriber], early: Reading, late: Reading) -> float:
    """By all the time that members were there, for windows and groups differ."""
    asked = sum(between(early, late).values())
    return asked * 1000 / sum(_there_ms(client, (early.at_ms, late.at_ms)) for client in everybody)


def _there_ms(client: Subscriber, window: tuple[float, float]) -> float:
    assert client.subscribed_at_ms is not None
    end = min(window[1], _closed_ms(client), client.killed_at_ms or float("inf"))
    return max(0.0, end - max(window[0], client.subscribed_at_ms))


def _latencies(everybody: Sequence[Subscriber], window: tuple[float, float]) -> Iterable[float]:
    """From being produced to being read, of what was produced in the window; the first reading counts."""
    read: dict[str, float] = {}
    for client in everybody:
        for event in client.events:
            if event["event"] == "records":
                for *_, value in event["records"]:
                    read[value] = min(read.get(value, float("inf")), event["at_ms"])
    for value, at_ms in read.items():
        produced_ms = float(value.partition(":")[2])
        if window[0] <= produced_ms <= window[1]:
            yield at_ms - produced_ms


def idle_ms(everybody: Sequence[Subscriber], window: tuple[float, float]) -> float:
    """For each partition, the time in the window that no span of anybody covers."""
    found = gaps(everybody, window)
    never_owned = PARTITIONS - len({span.partition for client in everybody for span in spans(client)})
    return sum(gap.for_ms for gap in found) + never_owned * (window[1] - window[0])


def gaps(everybody: Sequence[Subscriber], window: tuple[float, float]) -> list[Gap]:
    by_partition: dict[tuple[str, int], list[Span]] = {}
    for client in everybody:
        for span in spans(client):
            by_partition.setdefault(span.partition, []).append(span)
    found = []
    for owned in by_partition.values():
        at, last = window[0], NOBODY
        for span in sorted(owned, key=lambda span: span.since_ms):
            found.append(Gap(at, min(span.since_ms, window[1]) - at, last, span.owner))
            if span.until_ms > at:
                at, last = min(span.until_ms, window[1]), span.owner
        found.append(Gap(at, window[1] - at, last, NOBODY))
    return [gap for gap in found if gap.for_ms > 0]


def long_gaps(found: Sequence[Gap], since_ms: float) -> list[str]:
    """The long ones, with how many partitions went the same way together."""
    ways: dict[tuple[float, str, str], list[float]] = {}
    for gap in found:
        if gap.for_ms > LATE_MS:
            ways.setdefault((round((gap.at_ms - since_ms) / 1000, 1), gap.left_by, gap.taken_by), []).append(gap.for_ms)
    return [
        f"{at} s: {len(times)} from {left_by} to {taken_by}, idle for {max(times) / 1000:.1f} s"
        for (at, left_by, taken_by), times in sorted(ways.items())
    ]


def _first_record_s(client: Subscriber) -> float:
    assert client.subscribed_at_ms is not None
    first: float = next(event["at_ms"] for event in client.events if event["event"] == "records")
    return (first - client.subscribed_at_ms) / 1000


def medians(runs: list[Figures]) -> Figures:
    said: dict[str, Any] = {}
    for field in msgspec.structs.fields(Figures):
        values = [getattr(run, field.name) for run in runs if getattr(run, field.name) is not None]
        said[field.name] = statistics.median(values) if values else None
    for worst in ("lost", "duplicated", "overlapping"):
        said[worst] = max(getattr(run, worst) for run in runs)
    return Figures(**said)
