"""One rebalance as spans: the root, its phases, the requests and the heartbeats in it. Every span lies within its parent."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode

from proxy.observations import Changed, HeartbeatAnswered, HeartbeatSent, RequestAnswered, RequestArrived
from proxy.tracing.making import UNSET, Begun, Spans
from proxy.tracing.spans import (
    BEAT,
    LOST,
    ORDINARY,
    Key,
    Names,
    answer_attributes,
    change_attributes,
    error_name,
    heartbeat_answer_attributes,
    heartbeat_attributes,
    outcome_attributes,
    phase_attributes,
    rebalance_attributes,
    request_attributes,
    transition_attributes,
)
from translation import errors as e
from translation.group_heartbeat import JOIN_EPOCH
from translation.states import Phase

PHASES = {Phase.PREPARE_REBALANCE: "PrepareRebalance", Phase.COMPLETING_REBALANCE: "CompletingRebalance"}
# What can become a heartbeat upstream while it waits. A classic Heartbeat that is held for news does not.
SERVED = frozenset({"JoinGroup", "SyncGroup", "LeaveGroup"})
# A coordinator that needs longer than this to answer a heartbeat is news in itself.
SLOW_NS = 5_000_000_000
# Of a member that finds no rest while its group moves on: to the last epochs.
MOST_LINKS = 128


class Asked:
    """A classic request; a span once its member is not at rest."""

    def __init__(self, arrived: RequestArrived) -> None:
        self.arrived = arrived
        self.key: Key = (arrived.group_id, arrived.member_id)
        self.answered: RequestAnswered | None = None
        self.trace: RebalanceTrace | None = None
        self.span: Begun | None = None

    @property
    def error(self) -> str | None:
        code = self.answered.error_code if self.answered is not None and self.answered.is_heard else e.NONE
        return error_name(code) if code not in ORDINARY else None


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

    @property
    def is_quiet(self) -> bool:
        """It said no more than that the member is there, at its own time, and heard no more than that it still is."""
        sent, answer = self.sent.heartbeat, self.answered.answer if self.answered is not None else None
        says = (
            sent.owned is not None or sent.subscribed_topic_names is not None or sent.subscribed_topic_regex is not None
        )
        if says or sent.member_epoch <= JOIN_EPOCH or self.sent.request is not None or self.is_news:
            return False
        return answer is not None and answer.assignment is None and answer.member_epoch == sent.member_epoch

    def brings(self, epoch: int) -> bool:
        """News to a member of that epoch."""
        answer = self.answered.answer if self.answered is not None else None
        return self.failed or (answer is not None and (answer.assignment is not None or answer.member_epoch != epoch))


class RebalanceTrace:
    def __init__(self, spans: Spans, opened: Changed, start_ns: int) -> None:
        self._spans = spans
        self._opened = opened
        self._in_phase = Phase.ABSENT
        self._entered = opened
        self._phase: Begun | None = None
        self._status = UNSET
        self._links: deque[Link] = deque(maxlen=MOST_LINKS)
        self._quiet_beats = 0
        self.root = spans.root("rebalance", (opened.transition.group_id, opened.transition.member_id), start_ns)

    def tell(self, changed: Changed) -> None:
        tell_transition(self._spans, self._spans.below(self.root, "transition", changed.at_ns), changed)
        if changed.transition.phase is self._in_phase:
            return
        self._leave_phase(changed.at_ns)
        self._in_phase = changed.transition.phase
        self._entered = changed
        name = PHASES.get(self._in_phase)
        self._phase = self._spans.below(self.root, name, changed.at_ns) if name is not None else None

    def link(self, first: SpanContext, changed: Changed) -> None:
        self._links.append(Link(first, change_attributes(changed)))

    def take_request(self, asked: Asked) -> None:
        if asked.trace is not None:
            return
        asked.trace = self
        start_ns = max(asked.arrived.at_ns, self.root.start_ns)
        asked.span = self._spans.below(self.root, asked.arrived.api, start_ns, SpanKind.SERVER)

    def end_request(self, asked: Asked) -> None:
        """None: the rebalance was over before it was answered, and so is its span."""
        if asked.span is None or asked.answered is None:
            return
        if asked.error:
            self._status = Status(StatusCode.ERROR, f"{asked.arrived.api}: {asked.error}")
        tell_request(self._spans, asked.span, asked, asked.answered.at_ns)
        asked.span = None

    def take_beat(self, beat: Beat, names: Names, asked: Mapping[int, Asked]) -> None:
        """While a member waits for its partitions the coordinator is asked several times a second: that is only counted."""
        if beat.is_quiet:
            self._quiet_beats += 1
            return
        start_ns = max(beat.sent.at_ns, self.root.start_ns)
        phase = self._phase if self._phase is not None and start_ns >= self._phase.start_ns else None
        parent = self._served(beat, asked) or phase or self.root
        tell_beat(self._spans, self._spans.below(parent, BEAT, start_ns, SpanKind.CLIENT), beat, names)

    def _served(self, beat: Beat, asked: Mapping[int, Asked]) -> Begun | None:
        """The request that this heartbeat serves, if that still waits: the one that became it, or the last before it."""
        if beat.sent.request is not None:
            named = asked.get(beat.sent.request)
            spans = [named.span] if named is not None else []
        else:
            spans = [each.span for each in asked.values() if each.arrived.api in SERVED]
        before = [span for span in spans if span is not None and span.start_ns <= beat.sent.at_ns]
        return before[-1] if before else None

    def end(self, closed: Changed, at_ns: int, outcome: str, asked: Mapping[int, Asked]) -> None:
        for each in asked.values():
            if each.trace is self and each.span is not None:
                tell_request(self._spans, each.span, each, at_ns)
                each.span = None
        self._leave_phase(at_ns)
        opened, quiet = self._opened, self._quiet_beats
        self._spans.end(
            self.root,
            at_ns,
            lambda: rebalance_attributes(opened) | outcome_attributes(opened, closed, outcome, quiet),
            self._status,
            tuple(self._links),
        )

    def _leave_phase(self, at_ns: int) -> None:
        if self._phase is not None:
            self._spans.end(self._phase, at_ns, lambda: phase_attributes(self._entered))


def tell_transition(spans: Spans, span: Begun, changed: Changed) -> None:
    spans.end(span, changed.at_ns, lambda: transition_attributes(changed))


def tell_request(spans: Spans, span: Begun, asked: Asked, until_ns: int) -> None:
    status = Status(StatusCode.ERROR, asked.error) if asked.error else UNSET
    spans.end(span, until_ns, lambda: request_attributes(asked.arrived) | answer_attributes(asked.answered), status)


def tell_beat(spans: Spans, span: Begun, beat: Beat, names: Names) -> None:
    status = Status(StatusCode.ERROR, beat.error) if beat.failed else UNSET
    spans.end(
        span,
        beat.until_ns,
        lambda: heartbeat_attributes(beat.sent, names) | heartbeat_answer_attributes(beat.answered, names),
        status,
    )
