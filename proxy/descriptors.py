"""How many sockets and files this process may have, and so how many connections: two descriptors each."""

from __future__ import annotations

import resource

import msgspec

from proxy.logs import Log
from proxy.settings import Limits

# Listeners of brokers, pipes (`pipe.py`), the admin port's readers, journal, traces and what Python has itself.
OTHERS = 256


class TooFewDescriptors(Exception):
    """Not even one connection would have them: how many there are, and what may help."""


def most_descriptors() -> int:
    return resource.getrlimit(resource.RLIMIT_NOFILE)[1]


def take_descriptors() -> int:
    """All that this process may have: how many."""
    most = most_descriptors()
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return most


def more_of_them(limits: Limits) -> str:
    """What gives as many connections as the limit says."""
    needed = OTHERS + 2 * limits.max_connections
    return f"LimitNOFILE of the unit, or ulimit -n, at {needed}; or a lower limits.max_connections"


def within(limits: Limits, descriptors: int, log: Log) -> Limits:
    """With no more connections than there are descriptors for: who comes then is turned away and counted, as at any other
    limit, while without descriptors nobody could even be told."""
    connections = (descriptors - OTHERS) // 2
    if connections >= limits.max_connections:
        return limits
    remedy = more_of_them(limits)
    if connections < 1:
        raise TooFewDescriptors(
            f"this process may have {descriptors} descriptors, of which {OTHERS} are for its own needs: {remedy}"
        )
    log.warning(
        "fewer connections than max_connections",
        max_connections=limits.max_connections,
        connections=connections,
        descriptors=descriptors,
        remedy=remedy,
    )
    return msgspec.structs.replace(limits, max_connections=connections)
