"""Realistic spans in any number: groups of members that come, are disturbed in rolls, and go; one roll an hour.

A member's life is 10 spans: 7 transitions and the requests around them, as the proxy writes them for an eager Java client.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.pipeline.writer import BEGAN_NS, lines, span
from tests.pipeline.telling import Planted
from translation.states import Phase, Standing

MEMBERS, PARTITIONS_EACH, SPANS_A_LIFE = 20, 4, 10
LIFE_MS, STAGGER_MS = 3_600_000, 20_000
PER_FILE = 50_000


def write(folder: Path, count: int) -> int:
    """Into files of some 70 MB; the number of spans."""
    folder.mkdir(parents=True, exist_ok=True)
    told = _spans(count // SPANS_A_LIFE)
    for number in range(-(-count // PER_FILE)):
        part = (each for each, _ in zip(told, range(PER_FILE), strict=False))
        with (folder / f"{number:04}.json").open("w") as file:
            file.writelines(f"{line}\n" for line in lines(part))
    return count // SPANS_A_LIFE * SPANS_A_LIFE


def _spans(lives: int) -> Iterator[dict[str, Any]]:
    for number in range(lives):
        group, member = divmod(number, MEMBERS)
        hour, group = divmod(group, 50)
        at = hour * LIFE_MS + member * STAGGER_MS
        yield from _life(f"group-{group:02}", f"app-{group}-{member}-{hour}", at, member, hour + 1)


def _life(group: str, member: str, at: int, number: int, epoch: int) -> list[dict[str, Any]]:
    mine = tuple(range(number * PARTITIONS_EACH, (number + 1) * PARTITIONS_EACH))
    it = Planted(group, member, client_id=f"app-{number}").joins(at, *mine, epoch=epoch)
    it.steps(at + 600_000, phase=Phase.PREPARE_REBALANCE, standing=Standing.RECONCILING, assigned=mine[:-1])
    it.steps(at + 601_000, "JoinRequested", phase=Phase.COMPLETING_REBALANCE, standing=Standing.STABLE, owned=())
    it.steps(at + 601_050, "SyncRequested", phase=Phase.STABLE, owned=mine[:-1])
    it.leaves(at + LIFE_MS - 100_000)
    asked = [("JoinGroup", at), ("JoinGroup", at + 601_000), ("SyncGroup", at + 601_040)]
    return it.spans + [_request(name, group, member, when) for name, when in asked]


def _request(name: str, group: str, member: str, at: int) -> dict[str, Any]:
    ns = BEGAN_NS + at * 1_000_000
    return span(
        name, ns, ns + 3_000_000, f"{member} {name} {at}", {"group_id": group, "member_id": member, "error_code": 0}
    )
