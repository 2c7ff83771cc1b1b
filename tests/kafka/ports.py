"""Ports for listeners whose numbers must be known before anything listens."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator

# Below the range from which the kernel takes ports for outgoing connections, so that none is taken meanwhile.
FIRST, AFTER_LAST = 20_000, 30_000


def free_ports(count: int) -> list[int]:
    """Probed, and never given twice by one process."""
    with _one_at_a_time:
        return [next(_free) for _ in range(count)]


def _candidates() -> Iterator[int]:
    """Processes begin at different places, a prime apart by process id, so that they seldom probe the same port."""
    size = AFTER_LAST - FIRST
    start = os.getpid() * 997 % size
    while True:
        for step in range(size):
            port = FIRST + (start + step) % size
            if _is_free(port):
                yield port


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


_one_at_a_time = threading.Lock()
_free = _candidates()
