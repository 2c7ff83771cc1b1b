"""Is a client within its authentication, and does another step follow?

A broker that waits for the next step takes nothing else: questions of ours wait for the end of it, and the connection of a
client that has gone in the middle is of no use to a member any more. What has no answer yet, or none that can be read,
shows no end; but the first request that is no step does.

SaslHandshake v0 is the exception to "frames have headers": what follows it are bare tokens, until a frame begins with
an API and version that we know. No token does: a SCRAM token starts with letters, a GSSAPI one with 0x60 or 0x05, a
PLAIN one with a zero and a user's name, where a version would be above 8,000. While tokens are exchanged no answer is
expected, and whatever the broker sends passes.
"""

from __future__ import annotations

from collections.abc import Container

from proxy.answers import LENGTH, Bytes
from proxy.not_kafka import refused
from proxy.treatments import REQUEST_HEADER, SMALLEST_REQUEST, Treatment, Wire

STEPS = (Treatment.AUTHENTICATION, Treatment.TOKENS_FOLLOW, Treatment.PROOF)


class Step:
    """The one that was asked last, if nothing else was since."""

    __slots__ = ("is_answered", "is_last")

    def __init__(self) -> None:
        self.is_answered = False
        # No other will follow. One may all the same: the client takes it before it asks anything else.
        self.is_last = False

    @property
    def is_over(self) -> bool:
        return self.is_answered and self.is_last

    def proven(self, wire: Wire, api: int, verdict: Bytes | None) -> Bytes | None:
        """Who failed to prove who they are is cut off by the broker. Who did it anew may have nothing to ask for minutes, and
        what waits for the end of it must not wait for that: a member would be given up meanwhile."""
        self.is_answered = True
        self.is_last = verdict is not None and wire.begins_session(api, verdict)
        return verdict


def past_tokens(data: Bytes, at: int, end: int, largest: int, known: Container[int]) -> tuple[int, bool]:
    """Where the bare tokens from `at` end, and whether more may follow: no frame that names a `known` API stands there, as
    far as can be judged."""
    while end - at >= LENGTH.size:
        (size,) = LENGTH.unpack_from(data, at)
        if not 0 <= size <= largest:
            raise refused(size, largest)
        if size >= SMALLEST_REQUEST:
            if end - at < REQUEST_HEADER.size:
                break
            _, api, _ = REQUEST_HEADER.unpack_from(data, at)
            if api in known:
                return at, False
        at += 4 + size
    return at, True
