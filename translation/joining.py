"""How a JoinGroup is answered: refused, parked, handed to the broker, or answered with a generation.

A JoinGroup is parked because a legacy client can only be told an assignment as a whole, and pays for each telling: an
eager one drops everything, a cooperative one takes a round. The coordinator grants piece by piece. So the answer waits
until a description of the group says that the assignment is whole, bounded by `Rules.park_ms`.
"""

from __future__ import annotations

import msgspec

from translation import errors as e
from translation.actions import AnswerJoin, Forget, Remember
from translation.adopting import untold
from translation.assignors import server_assignors
from translation.embedded import Malformed, Subscription, read_subscription
from translation.ending import depart, vanish
from translation.events import JoinRequested
from translation.group_heartbeat import STATIC_LEAVE_EPOCH, TopicPartition, unless_blank
from translation.holding import STRIKES
from translation.member import Contract, Member, ParkedJoin, Partitions, Unseat
from translation.rules import Rules
from translation.states import Phase, Standing
from translation.turn import Turn
from translation.waiting import answer_held, answer_leaves, refuse_parked

FIRST_VERSION_WITH_MEMBER_ID_REQUIRED = 4


def join_requested(turn: Turn, join: JoinRequested) -> None:
    turn.reason = join.reason
    if error := _impropriety(turn.member, join):
        return _refuse(turn, join, error)
    try:
        subscription = read_subscription(join.protocols[0].metadata)
    except Malformed as malformed:
        turn.because(f"malformed subscription: {malformed}")
        return _refuse(turn, join, e.INCONSISTENT_GROUP_PROTOCOL)
    if turn.member.phase is Phase.ABSENT:
        return _newcomer(turn, join, subscription)
    return _again(turn, join, subscription)


def is_proper(member: Member, join: JoinRequested) -> bool:
    """It would be taken in: only then is the instance taken from whoever has it."""
    if _impropriety(member, join):
        return False
    try:
        read_subscription(join.protocols[0].metadata)
    except Malformed:
        return False
    return True


def _refuse(turn: Turn, join: JoinRequested, error: int) -> None:
    turn.order(AnswerJoin(join.request, error, member_id=join.member_id))


def _impropriety(member: Member, join: JoinRequested) -> int:
    """What a classic broker would refuse too, with the code it would give."""
    if not member.group_id:
        return e.INVALID_GROUP_ID
    if not member.rules.takes_session(join.session_timeout_ms):
        return e.INVALID_SESSION_TIMEOUT
    if join.protocol_type != "consumer" or not join.protocols:
        return e.INCONSISTENT_GROUP_PROTOCOL
    if member.standing is Standing.FATAL:
        return member.verdict
    if member.phase is not Phase.ABSENT and join.instance_id not in (None, member.instance_id):
        return e.FENCED_INSTANCE_ID
    return e.NONE


def _newcomer(turn: Turn, join: JoinRequested, subscription: Subscription) -> None:
    """An id we do not know may be one we gave out a moment ago (MEMBER_ID_REQUIRED leaves no trace). But who claims
    partitions under it must hear that it is unknown, and drop what it holds; so must a static one. Nor is it one of blanks,
    which the coordinator takes for none.

    Under an id that was surely given out here, claims are those of a former self that did not drop them: kafka-python says
    the same until it is let in, and would hear that it is unknown for ever. They are not believed, and what it is answered
    sets them right.
    """
    is_blank = unless_blank(join.member_id) is None
    holds_on = bool(subscription.owned) and not join.is_issued
    if join.member_id and (holds_on or join.instance_id or is_blank):
        _refuse(turn, join, e.UNKNOWN_MEMBER_ID)
        return forget_fenced(turn)
    is_dynamic = not join.instance_id
    if not join.member_id and is_dynamic and join.version >= FIRST_VERSION_WITH_MEMBER_ID_REQUIRED:
        turn.order(AnswerJoin(join.request, e.MEMBER_ID_REQUIRED, member_id=join.fresh_id))
        return None
    return _begin(turn, join, subscription)


