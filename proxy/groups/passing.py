"""Which groups are translated? A rule may say so by the group's id; the first that fits counts.

A group of another protocol type than `consumer` (Connect, Schema Registry), or one whose assignor is Kafka Streams' own,
is never translated: a coordinator's assignor cannot do their work.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec

from proxy.settings import GroupRule, Translation
from translation.assignors import server_assignor
from translation.embedded import Malformed, read_subscription
from translation.rules import Pacing, Rules

STREAMS_ASSIGNOR = "stream"


class Treatment(NamedTuple):
    mode: str
    rules: Rules


class GroupRules:
    """Remembers what it found: it is asked for every request of a group."""

    def __init__(self, group_rules: Sequence[GroupRule], rules: Rules) -> None:
        self._group_rules = group_rules
        self._rules = rules
        self._found: dict[str, Treatment] = {}

    def of(self, group_id: str) -> Treatment:
        found = self._found.get(group_id)
        if found is None:
            if len(self._found) >= LARGEST_MEMORY:
                self._found.clear()
            found = self._found[group_id] = self._find(group_id)
        return found

    def _find(self, group_id: str) -> Treatment:
        for rule in self._group_rules:
            if fnmatchcase(group_id, rule.pattern):
                rules = (
                    self._rules
                    if rule.assignor is None
                    else msgspec.structs.replace(self._rules, assignor=rule.assignor)
                )
                return Treatment(rule.mode, rules)
        return Treatment("translate", self._rules)


# Group ids come from clients.
LARGEST_MEMORY = 10_000


def dry_run(protocol_type: str, protocols: Sequence[tuple[str, bytes]], rules: Rules) -> str:
    """What would become of the client that sends this JoinGroup."""
    if why := foreign(protocol_type, [name for name, _ in protocols]):
        return f"dry run: it would pass: {why}"
    if not protocols:
        return "dry run: it would be refused: it offers no assignor"
    name, metadata = protocols[0]
    try:
        topics = ", ".join(sorted(read_subscription(metadata).topics))
    except Malformed as malformed:
        return f"dry run: it would be refused: malformed subscription: {malformed}"
    assignor = server_assignor(name, rules) or "the group's default"
    return f"dry run: it would be a native member of {topics or 'no topics'}, {name} as {assignor}"


def rules_of(settings: Translation) -> Rules:
    return Rules(park_ms=settings.park_ms, company_ms=settings.company_ms, hold_beat_part=settings.hold_heartbeats)


def pacing_of(settings: Translation) -> Pacing:
    return Pacing(native_moving_ms=settings.native_moving_ms, native_quiet_ms=settings.native_quiet_ms)


def foreign(protocol_type: str, assignors: Sequence[str]) -> str | None:
    """Why this JoinGroup is none of ours, if so."""
    if protocol_type != "consumer":
        return f"protocol type {protocol_type!r}"
    if STREAMS_ASSIGNOR in assignors:
        return "an assignor of Kafka Streams"
    return None
