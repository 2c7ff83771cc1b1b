"""Stories: a group told in verbs. People join, own, vanish; the coordinator moves; the proxy restarts.

    story = Story(foo=3)
    alice = story.legacy("alice").joins().syncs().owns(0, 1, 2)
    bob = story.legacy("bob").joins()
    story.settles()
    bob.vanishes()

Every verb runs the world until what it says has happened (or fails saying that it did not), and the invariants are
checked all the while. The network is quick and even, unless the story says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

import msgspec

from simulation.brokers import V4_4, BrokerLine, GroupSettings
from simulation.errors import Error
from simulation.invariants import TopicAndNumber
from simulation.legacy import LegacyClient, LegacyStyle
from simulation.native import NativeMember, NativeStyle
from simulation.network import Weather
from simulation.plans import Move
from simulation.playing import calm_down, happen
from simulation.topics import Topics
from simulation.world import GROUP, World
from translation.rules import Pacing, Rules

PATIENCE_MS = 120_000
Who = TypeVar("Who", LegacyClient, NativeMember)


class Character(Generic[Who]):
    """What legacy and native people have in common."""

    def __init__(self, story: Story, who: Who) -> None:
        self.story = story
        self.who: Who = who

    def owns(self, *partitions: int, topic: str = "foo") -> Any:
        """Now, without any waiting."""
        owned = sorted(number for name, number in self.who.partitions if name == topic)
        assert owned == sorted(partitions), f"{self.who.name} owns {owned}, not {sorted(partitions)}"
        return self

    def comes_to_own(self, *partitions: int, topic: str = "foo", within_ms: int = PATIENCE_MS) -> Any:
        wanted = {(topic, number) for number in partitions}
        self.story.until(lambda: self.who.partitions == wanted, f"{self.who.name} owns {sorted(wanted)}", within_ms)
        return self

    def leaves(self) -> Any:
        self.who.stops()
        self.story.until(lambda: not self.who.alive and not self.who.stands, f"{self.who.name} has left")
        self.story.passes(10)
        return self

    def vanishes(self) -> Any:
        self.who.vanishes()
        return self

    def is_a_member(self) -> Any:
        assert self.who.stands, f"{self.who.name} is no member"
        return self

    def is_no_member(self) -> Any:
        group = self.story.world.group
        assert self.who.member_id not in group.members, f"{self.who.name} is a member"
        return self

    def is_at_epoch(self, epoch: int) -> Any:
        member = self.story.world.group.members[self.who.member_id]
        assert member.epoch == epoch, f"{self.who.name} is at epoch {member.epoch}, not {epoch}"
        return self

    def reaches_epoch(self, epoch: int) -> Any:
        members = self.story.world.group.members
        self.story.until(lambda: members[self.who.member_id].epoch == epoch, f"{self.who.name} is at epoch {epoch}")
        return self


class Legacy(Character[LegacyClient]):
    def joins(self) -> Legacy:
        """Until JoinGroup is answered with a generation."""
        self.who.starts()
        self.story.until(lambda: self.who.generation >= 0, f"{self.who.name} has joined")
        return self

    def asks_to_join(self) -> Legacy:
        """Sent, and no more than that."""
        self.who.starts()
        return self

    def syncs(self) -> Legacy:
        self.story.until(lambda: self.who.stable, f"{self.who.name} has synced")
        return self

    def hears_of_a_rebalance(self) -> Legacy:
        self.story.until(lambda: not self.who.stable, f"{self.who.name} hears of a rebalance")
        return self

    def rejoins(self) -> Legacy:
        """Because its application wants it (enforceRebalance)."""
        self.who.rejoins()
        return self.hears_of_a_rebalance()

    def commits(self) -> Legacy:
        self.who.commits()
        return self

    def revokes_within(self, ms: int) -> Legacy:
        self.who.revokes_within(ms)
        return self

    def subscribes(self, *topics: str) -> Legacy:
        self.who.subscribes(*topics)
        return self

    def may_not_read(self, ms: int) -> Legacy:
        """The group: its principal's right is withdrawn, and given back."""
        self.story.world.right_is_withdrawn(self.who.name, ms)
        return self

    def loses_its_sockets(self) -> Legacy:
        self.who.loses_its_sockets()
        return self

    def moves_to(self, proxy: str) -> Legacy:
        self.story.world.moves_to(self.who.name, proxy)
        return self

    def is_told_generation(self, generation: int) -> Legacy:
        assert self.who.generation == generation, f"{self.who.name} was told {self.who.generation}, not {generation}"
        return self

    def has_joined_times(self, joins: int) -> Legacy:
        """JoinGroups sent since it was started, the one for its member id included."""
        assert self.who.joins == joins, f"{self.who.name} has sent {self.who.joins} JoinGroups, not {joins}"
        return self

    def was_refused(self, *refusals: tuple[str, Error]) -> Legacy:
        assert self.who.refusals == list(refusals), f"{self.who.name} was refused {self.who.refusals}"
        return self


