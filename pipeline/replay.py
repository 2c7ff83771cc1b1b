"""What would the same comings and goings have cost elsewhere? They are played again, with clients of the simulation.

Twice: once before the broker's own translation (in_broker.py), and once before a proxy. The first is the answer; the
second is how far such an answer can be believed, for what really happened through the proxy has been measured.

How the rhythms of members lie to each other is chance, and matters: each is played several times, and the mean is told.

What is known of a deploy: when each member came and went, whether it is eager or cooperative, its instance id, and all
partitions that anybody was told. What is not, and is taken to be: every member subscribes to all these topics, beats
every 3 s, and lets go of partitions within 10 ms; whoever died is missed at the moment when the proxy missed it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple, cast

from pipeline.in_broker import Felt, InBroker
from simulation.host import Proxy
from simulation.invariants import Broken
from simulation.legacy import LegacyClient, LegacyStyle
from simulation.topics import Topics
from simulation.world import GROUP, World
from translation.group_heartbeat import TopicPartition
from translation.states import Phase
from translation.transition import Transition

# How long a deploy is felt after its last move: as cost.py counts it.
AFTERMATH_MS = 120_000
SETTLES_WITHIN_MS = 120_000
TIMES = 3
# Members, each for its seconds and for its partitions: all that there are, for while a group moves everybody looks at all of
# it. One is some 30 µs of work, each time. More is not played, and has no answer.
MOST_WORK = 50_000
BEAT_MS = 3_000
NEVER_MS = 10**9
TAKEN_OVER = "InstanceTaken"
LEFT = "LeaveRequested"


class Move(NamedTuple):
    """A member comes or goes. Those that were there before the traces begin came in deploy 0. `again`: to be played."""

    deploy: int
    at_ns: int
    member_id: str
    instance_id: str | None
    cooperative: bool
    comes: bool
    cause: str
    again: bool


class Bill(NamedTuple):
    rebalances: float
    revoked: float
    in_vain: float
    unowned_partition_ns: int


class Scene(NamedTuple):
    """A deploy that is to be played again. It knows all it takes, so that each may be played elsewhere."""

    deploy: int
    # How many partitions each topic has.
    topics: dict[str, int]
    # Who was there when it began, in the order in which they had come.
    there: list[Move]
    script: list[Move]


def scenes(partitions: Iterable[str], moves: Iterable[Move]) -> Iterator[Scene]:
    """Of one group. Partitions are `topic:number`."""
    topics, there = _topics(partitions), dict[str, Move]()
    in_order = sorted(moves, key=lambda move: (move.deploy, move.at_ns, move.member_id, move.comes))
    for deploy, of_deploy in groupby(in_order, lambda move: move.deploy):
        scene = Scene(deploy, topics, list(there.values()), list(of_deploy))
        if scene.script[0].again and topics and _is_affordable(scene):
            yield scene
        for move in scene.script:
            if move.comes:
                there[move.member_id] = move
            else:
                there.pop(move.member_id, None)


def bill(scene: Scene, in_broker: bool) -> Bill | None:
    """None: once it did not come to rest, or clients were brought to do what they must not."""
    try:
        felt = [Stage(scene.topics, in_broker, seed).plays(scene.there, scene.script) for seed in range(TIMES)]
    except Broken:
        return None
    rebalances, revoked, in_vain, unowned = (sum(column) / TIMES for column in zip(*felt, strict=True))
    return Bill(rebalances, revoked, in_vain, round(unowned))


class Stage:
    """A group of simulated clients, before the broker itself or a proxy."""

    def __init__(self, topics: Mapping[str, int], in_broker: bool, seed: int) -> None:
        self.world = World(Topics(**topics), seed)
        self._broker = InBroker(self.world.clock, self.world.coordinator, GROUP) if in_broker else None
        self._watch = Watch()
        if self._broker is not None:
            # All that a client's sockets know of a proxy, it has.
            self.world.proxies["proxy"] = cast(Proxy, self._broker)
        else:
            self.world.proxies["proxy"].on_transition = self._watch
        self._idle_before_ms = 0

    def plays(self, there: list[Move], script: list[Move]) -> Bill:
        for resident in there:
            self.comes(resident)
            self.world.run(self.world.chance.randint(0, BEAT_MS))
        if there:
            self.world.settles(SETTLES_WITHIN_MS)
        self._begins()
        for before, move in zip([script[0], *script], script, strict=False):
            self.world.run((move.at_ns - before.at_ns) // 1_000_000)
            self.comes(move) if move.comes else self.goes(move)
        self.world.run(AFTERMATH_MS)
        return self._bill()

    def _begins(self) -> None:
        self.felt.rebalances = self.felt.revoked = self.felt.in_vain = 0
        self._idle_before_ms = self.world.ledger.idle_ms

    @property
    def felt(self) -> Felt:
        return self._watch.felt if self._broker is None else self._broker.felt

    def comes(self, move: Move) -> None:
        """Who is adopted by another proxy is there already: nobody else notices."""
        client = self.world.legacy.get(move.member_id)
        if client is not None and client.alive:
            return
        style = LegacyStyle(
            cooperative=move.cooperative,
            instance_id=move.instance_id,
            topics=tuple(self.world.topics.ids),
            commit_ms=NEVER_MS,
        )
        self.world.client(move.member_id, style).starts()

    def goes(self, move: Move) -> None:
        client = self.world.legacy.get(move.member_id)
        if client is None or not client.alive:
            return
        if move.cause == LEFT and move.instance_id is None:
            client.stops()
        else:
            client.vanishes()
            if move.cause != TAKEN_OVER:
                self._is_missed(client)

    def _is_missed(self, client: LegacyClient) -> None:
        if self._broker is not None:
            self._broker.fence(client.member_id)
        elif client.member_id in self.world.group.members:
            self.world.group.remove([self.world.group.members[client.member_id]])

    def _bill(self) -> Bill:
        idle_ms = self.world.ledger.idle_ms - self._idle_before_ms
        return Bill(self.felt.rebalances, self.felt.revoked, self.felt.in_vain, idle_ms * 1_000_000)


class Watch:
    """Counts at a simulated proxy what rebalances.py counts in the traces of a real one."""

    def __init__(self) -> None:
        self.felt = Felt()
        self._owned: dict[str, frozenset[TopicPartition]] = {}
        self._had: dict[str, frozenset[TopicPartition]] = {}
        self._rejoined = set[str]()

    def __call__(self, seen: Transition) -> None:
        member_id, owned = seen.member_id, frozenset(seen.owned)
        if seen.phase_before is Phase.COMPLETING_REBALANCE:
            self._rejoined.add(member_id)
        if seen.phase_before is Phase.STABLE and seen.phase in (Phase.PREPARE_REBALANCE, Phase.COMPLETING_REBALANCE):
            self._had[member_id] = self._owned.get(member_id, frozenset())
            self._rejoined.discard(member_id)
        elif seen.phase is Phase.STABLE:
            self._ends(member_id, owned)
        self._owned[member_id] = owned

    def _ends(self, member_id: str, owned: frozenset[TopicPartition]) -> None:
        had = self._had.pop(member_id, None)
        if had is None or member_id not in self._rejoined:
            return
        self.felt.rebalances += 1
        self.felt.revoked += len(had - owned)
        self.felt.in_vain += had == owned


def _topics(partitions: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for each in sorted(partitions):
        topic, _, number = each.rpartition(":")
        counts[topic] = max(counts.get(topic, 0), int(number) + 1)
    return counts


def _is_affordable(scene: Scene) -> bool:
    seconds = (scene.script[-1].at_ns - scene.script[0].at_ns) / 1e9 + 2 * AFTERMATH_MS / 1000
    members = len(scene.there) + sum(move.comes for move in scene.script)
    return members * (seconds + sum(scene.topics.values())) <= MOST_WORK
