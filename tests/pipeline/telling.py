"""What the tests say to the pipeline: stories of the simulation, and steps planted by hand."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import DataFrame, SparkSession

from bench.pipeline.writer import BEGAN_NS, lines, span, transition_span
from pipeline import spans as parse
from pipeline.life import at_home, lives
from simulation.story import Story
from translation.group_heartbeat import TopicPartition
from translation.states import Phase, Standing
from translation.transition import Transition

NAMES = {"t": "t"}
JAVA: dict[str, Any] = {
    "client_software": "apache-kafka-java",
    "client_software_version": "3.9.1",
}
HOST = "10.0.0.1"


def watched(**topics: Any) -> tuple[Story, list[Transition]]:
    """A story, and the transitions that its proxy will have told."""
    story, seen = Story(**topics), list[Transition]()
    story.world.proxies["proxy"].on_transition = seen.append
    return story, seen


def spans_of(story: Story, seen: list[Transition], group_id: str) -> list[dict[str, Any]]:
    names = story.world.topics.names
    told = [msgspec.structs.replace(each, group_id=group_id) for each in seen]
    return [
        transition_span(each, names, number, identity=group_id, **java(each.member_id))
        for number, each in enumerate(told)
    ]


def java(member_id: str) -> dict[str, Any]:
    """A connection of its own for each member: as the proxy says it, with the client's port."""
    return {**JAVA, "client_address": f"{HOST}:{40_000 + zlib.crc32(member_id.encode()) % 20_000}"}


class Planted:
    """A member by hand: each verb is one transition, at a time in milliseconds. Nothing keeps it from lying."""

    def __init__(self, group_id: str, member_id: str, proxy: str = "proxy-1", client_id: str = "app") -> None:
        self.group_id, self.member_id, self.proxy, self.client_id = group_id, member_id, proxy, client_id
        self.phase, self.standing, self.epoch, self.generation = Phase.ABSENT, Standing.ABSENT, 0, -1
        self.owned: tuple[int, ...] = ()
        self.assigned: tuple[int, ...] = ()
        self.seen: list[Transition] = []
        self.spans: list[dict[str, Any]] = []

    def steps(self, at: int, cause: str = "planted", skew_ms: int = 0, **to: Any) -> Planted:
        before = dict(vars(self))
        for name, value in to.items():
            setattr(self, name, value)
        self.spans.append(self._span(at, cause, skew_ms, before))
        return self

    def joins(self, at: int, *owned: int, epoch: int = 1) -> Planted:
        self.steps(at, "JoinRequested", phase=Phase.COMPLETING_REBALANCE, standing=Standing.JOINING)
        self.steps(at + 1, standing=Standing.STABLE, epoch=epoch, generation=epoch, assigned=owned)
        return self.steps(at + 2, "SyncRequested", phase=Phase.STABLE, owned=owned)

    def waits(self, at: int) -> Planted:
        return self.steps(at, phase=Phase.PREPARE_REBALANCE, standing=Standing.RECONCILING)

    def adopted(self, at: int, *owned: int, epoch: int = 3) -> Planted:
        """Without a journal: what its client was told is not known."""
        there: dict[str, Any] = {"phase": Phase.PREPARE_REBALANCE, "standing": Standing.STABLE, "epoch": epoch}
        return self.steps(at, "MemberAdopted", **there, owned=owned, assigned=owned)

    def joins_again(self, at: int) -> Planted:
        self.steps(at, "JoinRequested", phase=Phase.COMPLETING_REBALANCE, generation=self.epoch)
        return self.steps(at + 1, "SyncRequested", phase=Phase.STABLE, standing=Standing.STABLE)

    def leaves(self, at: int, cause: str = "LeaveRequested") -> Planted:
        return self.steps(at, cause, phase=Phase.ABSENT, standing=Standing.ABSENT, generation=-1, owned=(), assigned=())

    def commits(self, at: int, *partitions: int, error_code: int = 0, topic: str = "t") -> Planted:
        ns = BEGAN_NS + at * 1_000_000
        said = {
            "group_id": self.group_id,
            "member_id": self.member_id,
            "error_code": error_code,
            "partitions": [f"{topic}:{number}" for number in partitions],
        }
        self.spans.append(span("OffsetCommit", ns, ns + 1_000_000, f"{self.member_id} commits {at}", said))
        return self

    def _span(self, at: int, cause: str, skew_ms: int, before: dict[str, Any]) -> dict[str, Any]:
        transition = Transition(
            group_id=self.group_id,
            member_id=self.member_id,
            instance_id=None,
            client_id=self.client_id,
            at=at,
            cause=cause,
            phase_before=before["phase"],
            phase=self.phase,
            standing_before=before["standing"],
            standing=self.standing,
            epoch_before=before["epoch"],
            epoch=self.epoch,
            generation_before=before["generation"],
            generation=self.generation,
            owned=_partitions(self.owned),
            assigned=_partitions(self.assigned),
        )
        self.seen.append(transition)
        began_ns = BEGAN_NS + skew_ms * 1_000_000
        identity = f"{self.group_id}/{self.member_id}"
        client = java(self.member_id)
        return transition_span(transition, NAMES, len(self.spans), began_ns, self.proxy, identity=identity, **client)


def _partitions(numbers: tuple[int, ...]) -> tuple[TopicPartition, ...]:
    return tuple(TopicPartition("t", number) for number in numbers)


def write(file: Path, spans: list[dict[str, Any]], proxy: str = "proxy-1") -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines(spans, proxy, per_request=20)))
    return file


@contextmanager
def home_of(spark: SparkSession, *members: Planted) -> Iterator[DataFrame]:
    """Their steps, as tables are made of them. Kept, for tables read them several times."""
    told = [(line, "here") for member in members for line in lines(member.spans, member.proxy)]
    read = spark.createDataFrame(told, "value string, origin string").transform(parse.spans)
    rows = read.transform(parse.transitions).transform(lives).transform(at_home).persist()
    try:
        yield rows
    finally:
        rows.unpersist()
