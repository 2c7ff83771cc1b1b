"""An authority of our own and what it signed, as PEM files that brokers, the proxy and clients all can read."""

from __future__ import annotations

import tempfile
from pathlib import Path

import trustme
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key


class Certificates:
    def __init__(self) -> None:
        self._authority = trustme.CA()
        self.folder = Path(tempfile.mkdtemp(prefix="certificates-"))
        self.authority = self.folder / "authority.pem"
        self._authority.cert_pem.write_to_path(str(self.authority))
        self.broker = self.renew()

    def renew(self) -> Path:
        """What brokers show when they start, and a proxy before them as soon as it looks: another one, in the same file."""
        return self.issue("broker", "localhost", "127.0.0.1")

    def issue(self, name: str, *identities: str) -> Path:
        """One PEM file with key and chain. Kafka reads keys only as PKCS#8."""
        signed = self._authority.issue_cert(*identities, common_name=name)
        key = load_pem_private_key(signed.private_key_pem.bytes(), None)
        written = self.folder / f"{name}.pem"
        chain = b"".join(blob.bytes() for blob in signed.cert_chain_pems)
        written.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()) + chain)
        return written
