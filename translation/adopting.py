"""How a member comes to be here that began elsewhere: before a restart of this proxy, or at another one.

With a journal entry we know what the client was told, and it notices nothing. Without one it is asked to rejoin, once;
until then it may hold whatever the coordinator grants it.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from translation.errors import ImpossibleStory
from translation.events import ClientEvent, JoinRequested, JournalEntry, LeaveRequested, MemberAdopted
from translation.group_heartbeat import TopicPartition
from translation.member import Contract
from translation.states import Phase, Standing
from translation.turn import Turn

# A client may name any generation. Taken for no more than this, it leaves higher numbers to tell.
LARGEST_GENERATION = 2**30


def member_adopted(turn: Turn, event: MemberAdopted) -> None:
    """The described epoch may lag behind an answer that was lost with the last owner: so the first heartbeat says all.

    A static member that had left for a while (epoch -2) joins again under its id, and gets back what it had: when its client
    says JoinGroup, for whoever joins says that it holds nothing (`may_be_adopted`).
    """
    if turn.member.standing is not Standing.ABSENT:
        raise ImpossibleStory(f"{event.member_id} adopted twice")
    assigned = frozenset(event.assigned)
    journal = event.journal
    told = frozenset(journal.told) if journal else assigned
    contract = _contract(event, journal)
    turn.becomes(
        member_id=event.member_id,
        instance_id=event.instance_id,
        client_id=event.client_id,
        contract=contract,
        phase=Phase.STABLE if journal else Phase.PREPARE_REBALANCE,
        standing=Standing.STABLE if event.member_epoch > 0 else Standing.JOINING,
        generation=journal.generation if journal else -1,
        floor=journal.generation if journal else untold(max(event.member_epoch, event.generation)),
        told=told,
        owned=told | assigned if journal is None else told,
        assigned=assigned,
        names=event.names,
        epoch=max(event.member_epoch, 0),
        must_say_all=True,
        heard_at=turn.now,
        came_at=turn.now,
        changed_at=turn.now,
        heartbeat_at=turn.now if event.member_epoch > 0 else None,
        rebalance_by=None if journal else turn.now + contract.rebalance_timeout_ms,
    )


def may_be_adopted(member_epoch: int, request: ClientEvent) -> bool:
    """Not a static member that has left for a while, if its client does not know: it may hold what it would give back."""
    return member_epoch > 0 or isinstance(request, JoinRequested)


def estrange(turn: Turn, generation: int) -> None:
    """The client is back from another proxy, which has told it more than we know: as if it were adopted here. But nobody has
    asked for the names of all it is subscribed to."""
    member = turn.member
    turn.because("was elsewhere")
    turn.becomes(
        phase=Phase.PREPARE_REBALANCE,
        standing=Standing.STABLE,
        contract=msgspec.structs.replace(member.contract, topics=()),
        generation=-1,
        floor=untold(generation),
        told=member.told | member.assigned,
        owned=member.owned | member.assigned,
        asked_at=None,
        rejoin=None,
        rebalance_by=turn.now + member.contract.rebalance_timeout_ms,
    )


def still_valid(
    entry: JournalEntry | None, request: ClientEvent, assigned: Iterable[TopicPartition]
) -> JournalEntry | None:
    """The entry, if the client that asks is at the generation it was told then. Else another proxy has told it more, or
    it is about to say itself what it holds. Nor where it has more than the entry says: it may have been told of that at the
    same generation, when nothing could be written; and must rejoin for it anyway. Nor where it was told nothing yet."""
    if entry is None or entry.generation < 0 or isinstance(request, JoinRequested | LeaveRequested):
        return None
    return entry if request.generation == entry.generation and set(assigned) <= set(entry.told) else None


def untold(generation: int) -> int:
    """A generation that the client cannot have been told yet, if this is its last."""
    return min(generation, LARGEST_GENERATION) + 1


def _contract(event: MemberAdopted, journal: JournalEntry | None) -> Contract:
    topics = tuple(sorted(event.subscribed_topics))
    if journal is None:
        return Contract(topics=topics, rack_id=event.rack_id)
    return Contract(
        session_timeout_ms=journal.session_timeout_ms,
        rebalance_timeout_ms=journal.rebalance_timeout_ms,
        protocol_name=journal.protocol_name,
        subscription_version=journal.subscription_version,
        topics=topics,
        rack_id=event.rack_id,
        offers=journal.offers,
        assignor=journal.assignor,
    )
