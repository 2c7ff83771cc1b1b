"""What a network has swallowed must not arrive behind what its client says later.

A socket that is closed is not silent: the kernel goes on for minutes to send what the broker has not taken, and when the
network is mended an old commit would be there after a newer one, and be believed, or a heartbeat of a member that nobody has
any more. So a broker that has said nothing for too long is hung up on at once, and whatever was meant for it is thrown away;
and so is one to which a client's last words have yet to come when that has gone, and speaks elsewhere.
"""

from __future__ import annotations

import contextlib
import sys
from socket import IPPROTO_TCP, SO_LINGER, SOL_SOCKET, TCP_INFO, socket
from struct import pack

import trio

from proxy.causes import Cause
from proxy.socket_stream import SocketStream
from proxy.tls_stream import TlsStream

# In struct tcp_info: how often in a row the kernel has waited in vain for a sign that something was taken; and how long ago
# something came (tcpi_last_data_recv).
RETRANSMITS_AT = 2
LAST_RECEIVED_MS_AT = 52
AT_ONCE = pack("ii", 1, 0)


def is_swallowed(sock: socket | None) -> bool:
    """Something of what was sent has not arrived, though it was sent again."""
    if sock is None:
        return False
    try:
        return sock.getsockopt(IPPROTO_TCP, TCP_INFO, RETRANSMITS_AT + 1)[RETRANSMITS_AT] > 0
    except OSError:
        # It is closed.
        return False


def silent_ms(sock: socket | None) -> int:
    """For how long nothing has come, since it was connected. The kernel knows it anyhow, however we read."""
    if sock is None:
        return 0
    try:
        told = sock.getsockopt(IPPROTO_TCP, TCP_INFO, LAST_RECEIVED_MS_AT + 4)
    except OSError:
        # It is closed.
        return 0
    return int.from_bytes(told[LAST_RECEIVED_MS_AT:], sys.byteorder)


def throw_away(sock: socket | None, cause: Cause, is_lingering: bool) -> None:
    """Before it is closed. What a client that is there has said arrives, however late: it waits for its answer."""
    if sock is not None and (cause is Cause.BROKER_SILENT or (is_lingering and is_swallowed(sock))):
        with contextlib.suppress(OSError):
            sock.setsockopt(SOL_SOCKET, SO_LINGER, AT_ONCE)


def socket_of(stream: trio.abc.Stream | None) -> socket | None:
    """Beneath TLS, if there is any."""
    if isinstance(stream, TlsStream):
        return socket_of(stream.carrier)
    return stream.sock if isinstance(stream, SocketStream) else None
