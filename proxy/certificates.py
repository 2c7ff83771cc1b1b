"""What a certificate says: when it ends, and whose it is.

The standard library says so only of a peer's certificate that it has verified, and not as brokers do, so both are read here
(RFC 5280 §4.1). OpenSSL has the last word on whether a file can serve: what can't be read has no end to warn of.
"""

from __future__ import annotations

import re
from binascii import a2b_base64
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

# The first certificate of a file is the one that is shown.
PEM = re.compile(r"-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----(.+?)-----END", re.DOTALL)
VERSION, UTC_TIME = 0xA0, 0x17
# Without the version, which may be missing: serial number, signature, issuer, validity, subject.
VALIDITY, SUBJECT = 3, 4
# What brokers write by name in a principal; anything else by its number (RFC 2253, as Java has it).
KEYWORDS = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
# The kinds of strings that Java writes as text, and takes for UTF-8 whatever they are: UTF8String, PrintableString,
# T61String, IA5String and BMPString.
TEXTS = frozenset({0x0C, 0x13, 0x14, 0x16, 0x1E})
ESCAPED = re.compile(r'[,=+<>#;"\\]|^ | $')


class Element(NamedTuple):
    tag: int
    content: bytes
    # As it stands there.
    whole: bytes


def not_after(file: str) -> datetime | None:
    try:
        found = PEM.search(Path(file).read_text(errors="replace"))
        return _end(a2b_base64(found[1])) if found else None
    except (OSError, ValueError, IndexError):
        return None


def subject(der: bytes) -> str:
    """Whose it is, as brokers write it where principals come from certificates: `CN=billing,OU=payments,O=Example`. Empty
    where that can't be read."""
    try:
        parts = reversed(_elements(_signed(der)[SUBJECT].content))
        return ",".join("+".join(_attributes(part.content)) for part in parts)
    except (ValueError, IndexError):
        return ""


def _attributes(part: bytes) -> Iterator[str]:
    for attribute in _elements(part):
        kind, value = _elements(attribute.content)
        number = _number(kind.content)
        if number in KEYWORDS and value.tag in TEXTS:
            text = ESCAPED.sub(r"\\\g<0>", value.content.decode(errors="replace")).replace("\0", r"\00")
        else:
            text = f"#{value.whole.hex()}"
        yield f"{KEYWORDS.get(number, number)}={text}"


def _number(content: bytes) -> str:
    """Of an object identifier: a part goes on while a byte's first bit is set, and the first of them stands for two."""
    parts, part = list[int](), 0
    for byte in content:
        part = part << 7 | byte & 0x7F
        if not byte & 0x80:
            parts.append(part)
            part = 0
    first = min(parts[0] // 40, 2)
    return ".".join(map(str, (first, parts[0] - 40 * first, *parts[1:])))


def _end(der: bytes) -> datetime:
    _, (tag, end, _) = _elements(_signed(der)[VALIDITY].content)
    text = end.decode()
    if tag == UTC_TIME:
        text = ("20" if text < "50" else "19") + text
    return datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)


def _signed(der: bytes) -> list[Element]:
    """What the authority has signed, without the version."""
    certificate = _elements(der)[0]
    signed = _elements(certificate.content)[0]
    return [field for field in _elements(signed.content) if field.tag != VERSION]


def _elements(der: bytes) -> list[Element]:
    """What stands there, one after the other."""
    found, at = [], 0
    while at < len(der):
        begin, tag, size, at = at, der[at], der[at + 1], at + 2
        if size & 0x80:
            octets = size & 0x7F
            size, at = int.from_bytes(der[at : at + octets], "big"), at + octets
        found.append(Element(tag, der[at : at + size], der[begin : at + size]))
        at += size
    return found
