"""Connections between clients and proxies, and the way upstream to the coordinator.

A connection keeps the order in both directions; nothing on it is lost unless it is cut, and then everything under way
is. Answers leave in the order of the requests, whoever makes them and whenever: that is Kafka's rule, and what makes a
held Heartbeat delicate. Upstream, a request or its answer can be lost: then it is not known whether it was heard.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec

from simulation.clock import Act, Clock
from simulation.coordinator import Coordinator
from simulation.description import GroupDescription
from simulation.errors import Error
from simulation.group import GroupState
from simulation.offsets import Commit
from translation.group_heartbeat import GroupHeartbeat, GroupHeartbeatAnswer, TopicPartition


class Weather(msgspec.Struct, frozen=True, kw_only=True):
    """What the network is like. Times are in ms, chances per message."""

    client_delay_ms: tuple[int, int] = (1, 1)
    upstream_delay_ms: tuple[int, int] = (1, 1)
    request_loss: float = 0.0
    answer_loss: float = 0.0
    loss_noticed_ms: int = 400


class _Slot:
    """A request's place in the order of answers."""

    def __init__(self, reply: Callable[[Any], None]) -> None:
        self.reply = reply
        self.answered = False
        self.answer: Any = None


class Connection:
    def __init__(self, clock: Clock, chance: Random, weather: Weather, on_cut: Act) -> None:
        self.open = True
        # The member whose Heartbeat was last held on this connection.
        self.holder: tuple[str, str] | None = None
        # The id that was last given out on it.
        self.issued: tuple[str, str] | None = None
        self._clock, self._chance, self._delay = clock, chance, weather.client_delay_ms
        self._on_cut = on_cut
        self.on_closed: Act = lambda: None
        self._up_at = self._down_at = 0
        self._slots: deque[_Slot] = deque()
        self._by_number: dict[int, _Slot] = {}

    def send(self, arrive: Callable[[], None]) -> None:
        self._up_at = max(self._up_at, self._clock.now + self._chance.randint(*self._delay))
        self._clock.at(self._up_at, lambda: arrive() if self.open else None)

    def expect(self, number: int, reply: Callable[[Any], None]) -> None:
        slot = self._by_number[number] = _Slot(reply)
        self._slots.append(slot)

    def answer(self, number: int, answer: Any) -> None:
        slot = self._by_number.pop(number)
        slot.answered, slot.answer = True, answer
        while self._slots and self._slots[0].answered:
            self._deliver(self._slots.popleft())

    def cut(self) -> None:
        """Both ends notice; what was under way is lost."""
        if self.open:
            self._clock.after(1, self._on_cut)
            self.hang_up()

    def hang_up(self) -> None:
        """The client's own doing: it does not hear of it, but the proxy does."""
        if self.open:
            self.open = False
            self._clock.after(1, self.on_closed)

    def _deliver(self, slot: _Slot) -> None:
        self._down_at = max(self._down_at, self._clock.now + self._chance.randint(*self._delay))
        self._clock.at(self._down_at, lambda: slot.reply(slot.answer) if self.open else None)


class _Lane:
    """What keeps its order on the way: nothing arrives before what went ahead of it."""

    def __init__(self) -> None:
        self.up_at = self.down_at = 0


class Upstream:
    """The way to the coordinator, the same for proxies and direct native members."""

    def __init__(self, clock: Clock, chance: Random, weather: Weather, coordinator: Coordinator) -> None:
        self.coordinator = coordinator
        self.requests = 0
        self.cut_until = 0
        self.away: Error | None = None
        self._moved_at = -1
        # Who may not read the group, by client id, and until when.
        self.withdrawn: dict[str, int] = {}
        self.weather = weather
        self.on_commit: Callable[[Commit, dict[TopicPartition, int]], None] = lambda commit, before: None
        self._clock, self._chance = clock, chance
        self._lanes: dict[str, _Lane] = {}

    def moves(self, error: Error) -> None:
        """Nobody is the coordinator. What it has written and has yet to say so of is refused, though its successor has it."""
        self.away, self._moved_at = error, self._clock.now

    def may_read(self, client_id: str) -> bool:
        return self._clock.now >= self.withdrawn.get(client_id, 0)

    def heartbeat(
        self,
        request: GroupHeartbeat,
        client_id: str,
        client_host: str,
        answered: Callable[[GroupHeartbeatAnswer], None],
        lost: Act,
    ) -> None:
        def heard() -> GroupHeartbeatAnswer:
            if self.away is not None:
                return GroupHeartbeatAnswer(error_code=self.away)
            if not self.may_read(client_id):
                return GroupHeartbeatAnswer(error_code=Error.GROUP_AUTHORIZATION_FAILED)
            return self.coordinator.heartbeat(request, self._clock.now, client_id, client_host)

        def untold(answer: GroupHeartbeatAnswer) -> GroupHeartbeatAnswer:
            return answer if answer.error_code else GroupHeartbeatAnswer(error_code=Error.NOT_COORDINATOR)

        self._ask(heard, answered, lost, untold=untold)

    def commit(self, commit: Commit, answered: Callable[[Error], None], lost: Act) -> None:
        """A member's commits go over one connection, so in the order they were sent in."""
        lane = self._lanes.setdefault(commit.member_id, _Lane())
        self._ask(lambda: self.commit_now(commit), answered, lost, lane, lambda error: error or Error.NOT_COORDINATOR)

    def commit_now(self, commit: Commit) -> Error:
        if self.away is not None:
            return self.away
        known = self.coordinator.offsets.get(commit.group_id, {})
        before = {partition: known.get(partition, 0) for partition in commit.offsets}
        error = self.coordinator.commit(commit)
        if error is Error.NONE:
            self.on_commit(commit, before)
        return error

    def describe(self, group_id: str, answered: Callable[[GroupDescription], None], lost: Act) -> None:
        def seen() -> GroupDescription:
            if self.away is not None:
                return GroupDescription(group_id, GroupState.DEAD, self.away)
            return self.coordinator.describe(group_id)

        self._ask(seen, answered, lost)

    def names(self, topic_ids: tuple[str, ...], answered: Callable[[dict[str, str | None]], None], lost: Act) -> None:
        """Metadata by topic id: a deleted topic has no name."""
        topics = self.coordinator.topics
        self._ask(
            lambda: {each: topics.names[each] if each in topics.partitions else None for each in topic_ids},
            answered,
            lost,
        )

    def _ask(
        self,
        hear: Callable[[], Any],
        answered: Callable[[Any], None],
        lost: Act,
        lane: _Lane | None = None,
        untold: Callable[[Any], Any] = lambda answer: answer,
    ) -> None:
        """`untold`: what an answer becomes when the coordinator goes before it is told."""
        self.requests += 1
        clock, chance, weather = self._clock, self._chance, self.weather
        lane = lane or _Lane()
        there = lane.up_at = max(lane.up_at, clock.now + chance.randint(*weather.upstream_delay_ms))
        if self._is_cut() or chance.random() < weather.request_loss:
            return clock.after(weather.loss_noticed_ms, lost)

        def arrive() -> None:
            answer, asked_at = hear(), clock.now
            if self._is_cut() or chance.random() < weather.answer_loss:
                clock.after(weather.loss_noticed_ms, lost)
            else:
                lane.down_at = max(lane.down_at, clock.now + chance.randint(*weather.upstream_delay_ms))
                clock.at(lane.down_at, lambda: answered(untold(answer) if self._moved_at >= asked_at else answer))

        return clock.at(there, arrive)

    def _is_cut(self) -> bool:
        return self._clock.now < self.cut_until
