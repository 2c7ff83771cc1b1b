"""Rules that are the verbs of stories: Hypothesis tells them in any order, and a counterexample is a story to paste.

The verbs here only set off what happens (nobody waits for its outcome, which other verbs may prevent). After each of them a
while passes, drawn from the story's seed: most stories would otherwise be over before anything came of them. Invariants are
checked as facts come to be (simulation/invariants.py), and between verbs those below, which look at the whole from outside.
In the end the perturbation stops and everybody must come to own exactly its target.
`DEPTH=100` goes a hundred times as far (tests/translation/depth.py).
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, multiple, rule

from simulation.brokers import LINES
from simulation.errors import Error
from simulation.plans import NATIVES, NEW_TOPIC, PEOPLE, STYLES
from simulation.story import Legacy, Native, Story
from simulation.world import GROUP
from tests.translation.depth import far
from translation.transition import Transition

Manners = tuple[dict[str, Any], bool, tuple[str, ...], str]
# Two proxies do not know of each other's votes, and one vote against one is a storm of epochs on 4.4 (docs/limits).
OF_ONE_MIND = [style for style in STYLES if style.get("assignor") != "range"]
MANNERS: st.SearchStrategy[Manners] = st.tuples(
    st.sampled_from(OF_ONE_MIND),
    st.booleans(),
    st.sampled_from([("foo",), ("foo", "bar"), ("bar",)]),
    st.sampled_from(["proxy", "second"]),
)
# Between two verbs: within a round trip, a rebalance, a client's beat, a parked JoinGroup, a session.
WHILES_MS = (0, 3, 30, 300, 1_000, 3_500, 12_000)
GAPS_MS = st.sampled_from([50, 500, 2_000, 8_000])


class AnyStory(RuleBasedStateMachine):
    """Begins with a group that has just started: without people in it most stories would be about nothing."""

    legacy: Bundle[Legacy] = Bundle("legacy")
    native: Bundle[Native] = Bundle("native")

    @initialize(
        target=legacy,
        line=st.sampled_from(sorted(LINES)),
        seed=st.integers(0, 99),
        foo=st.integers(1, 6),
        manners=st.lists(MANNERS, min_size=2, max_size=4),
        ms=st.sampled_from([5, 1_000, 6_000]),
    )
    def once_upon_a_time(self, line: str, seed: int, foo: int, manners: list[Manners], ms: int) -> Any:
        self.story = Story(LINES[line], seed=seed, foo=foo, bar=2)
        self.story.another_proxy("second")
        self.epoch = 0
        self.meetings = 0
        for proxy in self.story.world.proxies.values():
            proxy.on_transition = self.is_met
        self.chance = Random(seed)
        people = [self.newcomer(each) for each in manners]
        self.story.passes(ms)
        return multiple(*people)

    # --- people -------------------------------------------------------------------------------------------------------

    @rule(target=legacy, manners=MANNERS)
    def joins(self, manners: Manners) -> Any:
        return self.newcomer(manners) if len(self.story.world.legacy) < len(PEOPLE) else multiple()

    @rule(
        target=native,
        through=st.sampled_from([None, "proxy"]),
        revoke_ms=st.sampled_from([0, 300, 4_000]),
        topics=st.sampled_from([{}, {"topics": (), "topic_regex": f"(foo|{NEW_TOPIC})"}]),
    )
    def joins_natively(self, through: str | None, revoke_ms: int, topics: dict[str, Any]) -> Any:
        count = len(self.story.world.natives)
        if count == len(NATIVES):
            return multiple()
        native = self.story.native(NATIVES[count], through, revoke_ms=revoke_ms, **topics)
        native.who.starts()
        return native

    def newcomer(self, manners: Manners) -> Legacy:
        style, is_static, topics, at = manners
        name = PEOPLE[len(self.story.world.legacy)]
        instance_id = f"i-{name}" if is_static else None
        return self.story.legacy(name, at, instance_id=instance_id, topics=topics, **style).asks_to_join()

    @rule(who=st.one_of(legacy, native))
    def comes_back(self, who: Legacy | Native) -> None:
        if not who.who.alive:
            who.who.starts()

    @rule(who=st.one_of(legacy, native))
    def leaves(self, who: Legacy | Native) -> None:
        if who.who.alive:
            who.who.stops()

    @rule(who=st.one_of(legacy, native))
    def crashes(self, who: Legacy | Native) -> None:
        if who.who.alive:
            who.vanishes()

    @rule(who=legacy)
    def commits(self, who: Legacy) -> None:
        who.commits()

    @rule(who=legacy, ms=st.sampled_from([0, 100, 3_000, 9_000]))
    def revokes_within(self, who: Legacy, ms: int) -> None:
        who.revokes_within(ms)

    @rule(who=legacy)
    def rejoins(self, who: Legacy) -> None:
        who.who.rejoins()

    @rule(who=legacy)
    def loses_its_sockets(self, who: Legacy) -> None:
        who.loses_its_sockets()

    @rule(who=legacy, proxy=st.sampled_from(["proxy", "second"]))
    def moves_to(self, who: Legacy, proxy: str) -> None:
        home = self.story.world.homes[who.who.name]
        # What it last said to one that stands still is heard when that wakes: an old commit after a new (docs/limits).
        if home != proxy and not self.story.world.proxies[home].process.is_still:
            who.moves_to(proxy)

    @rule(who=legacy, topics=st.sampled_from([("foo",), ("foo", "bar")]))
    def subscribes(self, who: Legacy, topics: tuple[str, ...]) -> None:
        who.subscribes(*topics)

    # --- what befalls them --------------------------------------------------------------------------------------------

    @rule(name=st.sampled_from(["proxy", "second"]), with_journal=st.booleans(), gap_ms=GAPS_MS)
    def proxy_restarts(self, name: str, with_journal: bool, gap_ms: int) -> None:
        if self.story.world.proxies[name].serves:
            self.story.world.proxy_restarts(name, with_journal, gap_ms)

    @rule(name=st.sampled_from(["proxy", "second"]), gap_ms=GAPS_MS, leaving=st.booleans())
    def proxy_stops(self, name: str, gap_ms: int, leaving: bool) -> None:
        proxy = self.story.world.proxies[name]
        if proxy.serves and not proxy.process.is_still:
            self.story.world.proxy_stops(name, gap_ms, leaving)

    @rule(name=st.sampled_from(["proxy", "second"]), ms=st.sampled_from([500, 8_000, 25_000]))
    def proxy_stands_still(self, name: str, ms: int) -> None:
        if not self.story.world.proxies[name].process.is_still:
            self.story.world.proxy_stands_still(name, ms)

    @rule(error=st.sampled_from([Error.NOT_COORDINATOR, Error.COORDINATOR_LOAD_IN_PROGRESS]), gap_ms=GAPS_MS)
    def coordinator_moves(self, error: Error, gap_ms: int) -> None:
        if self.story.world.upstream.away is None:
            self.story.world.coordinator_moves(gap_ms, error)

    @rule(ms=GAPS_MS)
    def upstream_is_cut(self, ms: int) -> None:
        self.story.world.upstream_is_cut(ms)

    @rule(loss=st.sampled_from([0.0, 0.1]), slowest_ms=st.sampled_from([1, 50, 300]))
    def weather_is(self, loss: float, slowest_ms: int) -> None:
        self.story.weather_is(request_loss=loss, answer_loss=loss, upstream_delay_ms=(1, slowest_ms))

    @rule()
    def topic_is_created(self) -> None:
        if NEW_TOPIC not in self.story.world.topics.ids:
            self.story.topic_is_created(NEW_TOPIC, 2)

    @rule()
    def topic_grows(self) -> None:
        self.story.topic_grows("foo", len(self.story.world.topics.of(["foo"])) + 1)

    @rule()
    def topic_is_deleted(self) -> None:
        if "bar" in self.story.world.topics.ids:
            self.story.topic_is_deleted("bar")

    @rule(ms=st.sampled_from([5, 300, 1_000, 4_000, 15_000, 60_000]))
    def passes(self, ms: int) -> None:
        self.story.passes(ms)

    # --- what holds at any moment -------------------------------------------------------------------------------------

    @invariant()
    def a_while_passes(self) -> None:
        """No invariant, but what comes after every verb; those below look at what it has led to."""
        self.story.passes(self.chance.choice(WHILES_MS))

    @invariant()
    def no_partition_is_in_two_hands(self) -> None:
        hands = Counter(each for owner in self.standing() for each in owner.partitions)
        assert not [each for each, count in hands.items() if count > 1], self.story.shares()

    @invariant()
    def no_target_gives_a_partition_to_two(self) -> None:
        group = self.story.world.coordinator.groups.get(GROUP)
        targets = Counter(each for target in group.target.values() for each in target) if group else Counter()
        assert max(targets.values(), default=1) == 1

    @invariant()
    def the_group_never_goes_back(self) -> None:
        epoch = self.story.world.coordinator.describe(GROUP).epoch
        assert epoch >= self.epoch
        self.epoch = epoch

    @invariant()
    def no_client_is_ahead_of_the_coordinator(self) -> None:
        """But for one number for each time that a proxy met it anew (adopting.py)."""
        for client in self.story.world.legacy.values():
            if client.stands:
                told, epoch = client.generation, self.story.world.group.members[client.member_id].epoch
                assert told <= max(epoch, self.epoch) + self.meetings, f"{client.name} was told {told}, at {epoch}"

    def is_met(self, transition: Transition) -> None:
        self.meetings += "MemberAdopted" in transition.cause or "was elsewhere" in transition.cause

    def standing(self) -> list[Any]:
        return [owner for owner in self.story.world.owners if owner.stands]

    def teardown(self) -> None:
        """Converged, and nobody was thrown out for nothing."""
        self.story.calms_down()


TestAnyStory = AnyStory.TestCase
TestAnyStory.settings = far(examples=30, steps=25)
