"""One coordinator, one clock, one topic `foo` of six partitions, room for three members."""

from __future__ import annotations

from typing import Protocol

import pytest

from simulation.brokers import LINES, V4_4, BrokerLine, GroupSettings
from simulation.coordinator import Coordinator
from simulation.description import GroupDescription
from simulation.errors import Error
from simulation.offsets import Commit
from simulation.topics import Topics
from tests.simulation.native import GROUP, Clock, Native
from translation.group_heartbeat import GroupHeartbeat, GroupHeartbeatAnswer, TopicPartition

ROOM = 3


class AnyCoordinator(Protocol):
    """Ours, or a real broker behind the same four doors (tests/simulation/real)."""

    @property
    def topics(self) -> Topics: ...
    def heartbeat(self, request: GroupHeartbeat, now: int) -> GroupHeartbeatAnswer: ...
    def commit(self, commit: Commit) -> Error: ...
    def describe(self, group_id: str) -> GroupDescription: ...
    def committed(self, group_id: str) -> dict[TopicPartition, int]: ...
    def expire(self, now: int) -> None: ...


class Bench:
    def __init__(self, coordinator: AnyCoordinator, line: BrokerLine = V4_4) -> None:
        self.coordinator, self.line = coordinator, line
        self.first_epoch = line.epoch_before_anyone + 1
        self.clock = Clock()
        self.topics = coordinator.topics

    def member(self, member_id: str, instance_id: str | None = None, *topics: str) -> Native:
        return Native(self.coordinator, self.clock, member_id, instance_id, *topics)

    def members(self, *ids: str) -> list[Native]:
        return [self.member(each) for each in ids]

    def passes(self, ms: int) -> None:
        self.clock.now += ms
        self.coordinator.expire(self.clock.now)

    def stand(self) -> tuple[str, int, int]:
        group = self.coordinator.describe(GROUP)
        return group.state.value, group.epoch, group.assignment_epoch

    def settle(self, *members: Native) -> None:
        """Everybody beats and acknowledges until nothing moves."""
        for _ in range(6):
            self.passes(1_000)
            for member in members:
                member.beats().acknowledges()
            if self.stand()[0] == "Stable":
                return
        raise AssertionError(f"does not settle: {self.coordinator.describe(GROUP)}")


@pytest.fixture
def bench() -> Bench:
    return Bench(Coordinator(Topics(foo=6), V4_4, GroupSettings(max_size=ROOM)))


@pytest.fixture(params=LINES)
def any_bench(request: pytest.FixtureRequest) -> Bench:
    """Of every line in turn."""
    line = LINES[request.param]
    return Bench(Coordinator(Topics(foo=6), line, GroupSettings(max_size=ROOM)), line)
