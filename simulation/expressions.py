"""Which topics does a regular expression mean? The coordinator looks, for the members of a group together.

It looks when a heartbeat has been answered, so that whoever brings a new expression hears of its topics with its next one;
and not so soon after the last time that topics which come one by one would each be a rebalance.
"""

from __future__ import annotations

import re
from collections.abc import Set

from simulation.topics import Topics

NEVER_YET = -(2**62)
# Kafka's REGEX_BATCH_REFRESH_MIN_INTERVAL_MS, which is not to be set. (It also looks every ten minutes, for what a principal
# may describe can change; here all is described to anybody.)
AT_LEAST_MS = 10_000


class Expressions:
    """What those of one group meant when they were last looked at. It is written down: a failover changes none of it."""

    def __init__(self, topics: Topics) -> None:
        self._topics = topics
        self._meant: dict[str, frozenset[str]] = {}
        self._looked_at = NEVER_YET
        self._topics_seen = 0

    def means(self, expression: str) -> frozenset[str]:
        return self._meant.get(expression, frozenset())

    def is_known(self, expression: str | None) -> bool:
        return expression in self._meant

    def look(self, subscribed: Set[str], now: int) -> bool:
        """Whether one of them means other topics than it did. A topic that is deleted is seen as long as nobody looks."""
        self._meant = {expression: names for expression, names in self._meant.items() if expression in subscribed}
        waited = now - (self._looked_at if self._meant else NEVER_YET)
        is_news = subscribed != self._meant.keys() or self._topics_seen < self._topics.created
        if not subscribed or waited <= AT_LEAST_MS or not is_news:
            return False
        before, self._meant = self._meant, {expression: self._matching(expression) for expression in subscribed}
        self._looked_at, self._topics_seen = now, self._topics.created
        return any(names != before.get(expression, frozenset()) for expression, names in self._meant.items())

    def _matching(self, expression: str) -> frozenset[str]:
        """Brokers have RE2/J, which knows less than this."""
        return frozenset(name for name in self._topics.ids if re.fullmatch(expression, name))
