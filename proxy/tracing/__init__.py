"""Traces: each rebalance of a member is one, from the transition in which it leaves its rest to that in which it rests.

Theory of operation. A member rests when phase and standing are both stable, or both absent. In between there is one root
span, `rebalance`; below it one span for each phase, one for each classic request, one of no length for each transition,
and within the request that it serves (else the phase it falls in) each ConsumerGroupHeartbeat that says or brings
anything; the quiet ones are counted. What led to the first transition is known only when that comes: requests and
heartbeats are therefore remembered as they are observed, and become spans when it turns out that their member is not at
rest. The root begins with what led to it.

A transition is a span at once, and its root follows when it ends: a member that is stuck can be seen while it is stuck.
A transition that disturbs nobody's rest, such as an epoch that nobody is told, is a trace by itself. Whatever else happens
at rest is not traced, unless it fails.

Nothing else in the proxy knows OpenTelemetry. What goes in are observations (proxy/observations.py), and docs/traces.md is
the contract on what comes out.

traces.py           which rebalance is an observation part of?
rebalance_trace.py  one rebalance as a tree of spans
spans.py            what a span says
making.py           how it is made, without the SDK's own `Span`
exporting.py        how spans get out, and what becomes of those that do not
otlp_file.py        the file they go to
metrics.py          how many did, as Prometheus reads it
"""
