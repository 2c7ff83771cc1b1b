"""A random walk of a member, observed as the host of members observes it: in the order of its orders."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

import translation.events as ev
from proxy.logs import Log
from proxy.observations import (
    Changed,
    Client,
    HeartbeatAnswered,
    HeartbeatSent,
    Observation,
    RequestAnswered,
    RequestArrived,
)
from proxy.tracing.traces import Traces
from tests.translation.playbook import NAMES
from tests.translation.walks import ANSWERS, Walker
from translation.actions import AnyAction, RecordTransition, SendGroupHeartbeat
from translation.group_heartbeat import GroupHeartbeatAnswer

CLIENT = Client(address="10.0.0.1:5000", client_id="c", software="librdkafka", software_version="1.9.2")
QUIET = Log(out=io.StringIO())
APIS = {
    ev.JoinRequested: "JoinGroup",
    ev.SyncRequested: "SyncGroup",
    ev.HeartbeatRequested: "Heartbeat",
    ev.LeaveRequested: "LeaveGroup",
    ev.CommitRequested: "OffsetCommit",
}


class Told(Walker):
    def __init__(self, seed: int, observe: Callable[[Observation], None]) -> None:
        super().__init__(seed)
        self.observe = observe
        self.changes: list[Changed] = []
        self._ns = 0
        self._serial = 0
        self._taken: ev.AnyEvent = ev.DeadlinePassed()

    def at_ns(self) -> int:
        """Later than whatever was told before, as the host's clock has it."""
        self._ns = max(self._ns + 1, self.now * 1_000_000)
        return self._ns

    def take(self, event: ev.AnyEvent) -> None:
        if isinstance(event, ev.ClientEvent):
            self.observe(self._arrived(event))
        elif isinstance(event, ev.CoordinatorAnswered):
            self._heard(event.answer)
        elif isinstance(event, ev.CoordinatorLost):
            self._heard(None)
        self._taken = event
        super().take(event)

    def _arrived(self, event: ev.ClientEvent) -> RequestArrived:
        return RequestArrived(
            number=event.request,
            at_ns=self.at_ns(),
            group_id="g",
            member_id=getattr(event, "member_id", "m"),
            instance_id=self.instance_id,
            api=APIS[type(event)],
            version=5,
            client=CLIENT,
        )

    def _heard(self, answer: GroupHeartbeatAnswer | None) -> None:
        self.observe(HeartbeatAnswered(serial=self._serial, at_ns=self.at_ns(), answer=answer))

    def perform(self, action: AnyAction) -> None:
        super().perform(action)
        if isinstance(action, ANSWERS):
            code = getattr(action, "error_code", 0) or 0
            self.observe(RequestAnswered(number=action.request, at_ns=self.at_ns(), error_code=code))
        elif isinstance(action, SendGroupHeartbeat):
            self._serial += 1
            request = self._taken.request if isinstance(self._taken, ev.ClientEvent) else None
            self.observe(
                HeartbeatSent(serial=self._serial, at_ns=self.at_ns(), heartbeat=action.heartbeat, request=request)
            )
        elif isinstance(action, RecordTransition):
            changed = Changed(at_ns=self.at_ns(), transition=action.transition, names=NAMES, client=CLIENT, node=2)
            self.changes.append(changed)
            self.observe(changed)


class Traced:
    """Traces, and the spans that have ended."""

    def __init__(self) -> None:
        self._out = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(self._out))
        self.traces = Traces(provider.get_tracer("test"))

    @property
    def spans(self) -> Sequence[ReadableSpan]:
        return self._out.get_finished_spans()


def walked(seed: int) -> tuple[Told, Traced]:
    traced = Traced()
    walker = Told(seed, traced.traces.observe)
    for _ in walker.walk():
        pass
    traced.traces.close(walker.at_ns())
    return walker, traced
