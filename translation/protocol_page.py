"""Prints docs/protocol.md from the tables: `python -m translation.protocol_page > docs/protocol.md`."""

from __future__ import annotations

from collections.abc import Iterable

from translation import errors as e
from translation.refusals import OTHER, REFUSALS, Refusal
from translation.states import JOINT, PHASE_MOVES, STANDING_MOVES, Phase, Standing

INTRODUCTION = """\
# The protocol, member by member

One legacy client, one native member. This page is printed from the tables in `translation/` by
`python -m translation.protocol_page > docs/protocol.md`; a test fails when they differ.

| the client says | upstream | the client hears |
|---|---|---|
| JoinGroup without a member id (v4+, not static) | nothing | MEMBER_ID_REQUIRED and an id; nothing is kept |
| JoinGroup, first | ConsumerGroupHeartbeat at epoch 0 | when the assignment is whole, or the park limit has passed (12 s where the client would be told nothing): generation = epoch, no leader, no members |
| JoinGroup, again | a full heartbeat with the partitions the client still owns | the same; at once if it must let go of more, or nothing has moved |
| JoinGroup of a member for which a broker translated | the same and a SyncGroup, for which the broker may be waiting; then as above | as above |
| JoinGroup with an unknown id that claims partitions | nothing | UNKNOWN_MEMBER_ID |
| SyncGroup | nothing | the partitions assigned now, at its own embedded version; REBALANCE_IN_PROGRESS in prepare-rebalance |
| Heartbeat | nothing (upstream is asked in its own rhythm) | NONE, held for a while in stable; REBALANCE_IN_PROGRESS in prepare-rebalance |
| LeaveGroup | epoch -1 | NONE, when that has been heard |
| OffsetCommit, TxnOffsetCommit | the same under the newest epoch | the broker's answer; a stale epoch is tried again first |
"""


def page() -> str:
    return "\n".join([INTRODUCTION, *_phases(), *_standings(), *_joint(), *_refusals()])


def _phases() -> Iterable[str]:
    yield "## Phases: the legacy face\n"
    yield from _diagram((a.value, b.value) for a, b in PHASE_MOVES)
    yield from _moves((a.value, b.value, cause) for (a, b), cause in PHASE_MOVES.items())


def _standings() -> Iterable[str]:
    yield "## Standings: the upstream face\n"
    yield from _diagram((a.value, b.value) for a, b in STANDING_MOVES)
    yield from _moves((a.value, b.value, cause) for (a, b), cause in STANDING_MOVES.items())


def _diagram(moves: Iterable[tuple[str, str]]) -> Iterable[str]:
    yield "```mermaid\nstateDiagram-v2"
    for before, after in moves:
        yield f"    {_state(before)} --> {_state(after)}"
    yield "```\n"


def _state(name: str) -> str:
    return "[*]" if name == "absent" else name.replace("-", "_")


def _moves(moves: Iterable[tuple[str, str, str]]) -> Iterable[str]:
    yield "| from | to | because |\n|---|---|---|"
    for before, after, cause in moves:
        yield f"| {before} | {after} | {cause} |"
    yield ""


def _joint() -> Iterable[str]:
    yield "## Both at once\n"
    yield "| phase \\ standing | " + " | ".join(standing.value for standing in Standing) + " |"
    yield "|---" * (len(Standing) + 1) + "|"
    for phase in Phase:
        marks = ("x" if standing in JOINT[phase] else "" for standing in Standing)
        yield f"| {phase.value} | " + " | ".join(marks) + " |"
    yield ""


def _refusals() -> Iterable[str]:
    yield "## Refusals: what the coordinator says, what the client is told, where the member stands\n"
    yield "| coordinator | JoinGroup | SyncGroup | Heartbeat | commit | the member is |\n|---|---|---|---|---|---|"
    for code, row in REFUSALS.items():
        yield _refusal(e.NAMES[code], row)
    yield _refusal("anything else", OTHER)
    yield ""


def _refusal(name: str, row: Refusal) -> str:
    commit = "as the broker says" if row.commit is None else e.NAMES[row.commit]
    told = " | ".join(e.NAMES[code] for code in (row.join, row.sync, row.heartbeat))
    return f"| {name} | {told} | {commit} | {row.then.value} |"


if __name__ == "__main__":  # pragma: no cover
    print(page(), end="")
