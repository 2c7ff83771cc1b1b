"""Which server assignor a client means: Kafka's own mapping (operations guide, consumer rebalance protocol)."""

from __future__ import annotations

from translation.rules import Rules


def server_assignor(first_protocol: str, rules: Rules) -> str | None:
    """`range` keeps topics co-partitioned; roundrobin, sticky and all others want balance. A rule may override both."""
    if rules.assignor is not None:
        return rules.assignor or None
    return "range" if first_protocol == "range" else "uniform"
