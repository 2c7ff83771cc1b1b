"""Which rebalance is an observation part of? Members are watched, and what was heard of one waits here for its transition."""

from __future__ import annotations

from collections import OrderedDict
from typing import TypeVar

from opentelemetry.trace import SpanContext, SpanKind, Tracer

from proxy.observations import (
    Changed,
    GroupPasses,
    GroupRefused,
    HeartbeatAnswered,
    HeartbeatSent,
    HeartbeatUnsent,
    Observation,
    PassesNoMore,
    RequestAnswered,
    RequestArrived,
)
from proxy.tracing.making import Spans
from proxy.tracing.rebalance_trace import (
    Asked,
    Beat,
    RebalanceTrace,
    tell_beat,
    tell_request,
    tell_transition,
)
from proxy.tracing.spans import BEAT, Key
from translation import errors as e
from translation.states import Phase, Standing
from translation.transition import Transition

# Members, requests and heartbeats that are remembered. The host has fewer; this is for what it lost sight of.
MOST_REMEMBERED = 50_000
# (group, epoch): the rebalance that others link to.
MOST_EPOCHS = 2_000
RESTS = frozenset({(Phase.STABLE, Standing.STABLE), (Phase.ABSENT, Standing.ABSENT)})


class Watched:
    """A member, and what was heard of it since its last transition: that may prove to be what led to the next."""

    def __init__(self, changed: Changed) -> None:
        self.last = changed
        self.trace: RebalanceTrace | None = None
        self.open: dict[int, Asked] = {}
        self.answered: Asked | None = None
        self.beat: Beat | None = None


