"""Whom do we not translate: groups that are not consumer groups, or whose members need what their assignor wrote.

The host asks this for the first JoinGroup of a member it does not have, and hands the request to the broker as it came
if there is an answer. (A group the coordinator will not convert is found out later: `ForwardJoin`.)
"""

from __future__ import annotations

from translation.events import JoinRequested

# Kafka Streams reads its own user data out of the assignment; a server-side assignor writes none.
STREAMS_ASSIGNOR = "stream"


def why_not_translated(join: JoinRequested) -> str | None:
    """Connect says `connect`, Schema Registry `sr`: their protocols are their own."""
    if join.protocol_type != "consumer":
        return f"protocol type {join.protocol_type!r}"
    if any(protocol.name == STREAMS_ASSIGNOR for protocol in join.protocols):
        return "a Kafka Streams assignor"
    return None
