"""What can happen, and what came of it."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, field
from random import Random

import trio

from tests.chaos.sites import Site, Sites
from tests.clients import LIBRARIES, Client, Sasl, Tls, overlaps, shared_out
from tests.kafka import Cluster
from tests.kafka.cluster import NEWEST
from tests.kafka.settings import USERS
from tests.matrix.steady import Steady
from tests.matrix.walk import OVERLAP_TOLERANCE_MS
from tests.proxy.relay import Relay
from tests.proxy.running import MISTAKE, Running, frozen

BEGINNERS = ("confluent-kafka", "kafka-python", "sarama", "kafkajs")
MAKES = (*BEGINNERS, "aiokafka", "kafka-go", "franz-go", "java-3.9")
NATIVES = ("confluent-kafka", "franz-go")
FEWEST, MOST = 3, 6
PARTITIONS, MOST_PARTITIONS = 12, 18
SESSION_MS, HEARTBEAT_MS = 10_000, 1_000
# Whose road was gone for the longest pause dials again up to ten seconds later (librdkafka).
ROUGH_SESSION_MS = 25_000
CALM_SECONDS = 3
# Of the newcomers that can.
STATIC_PART = 0.3
# Longer than the coordinator's own session: nothing else ends the member of a native client that was killed.
PATIENCE_SECONDS = 90
LONGEST_PAUSE_SECONDS = 8
# Within which who could not be heard is, before the next thing is in the way: two pauses are longer than a session.
BETWEEN_PAUSES_SECONDS = 3
# About one event of three, where there is a load balancer, or the brokers are being upgraded.
OFTEN = 6
# There no group has a native member before the upgrade of its cluster is finished, and its members must agree on a strategy.
WITHOUT_KIP848, AGREED = "3.", "range"
# What a user may read.
RESOURCES = ("topic", "group")
Event = Callable[[], Awaitable[None]]


@dataclass
class Outcome:
    sent: int = 0
    lost: int = 0
    twice: int = 0
    overlapping: int = 0
    mistakes: int = 0
    unsettled: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not (self.lost or self.overlapping or self.mistakes or self.unsettled)


class Play:
    def __init__(
        self,
        kafka: Cluster,
        sites: Sites,
        chance: Random,
        exits: AsyncExitStack,
        upgrades: bool = False,
        is_rough: bool = False,
    ) -> None:
        self.outcome = Outcome()
        self._kafka = kafka
        self._sites = sites
        self._chance = chance
        self._exits = exits
        self._everybody: list[Client] = []
        self._present: list[Client] = []
        self._natives: set[Client] = set()
        self._instances: dict[Client, str | None] = {}
        self._users: dict[Client, str] = {}
        self._partitions = PARTITIONS
        # As long as brokers go from the old version to the newest, and back.
        self._upgrades = upgrades
        self._is_rough = is_rough
        self._session_ms = ROUGH_SESSION_MS if is_rough else SESSION_MS
        self._strategy = AGREED if kafka.version.startswith(WITHOUT_KIP848) else None
        self._topic = f"chaos-{uuid.uuid4()}"
        kafka.create_topic(self._topic, PARTITIONS, replication=len(kafka.nodes))
        for user in USERS if kafka.security.authorizer else ():
            for resource in RESOURCES:
                kafka.allow(f"User:{user}", resource, self._topic, "read")

    async def runs(self, events: int) -> None:
        try:
            for make in self._agreeing(BEGINNERS):
                await self._comes(make)
            await self._settles("the beginning")
            self._steady = steady = Steady(self._kafka.inside, self._topic, PARTITIONS)
            for _ in range(events):
                event = self._chance.choice(self._possible())
                _say(event.__name__.replace("_", " "))
                await event()
                if self._chance.random() < 0.5:
                    await self._pauses()
                else:
                    await self._settles(event.__name__)
            if self._upgrades:
                await self._is_upgraded()
            await self._settles("the end")
            await trio.to_thread.run_sync(steady.end)
            await self._all_is_read(steady)
        finally:
            await self._sites.end()

    # ------------------------------------------------------------------------------------------------ what can happen

    def _possible(self) -> list[Event]:
        around = [self.proxy_is_killed, self.proxy_is_stopped, self.broker_is_killed, self.broker_is_restarted]
        stand_still = [self.coordinator_hangs, self.proxy_hangs, self.one_hangs]
        always = [*around, *stand_still, self.coordinator_moves, self.two_are_restarted]
        grows = [self.topic_grows] if self._partitions < MOST_PARTITIONS else []
        renews = [self.certificate_is_renewed] if self._kafka.certificates else []
        natives = [] if self._upgrades and self._strategy else [self.native_joins]
        more = [self.one_joins, *natives, self.one_comes_and_goes] if len(self._present) < MOST else []
        fewer = [self.one_leaves, self.one_is_killed] if len(self._present) > FEWEST else []
        asks = [self.rights_are_withdrawn] if self._kafka.security.authorizer else []
        several = [self.one_process_is_killed, self.one_process_hangs] if self._sites.all[0].proxy.processes > 1 else []
        moves = [self.balancer_moves] * OFTEN if self._is_balanced else []
        upgrades = self._upgrading() if self._upgrades else []
        rough = self._roads_fail() if self._is_rough else []
        return [*always, *grows, *renews, *asks, *more, *fewer, *moves, *upgrades, *rough, *2 * several]

    def _roads_fail(self) -> list[Event]:
        fail: list[Event] = [self.roads_are_cut, self.roads_lose_answers, self.roads_stand_still]
        # Of two proxies the one that a client has left so would speak for it until it is answered (docs/limits.md).
        return 2 * (fail if self._is_balanced else [*fail, self.roads_are_forgotten])

    def _upgrading(self) -> list[Event]:
        old, new = self._of_version(self._kafka.version), self._of_version(NEWEST)
        forwards = [self.broker_is_upgraded] * OFTEN if old else [self.upgrade_is_finished] * OFTEN
        return [*forwards, *([self.broker_is_set_back] if new else [])]

    async def one_joins(self) -> None:
        await self._newcomer()

    async def native_joins(self) -> None:
        await self._comes(self._chance.choice(NATIVES), is_native=True)

    async def one_comes_and_goes(self) -> None:
        newcomer = await self._newcomer()
        await trio.sleep(self._chance.random())
        await self._goes(newcomer)

    async def one_leaves(self) -> None:
        await self._goes(self._chance.choice(self._present))

    async def one_is_killed(self) -> None:
        victim = self._chance.choice(self._present)
        _say(f"  {victim.name}")
        self._present.remove(victim)
        victim.kill()

    async def two_are_restarted(self) -> None:
        for each in self._chance.sample(self._present, 2):
            await self._goes(each)
            await self._comes(each.library, each in self._natives, self._instances[each])

    async def proxy_is_killed(self) -> None:
        await self._restarts_proxy(Running.kill)

    async def proxy_is_stopped(self) -> None:
        await self._restarts_proxy(Running.stop)

    async def one_process_is_killed(self) -> None:
        """Another takes its place, after a while."""
        os.kill(self._one_process(), signal.SIGKILL)

    async def one_process_hangs(self) -> None:
        with frozen(self._one_process()):
            await self._pauses()

    async def balancer_moves(self) -> None:
        _say(f"  to {self._sites.move()}")

    async def broker_is_killed(self) -> None:
        node = self._chance.choice(sorted(self._kafka.nodes))
        await trio.to_thread.run_sync(self._kafka.kill, node)
        await trio.sleep(self._chance.random())
        await trio.to_thread.run_sync(self._kafka.start_node, node)
        await trio.to_thread.run_sync(self._kafka.wait_until_whole)

    async def broker_is_restarted(self) -> None:
        await trio.to_thread.run_sync(self._kafka.restart, self._chance.choice(sorted(self._kafka.nodes)))
        await trio.to_thread.run_sync(self._kafka.wait_until_whole)

    async def broker_is_upgraded(self) -> None:
        await self._becomes(NEWEST, self._chance.choice(self._of_version(self._kafka.version)))

    async def broker_is_set_back(self) -> None:
        await self._becomes(self._kafka.version, self._chance.choice(self._of_version(NEWEST)))

    async def upgrade_is_finished(self) -> None:
        await trio.to_thread.run_sync(self._kafka.finish_upgrade)
        self._upgrades = False

    async def coordinator_moves(self) -> None:
        await trio.to_thread.run_sync(self._kafka.move_coordinator, self._topic)

    async def coordinator_hangs(self) -> None:
        """Not for as long as a session: clients that wait for its answers do not notice that theirs has ended."""
        node = await trio.to_thread.run_sync(self._kafka.coordinator, self._topic)
        with self._kafka.hanging(node):
            await self._pauses()
        await trio.to_thread.run_sync(self._kafka.wait_until_whole)

    async def proxy_hangs(self) -> None:
        with self._site().proxy.standing_still():
            await self._pauses()

    async def one_hangs(self) -> None:
        client = self._chance.choice(self._present)
        _say(f"  {client.name}")
        client.pause()
        await self._pauses()
        client.resume()

    async def roads_are_cut(self) -> None:
        await self._are_gone(self._some_roads(), Relay.cut)

    async def roads_are_forgotten(self) -> None:
        await self._are_gone(self._some_roads(), Relay.forget)

    async def roads_lose_answers(self) -> None:
        roads = self._some_roads()
        for road in roads:
            road.lose_answers()
        await self._pauses()
        for road in roads:
            road.cut()
            road.mend()
        await trio.sleep(BETWEEN_PAUSES_SECONDS)

    async def roads_stand_still(self) -> None:
        with ExitStack() as still:
            for road in self._some_roads():
                still.enter_context(road.standing_still())
            await self._pauses()
        await trio.sleep(BETWEEN_PAUSES_SECONDS)

    async def certificate_is_renewed(self) -> None:
        assert self._kafka.certificates
        self._kafka.certificates.renew()

    async def rights_are_withdrawn(self) -> None:
        """Most libraries take that for the end, so their programs are started anew when it is given back."""
        user, resource = self._chance.choice(sorted(USERS)), self._chance.choice(RESOURCES)
        _say(f"  {user}'s to the {resource}")
        who = f"User:{user}"
        await trio.to_thread.run_sync(self._kafka.forbid, who, resource, self._topic, "read")
        await self._pauses()
        await trio.to_thread.run_sync(self._kafka.allow, who, resource, self._topic, "read")
        for each in [client for client in self._present if self._users[client] == user]:
            await self._begins_anew(each)

    async def topic_grows(self) -> None:
        self._partitions += 2
        await trio.to_thread.run_sync(self._kafka.grow_topic, self._topic, self._partitions)
        self._steady.spread(self._partitions)

    # -------------------------------------------------------------------------------------------------------- details

    def _site(self) -> Site:
        return self._chance.choice(self._sites.all)

    @property
    def _is_balanced(self) -> bool:
        return len(self._sites.all) > 1

    def _some_roads(self) -> list[Relay]:
        """One, or all of a side."""
        side = self._chance.choice((self._sites.ways, self._sites.roads))
        some = side if self._chance.random() < 0.5 else [self._chance.choice(side)]
        _say(f"  to {' '.join('{}:{}'.format(*road.to) for road in some)}")
        return some

    async def _are_gone(self, roads: list[Relay], go: Callable[[Relay], None]) -> None:
        for road in roads:
            go(road)
        await self._pauses()
        for road in roads:
            road.mend()
        await trio.sleep(BETWEEN_PAUSES_SECONDS)

    async def _pauses(self) -> None:
        await trio.sleep(self._chance.random() * LONGEST_PAUSE_SECONDS)

    def _of_version(self, version: str) -> list[int]:
        return [number for number, each in self._kafka.versions.items() if each == version]

    def _agreeing(self, makes: Sequence[str]) -> list[str]:
        return [make for make in makes if self._strategy in (None, *LIBRARIES[make].strategies)]

    async def _becomes(self, version: str, node: int) -> None:
        _say(f"  {node} is {version}")
        await trio.to_thread.run_sync(self._kafka.restart, node, version)

    async def _is_upgraded(self) -> None:
        for node in self._of_version(self._kafka.version):
            await self._becomes(NEWEST, node)
            await self._settles("broker is upgraded")
        await self.upgrade_is_finished()

    async def _restarts_proxy(self, end: Callable[[Running], None]) -> None:
        await self._site().restarts(end, self._chance.choice((0, 2)))

    def _one_process(self) -> int:
        proxy = self._site().proxy
        proxy.wait_for(proxy.pids, "one of its processes is there")
        return self._chance.choice(proxy.pids())

    async def _newcomer(self) -> Client:
        make = self._chance.choice(self._agreeing(MAKES))
        is_static = self._chance.random() < STATIC_PART and LIBRARIES[make].static_members
        return await self._comes(make, instance_id=f"static-{len(self._everybody)}" if is_static else None)

    async def _comes(
        self, library: str, is_native: bool = False, instance_id: str | None = None, user: str = ""
    ) -> Client:
        """Native ones come to the brokers or to the proxy."""
        where = self._chance.choice((self._kafka, self._sites)) if is_native else self._sites
        strategy = self._strategy or self._chance.choice(LIBRARIES[library].strategies)
        kind = "native" if is_native else f"{strategy}-static" if instance_id else strategy
        name = f"{len(self._everybody)}-{library}-{kind}"
        tls, sasl = self._proves(library, user)
        started = await Client.start(library, where.bootstrap, name=name, tls=tls, sasl=sasl)
        client = await self._exits.enter_async_context(started)
        if is_native:
            client.subscribe(self._topic, self._topic, protocol="consumer")
            self._natives.add(client)
        else:
            client.subscribe(
                self._topic,
                self._topic,
                strategy=strategy,
                session_timeout_ms=self._session_ms,
                heartbeat_interval_ms=HEARTBEAT_MS,
                instance_id=instance_id,
            )
        self._instances[client] = instance_id
        self._users[client] = sasl.user if sasl else ""
        self._everybody.append(client)
        self._present.append(client)
        return client

    def _proves(self, library: str, user: str) -> tuple[Tls | None, Sasl | None]:
        """By whom it believes a server, and what it says it is itself."""
        certificates, asked = self._kafka.certificates, self._kafka.security.sasl
        tls = Tls(certificates.authority) if certificates else None
        if not asked:
            return tls, None
        mechanism = self._chance.choice([each for each in LIBRARIES[library].mechanisms if each in asked])
        user = user or self._chance.choice(list(USERS))
        return tls, Sasl(mechanism, user, USERS[user])

    async def _goes(self, client: Client) -> None:
        self._present.remove(client)
        await client.close()

    async def _begins_anew(self, client: Client) -> None:
        """Killed, and started again for the same user."""
        self._present.remove(client)
        client.kill()
        await self._comes(client.library, client in self._natives, self._instances[client], self._users[client])

    async def _settles(self, after: str) -> None:
        began = time.monotonic()
        if self._is_rough:
            await self._replace_who_gave_up()
        try:
            await shared_out(self._present, self._partitions, CALM_SECONDS, PATIENCE_SECONDS)
            _say(f"  settled after {time.monotonic() - began - CALM_SECONDS:.1f} s")
        except TimeoutError as failure:
            self.outcome.unsettled.append(f"{after}: {failure}")
            _say(f"  {failure}")

    async def _replace_who_gave_up(self) -> None:
        """kafkajs does for good, for one, where a connection ends while it logs in."""
        for each in [client for client in self._present if client.gave_up]:
            _say(f"  {each.name} gave up")
            await self._begins_anew(each)

    async def _all_is_read(self, steady: Steady) -> None:
        with contextlib.suppress(TimeoutError):
            await self._present[0].until(lambda: not steady.read_by(self._everybody).lost, PATIENCE_SECONDS)
        outcome = self.outcome
        outcome.sent, outcome.lost, outcome.twice = steady.read_by(self._everybody)
        outcome.overlapping = len(overlaps(self._everybody, OVERLAP_TOLERANCE_MS))
        outcome.mistakes = sum(
            MISTAKE.search(run.log.read_text()) is not None for site in self._sites.all for run in site.runs
        )


def _say(what: str) -> None:
    print(time.strftime("%H:%M:%S"), what, file=sys.stderr, flush=True)
