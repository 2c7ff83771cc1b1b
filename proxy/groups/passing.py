"""Which groups are translated? A rule may say so by the group's id; the first that fits counts.

What no rule can have translated, `translation.admission` knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import NamedTuple

import msgspec

from proxy.memory import LARGEST_MEMORY
from proxy.settings import GroupRule, Translation
from translation.admission import why_not_translated
from translation.assignors import server_assignors
from translation.embedded import Malformed, read_subscription
from translation.events import JoinRequested
from translation.rules import Pacing, Rules

# Of a group id that is remembered. They come from clients, and may have 32 KB.
LONGEST_ID = 1_000


class Ruling(NamedTuple):
    mode: str
    rules: Rules


class GroupRules:
    """Remembers what it found: it is asked for every request of a group."""

    def __init__(self, group_rules: Sequence[GroupRule], rules: Rules) -> None:
        self._group_rules = group_rules
        self._rules = rules
        self._found: dict[str, Ruling] = {}

    def exchange(self, group_rules: Sequence[GroupRule]) -> None:
        self._group_rules = group_rules
        self._found.clear()

    def of(self, group_id: str) -> Ruling:
        found = self._found.get(group_id)
        if found is None:
            found = self._find(group_id)
            if len(self._found) >= LARGEST_MEMORY:
                self._found.clear()
            if len(group_id) <= LONGEST_ID:
                self._found[group_id] = found
        return found

    def _find(self, group_id: str) -> Ruling:
        for rule in self._group_rules:
            # `[` stands for itself.
            if fnmatchcase(group_id, rule.pattern.replace("[", "[[]")):
                rules = (
                    self._rules
                    if rule.assignor is None
                    else msgspec.structs.replace(self._rules, assignor=rule.assignor)
                )
                return Ruling(rule.mode, rules)
        return Ruling("translate", self._rules)


def dry_run(join: JoinRequested, rules: Rules) -> str:
    """What would become of the client that sends this JoinGroup."""
    if why := why_not_translated(join, rules):
        return f"dry run: it would pass: {why}"
    if not join.protocols:
        return "dry run: it would be refused: it offers no assignor"
    if not rules.takes_session(join.session_timeout_ms):
        return f"dry run: it would be refused: a session of {join.session_timeout_ms} ms is out of bounds"
    first = join.protocols[0]
    try:
        topics = sorted(read_subscription(first.metadata).topics)
    except Malformed as malformed:
        return f"dry run: it would be refused: malformed subscription: {malformed}"
    assignor = next(iter(server_assignors([first.name], topics, rules)), "the group's default")
    return f"dry run: it would be a native member of {', '.join(topics) or 'no topics'}, {first.name} as {assignor}"


def rules_of(settings: Translation) -> Rules:
    return Rules(
        park_ms=settings.park_ms,
        company_ms=settings.company_ms,
        hold_beat_part=settings.hold_heartbeats,
        min_session_ms=settings.min_session_ms,
        max_session_ms=settings.max_session_ms,
    )


def pacing_of(settings: Translation) -> Pacing:
    return Pacing(native_moving_ms=settings.native_moving_ms, native_quiet_ms=settings.native_quiet_ms)
