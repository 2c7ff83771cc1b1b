"""A legacy client by hand: each verb is one request, and what it returns is the answer. It does nothing by itself.

For stories that follow a text request by request, for requests that no library of ours would send, and for bytes that
are wrong in an interesting way. The world knows it like any other client, so the invariants hold for it too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from simulation.embedded import partitions_of, subscription
from simulation.errors import Error
from simulation.invariants import TopicAndNumber
from simulation.network import Connection
from simulation.story import Story
from simulation.world import GROUP
from translation import actions as do
from translation import events as ev
from translation.group_heartbeat import TopicPartition

REBALANCE_TIMEOUT_MS = 60_000
# By hand one is slow: no session ends unless the story is about that.
SESSION_TIMEOUT_MS = 300_000


class ByHand:
    def __init__(self, story: Story, name: str, at: str = "proxy", **contract: Any) -> None:
        self.story, self.world, self.name, self.contract = story, story.world, name, contract
        self.member_id, self.generation = "", -1
        self.partitions: frozenset[TopicAndNumber] = frozenset()
        self.alive = True
        self.world.legacy[name] = self  # type: ignore[assignment]
        self.world.homes[name] = at
        self.takes_a_new_socket()

    @property
    def stands(self) -> bool:
        group = self.world.coordinator.groups.get(GROUP)
        return self.alive and group is not None and self.member_id in group.members

    # ----------------------------------------------------------------------------------------------------------- verbs

    def joins(self, owned: Iterable[int] = (), **more: Any) -> do.AnswerJoin:
        """Waits for the answer, and goes by what it says."""
        answer: do.AnswerJoin = self.hears(self.asks_to_join(owned, **more))
        if answer.error_code in (Error.NONE, Error.MEMBER_ID_REQUIRED):
            self.member_id, self.generation = answer.member_id, answer.generation
        return answer

    def asks_to_join(self, owned: Iterable[int] = (), **more: Any) -> list[Any]:
        """What it still owns it says; all else it has let go of before."""
        claims = frozenset(("foo", number) for number in owned)
        self._let_go(self.partitions - claims)
        fields = self._contract() | self.contract | more
        version = fields.pop("embedded_version", 3)
        topics = fields.pop("topics", ("foo",))
        metadata = fields.pop("metadata", None) or subscription(topics, claims, self.generation, version)
        names = fields.pop("assignors", ("range",))
        return self.sends(ev.JoinRequested(protocols=tuple(ev.Protocol(each, metadata) for each in names), **fields))

    def syncs(self, **more: Any) -> do.AnswerSync:
        fields = {"request": 0, "generation": self.generation} | more
        answer: do.AnswerSync = self.hears(self.sends(ev.SyncRequested(**fields)))
        if answer.error_code == Error.NONE:
            self._take(partitions_of(answer.assignment) - self.partitions)
        return answer

    def beats(self, **more: Any) -> Error:
        return Error(self.hears(self.asks_to_beat(**more)).error_code)

    def asks_to_beat(self, **more: Any) -> list[Any]:
        return self.sends(ev.HeartbeatRequested(**({"request": 0, "generation": self.generation} | more)))

    def commits(self, *numbers: int, offset: int = 1, **more: Any) -> Error:
        topic_id = self.world.topics.ids["foo"]
        offsets = {TopicPartition(topic_id, number): offset for number in numbers}
        fields: dict[str, Any] = {
            "request": 0,
            "generation": self.generation,
            "partitions": tuple(("foo", n) for n in numbers),
        }
        return Error(self.hears(self.sends(ev.CommitRequested(**(fields | more)), offsets)).error_code or 0)

    def leaves(self, **more: Any) -> Error:
        self._let_go(self.partitions)
        error = Error(self.hears(self.sends(ev.LeaveRequested(**({"request": 0} | more)))).error_code)
        self.alive = bool(error)
        return error

    def enters(self) -> ByHand:
        """The whole way in: twice JoinGroup if the version asks for it, then SyncGroup."""
        while self.joins().error_code == Error.MEMBER_ID_REQUIRED:
            pass
        assert self.syncs().error_code == Error.NONE
        return self

    def goes_along(self) -> ByHand:
        """Beats, and joins again when told to, until everybody owns what it shall."""
        for _ in range(100):
            if not self.world.converged():
                return self
            if self.beats() is Error.REBALANCE_IN_PROGRESS:
                self.joins()
                self.syncs()
            self.story.passes(500)
        raise AssertionError(self.world.converged())

    def is_over(self) -> None:
        """The process ends without a word."""
        self._let_go(self.partitions)
        self.alive = False

    def owns(self, *numbers: int) -> ByHand:
        assert self.partitions == {("foo", number) for number in numbers}
        return self

    # --------------------------------------------------------------------------------------------------------- sockets

    def takes_a_new_socket(self) -> None:
        world = self.world
        self._connection = Connection(world.clock, world.chance, world.upstream.weather, lambda: None)

    def loses_its_sockets(self) -> None:
        self._connection.cut()
        self.takes_a_new_socket()

    def moves_to(self, proxy: str) -> None:
        self.world.homes[self.name] = proxy
        self.loses_its_sockets()

    def sends(self, event: ev.ClientEvent, offsets: dict[TopicPartition, int] | None = None) -> list[Any]:
        """Sent on the socket of the day; the answer will be in the list."""
        answers: list[Any] = []
        connection, proxy = self._connection, self.world.proxies[self.world.homes[self.name]]
        key = (GROUP, event.member_id if isinstance(event, ev.JoinRequested) else self.member_id)
        connection.send(lambda: proxy.receive(connection, key, event, answers.append, offsets))
        return answers

    def hears(self, answers: list[Any]) -> Any:
        self.story.until(lambda: bool(answers), f"{self.name} is answered")
        return answers[0]

    # ------------------------------------------------------------------------------------------------------ partitions

    def _contract(self) -> dict[str, Any]:
        return {
            "request": 0,
            "version": 5,
            "member_id": self.member_id,
            "session_timeout_ms": SESSION_TIMEOUT_MS,
            "rebalance_timeout_ms": REBALANCE_TIMEOUT_MS,
            "client_id": self.name,
        }

    def _take(self, gained: frozenset[TopicAndNumber]) -> None:
        self.world.ledger.takes(self, gained, self.world.now)
        self.partitions |= gained

    def _let_go(self, lost: frozenset[TopicAndNumber]) -> None:
        self.world.ledger.lets_go(self, lost, self.world.now)
        self.partitions -= lost
