"""Does a client ask for more while its last Fetch, or a Heartbeat that is held, is unanswered?

Most do. One that fetches on a connection and does not ask ahead reads nothing while anything is in hand there: a held
Heartbeat would cost it records.
"""

from __future__ import annotations

from collections import deque
from itertools import islice

from kafka_protocol.messages import keys
from proxy.answers import Expected

# Of our own questions that may stand behind a client's Fetch.
MOST_OF_OURS = 64


class AskingAhead:
    __slots__ = ("_expected", "_last_fetch", "is_seen")

    def __init__(self, expected: deque[Expected]) -> None:
        self._expected = expected
        # By its correlation id.
        self._last_fetch: int | None = None
        # Once is enough.
        self.is_seen = False

    @property
    def keeps_itself_waiting(self) -> bool:
        """The client fetches here, and asks for one thing at a time."""
        return self._last_fetch is not None and not self.is_seen

    def asked(self, api: int, correlation_id: int) -> None:
        """Between this request and the last of its client's, only questions of ours can stand."""
        if self._last_fetch is not None:
            self.is_seen = self._last_fetch in islice(reversed(self._expected), MOST_OF_OURS)
        if api >> 16 == keys.FETCH:
            self._last_fetch = correlation_id
