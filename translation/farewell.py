"""How a silent client is given up: its session ends, or its rebalance timeout, and another proxy may have it by then.

Two proxies of one group share nothing. The one that lost the client must not leave on its behalf, so before the end it
asks the coordinator who has beaten for the member: more than once, for whoever has it may only just reach the coordinator
again. An answer that names another client host is judged by whoever hosts the member (SeenElsewhere); one that shows
another epoch than ours says the same. Without any answer the member is let be, for one more session, and then forgotten:
nobody beats for it any more, so the coordinator will miss it by itself. Where the proxy itself has stood still through all
of that, it asks first too: what the client said meanwhile may not have been read yet.

A coordinator that takes over gives all members their time anew, for whom could they have spoken to before? So it is here,
once: the first answer after a loss tells that there is one again. Whoever lost it asks for a description, which is had as
soon as anybody of the group here has found it.
"""

from __future__ import annotations

from translation.actions import DescribeGroup, Forget
from translation.ending import depart, vanish
from translation.events import TargetLearned
from translation.member import Member
from translation.states import Phase, Standing
from translation.turn import Turn


def give_up(turn: Turn) -> None:
    member = turn.member
    begins_at, ends_at = member.farewell_begins_at, member.ends_at
    if begins_at is None or ends_at is None or turn.now < begins_at:
        if member.farewell_at is not None:
            # Begun for a rebalance timeout that has been called off since.
            turn.becomes(farewell_at=None, farewell_since=None, unclaimed_since=None)
    elif member.phase is Phase.ABSENT:
        turn.becomes(standing=Standing.ABSENT)
        turn.order(Forget())
    elif member.has_farewell and member.is_silent(turn.now):
        _say_farewell(turn, ends_at)
    elif member.is_kept_away:
        begin_anew(turn)
    else:
        turn.because(_why(member, turn.now))
        depart(turn)


def _why(member: Member, now: int) -> str:
    has_ended = member.session_ends_at is not None and now >= member.session_ends_at
    return "session ended" if has_ended else "rebalance timeout"


def begin_anew(turn: Turn) -> None:
    """The client has all of its time once more, as from a coordinator that has just taken over."""
    member = turn.member
    rebalance_by = None if member.rebalance_by is None else turn.now + member.contract.rebalance_timeout_ms
    turn.becomes(
        served_at=turn.now, rebalance_by=rebalance_by, farewell_at=None, farewell_since=None, unclaimed_since=None
    )


def _say_farewell(turn: Turn, ends_at: int) -> None:
    member = turn.member
    since = turn.now if member.farewell_since is None else member.farewell_since
    turn.becomes(farewell_since=since)
    if turn.now >= max(ends_at, since) + member.contract.session_timeout_ms:
        turn.because(_why(member, turn.now))
        vanish(turn)
    elif member.farewell_at is None or turn.now >= member.farewell_at:
        turn.becomes(farewell_at=turn.now + member.rules.retry_ms)
        turn.order(DescribeGroup())


def hear_of_oneself(turn: Turn, learned: TargetLearned) -> None:
    """The coordinator's word on a member in farewell. Our own heartbeats moved its epoch last, or somebody else's."""
    member = turn.member
    if member.farewell_at is None or member.ends_at is None:
        if member.is_kept_away:
            begin_anew(turn)
        return
    unclaimed_since = turn.now if member.unclaimed_since is None else member.unclaimed_since
    turn.becomes(unclaimed_since=unclaimed_since)
    if learned.member_epoch > member.epoch and not member.must_say_all:
        turn.because("seen elsewhere")
        vanish(turn)
    elif member.is_kept_away:
        begin_anew(turn)
    elif turn.now >= max(member.ends_at, unclaimed_since + member.rules.farewell_ms - member.rules.retry_ms):
        turn.because(_why(member, turn.now))
        depart(turn)