class Native(Character[NativeMember]):
    def joins(self) -> Native:
        """Until its first answer: an epoch, and what is free."""
        self.who.starts()
        self.story.until(lambda: self.who.epoch > 0, f"{self.who.name} has joined")
        return self

    def beats(self) -> Native:
        """Its next heartbeat has been answered."""
        now = self.story.world.now
        self.story.until(lambda: self.who.heard_at > now, f"{self.who.name} has beaten")
        return self


class Story:
    def __init__(
        self,
        line: BrokerLine = V4_4,
        rules: Rules | None = None,
        pacing: Pacing | None = None,
        weather: Weather | None = None,
        settings: GroupSettings | None = None,
        seed: int = 0,
        **topics: int,
    ) -> None:
        self.world = World(Topics(**topics), seed, line, settings, rules, pacing, weather)

    # ----------------------------------------------------------------------------------------------------------- people

    def legacy(self, name: str, at: str = "proxy", **style: Any) -> Legacy:
        return Legacy(self, self.world.client(name, LegacyStyle(**style), at))

    def native(self, name: str, through: str | None = None, **style: Any) -> Native:
        return Native(self, self.world.native(name, NativeStyle(**style), through))

    def another_proxy(self, name: str) -> None:
        self.world.proxy(name)

    # ----------------------------------------------------------------------------------------------------------- events

    def passes(self, ms: int) -> Story:
        self.world.run(ms)
        return self

    def until(self, so: Callable[[], bool], what: str, within_ms: int = PATIENCE_MS) -> Story:
        assert self.world.run_until(so, within_ms), f"not within {within_ms} ms: {what}"
        return self

    def settles(self, within_ms: int = PATIENCE_MS) -> int:
        """Until everybody owns exactly its target at the group epoch. Returns how long that took."""
        self.world.run(10)
        return self.world.settles(within_ms)

    def coordinator_moves(self, gap_ms: int = 1_000, error: Error = Error.NOT_COORDINATOR) -> Story:
        self.world.coordinator_moves(gap_ms, error)
        return self.passes(gap_ms)

    def upstream_is_cut(self, ms: int) -> Story:
        self.world.upstream_is_cut(ms)
        return self.passes(ms)

    def proxy_restarts(self, name: str = "proxy", with_journal: bool = True, gap_ms: int = 500) -> Story:
        self.world.proxy_restarts(name, with_journal, gap_ms)
        return self.passes(gap_ms)

    def proxy_stands_still(self, ms: int, name: str = "proxy") -> Story:
        self.world.proxy_stands_still(name, ms)
        return self.passes(ms)

    def topic_is_created(self, name: str, count: int) -> Story:
        self.world.topics.create(name, count)
        return self

    def topic_grows(self, name: str, count: int) -> Story:
        self.world.topics.grow(name, count)
        return self

    def topic_is_deleted(self, name: str) -> Story:
        self.world.topics.delete(name)
        return self

    def weather_is(self, **weather: Any) -> Story:
        self.world.upstream.weather = msgspec.structs.replace(self.world.upstream.weather, **weather)
        return self

    def begins_at_epoch(self, epoch: int) -> Story:
        """The next epoch of the group is one more than this: case studies have numbers of their own."""
        group = self.world.group
        group.epoch = group.assignment_epoch = epoch
        return self

    # ------------------------------------------------------------------------------------------------------- what is so

    def group_is(self, state: str, epoch: int) -> Story:
        described = self.world.coordinator.describe(GROUP)
        assert (described.state.value, described.epoch) == (state, epoch), described
        return self

    def shares(self) -> dict[str, frozenset[TopicAndNumber]]:
        """Who owns what, of those who are there."""
        return {owner.name: owner.partitions for owner in self.world.owners}

    # ------------------------------------------------------------------------------------------- printed by a campaign

    def happens(self, verb: str, who: str = "", amount: int = 0) -> Story:
        happen(self.world, Move(self.world.now, verb, who, amount))
        return self

    def calms_down(self) -> None:
        calm_down(self.world)
