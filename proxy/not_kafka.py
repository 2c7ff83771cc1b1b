"""What comes to a port of ours with a length that no request of Kafka has: what is it, and what can be done about it?"""

from __future__ import annotations

from proxy.answers import LENGTH
from proxy.causes import Cause, Disconnect

# How others begin who take this for a port of theirs: TLS (record type and version), HTTP.
TLS_HANDSHAKE = b"\x16\x03"
HTTP_METHODS = (b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC", b"CONN", b"PRI ")


def refused(size: int, largest: int) -> Disconnect:
    if size <= largest:
        return Disconnect(Cause.MALFORMED_REQUEST, f"a frame of {size} bytes")
    other = _other_protocol(LENGTH.pack(size))
    if other is not None:
        return Disconnect(Cause.MALFORMED_REQUEST, other)
    return Disconnect(Cause.REQUEST_TOO_LARGE, f"{size} bytes, the limit is {largest}")


def _other_protocol(beginning: bytes) -> str | None:
    """Where a Kafka client would have sent a length."""
    if beginning.startswith(TLS_HANDSHAKE):
        return "a TLS ClientHello, and this port is plaintext: `client_tls` is not set"
    return "HTTP, not Kafka" if beginning in HTTP_METHODS else None
