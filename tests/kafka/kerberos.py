"""Kerberos of a test's own: a KDC on loopback, the keytabs of its principals, and the names by which hosts are dialled.

A client asks the KDC for a ticket to `kafka/HOST`, HOST being what it dials, and the KDC encrypts that with the key of the
principal of this name. A broker can read the ticket if it has that key *and uses it*: it logs in as one principal, and its
JVM tries the keys of that one alone. Hence the four hosts below, all of them 127.0.0.1 to whom is given `hosts`:

    broker.example    the principal that brokers log in as
    proxy.example     the same key by another name, as two service names of one Active Directory account have
    other.example     a key of its own, in the brokers' keytab too
    nobody.example    no principal at all
"""

from __future__ import annotations

import shutil
import signal
import tempfile
from pathlib import Path

from tests.kafka.admin import until
from tests.kafka.jars import BUILD, jars
from tests.kafka.jvm import BRIEFLY
from tests.kafka.ports import free_ports
from tests.kafka.processes import TiedProcess

HERE = Path(__file__).parent / "kdc"
KERBY = "2.1.1"
REALM = "KAFKA.EXAMPLE"
BROKER = "kafka/broker.example"
KEYTABS = [
    "alice.keytab=alice",
    "bob.keytab=bob",
    f"kafka.keytab={BROKER},kafka/proxy.example",
    "kafka.keytab=kafka/other.example",
]
# The first is what an address is looked up as; the last is where a client finds the KDC.
HOSTS = ("broker.example", "proxy.example", "other.example", "nobody.example", "localhost")
JVM = ["java", "-Xmx128m", *BRIEFLY]


class Kdc:
    """Its folder has krb5.conf, hosts, and the keytabs."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="kdc-"))
        (self.folder / "hosts").write_text("".join(f"127.0.0.1 {host}\n" for host in HOSTS))
        kerby = jars(HERE / "pom.xml", BUILD / "kerby" / KERBY, kerby_version=KERBY)
        told = [str(self.folder), str(free_ports(1)[0]), REALM, *KEYTABS]
        self._log = self.folder / "log"
        self._process = TiedProcess([*JVM, "-cp", f"{kerby}/*", str(HERE / "Kdc.java"), *told], self._log)

    def __enter__(self) -> Kdc:
        until(self._is_ready, "the KDC is ready")
        return self

    def __exit__(self, *_: object) -> None:
        self._process.end(signal.SIGKILL)
        shutil.rmtree(self.folder)

    def _is_ready(self) -> bool:
        if self._process.exit_code is not None:
            raise RuntimeError(f"the KDC ended with {self._process.exit_code}:\n{self._log.read_text()}")
        return "ready\n" in self._log.read_text()

    @property
    def jvm_option(self) -> str:
        """Where a JVM finds the KDC."""
        return f"-Djava.security.krb5.conf={self.folder / 'krb5.conf'}"

    @property
    def login(self) -> str:
        """The brokers' own."""
        module = "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true"
        return f'{module} keyTab="{self.folder / "kafka.keytab"}" principal="{BROKER}@{REALM}";'
