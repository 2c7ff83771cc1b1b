"""How a SyncGroup is answered: with the partitions the client may hold now, never with fewer bytes than an assignment.

It never waits. What a topic id without a name stands for is left out, and told by a rejoin when the name is known.
"""

from __future__ import annotations

from translation import errors as e
from translation.actions import AnswerSync, Remember
from translation.embedded import write_assignment
from translation.events import SyncRequested
from translation.member import NOTHING, Member, Partitions
from translation.sending import hurry
from translation.states import Phase, Standing
from translation.turn import Turn


def sync_requested(turn: Turn, sync: SyncRequested) -> None:
    error = _impropriety(turn.member, sync)
    if error:
        return turn.order(AnswerSync(sync.request, error))
    return _tell(turn, sync)


def _impropriety(member: Member, sync: SyncRequested) -> int:
    if member.phase is Phase.PREPARE_REBALANCE or member.parked:
        return e.REBALANCE_IN_PROGRESS
    if sync.generation != member.generation or sync.generation < 0:
        return e.ILLEGAL_GENERATION
    if sync.protocol_type not in (None, "consumer"):
        return e.INCONSISTENT_GROUP_PROTOCOL
    if sync.protocol_name not in (None, member.contract.protocol_name):
        return e.INCONSISTENT_GROUP_PROTOCOL
    if member.cut:
        return e.NOT_COORDINATOR
    return e.NONE


def _tell(turn: Turn, sync: SyncRequested) -> None:
    """A cooperative client that must let go does so by itself and joins again: it is in PrepareRebalance already."""
    member = turn.member
    contract = member.contract
    told = member.grantable
    assignment = write_assignment(named(member, told), contract.subscription_version)
    turn.order(AnswerSync(sync.request, assignment=assignment, protocol_name=contract.protocol_name))
    turn.becomes(told=told, told_at=turn.now, owned=_held_without(member) | told, spared=NOTHING, rejoin=None)
    foregone = member.owned - turn.member.owned
    if turn.member.losses:
        rebalance_by = turn.now + contract.rebalance_timeout_ms
        turn.becomes(phase=Phase.PREPARE_REBALANCE, asked_at=turn.now, rebalance_by=rebalance_by)
    else:
        turn.becomes(phase=Phase.STABLE, rebalance_by=None)
        if foregone:
            turn.becomes(standing=Standing.ACKNOWLEDGING)
            hurry(turn)
    turn.order(Remember(turn.member.journal_entry))


def _held_without(member: Member) -> Partitions:
    """What it holds whatever it is told now: its claims. Who syncs here has not been told anything elsewhere since."""
    return member.told if member.is_to_sync else member.owned


def named(member: Member, partitions: Partitions) -> frozenset[tuple[str, int]]:
    names = member.names
    return frozenset((name, tp.partition) for tp in partitions if (name := names.get(tp.topic_id)))
