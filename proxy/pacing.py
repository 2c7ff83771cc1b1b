"""Between processes of one machine nothing is congested, and nothing need be paced.

BBR, many a machine's congestion control, sends by a timer, whoever the other end is. To a process of the same machine, a
sidecar's client, setting those timers costs as much as everything else a proxy does (docs/benchmarks.md). So there we ask
for another congestion control; connections that leave the machine keep its own.

Linux goes on pacing a connection that it once has, so this is said before: to a socket that is yet to connect, and to one
that listens, whose newcomers inherit it. Newcomers from elsewhere get the machine's own back before anything is sent.
"""

from __future__ import annotations

import contextlib
from socket import IPPROTO_TCP, SOCK_DGRAM, TCP_CONGESTION, socket

from proxy.names import Target

# How those are called that pace: bbr, and what its newer versions are built as.
PACING = b"bbr"
# What anybody may ask for, and every Linux has.
UNPACED = b"reno"
LONGEST_NAME = 16
# Linux comes from 127.0.0.1 to each of these; Debian gives a machine's name to one of them.
LOOPBACK = ("127.", "::ffff:127.")


def unpace_newcomers(listening: socket) -> bytes:
    """What those from elsewhere get back: the machine's own congestion control. Nothing, where that doesn't pace; then all is
    as it was."""
    own = _own(listening)
    if own:
        # A kernel that refuses it has us where we were.
        with contextlib.suppress(OSError):
            listening.setsockopt(IPPROTO_TCP, TCP_CONGESTION, UNPACED)
    return own


def pace_from_elsewhere(accepted: socket, there: str, own: bytes) -> None:
    """A newcomer gets the machine's own congestion control back, unless it is of this machine."""
    with contextlib.suppress(OSError):
        if not (there.startswith(LOOPBACK) or there == accepted.getsockname()[0]):
            accepted.setsockopt(IPPROTO_TCP, TCP_CONGESTION, own)


def unpace_if_near(sock: socket, target: Target) -> None:
    """A socket that is yet to connect."""
    there = target[1][0]
    with contextlib.suppress(OSError):
        if _own(sock) and (there.startswith(LOOPBACK) or there == _way_to(target)):
            sock.setsockopt(IPPROTO_TCP, TCP_CONGESTION, UNPACED)


def _own(sock: socket) -> bytes:
    name = sock.getsockopt(IPPROTO_TCP, TCP_CONGESTION, LONGEST_NAME).rstrip(b"\0")
    return name if name.startswith(PACING) else b""


def _way_to(target: Target) -> str:
    """From which address it goes. Nothing is sent: that is all that connecting does to a datagram's socket."""
    family, there = target
    with socket(family, SOCK_DGRAM) as probe:
        probe.connect(there)
        return str(probe.getsockname()[0])
