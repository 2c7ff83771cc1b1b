"""What is legal: the two faces of a member, and which moves and which pairs of them are possible.

A member stands between a legacy client and a KIP-848 coordinator. Towards the client it shows a *phase* (KIP-848,
"Supporting Online Consumer Group Upgrade": PrepareRebalance, CompletingRebalance, Stable); towards the coordinator it
has a *standing* (the states of KIP-848's own client). Between phases every move is possible, each for causes of its own;
of standings, and of the pairs of both, the tables say which are, and `step` refuses the rest. docs/protocol.md is printed
from them.
"""

from __future__ import annotations

from enum import Enum

from translation.errors import IllegalMove


class Phase(Enum):
    """The legacy face: what the client is doing, as far as it has been told."""

    ABSENT = "absent"
    COMPLETING_REBALANCE = "completing-rebalance"
    STABLE = "stable"
    PREPARE_REBALANCE = "prepare-rebalance"

    def __repr__(self) -> str:
        return self.value


class Standing(Enum):
    """The upstream face: how the member stands with the group coordinator."""

    ABSENT = "absent"
    JOINING = "joining"
    STABLE = "stable"
    RECONCILING = "reconciling"
    ACKNOWLEDGING = "acknowledging"
    LEAVING = "leaving"
    FENCED = "fenced"
    FATAL = "fatal"

    def __repr__(self) -> str:
        return self.value


# Each move with what causes it, in the words the documentation prints.
PHASE_MOVES: dict[tuple[Phase, Phase], str] = {
    (Phase.ABSENT, Phase.COMPLETING_REBALANCE): "JoinGroup of a newcomer",
    (Phase.ABSENT, Phase.STABLE): "adopted, with a journal entry",
    (Phase.ABSENT, Phase.PREPARE_REBALANCE): "adopted from ConsumerGroupDescribe alone",
    (Phase.COMPLETING_REBALANCE, Phase.STABLE): "SyncGroup",
    (Phase.COMPLETING_REBALANCE, Phase.PREPARE_REBALANCE): "SyncGroup that takes partitions from a cooperative client",
    (Phase.COMPLETING_REBALANCE, Phase.ABSENT): "left, fenced, refused, or SyncGroup never came",
    (Phase.STABLE, Phase.PREPARE_REBALANCE): "partitions to give up, or new ones to take",
    (Phase.STABLE, Phase.COMPLETING_REBALANCE): "JoinGroup by the client's own will",
    (Phase.STABLE, Phase.ABSENT): "left, fenced, or its session ended",
    (Phase.PREPARE_REBALANCE, Phase.COMPLETING_REBALANCE): "JoinGroup",
    (Phase.PREPARE_REBALANCE, Phase.STABLE): "called off before the client heard of it",
    (Phase.PREPARE_REBALANCE, Phase.ABSENT): "left, fenced, or JoinGroup never came",
}

STANDING_MOVES: dict[tuple[Standing, Standing], str] = {
    (Standing.ABSENT, Standing.JOINING): "JoinGroup of a newcomer, or adopted after a temporary leave",
    (Standing.ABSENT, Standing.STABLE): "adopted",
    (Standing.ABSENT, Standing.RECONCILING): "adopted with an assignment the client was not told",
    (Standing.JOINING, Standing.STABLE): "the coordinator answered with an epoch",
    (Standing.JOINING, Standing.ACKNOWLEDGING): "the same, and the client has joined with other words since",
    (Standing.JOINING, Standing.RECONCILING): "back after a temporary leave, with another assignment",
    (Standing.JOINING, Standing.LEAVING): "LeaveGroup while the JoinGroup was parked",
    (Standing.JOINING, Standing.ABSENT): "refused, or seen elsewhere",
    (Standing.JOINING, Standing.FENCED): "back after a temporary leave, and not taken in",
    (Standing.JOINING, Standing.FATAL): "refused for good",
    (Standing.STABLE, Standing.RECONCILING): "what is assigned is not what the client has",
    (Standing.STABLE, Standing.ACKNOWLEDGING): "JoinGroup again: what the client still owns goes upstream",
    (Standing.STABLE, Standing.JOINING): "fenced, but this client had let go of everything: it joins anew",
    (Standing.STABLE, Standing.LEAVING): "LeaveGroup, or a deadline of the client passed",
    (Standing.STABLE, Standing.FENCED): "the coordinator forgot the member",
    (Standing.STABLE, Standing.FATAL): "the instance id was taken by another process",
    (Standing.STABLE, Standing.ABSENT): "seen elsewhere",
    (Standing.RECONCILING, Standing.STABLE): "the client has what is assigned",
    (Standing.RECONCILING, Standing.ACKNOWLEDGING): "the client has let go",
    (Standing.RECONCILING, Standing.JOINING): "JoinGroup without claims, after its rebalance timeout",
    (Standing.RECONCILING, Standing.LEAVING): "LeaveGroup, or a deadline of the client passed",
    (Standing.RECONCILING, Standing.FENCED): "the coordinator forgot the member",
    (Standing.RECONCILING, Standing.FATAL): "the instance id was taken by another process",
    (Standing.RECONCILING, Standing.ABSENT): "seen elsewhere",
    (Standing.ACKNOWLEDGING, Standing.STABLE): "the coordinator knows what the client owns",
    (Standing.ACKNOWLEDGING, Standing.RECONCILING): "the same, and the assignment has moved on",
    (Standing.ACKNOWLEDGING, Standing.LEAVING): "LeaveGroup, or a deadline of the client passed",
    (Standing.ACKNOWLEDGING, Standing.FENCED): "the coordinator forgot the member",
    (Standing.ACKNOWLEDGING, Standing.FATAL): "the instance id was taken by another process",
    (Standing.ACKNOWLEDGING, Standing.JOINING): "fenced, but this client had let go of everything: it joins anew",
    (Standing.ACKNOWLEDGING, Standing.ABSENT): "seen elsewhere",
    (Standing.LEAVING, Standing.ABSENT): "the coordinator let it go",
    (Standing.LEAVING, Standing.JOINING): "JoinGroup of one that had just left",
    (Standing.FENCED, Standing.ABSENT): "the client has been told, or never asked",
    (Standing.FENCED, Standing.JOINING): "JoinGroup without claims",
    (Standing.FATAL, Standing.ABSENT): "the old process fell silent",
}

# While the client is ... the member may stand ... with the coordinator.
JOINT: dict[Phase, frozenset[Standing]] = {
    Phase.ABSENT: frozenset({Standing.ABSENT, Standing.LEAVING, Standing.FENCED, Standing.FATAL}),
    Phase.COMPLETING_REBALANCE: frozenset(
        {Standing.JOINING, Standing.ACKNOWLEDGING, Standing.STABLE, Standing.RECONCILING}
    ),
    Phase.STABLE: frozenset({Standing.JOINING, Standing.ACKNOWLEDGING, Standing.STABLE, Standing.RECONCILING}),
    Phase.PREPARE_REBALANCE: frozenset(
        {Standing.JOINING, Standing.ACKNOWLEDGING, Standing.STABLE, Standing.RECONCILING}
    ),
}


def check_standing(before: Standing, after: Standing) -> None:
    if before is not after and (before, after) not in STANDING_MOVES:
        raise IllegalMove(f"standing {before!r} -> {after!r}")


def check_joint(phase: Phase, standing: Standing) -> None:
    if standing not in JOINT[phase]:
        raise IllegalMove(f"phase {phase!r} while {standing!r}")
