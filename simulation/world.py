"""Everything together: a coordinator, proxies, legacy clients and native members, faults as verbs, and the way back to
peace. Invariants are checked as the facts come to be; `converged` is asked at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from simulation.brokers import V4_4, BrokerLine, GroupSettings
from simulation.clock import Clock
from simulation.coordinator import Coordinator
from simulation.errors import Error
from simulation.group import Group
from simulation.host import Journal, Proxy
from simulation.invariants import Broken, Ledger
from simulation.legacy import LegacyClient, LegacyStyle
from simulation.native import NativeMember, NativeStyle
from simulation.network import Upstream, Weather
from simulation.offsets import Commit
from simulation.topics import Topics
from translation.group_heartbeat import GroupHeartbeat, GroupHeartbeatAnswer, TopicPartition
from translation.rules import Pacing, Rules

GROUP = "g"
# How often the coordinator looks at its deadlines, and a run at whether it is over.
EXPIRY_STEP_MS = 100
SETTLE_STEP_MS = 100
# For as long a proxy that was stopped answers what it was asked before.
DRAIN_MS = 500


class World:
    def __init__(
        self,
        topics: Topics,
        seed: int = 0,
        line: BrokerLine = V4_4,
        settings: GroupSettings | None = None,
        rules: Rules | None = None,
        pacing: Pacing | None = None,
        weather: Weather | None = None,
    ) -> None:
        self.clock = Clock()
        self.chance = Random(seed)
        self.ledger = Ledger()
        self.rules, self.pacing = rules or Rules(), pacing or Pacing()
        self.topics = topics
        self.coordinator = Coordinator(topics, line, settings)
        self.upstream = Upstream(self.clock, self.chance, weather or Weather(), self.coordinator)
        self.upstream.on_commit = self._commit_accepted
        self.proxies: dict[str, Proxy] = {}
        self.legacy: dict[str, LegacyClient] = {}
        self.natives: dict[str, NativeMember] = {}
        self.homes: dict[str, str] = {}
        # From when to when some client had no way to the coordinator.
        self.hindrances: list[tuple[int, int]] = []
        self.proxy("proxy")

    @property
    def now(self) -> int:
        return self.clock.now

    @property
    def group(self) -> Group:
        return self.coordinator.groups[GROUP]

    @property
    def steps(self) -> int:
        return sum(proxy.steps for proxy in self.proxies.values())

    # ------------------------------------------------------------------------------------------------------------ who

    def proxy(self, name: str, journal: Journal | None = None) -> Proxy:
        proxy = Proxy(name, self.clock, self.upstream, self.rules, self.pacing, {} if journal is None else journal)
        self.proxies[name] = proxy
        return proxy

    def client(self, name: str, style: LegacyStyle | None = None, at: str = "proxy") -> LegacyClient:
        self.homes[name] = at
        client = LegacyClient(
            name,
            GROUP,
            self.clock,
            self.chance,
            self.upstream,
            self.ledger,
            style or LegacyStyle(),
            lambda: self._living_proxy(name),
        )
        self.legacy[name] = client
        return client

    def native(self, name: str, style: NativeStyle | None = None, through: str | None = None) -> NativeMember:
        """Direct, or through a proxy that paces it."""

        def paced(request: GroupHeartbeat, answer: GroupHeartbeatAnswer, after_ms: int) -> GroupHeartbeatAnswer:
            proxy = None if through is None else self.proxies[through]
            return answer if proxy is None or proxy.process.is_still else proxy.groups.paced(request, answer, after_ms)

        def put_off(request: GroupHeartbeat) -> int:
            proxy = None if through is None else self.proxies[through]
            return 0 if proxy is None else proxy.groups.put_off(request)

        def is_still() -> bool:
            return through is not None and self.proxies[through].process.is_still

        member = NativeMember(
            name, GROUP, self.clock, self.upstream, self.ledger, style or NativeStyle(), paced, put_off, is_still
        )
        self.natives[name] = member
        return member

    @property
    def owners(self) -> list[LegacyClient | NativeMember]:
        return [owner for owner in self._everybody() if owner.alive]

    def _living_proxy(self, client: str) -> Proxy | None:
        proxy = self.proxies[self.homes[client]]
        return proxy if proxy.serves else None

    # --------------------------------------------------------------------------------------------------- time passes

    def run(self, ms: int) -> None:
        end = self.now + ms
        while self.now < end:
            self._expire()
            self.clock.run(min(end, self.now + EXPIRY_STEP_MS))
        self._expire()

    def run_until(self, so: Callable[[], bool], within_ms: int) -> bool:
        """Whether it came to be so within that time."""
        end = self.now + within_ms
        while not so():
            if self.now >= end:
                return False
            self._expire()
            until = min(end, self.now + EXPIRY_STEP_MS)
            self.clock.run_while(lambda: not so(), until)
        return True

    def _expire(self) -> None:
        if self.upstream.away is None:
            self.coordinator.expire(self.now)

    # ---------------------------------------------------------------------------------------------------------- faults

    def coordinator_moves(self, gap_ms: int, error: Error = Error.NOT_COORDINATOR) -> None:
        """Nobody is the coordinator for a while; then another broker is, with all that was written."""
        self._hinders(gap_ms)
        self.upstream.moves(error)

        def loaded() -> None:
            self.upstream.away = None
            self.coordinator.fail_over(self.now)

        self.clock.after(gap_ms, loaded)

    def right_is_withdrawn(self, client: str, ms: int) -> None:
        """To read the group; and given back."""
        self._hinders(ms)
        self.upstream.withdrawn[client] = self.now + ms

    def upstream_is_cut(self, ms: int) -> None:
        self._hinders(ms)
        self.upstream.cut_until = max(self.upstream.cut_until, self.now + ms)

    def proxy_restarts(self, name: str = "proxy", with_journal: bool = True, gap_ms: int = 500) -> None:
        """Killed, and started again a moment later. Its connections are gone with it."""
        self._hinders(gap_ms)
        old = self.proxies[name]
        old.dies()
        for client in self._clients_of(name):
            client.loses_its_sockets()
        journal = dict(old.journal) if with_journal else {}
        self.clock.after(gap_ms, lambda: self._succeed(name, old, journal))

    def proxy_stops(self, name: str = "proxy", gap_ms: int = 500, leaving: bool = False) -> None:
        """Told to, and started again a moment later. With `leave_on_exit` its members leave while its connections drain."""
        for client in self._clients_of(name) if leaving else ():
            client.is_left_by_its_proxy()
        self._hinders(DRAIN_MS)
        self.proxies[name].stops(leaving)
        self.clock.after(DRAIN_MS, lambda: self.proxy_restarts(name, gap_ms=gap_ms))

    def _clients_of(self, name: str) -> list[LegacyClient]:
        return [client for client in self.legacy.values() if self.homes[client.name] == name]

    def _succeed(self, name: str, old: Proxy, journal: Journal) -> None:
        new = self.proxy(name, journal)
        new.steps, new.rejoins_asked = old.steps, old.rejoins_asked
        new.on_transition = old.on_transition

    def proxy_stands_still(self, name: str, ms: int) -> None:
        """Its sockets stay, and take what is said."""
        self._hinders(ms)
        self.proxies[name].process.stands_still(ms)

    def _hinders(self, ms: int) -> None:
        self.hindrances.append((self.now, self.now + ms))

    def hindered_ms(self, begin: int, end: int) -> int:
        """For how long between the two."""
        total, until = 0, begin
        for at, over in sorted(self.hindrances):
            total += max(0, min(over, end) - max(at, until))
            until = max(until, min(over, end))
        return total

    def moves_to(self, client: str, proxy: str) -> None:
        self.homes[client] = proxy
        self.legacy[client].changes_proxy()

    # ------------------------------------------------------------------------------------------------------------ peace

    def converged(self) -> str:
        """Empty if every member owns exactly its target at the group epoch, and is what it believes to be."""
        group = self.coordinator.groups.get(GROUP)
        if group is None:
            return "" if not self.owners else "no group"
        # Brokers before 4.4 compute no target for an empty group.
        if group.members and group.epoch != group.assignment_epoch:
            return f"group epoch {group.epoch}, target of {group.assignment_epoch}"
        owners = self.owners
        if {owner.member_id for owner in owners} != group.members.keys():
            return f"members {sorted(group.members)}, clients {sorted(owner.member_id for owner in owners)}"
        return next((said for owner in owners if (said := self._short_of_target(group, owner))), "")

    def _short_of_target(self, group: Group, owner: LegacyClient | NativeMember) -> str:
        member = group.members[owner.member_id]
        if not member.reached(group.epoch):
            return f"{owner.name} is {member.holding.state.name} at {member.epoch}, the group at {group.epoch}"
        target = {(self.topics.names[each.topic_id], each.partition) for each in group.target.get(member.member_id, ())}
        if owner.partitions != target:
            return f"{owner.name} owns {sorted(owner.partitions)}, its target is {sorted(target)}"
        return ""

    def settles(self, within_ms: int) -> int:
        """Runs until converged; the time it took. A world that does not come to rest is broken too."""
        began = self.now
        while said := self.converged():
            if self.now - began >= within_ms:
                raise Broken("Converged", f"after {within_ms} ms: {said}")
            self.run(SETTLE_STEP_MS)
        return self.now - began

    def _commit_accepted(self, commit: Commit, before: dict[TopicPartition, int]) -> None:
        owner = next((each for each in self._everybody() if _is_known_as(each, commit.member_id)), None)
        if owner is None:
            raise Broken("HonestGeneration", f"a commit of {commit.member_id}, which is nobody, is accepted")
        names = self.topics.names
        offsets = {(names[each.topic_id], each.partition): offset for each, offset in commit.offsets.items()}
        earlier = {(names[each.topic_id], each.partition): before.get(each, 0) for each in commit.offsets}
        self.ledger.commit_accepted(owner, offsets, earlier)

    def _everybody(self) -> list[LegacyClient | NativeMember]:
        return [*self.legacy.values(), *self.natives.values()]


def _is_known_as(owner: LegacyClient | NativeMember, member_id: str) -> bool:
    return owner.member_id == member_id or (isinstance(owner, LegacyClient) and member_id in owner.former_ids)