class Traces:
    """An observer. `mistakes` counts what it could not make sense of: tracing never hurts the member it traces."""

    def __init__(self, tracer: Tracer) -> None:
        self.mistakes = 0
        self._spans = Spans(tracer)
        self._members: OrderedDict[Key, Watched] = OrderedDict()
        self._requests: OrderedDict[int, Asked] = OrderedDict()
        self._beats: OrderedDict[int, Beat] = OrderedDict()
        self._firsts: OrderedDict[tuple[str, int], SpanContext] = OrderedDict()

    def __repr__(self) -> str:
        under_way = sum(member.trace is not None for member in self._members.values())
        waiting = sum(len(member.open) for member in self._members.values())
        return f"<Traces: {len(self._members)} members, {under_way} under way, {waiting} requests wait>"

    def observe(self, observation: Observation) -> None:
        try:
            self._take(observation)
        except Exception:
            self.mistakes += 1

    def close(self, at_ns: int) -> None:
        """The proxy stops: rebalances that are under way end here, unfinished."""
        for member in self._members.values():
            self._give_up_waiting(member)
            if member.trace is not None:
                member.trace.end(member.last, at_ns, "unfinished", member.open)
        self._members.clear()

    def _take(self, observation: Observation) -> None:
        match observation:
            case RequestArrived():
                self._arrived(observation)
            case RequestAnswered():
                self._answered(observation)
            case HeartbeatSent():
                _remember(self._beats, observation.serial, Beat(observation), MOST_REMEMBERED)
            case HeartbeatAnswered():
                self._heard(observation)
            case Changed():
                self._changed(observation)
            case HeartbeatUnsent() | GroupPasses() | PassesNoMore() | GroupRefused():
                pass

    # ----------------------------------------------------------------------------------------- requests and heartbeats

    def _arrived(self, arrived: RequestArrived) -> None:
        asked = Asked(arrived)
        _remember(self._requests, arrived.number, asked, MOST_REMEMBERED)
        member = self._members.get((arrived.group_id, arrived.member_id))
        if member is None:
            return
        self._give_up_waiting(member)
        member.open[arrived.number] = asked
        if member.trace is not None:
            member.trace.take_request(asked)

    def _answered(self, answered: RequestAnswered) -> None:
        asked = self._requests.pop(answered.number, None)
        if asked is None:
            return
        asked.answered = answered
        member = self._members.get(asked.key)
        if member is not None:
            member.open.pop(answered.number, None)
        if asked.trace is not None:
            asked.trace.end_request(asked)
        elif member is not None:
            self._give_up_waiting(member)
            member.answered = asked
        else:
            self._alone(asked)

    def _heard(self, answered: HeartbeatAnswered) -> None:
        beat = self._beats.pop(answered.serial, None)
        if beat is None:
            return
        beat.answered = answered
        member = self._members.get(beat.key)
        if member is None:
            self._alone(beat)
        elif member.trace is not None:
            member.trace.take_beat(beat, member.last.names, member.open)
        else:
            self._give_up_waiting(member)
            member.beat = beat

    def _give_up_waiting(self, member: Watched) -> None:
        """Something else happened: what was heard before led to no transition. It is told only if it failed, or took long."""
        answered, beat, member.answered, member.beat = member.answered, member.beat, None, None
        for one in (answered, beat):
            if one is not None:
                self._alone(one)

    def _alone(self, one: Asked | Beat) -> None:
        if isinstance(one, Beat):
            if one.is_news:
                span = self._spans.root(BEAT, one.key, one.sent.at_ns, SpanKind.CLIENT)
                tell_beat(self._spans, span, one, {})
        elif one.answered is not None and one.error:
            span = self._spans.root(one.arrived.api, one.key, one.arrived.at_ns, SpanKind.SERVER)
            tell_request(self._spans, span, one, one.answered.at_ns)

    # ------------------------------------------------------------------------------------------------------ transitions

    def _changed(self, changed: Changed) -> None:
        it = changed.transition
        key = (it.group_id, it.member_id)
        member = self._members.get(key) or Watched(changed)
        if member.trace is not None and _rested(it):
            # The host has dropped it, and it is back.
            member.trace.end(member.last, member.last.at_ns, "lost", member.open)
            member.trace = None
        member.last = changed
        if member.trace is None and not (_rested(it) and _rests(it)):
            self._open(member, changed)
        if member.trace is None:
            # An epoch that moves nothing. The heartbeat that brought it says no more than that, and there are many of them.
            self._give_up_waiting(member)
            tell_transition(self._spans, self._spans.root("transition", key, changed.at_ns), changed)
        else:
            self._tell(member, member.trace, changed)
        member.answered = member.beat = None
        self._keep(key, member)

    def _open(self, member: Watched, changed: Changed) -> None:
        """With what led to it: the request, the heartbeat that brought news, the answer that tells the client."""
        asked = self._its_request(member, changed)
        beat = member.beat if member.beat is not None and member.beat.brings(changed.transition.epoch_before) else None
        answered = member.answered if member.answered is not None and _belongs(member.answered, changed) else None
        begins = [changed.at_ns]
        begins += [beat.sent.at_ns] if beat is not None else []
        begins += [asked.arrived.at_ns] if asked is not None else []
        if answered is not None and answered.answered is not None:
            is_cause = answered.arrived.number == changed.transition.request
            begins.append(answered.arrived.at_ns if is_cause else answered.answered.at_ns)
        trace = member.trace = RebalanceTrace(self._spans, changed, min(begins))
        for each in member.open.values():
            trace.take_request(each)
        if answered is not None:
            trace.take_request(answered)
            trace.end_request(answered)
        if beat is not None:
            trace.take_beat(beat, changed.names, member.open)

    def _its_request(self, member: Watched, changed: Changed) -> Asked | None:
        """The request that caused it, if it still waits. Without a member id until now, it is known whose it is."""
        asked = self._requests.get(changed.transition.request or 0)
        if asked is not None:
            asked.key = (changed.transition.group_id, changed.transition.member_id)
            member.open[asked.arrived.number] = asked
        return asked

    def _tell(self, member: Watched, trace: RebalanceTrace, changed: Changed) -> None:
        it = changed.transition
        asked = self._its_request(member, changed)
        if asked is not None:
            trace.take_request(asked)
        trace.tell(changed)
        if it.epoch > 0 and it.epoch != it.epoch_before and trace.root.is_kept:
            self._link(trace, changed)
        if _rests(it):
            trace.end(changed, changed.at_ns, it.phase.value, member.open)
            member.trace = None

    def _link(self, trace: RebalanceTrace, changed: Changed) -> None:
        """Members of one group change are found from each other: all link to the first that is traced."""
        change = (changed.transition.group_id, changed.transition.epoch)
        first = self._firsts.get(change)
        if first is None:
            _remember(self._firsts, change, trace.root.context, MOST_EPOCHS)
        elif first != trace.root.context:
            trace.link(first, changed)

    def _keep(self, key: Key, member: Watched) -> None:
        it = member.last.transition
        if (it.phase, it.standing) == (Phase.ABSENT, Standing.ABSENT):
            self._members.pop(key, None)
            return
        self._members[key] = member
        self._members.move_to_end(key)
        if len(self._members) > MOST_REMEMBERED:
            _, oldest = self._members.popitem(last=False)
            if oldest.trace is not None:
                oldest.trace.end(oldest.last, oldest.last.at_ns, "lost", oldest.open)


def _belongs(asked: Asked, changed: Changed) -> bool:
    """An answer goes out before the transition that it is part of is told."""
    is_cause = asked.arrived.number == changed.transition.request
    return is_cause or (asked.answered is not None and asked.answered.error_code == e.REBALANCE_IN_PROGRESS)


def _rested(it: Transition) -> bool:
    return (it.phase_before, it.standing_before) in RESTS


def _rests(it: Transition) -> bool:
    return (it.phase, it.standing) in RESTS


K = TypeVar("K")
V = TypeVar("V")


def _remember(memory: OrderedDict[K, V], key: K, value: V, most: int) -> None:
    memory[key] = value
    if len(memory) > most:
        memory.popitem(last=False)
