"""`step(member, event, now) -> (member, actions)`: one fact in, the member as it is now and the orders it gives out.

After whatever the event itself asks for, the step does what has become due (deadlines.py), holds the outcome against
the tables of states.py, and closes with a transition record if anything moved that others care about.
"""

from __future__ import annotations

import translation.events as ev
from translation.actions import AnyAction, RecordTransition
from translation.adopting import member_adopted
from translation.answers import coordinator_answered, coordinator_lost
from translation.committing import commit_answered, commit_lost
from translation.deadlines import attend
from translation.ending import taken_over, vanish
from translation.holding import hold_hurt, hold_interrupted
from translation.learning import (
    assignor_agreed,
    beat_wanted,
    hand_over_planned,
    motion_seen,
    registered_member_found,
    target_learned,
    topics_allowed,
    topics_learned,
)
from translation.member import Member
from translation.refusals import LOST
from translation.speaking import client_left, client_spoke
from translation.states import check_joint, check_standing
from translation.stopping import proxy_stopping
from translation.transition import Transition
from translation.turn import Turn


def step(member: Member, event: ev.AnyEvent, now: int) -> tuple[Member, list[AnyAction]]:
    turn = Turn(member, now, cause=type(event).__name__)
    if isinstance(event, ev.ClientEvent):
        client_spoke(turn, event)
    else:
        _world_moved(turn, event)
    attend(turn)
    _check(turn)
    _record(turn)
    return turn.member, turn.actions


def _world_moved(turn: Turn, event: ev.WorldEvent) -> None:
    # The commonest first: they need not wait for the others to be compared.
    match event:
        case ev.DeadlinePassed():
            pass
        case ev.CoordinatorAnswered():
            coordinator_answered(turn, event)
        case ev.MotionSeen():
            motion_seen(turn, event)
        case ev.BeatWanted():
            beat_wanted(turn)
        case ev.TargetLearned():
            target_learned(turn, event)
        case ev.CommitAnswered():
            commit_answered(turn, event)
        case ev.HandOverPlanned():
            hand_over_planned(turn, event)
        case ev.CoordinatorLost():
            coordinator_lost(turn)
        case ev.CommitLost():
            commit_lost(turn, event)
        case ev.ClientLeft():
            client_left(turn, event)
        case ev.HoldInterrupted():
            hold_interrupted(turn, event)
        case ev.HoldHurt():
            hold_hurt(turn)
        case ev.TopicsLearned():
            topics_learned(turn, event)
        case ev.TopicsAllowed():
            topics_allowed(turn, event)
        case ev.TargetUnknown():
            turn.becomes(blind=True, farewell_at=None)
        case ev.RegisteredMemberFound():
            registered_member_found(turn, event)
        case ev.LullWanted():
            turn.becomes(quiet_until=event.until)
        case ev.AssignorAgreed():
            assignor_agreed(turn, event)
        case ev.BeatPlaced():
            turn.becomes(beat_part=event.part)
        case ev.InstanceTaken():
            taken_over(turn)
        case ev.SeenElsewhere():
            vanish(turn, LOST)
        case ev.MemberAdopted():
            # A request of its client has led to this.
            turn.spoken = True
            member_adopted(turn, event)
        case ev.ProxyStopping():  # pragma: no branch
            proxy_stopping(turn, event)


def _check(turn: Turn) -> None:
    before, after = turn.before, turn.member
    check_standing(before.standing, after.standing)
    check_joint(after.phase, after.standing)


def _record(turn: Turn) -> None:
    before, after = turn.before, turn.member
    if _face(before) == _face(after):
        return
    turn.order(
        RecordTransition(
            Transition(
                group_id=after.group_id,
                member_id=after.member_id,
                instance_id=after.instance_id,
                client_id=after.client_id,
                at=turn.now,
                cause=turn.cause,
                phase_before=before.phase,
                phase=after.phase,
                standing_before=before.standing,
                standing=after.standing,
                epoch_before=before.epoch,
                epoch=after.epoch,
                generation_before=before.generation,
                generation=after.generation,
                kept=tuple(sorted(before.owned & after.owned)),
                revoked=tuple(sorted(before.owned - after.owned)),
                gained=tuple(sorted(after.owned - before.owned)),
                owned=tuple(sorted(after.owned)),
                assigned=tuple(sorted(after.assigned)),
                request=turn.request,
                reason=turn.reason,
            )
        )
    )


def _face(member: Member) -> tuple[object, ...]:
    return (member.phase, member.standing, member.epoch, member.generation, member.owned, member.assigned)
