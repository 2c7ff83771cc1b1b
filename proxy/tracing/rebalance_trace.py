"""One rebalance as spans: the root, its phases, the requests and the heartbeats in it. Every span lies within its parent."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer, set_span_in_context

from proxy.observations import Changed, HeartbeatAnswered, HeartbeatSent, RequestAnswered, RequestArrived
from proxy.tracing.spans import (
    LOST,
    ORDINARY,
    PREFIX,
    Attributes,
    Names,
    answer_attributes,
    error_name,
    heartbeat_answer_attributes,
    heartbeat_attributes,
    outcome_attributes,
    phase_attributes,
    rebalance_attributes,
    request_attributes,
    transition_attributes,
)
from translation.states import Phase

Key = tuple[str, str]
# An empty context, not None: that would be whatever the running task has at hand.
NO_PARENT = Context()
PHASES = {Phase.PREPARE_REBALANCE: "PrepareRebalance", Phase.COMPLETING_REBALANCE: "CompletingRebalance"}
# What can become a heartbeat upstream while it waits. A classic Heartbeat that is held for news does not.
SERVED = frozenset({"JoinGroup", "SyncGroup", "LeaveGroup"})


# A coordinator that needs longer than this to answer a heartbeat is news in itself.
SLOW_NS = 5_000_000_000


class Asked:
    """A classic request; a span once its member is not at rest."""

    def __init__(self, arrived: RequestArrived) -> None:
        self.arrived = arrived
        self.key: Key = (arrived.group_id, arrived.member_id)
        self.answered: RequestAnswered | None = None
        self.trace: RebalanceTrace | None = None
        self.span: Span | None = None
        self.start_ns = arrived.at_ns


class Beat:
    """A ConsumerGroupHeartbeat."""

    def __init__(self, sent: HeartbeatSent) -> None:
        self.sent = sent
        self.key: Key = (sent.heartbeat.group_id, sent.heartbeat.member_id)
        self.answered: HeartbeatAnswered | None = None

    @property
    def until_ns(self) -> int:
        return self.answered.at_ns if self.answered is not None else self.sent.at_ns

    @property
    def failed(self) -> bool:
        answer = self.answered.answer if self.answered is not None else None
        return answer is None or answer.error_code != 0

    @property
    def is_news(self) -> bool:
        """Whatever it may have brought."""
        return self.failed or self.until_ns - self.sent.at_ns > SLOW_NS

    @property
    def error(self) -> str:
        answer = self.answered.answer if self.answered is not None else None
        return LOST if answer is None else error_name(answer.error_code)

    def told(self, epoch: int) -> bool:
        """It was no quiet one."""
        answer = self.answered.answer if self.answered is not None else None
        return self.failed or (answer is not None and (answer.assignment is not None or answer.member_epoch != epoch))


class RebalanceTrace:
    def __init__(self, tracer: Tracer, opened: Changed, start_ns: int) -> None:
        self._tracer = tracer
        self._opened = opened
        self._start_ns = start_ns
        self._phase: Span | None = None
        self._phase_start_ns = start_ns
        self._in_phase = Phase.ABSENT
        self.root = begin(tracer, "rebalance", None, start_ns, lambda: rebalance_attributes(opened))

    def tell(self, changed: Changed) -> None:
        transition_span(self._tracer, self.root, changed)
        if changed.transition.phase is self._in_phase:
            return
        if self._phase is not None:
            self._phase.end(changed.at_ns)
        self._in_phase = changed.transition.phase
        self._phase_start_ns = changed.at_ns
        name = PHASES.get(self._in_phase)
        self._phase = None
        if name is not None:
            self._phase = begin(self._tracer, name, self.root, changed.at_ns, lambda: phase_attributes(changed))

    def take_request(self, asked: Asked) -> None:
        if asked.trace is not None:
            return
        asked.trace = self
        asked.start_ns = max(asked.arrived.at_ns, self._start_ns)
        asked.span = request_span(self._tracer, self.root, asked, asked.start_ns)

    def end_request(self, asked: Asked) -> None:
        """None: the rebalance was over before it was answered, and so is its span."""
        if asked.span is None or asked.answered is None:
            return
        if asked.answered.error_code not in ORDINARY:
            self.root.set_status(
                Status(StatusCode.ERROR, f"{asked.arrived.api}: {error_name(asked.answered.error_code)}")
            )
        say_answer(asked.span, asked.answered)
        asked.span.end(asked.answered.at_ns)
        asked.span = None

    def take_beat(self, beat: Beat, names: Names, asked: Mapping[int, Asked]) -> None:
        start_ns = max(beat.sent.at_ns, self._start_ns)
        parent = self._served(beat, asked) or (self._phase if start_ns >= self._phase_start_ns else None) or self.root
        beat_span(self._tracer, parent, beat, names, start_ns).end(beat.until_ns)

    def _served(self, beat: Beat, asked: Mapping[int, Asked]) -> Span | None:
        """The request that this heartbeat serves, if that still waits: the one that became it, or the last before it."""
        if beat.sent.request is not None:
            named = asked.get(beat.sent.request)
            return named.span if named is not None and named.start_ns <= beat.sent.at_ns else None
        waiting = [each for each in asked.values() if each.span is not None and each.arrived.api in SERVED]
        spans = [each.span for each in waiting if each.start_ns <= beat.sent.at_ns]
        return spans[-1] if spans else None

    def end(self, closed: Changed, at_ns: int, outcome: str, asked: Mapping[int, Asked]) -> None:
        for each in asked.values():
            if each.trace is self and each.span is not None:
                each.span.set_attribute(PREFIX + "still_open", 1)
                each.span.end(at_ns)
                each.span = None
        if self._phase is not None:
            self._phase.end(at_ns)
        if self.root.is_recording():
            self.root.set_attributes(outcome_attributes(self._opened, closed, outcome))
        self.root.end(at_ns)


def begin(
    tracer: Tracer,
    name: str,
    parent: Span | None,
    at_ns: int,
    attributes: Callable[[], Attributes],
    kind: SpanKind = SpanKind.INTERNAL,
) -> Span:
    """What is not sampled need not be described."""
    if parent is None:
        return tracer.start_span(name, NO_PARENT, kind, attributes(), start_time=at_ns)
    said = attributes() if parent.is_recording() else None
    return tracer.start_span(name, set_span_in_context(parent), kind, said, start_time=at_ns)


def transition_span(tracer: Tracer, parent: Span | None, changed: Changed) -> None:
    begin(tracer, "transition", parent, changed.at_ns, lambda: transition_attributes(changed)).end(changed.at_ns)


def request_span(tracer: Tracer, parent: Span | None, asked: Asked, start_ns: int) -> Span:
    return begin(
        tracer, asked.arrived.api, parent, start_ns, lambda: request_attributes(asked.arrived), SpanKind.SERVER
    )


def say_answer(span: Span, answered: RequestAnswered) -> None:
    span.set_attributes(answer_attributes(answered))
    if answered.error_code not in ORDINARY:
        span.set_status(Status(StatusCode.ERROR, error_name(answered.error_code)))


def beat_span(tracer: Tracer, parent: Span | None, beat: Beat, names: Names, start_ns: int) -> Span:
    def said() -> Attributes:
        heard = heartbeat_answer_attributes(beat.answered, names) if beat.answered is not None else {}
        return heartbeat_attributes(beat.sent, names) | heard

    span = begin(tracer, "ConsumerGroupHeartbeat", parent, start_ns, said, SpanKind.CLIENT)
    if beat.failed:
        span.set_status(Status(StatusCode.ERROR, beat.error))
    return span
