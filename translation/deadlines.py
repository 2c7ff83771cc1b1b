"""What time asks for. Every step ends here, whatever it began with: what has become due is done, in this order."""

from __future__ import annotations

from translation.actions import DescribeGroup
from translation.farewell import give_up
from translation.holding import ask_to_rejoin, release_held
from translation.joining import answer_ripe_join
from translation.member import Member, Rejoin
from translation.sending import send_when_due
from translation.states import Phase, Standing
from translation.turn import Turn


def attend(turn: Turn) -> None:
    give_up(turn)
    settle_standing(turn)
    _plan_rejoin(turn)
    answer_ripe_join(turn)
    settle_standing(turn)
    release_held(turn)
    _describe(turn)
    send_when_due(turn)


def settle_standing(turn: Turn) -> None:
    """Stable or reconciling is not decided but seen: is what is assigned what the client has?"""
    member = turn.member
    if member.standing in (Standing.STABLE, Standing.RECONCILING):
        seen = Standing.RECONCILING if _is_owed(member) else Standing.STABLE
        if seen is not member.standing:
            turn.becomes(standing=seen)


def _is_owed(member: Member) -> bool:
    if member.owned == member.assigned == member.told:
        return False
    return bool(member.losses or (member.gains and member.phase is not Phase.COMPLETING_REBALANCE))


def _plan_rejoin(turn: Turn) -> None:
    """Silence is the rule: the client is asked to rejoin for losses and gains, and called off if both have gone."""
    member = turn.member
    has_yet_to_hear = member.asked_at is None and member.generation >= 0
    if member.phase is Phase.PREPARE_REBALANCE and has_yet_to_hear and not _is_owed(member):
        turn.becomes(phase=Phase.STABLE, rebalance_by=None)
    elif member.phase is Phase.STABLE:
        _plan(turn, member)


def _plan(turn: Turn, member: Member) -> None:
    if not _is_owed(member):
        if member.rejoin:
            turn.becomes(rejoin=None)
        return
    if member.rejoin is None or (member.losses and not turn.before.losses):
        wait_ms = member.rules.plan_ms if member.losses else member.rules.company_ms
        turn.becomes(rejoin=Rejoin(turn.now + wait_ms))
        if wait_ms:
            # It says when to give up, and whether there is anything more to take.
            turn.order(DescribeGroup())
    rejoin = turn.member.rejoin
    if rejoin and turn.now >= rejoin.at:
        ask_to_rejoin(turn)


def _describe(turn: Turn) -> None:
    """Who is parked and may expect more asks how the group stands, about as often as it beats."""
    member = turn.member
    if member.parked is None or member.is_waited_for or member.settled or member.blind:
        if member.describe_at is not None:
            turn.becomes(describe_at=None)
    elif member.describe_at is None or turn.now >= member.describe_at:
        turn.becomes(describe_at=turn.now + member.rules.poll_ms)
        turn.order(DescribeGroup())