def _begin(turn: Turn, join: JoinRequested, subscription: Subscription) -> None:
    """A member from the start. If it has just left under this id, the leave under way ends first (answers.py)."""
    answer_leaves(turn, e.NONE)
    rules = turn.member.rules
    turn.becomes(
        member_id=join.member_id or join.fresh_id,
        instance_id=join.instance_id,
        client_id=join.client_id,
        contract=contract_of(join, subscription, rules, join.company_assignor),
        phase=Phase.COMPLETING_REBALANCE,
        standing=Standing.JOINING,
        unseat=Unseat(join.predecessor, STATIC_LEAVE_EPOCH) if join.predecessor else None,
        epoch=0,
        verdict=e.NONE,
        hurt_by_holds=STRIKES if join.kin_hurt else 0,
        parked=_parked((join.request,), turn, knows_id=bool(join.member_id)),
        heartbeat_at=turn.now,
        changed_at=turn.now,
    )
    # The proxy may be killed before it tells the client anything; the coordinator has the member from its first heartbeat.
    turn.order(Remember(turn.member.journal_entry))


def _again(turn: Turn, join: JoinRequested, subscription: Subscription) -> None:
    """What the subscription owns is what the client still holds, so this is the acknowledgement of a revocation."""
    member = turn.member
    answer_held(turn, e.NONE)
    if member.standing is Standing.JOINING and subscription.owned:
        # Who joins says upstream that it holds nothing.
        _refuse(turn, join, e.UNKNOWN_MEMBER_ID)
        return vanish(turn) if member.is_stranger else depart(turn)
    if _was_elsewhere(member, subscription) and _claims_the_unknown(member, subscription):
        _refuse(turn, join, e.UNKNOWN_MEMBER_ID)
        return depart(turn)
    requests = (*member.parked.requests, join.request) if member.parked else (join.request,)
    owned = claims(member, subscription)
    turn.becomes(
        client_id=join.client_id,
        contract=_contract_anew(member, join, subscription),
        owned=owned,
        spared=(member.owned | member.spared) & member.assigned,
        told=owned,
        floor=max(member.floor, untold(subscription.generation) if subscription.generation > member.generation else -1),
        phase=Phase.COMPLETING_REBALANCE,
        standing=Standing.JOINING if member.standing is Standing.JOINING else Standing.ACKNOWLEDGING,
        asked_at=None,
        rejoin_ms=member.rejoin_ms if member.asked_at is None else turn.now - member.asked_at,
        parked=_parked(requests, turn, knows_id=True),
        settled=False,
        heartbeat_at=turn.now,
        rejoin=None,
        rebalance_by=None,
        beat_seen_at=None,
    )


def _parked(requests: tuple[int, ...], turn: Turn, knows_id: bool) -> ParkedJoin:
    rules = turn.member.rules
    return ParkedJoin(requests, turn.now + rules.park_ms, turn.now + rules.word_ms, knows_id)


def contract_of(join: JoinRequested, subscription: Subscription, rules: Rules, usual: str | None) -> Contract:
    """The first protocol speaks for the client, always the same one: franz-go tells eager from cooperative by it. The vote
    stays what is usual, if the client offers that."""
    first = join.protocols[0]
    offers = server_assignors((each.name for each in join.protocols), subscription.topics, rules)
    return Contract(
        session_timeout_ms=join.session_timeout_ms,
        rebalance_timeout_ms=join.rebalance_timeout_ms,
        protocol_name=first.name,
        subscription_version=subscription.version,
        topics=tuple(sorted(set(subscription.topics))),
        rack_id=unless_blank(subscription.rack_id),
        offers=offers,
        assignor=usual if usual in offers else next(iter(offers), None),
    )


def _contract_anew(member: Member, join: JoinRequested, subscription: Subscription) -> Contract:
    """A client that offers what it offered before votes as before, also for what it was talked into (AssignorAgreed). Another
    vote with each JoinGroup would make a new target with each, and that would cause the next JoinGroup."""
    contract = contract_of(join, subscription, member.rules, member.contract.assignor)
    same = contract.offers == member.contract.offers
    before = member.contract
    return msgspec.structs.replace(contract, assignor=before.assignor, refused=before.refused) if same else contract


def claims(member: Member, subscription: Subscription) -> Partitions:
    """The client claims by topic name. A claim on what was never this member's is nothing to the coordinator; but what
    an adopted member may have been told by others, and must give up, brokers before 4.3 do not describe.

    A topic whose name we have not learnt (the member was adopted a moment ago) may be any that we cannot place: better
    to report too much than to let go of what the client still holds.
    """
    ids = {name: topic for topic, name in member.names.items()}
    elsewhere = subscription.owned if _was_elsewhere(member, subscription) else ()
    foreign = frozenset(TopicPartition(ids[name], partition) for name, partition in elsewhere if name in ids)
    known = member.assigned | member.told | member.owned | foreign
    placed = set(member.names.values())
    unplaced = {partition for name, partition in subscription.owned if name not in placed}

    def is_claimed(tp: TopicPartition) -> bool:
        if tp.topic_id in member.names:
            return (member.names[tp.topic_id], tp.partition) in subscription.owned
        return tp.partition in unplaced

    return frozenset(tp for tp in known if is_claimed(tp))


