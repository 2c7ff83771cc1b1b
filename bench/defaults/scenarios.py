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


def scale_down(style: dict[str, Any]) -> Scenario:
    """Three of six leave for good, one by one."""

    def play(rules: Rules, pacing: Pacing, seed: int) -> Story:
        story, chance = at_rest(rules, pacing, seed, style, 6, 0), Random(seed)
        for number in range(3):
            story.world.legacy[f"legacy{number}"].stops()
            story.passes(chance.randint(3_000, 8_000))
        return story

    return play


def rolling(
    style: dict[str, Any],
    legacy: int = 3,
    natives: int = 0,
    away_ms: tuple[int, int] = (200, 900),
    by_natives: bool = False,
) -> Scenario:
    """Each member stops, and a replacement starts a moment later; the next a few seconds after that. `by_natives`: it goes
    past the proxy."""

    def play(rules: Rules, pacing: Pacing, seed: int) -> Story:
        story, chance = at_rest(rules, pacing, seed, style, legacy, natives), Random(seed)
        for number in range(legacy):
            story.world.legacy[f"legacy{number}"].stops()
            story.passes(chance.randint(*away_ms))
            if by_natives:
                story.native(f"replacement{number}").joins()
            else:
                story.legacy(f"replacement{number}", **style).asks_to_join()
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
    "three of six leave, eager": scale_down(EAGER),
    "rolling restart, eager": rolling(EAGER),
    "rolling restart, cooperative": rolling(COOPERATIVE),
    "rolling restart, with 2 natives": rolling(EAGER, natives=2),
    "six restart, away for a second": rolling(EAGER, legacy=6, away_ms=(900, 1_100)),
    "six restart, away for two": rolling(EAGER, legacy=6, away_ms=(1_800, 2_200)),
    "rolling upgrade, eager": rolling(EAGER, by_natives=True),
    "rolling upgrade, cooperative": rolling(COOPERATIVE, by_natives=True),
}
