"""What happens to a group. Each scenario says who stays throughout: their disturbance is what is measured.

Between two events a drawn time passes, the same in every layout of a round: members of a classic group beat together, and
events that always came at one point of their rhythm would praise or blame a layout for that point.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import trio

from bench.rebalance.bare import seconds_to_partitions
from bench.rebalance.stage import Stage
from tests.clients import Client


class Played(NamedTuple):
    """`stay`: who was there all the time. `newcomer`: whose first record is timed, if somebody's is. `granted_s`: or how long
    it took until anybody could have had one, which a member asked that was no client."""

    stay: list[Client]
    newcomer: Client | None = None
    granted_s: float | None = None


# A small program's start.
A_MOMENT_SECONDS = 0.3

Scenario = Callable[[Stage, Callable[[], None]], Awaitable[Played]]


async def roll(stage: Stage, begin: Callable[[], None]) -> Played:
    """Six legacy members become native ones, one by one; each replacement comes a moment after the old one has left."""
    old = [await stage.legacy(f"old-{number}") for number in range(6)]
    new = [await stage.ready(f"new-{number}", native=True) for number in range(6)]
    await stage.is_calm()
    begin()
    for leaver, replacement in zip(old, new, strict=True):
        await stage.leaves(leaver, away_seconds=A_MOMENT_SECONDS)
        stage.joins(replacement, native=True)
        await stage.is_calm()
    return Played(stay=stage.everybody)


async def churn(stage: Stage, begin: Callable[[], None]) -> Played:
    """Four legacy members stay; three native ones restart one by one, away for three seconds."""
    stay = [await stage.legacy(f"old-{number}") for number in range(4)]
    # A broker refuses a native member while a group of classic ones is still forming.
    await stage.converged()
    natives = [await stage.native(f"new-{number}") for number in range(3)]
    await stage.is_calm()
    begin()
    for number, native in enumerate(natives):
        await stage.leaves(native, away_seconds=3)
        await stage.native(f"again-{number}")
        await stage.is_calm()
    return Played(stay)


async def restart(stage: Stage, begin: Callable[[], None]) -> Played:
    """Six legacy members restart one by one, away for a second."""
    return await _one_by_one(stage, begin, away_seconds=1)


async def reboot(stage: Stage, begin: Callable[[], None]) -> Played:
    """The same, away for two seconds: the proxy does not wait so long for a replacement."""
    return await _one_by_one(stage, begin, away_seconds=2)


async def _one_by_one(stage: Stage, begin: Callable[[], None], away_seconds: float) -> Played:
    members = [await stage.legacy(f"old-{number}") for number in range(6)]
    again = [await stage.ready(f"again-{number}") for number in range(6)]
    await stage.is_calm()
    begin()
    for member, restarted in zip(members, again, strict=True):
        await stage.leaves(member, away_seconds=away_seconds)
        stage.joins(restarted)
        await stage.is_calm()
    return Played(stage.everybody)


async def scale(stage: Stage, begin: Callable[[], None]) -> Played:
    """Six legacy members; one more comes, then goes; then three come at once, and go."""
    stay = [await stage.legacy(f"old-{number}") for number in range(6)]
    one, *more = [await stage.ready(f"more-{number}") for number in range(4)]
    await stage.is_calm()
    begin()
    stage.joins(one)
    await stage.is_calm()
    await stage.leaves(one)
    await stage.is_calm()
    for member in more:
        stage.joins(member)
    await stage.is_calm()
    for member in more:
        await stage.leaves(member)
    await stage.converged()
    return Played(stay)


async def crash(stage: Stage, begin: Callable[[], None]) -> Played:
    """One of six legacy members is killed."""
    *stay, victim = [await stage.legacy(f"old-{number}") for number in range(6)]
    await stage.is_calm()
    begin()
    stage.crashes(victim)
    await stage.converged()
    return Played(stay)


async def _mixed_and_one_more(stage: Stage, begin: Callable[[], None]) -> list[Client]:
    stay = [await stage.legacy(f"old-{number}") for number in range(3)]
    await stage.converged()
    stay += [await stage.native(f"new-{number}") for number in range(3)]
    await stage.is_calm()
    begin()
    await stage.native("just-before")
    await trio.sleep(A_MOMENT_SECONDS)
    return stay


async def newcomer(stage: Stage, begin: Callable[[], None]) -> Played:
    """A legacy member comes to three legacy and three native ones, just after another has come."""
    late = await stage.ready("newcomer")
    stay = await _mixed_and_one_more(stage, begin)
    stage.joins(late)
    await stage.converged()
    return Played(stay, late)


async def pioneer(stage: Stage, begin: Callable[[], None]) -> Played:
    """The first native member comes to four legacy ones."""
    first = await stage.ready("pioneer", native=True)
    stay = [await stage.legacy(f"old-{number}") for number in range(4)]
    await stage.is_calm()
    begin()
    stage.joins(first, native=True)
    await stage.converged()
    return Played(stay, first)


async def soonest(stage: Stage, begin: Callable[[], None]) -> Played:
    """The same, and no client comes but a bare member: how soon who comes past the proxy could have had partitions."""
    stay = await _mixed_and_one_more(stage, begin)
    seconds = await seconds_to_partitions(stage.kafka, stage.topic, stage.topic)
    await stage.converged()
    return Played(stay, granted_s=seconds)


SCENARIOS: dict[str, Scenario] = {
    "roll": roll,
    "churn": churn,
    "restart": restart,
    "reboot": reboot,
    "scale": scale,
    "crash": crash,
    "newcomer": newcomer,
    "pioneer": pioneer,
    "soonest": soonest,
}