def _was_elsewhere(member: Member, subscription: Subscription) -> bool:
    """The client was at another proxy, or may have been, and may have been told more there. Only a generation that was told
    here shows that it was not; subscriptions before version 2 have none."""
    is_told_here = 0 <= subscription.generation <= member.generation
    return member.is_stranger or member.has_just_come or not is_told_here


def _claims_the_unknown(member: Member, subscription: Subscription) -> bool:
    """It claims partitions of a topic whose id we do not know: we could not even name them to the coordinator, which would
    give them to somebody else.

    Not while a topic that it is known to hold has no name for us: the claim may be about that one. Nor where it was adopted
    and subscribes to the topic: all those were asked about, so this one is deleted, and nobody will have it.
    """
    if any(member.names.get(tp.topic_id) is None for tp in member.assigned | member.owned):
        return False
    asked_for = member.contract.topics if member.is_stranger else ()
    placed = {*member.names.values(), *asked_for}
    return any(name not in placed for name, _ in subscription.owned)


def forget_fenced(turn: Turn) -> None:
    """A fenced client has heard that it is unknown: nothing is left to remember."""
    if turn.member.standing is Standing.FENCED:
        turn.becomes(standing=Standing.ABSENT)
        turn.order(Forget())


def join_abandoned(turn: Turn, request: int) -> None:
    """As if the JoinGroup had been answered, and the client had gone with the answer: it may have gone to another proxy, and
    what it is told there is not given back in its name (answers.py). Only who never heard its id can't be heard of again.
    """
    parked = turn.member.parked
    if parked is None or request not in parked.requests:
        return
    turn.order(AnswerJoin(request, e.NETWORK_EXCEPTION, member_id=turn.member.member_id))
    if others := tuple(each for each in parked.requests if each != request):
        turn.becomes(parked=msgspec.structs.replace(parked, requests=others))
    else:
        _forsaken(turn)


def _forsaken(turn: Turn) -> None:
    is_nameless = turn.member.is_nameless
    rebalance_by = turn.now + turn.member.contract.rebalance_timeout_ms
    turn.becomes(parked=None, rebalance_by=rebalance_by, describe_at=None, heard_at=turn.now)
    if is_nameless:
        depart(turn)


# --- the answer ----------------------------------------------------------------------------------------------------


def answer_ripe_join(turn: Turn) -> None:
    member = turn.member
    answer_by = member.answer_by
    if member.parked is None or answer_by is None:
        return
    if member.is_waited_for:
        _give_up_waiting(turn)
    elif turn.now >= answer_by or is_ripe(member, turn.now):
        _answer(turn, member.parked)


def is_ripe(member: Member, now: int) -> bool:
    """The assignment is whole, or the client must first let go of something, or nothing has moved for long."""
    if member.losses:
        return True
    if member.unnamed:
        return False
    calm_at = member.calm_at
    is_calm = calm_at is not None and now >= calm_at
    return member.settled or is_calm or not member.is_stirring(now)


def _answer(turn: Turn, parked: ParkedJoin) -> None:
    """The generation that is told is the epoch. But more may be granted at the same epoch, and all proxies that have had the
    client know what it was told by that number: so a number that another may have told is not told again (`floor`)."""
    member = turn.member
    generation = max(member.epoch, member.floor)
    for request in parked.requests:
        turn.order(
            AnswerJoin(
                request,
                generation=generation,
                member_id=member.member_id,
                protocol_name=member.contract.protocol_name,
            )
        )
    rebalance_by = turn.now + member.contract.rebalance_timeout_ms
    turn.becomes(parked=None, generation=generation, rebalance_by=rebalance_by, describe_at=None, heard_at=turn.now)


def _give_up_waiting(turn: Turn) -> None:
    """Not a word from the coordinator that could be told. Who has never heard its id cannot come back under it."""
    parked = turn.member.parked
    if parked is None or turn.now < parked.word_by:
        return
    refuse_parked(turn, e.COORDINATOR_LOAD_IN_PROGRESS)
    if turn.member.standing is Standing.JOINING and not parked.knows_id:
        depart(turn)
