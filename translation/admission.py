"""Whom do we not translate: groups that are not consumer groups, or whose members may need what their assignor wrote.

The host asks this for the first JoinGroup of a member it does not have, and hands the request to the broker as it came
if there is an answer. (A group the coordinator will not convert is found out later: `ForwardJoin`.)
"""

from __future__ import annotations

from translation.assignors import PAIRING
from translation.embedded import Malformed, read_subscription
from translation.events import JoinRequested
from translation.rules import Rules

# Their members read their leader's notes out of the assignment, and fail where there are none: a server-side assignor
# writes none.
READ_NOTES = {"stream": "a Kafka Streams assignor", "faust": "a Faust assignor"}
# What libraries bring: all that is lost is which partition goes where. The last two are kafkajs' and brod's.
WELL_KNOWN = PAIRING | {"roundrobin", "sticky", "cooperative-sticky", "RoundRobinAssigner", "roundrobin_v2"}
# kafka-go's is none of them, for what it wishes is lost. But its user data, a rack, is for its leader alone.
READ_NO_NOTES = WELL_KNOWN | {"rack-affinity"}


def why_not_translated(join: JoinRequested, rules: Rules) -> str | None:
    """Connect says `connect`, Schema Registry `sr`: their protocols are their own."""
    if join.protocol_type != "consumer":
        return f"protocol type {join.protocol_type!r}"
    for protocol in join.protocols:
        if protocol.name in READ_NOTES:
            return READ_NOTES[protocol.name]
    if rules.assignor is None and _takes_notes(join):
        return f"an assignor of its own, with user data: {join.protocols[0].name!r}"
    return None


def _takes_notes(join: JoinRequested) -> bool:
    """Its assignor is nobody's we know, and says more than topics: who knows what its members read in assignments. Whoever
    writes a rule with an `assignor` knows."""
    if not join.protocols or join.protocols[0].name in READ_NO_NOTES:
        return False
    try:
        return read_subscription(join.protocols[0].metadata).has_user_data
    except Malformed:
        # Refused, and told so, as a member.
        return False
