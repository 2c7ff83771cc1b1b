"""How a span is made: once, when it ends. While it lasts there is only its place in the trace.

All that a span says is known from observations when it ends, and so are its times. There is no use then for the SDK's
`Span`, which anybody may change from any thread until its end: it locks, and checks and copies each attribute, and that
was more than half of what tracing cost the event loop. What the SDK hands to processors in the end is a `ReadableSpan`.
Here that is made at once, with the sampler, the ids, the resource and the processors of the SDK's tracer. The SDK means
only tracers to do so, and may change what it takes: tests/proxy/traces/test_making.py tells the same spans to its own
tracer, and what comes out must be the same, byte by byte.

The limits of the SDK (OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT and others) are its Span's, and so hold for none of ours. A record
cut short would be a false one; how much a span can say is bounded by what its member owns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from opentelemetry.context import Context
from opentelemetry.sdk import trace as sdk
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    INVALID_SPAN_CONTEXT,
    Link,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    Tracer,
)

from proxy.tracing.spans import Attributes, Key, whose

# An empty context, not None: that would be whatever the running task has at hand.
NO_PARENT = Context()
UNSET = Status(StatusCode.UNSET)


class Begun(NamedTuple):
    """A span from its beginning to its end. Not kept: its member is not sampled, and it need not be described."""

    name: str
    kind: SpanKind
    start_ns: int
    context: SpanContext
    parent: SpanContext | None
    is_kept: bool


class Spans:
    def __init__(self, tracer: Tracer) -> None:
        """Where OTEL_SDK_DISABLED is set, the tracer is not the SDK's, and nothing is kept."""
        self._tracer = tracer if isinstance(tracer, sdk.Tracer) else None
        if self._tracer is not None:
            scope = self._tracer.instrumentation_info
            self._scope = InstrumentationScope(scope.name, scope.version, scope.schema_url)
            random = TraceFlags.RANDOM_TRACE_ID if self._tracer.id_generator.is_trace_id_random() else 0
            self._flags = (TraceFlags(random), TraceFlags(random | TraceFlags.SAMPLED))

    def root(self, name: str, member: Key, start_ns: int, kind: SpanKind = SpanKind.INTERNAL) -> Begun:
        if self._tracer is None:
            return Begun(name, kind, start_ns, INVALID_SPAN_CONTEXT, None, is_kept=False)
        ids = self._tracer.id_generator
        trace_id = ids.generate_trace_id()
        sampled = self._tracer.sampler.should_sample(NO_PARENT, trace_id, name, kind, whose(member))
        is_kept = sampled.decision is Decision.RECORD_AND_SAMPLE
        context = SpanContext(trace_id, ids.generate_span_id(), False, self._flags[is_kept], sampled.trace_state)
        return Begun(name, kind, start_ns, context, None, is_kept)

    def below(self, parent: Begun, name: str, start_ns: int, kind: SpanKind = SpanKind.INTERNAL) -> Begun:
        if self._tracer is None or not parent.is_kept:
            return parent
        trace_id, _, _, flags, state, _ = parent.context
        context = SpanContext(trace_id, self._tracer.id_generator.generate_span_id(), False, flags, state)
        # A wall clock that is set back moves no span out of its parent, and ends none before it began.
        return Begun(name, kind, max(start_ns, parent.start_ns), context, parent.context, is_kept=True)

    def end(
        self,
        span: Begun,
        end_ns: int,
        attributes: Callable[[], Attributes],
        status: Status = UNSET,
        links: Sequence[Link] = (),
    ) -> None:
        if self._tracer is None or not span.is_kept:
            return
        ended = sdk.ReadableSpan(
            name=span.name,
            context=span.context,
            parent=span.parent,
            resource=self._tracer.resource,
            attributes=attributes(),
            links=links,
            kind=span.kind,
            status=status,
            start_time=span.start_ns,
            end_time=max(end_ns, span.start_ns),
            instrumentation_scope=self._scope,
        )
        self._tracer.span_processor.on_end(ended)
