"""Facts that groups are told in tests: who is in them, who has moved, what a description said; and what they order then."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tests.translation.playbook import tps
from translation.group import (
    AnyGroupFact,
    Described,
    DescribedMember,
    Group,
    GroupOrder,
    Known,
    MemberChanged,
)
from translation.member import LONG_AGO, Contract
from translation.motion import group_step
from translation.rules import Pacing
from translation.states import Phase, Standing
from translation.transition import Transition

PACING = Pacing(native_moving_ms=300, native_quiet_ms=2_000, grace_ms=1_000, describe_from=2, look_ms=0, poll_ms=200)
QUIET = Group(group_id="g", pacing=PACING)
NO_VOTE = Contract()


def changed(
    member_id: str = "m", epoch: int = 2, before: int = 2, contract: Contract = NO_VOTE, **more: object
) -> MemberChanged:
    fields: dict[str, object] = {
        "group_id": "g",
        "member_id": member_id,
        "instance_id": None,
        "client_id": "c",
        "at": 0,
        "cause": "",
        "phase_before": Phase.STABLE,
        "phase": Phase.STABLE,
        "standing_before": Standing.STABLE,
        "standing": Standing.STABLE,
        "epoch_before": before,
        "epoch": epoch,
        "generation_before": 2,
        "generation": 2,
    }
    return MemberChanged(transition=Transition(**(fields | more)), contract=contract)  # type: ignore[arg-type]


def gone(member_id: str = "m") -> MemberChanged:
    return changed(member_id, phase=Phase.ABSENT, standing=Standing.LEAVING, request=7)


def member(
    name: str,
    epoch: int,
    assigned: tuple[int, ...],
    target: tuple[int, ...],
    hears_at: int = LONG_AGO,
    takes_ms: int = 0,
) -> DescribedMember:
    """`takes_ms`: from when its client hears of a rebalance until it has let go."""
    return DescribedMember(
        member_id=name,
        epoch=epoch,
        assigned=tps(*assigned),
        target=tps(*target),
        hears_at=hears_at,
        gives_at=hears_at + takes_ms,
    )


def described(*members: DescribedMember, epoch: int = 2, behind: int = 0) -> Described:
    return Described(group_epoch=epoch, assignment_epoch=epoch - behind, members=members)


Timed = tuple[int, AnyGroupFact]


def told(facts: Sequence[Timed], group: Group = QUIET) -> tuple[Group, list[GroupOrder]]:
    """The orders of the last fact."""
    orders: list[GroupOrder] = []
    for now, fact in facts:
        group, orders = group_step(group, fact, now)
    return group, orders


def of_locals(*names: str) -> Group:
    members = {name: Known(epoch=2, local=True) for name in names}
    return msgspec.structs.replace(QUIET, members=members, locals=tuple(sorted(names)))
