"""Whose a certificate is, in the words of brokers. The certificates are real; what Java calls their subjects
(`X500Principal.getName`) is written beside them. That brokers say the same: `tests/proxy/test_security.py`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.name import _ASN1Type
from cryptography.x509.oid import NameOID

from proxy.certificates import subject

KEY = ec.generate_private_key(ec.SECP256R1())
NOW = datetime.now(UTC)
# Without one Java takes it for no certificate.
ISSUER = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "authority")])


def part(*attributes: tuple[x509.ObjectIdentifier, str, _ASN1Type | None]) -> x509.RelativeDistinguishedName:
    return x509.RelativeDistinguishedName([x509.NameAttribute(kind, text, how) for kind, text, how in attributes])


def certificate(*parts: x509.RelativeDistinguishedName) -> bytes:
    built = x509.CertificateBuilder().subject_name(x509.Name(parts)).issuer_name(ISSUER)
    built = built.public_key(KEY.public_key()).serial_number(77)
    built = built.not_valid_before(NOW).not_valid_after(NOW + timedelta(days=1))
    return built.sign(KEY, SHA256()).public_bytes(Encoding.DER)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            [
                part((NameOID.COUNTRY_NAME, "DE", None)),
                part((NameOID.ORGANIZATION_NAME, "Example", None)),
                part((NameOID.ORGANIZATIONAL_UNIT_NAME, "payments", None)),
                part((NameOID.COMMON_NAME, "billing", None)),
            ],
            "CN=billing,OU=payments,O=Example,C=DE",
        ),
        (
            [part((NameOID.COMMON_NAME, 'a,b=c+d<e>f#g;h"i\\j', None))],
            r"CN=a\,b\=c\+d\<e\>f\#g\;h\"i\\j",
        ),
        ([part((NameOID.COMMON_NAME, " both ends ", None))], r"CN=\ both ends\ "),
        (
            [
                part((NameOID.STATE_OR_PROVINCE_NAME, "ünï", None)),
                part((NameOID.LOCALITY_NAME, "Kö", _ASN1Type.BMPString)),
                part((NameOID.STREET_ADDRESS, "s", _ASN1Type.UniversalString)),
                part((NameOID.DOMAIN_COMPONENT, "ex", None)),
                part((NameOID.USER_ID, "u1", _ASN1Type.T61String)),
            ],
            "UID=u1,DC=ex,STREET=#1c0400000073,L=\\00K\\00\ufffd,ST=ünï",
        ),
        # Several of one part are in the order of the certificate; what has no keyword is a number, and as it stands there.
        (
            [part((NameOID.COMMON_NAME, "x", None), (NameOID.ORGANIZATIONAL_UNIT_NAME, "y", None))],
            "CN=x+OU=y",
        ),
        (
            [
                part((NameOID.EMAIL_ADDRESS, "a@b.c", None)),
                part((NameOID.TITLE, "Dr", _ASN1Type.PrintableString)),
                part((x509.ObjectIdentifier("2.999.1"), "x", None)),
                part((NameOID.COMMON_NAME, "z", None)),
            ],
            "CN=z,2.999.1=#0c0178,2.5.4.12=#13024472,1.2.840.113549.1.9.1=#16056140622e63",
        ),
        ([part((NameOID.STREET_ADDRESS, "long" * 60, None))], "STREET=" + "long" * 60),
        ([], ""),
    ],
)
def test_a_subject_is_written_as_brokers_write_it(parts: list[x509.RelativeDistinguishedName], said: str) -> None:
    assert subject(certificate(*parts)) == said


def named(name: str) -> bytes:
    return certificate(part((NameOID.COMMON_NAME, name, None)))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 8, 12, 20])
def test_of_what_cannot_be_read_there_is_no_subject(size: int) -> None:
    assert subject(named("x")[:size]) == ""
