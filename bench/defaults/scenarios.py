"""What happens to groups, in virtual time: each scenario begins with a group at rest and ends with one.

The moments at which things happen are drawn from a seed, so that a setting is not praised for a lucky beat.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from simulation.network import Weather
from simulation.story import Story
from translation.rules import Pacing, Rules

PARTITIONS = 12
REST_MS = 20_000
EAGER: dict[str, Any] = {}
COOPERATIVE: dict[str, Any] = {"cooperative": True, "assignor": "cooperative-sticky"}
Scenario = Callable[[Rules, Pacing, int], Story]


def at_rest(rules: Rules, pacing: Pacing, seed: int, style: dict[str, Any], legacy: int, natives: int) -> Story:
    weather = Weather(client_delay_ms=(1, 3), upstream_delay_ms=(1, 10))
    story = Story(rules=rules, pacing=pacing, weather=weather, seed=seed, foo=PARTITIONS)
    for number in range(legacy):
        story.legacy(f"legacy{number}", **style).joins()
    for number in range(natives):
        story.native(f"native{number}").joins()
    story.settles()
    story.passes(REST_MS + Random(seed).randint(0, 5_000))
    forget(story)
    return story


def forget(story: Story) -> None:
    """What it took to come here is not measured."""
    ledger = story.world.ledger
    ledger.idle_ms = ledger.revocations = ledger.revoked = 0
    story.world.upstream.requests = 0


def three_begin(style: dict[str, Any]) -> Scenario:
    """An application with three threads, or three of its processes: nobody is there before them."""

    def play(rules: Rules, pacing: Pacing, seed: int) -> Story:
        story, chance = at_rest(rules, pacing, seed, style, 0, 0), Random(seed)
        for number in range(3):
            story.legacy(f"legacy{number}", **style).asks_to_join()
            story.passes(chance.randint(0, 100))
        return story

    return play


def one_joins(style: dict[str, Any], natives: int = 0) -> Scenario:
    def play(rules: Rules, pacing: Pacing, seed: int) -> Story:
        story = at_rest(rules, pacing, seed, style, 3, natives)
        story.legacy("newcomer", **style).asks_to_join()
        return story

    return play


def a_native_joins(style: dict[str, Any]) -> Scenario:
    """The first, and past the proxy."""

    def play(rules: Rules, pacing: Pacing, seed: int) -> Story:
        story = at_rest(rules, pacing, seed, style, 3, 0)
        story.native("pioneer").joins()
        return story

    return play


def three_join(style: dict[str, Any], natives: int = 0) -> Scenario:
    """A deployment starts: they come within a second."""

    def play(rules: Rules, pacing: Pacing, seed: int) -> Story:
        story, chance = at_rest(rules, pacing, seed, style, 3, natives), Random(seed)
        for number in range(3):
            story.legacy(f"newcomer{number}", **style).asks_to_join()
            story.passes(chance.randint(50, 500))
        return story

    return play


def one_leaves(style: dict[str, Any], natives: int = 0) -> Scenario:
    """For good: nobody comes in its place."""

    def play(rules: Rules, pacing: Pacing, seed: int) -> Story:
        story = at_rest(rules, pacing, seed, style, 3, natives)
        story.world.legacy["legacy0"].stops()
        return story

    return play


def rolling(style: dict[str, Any], natives: int = 0) -> Scenario:
    """Each member stops, and a replacement starts a moment later; the next a few seconds after that."""
    return _one_by_one(style, 3, natives, (200, 900), lambda story, name: story.legacy(name, **style).asks_to_join())


def steadily(away_ms: int) -> Scenario:
    """As one supervisor restarts them: each is away for about as long as the others."""
    about = (away_ms * 9 // 10, away_ms * 11 // 10)
    return _one_by_one(EAGER, 6, 0, about, lambda story, name: story.legacy(name).asks_to_join())


def upgrade(style: dict[str, Any]) -> Scenario:
    """Each replacement is a native member that goes past the proxy."""
    return _one_by_one(style, 3, 0, (200, 900), lambda story, name: story.native(name).joins())


def _one_by_one(
    style: dict[str, Any], legacy: int, natives: int, away_ms: tuple[int, int], replace: Callable[[Story, str], object]
) -> Scenario:
    def play(rules: Rules, pacing: Pacing, seed: int) -> Story:
        story, chance = at_rest(rules, pacing, seed, style, legacy, natives), Random(seed)
        for number in range(legacy):
            story.world.legacy[f"legacy{number}"].stops()
            story.passes(chance.randint(*away_ms))
            replace(story, f"replacement{number}")
            story.passes(chance.randint(3_000, 8_000))
        return story

    return play


SCENARIOS: dict[str, Scenario] = {
    "three begin, eager": three_begin(EAGER),
    "one joins, eager": one_joins(EAGER),
    "one joins, cooperative": one_joins(COOPERATIVE),
    "three join, eager": three_join(EAGER),
    "three join, cooperative": three_join(COOPERATIVE),
    "one joins, with 2 natives": one_joins(EAGER, natives=2),
    "a native joins, eager": a_native_joins(EAGER),
    "one leaves for good, eager": one_leaves(EAGER),
    "one leaves for good, cooperative": one_leaves(COOPERATIVE),
    "rolling restart, eager": rolling(EAGER),
    "rolling restart, cooperative": rolling(COOPERATIVE),
    "rolling restart, with 2 natives": rolling(EAGER, natives=2),
    "six restart, away for a second": steadily(1_000),
    "six restart, away for two": steadily(2_000),
    "rolling upgrade, eager": upgrade(EAGER),
    "rolling upgrade, cooperative": upgrade(COOPERATIVE),
}
