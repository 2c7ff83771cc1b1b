"""When does a certificate end?

The standard library says so only of a peer's certificate that it has verified, so ours is read here, as far as its
`notAfter` (RFC 5280 §4.1). OpenSSL has the last word on whether a file can serve: what can't be read has no end to warn of.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from datetime import UTC, datetime
from pathlib import Path

# The first certificate of a file is the one that is shown.
PEM = re.compile(r"-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----(.+?)-----END", re.DOTALL)
VERSION, UTC_TIME = 0xA0, 0x17
VALIDITY = 3


def not_after(file: str) -> datetime | None:
    try:
        found = PEM.search(Path(file).read_text(errors="replace"))
        return _end(a2b_base64(found[1])) if found else None
    except (OSError, ValueError, IndexError):
        return None


def _end(der: bytes) -> datetime:
    _, certificate = _elements(der)[0]
    _, signed = _elements(certificate)[0]
    # Without the version, which may be missing: serial number, signature, issuer, validity.
    fields = [content for tag, content in _elements(signed) if tag != VERSION]
    _, (tag, end) = _elements(fields[VALIDITY])
    text = end.decode()
    if tag == UTC_TIME:
        text = ("20" if text < "50" else "19") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _elements(der: bytes) -> list[tuple[int, bytes]]:
    """Tag and content of what stands there one after the other."""
    found, at = [], 0
    while at < len(der):
        tag, size, at = der[at], der[at + 1], at + 2
        if size & 0x80:
            octets = size & 0x7F
            size, at = int.from_bytes(der[at : at + octets], "big"), at + octets
        found.append((tag, der[at : at + size]))
        at += size
    return found
