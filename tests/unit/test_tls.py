"""Certificates of our own: files that can't serve, files that change, and their end. The files are real ones."""

from __future__ import annotations

import contextlib
import io
import json
import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import trio
import trio.testing
import trustme
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509 import load_pem_x509_certificate

from proxy.certificate_metrics import CertificateMetrics
from proxy.certificates import not_after, subject
from proxy.logs import Log
from proxy.settings import ClientTls, Identity, UpstreamTls
from proxy.tls import (
    CHECK_SECONDS,
    BadCertificate,
    ClientSide,
    UpstreamSide,
    client_context,
    follow,
    upstream_context,
)
from tests.kafka.certificates import Certificates

AUTHORITY = trustme.CA()
# One of those that a system trusts as it comes.
PUBLIC = trustme.CA()
PAST = datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)


class Files:
    """What a proxy shows to its clients, and what it says of it."""

    def __init__(self, folder: Path) -> None:
        self.certificate, self.key = folder / "proxy.pem", folder / "proxy.key"
        self.settings = ClientTls(str(self.certificate), str(self.key))
        self.log = io.StringIO()
        self.issue()

    def issue(self, not_after: datetime | None = None) -> None:
        begin = not_after - timedelta(days=9) if not_after else None
        issued = AUTHORITY.issue_cert("localhost", not_before=begin, not_after=not_after)
        self.certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
        self.key.write_bytes(issued.private_key_pem.bytes())

    def encrypt_the_key(self) -> None:
        key, secret = load_pem_private_key(self.key.read_bytes(), None), BestAvailableEncryption(b"secret")
        self.key.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret))

    def side(self) -> ClientSide:
        return ClientSide(self.settings, Log(out=self.log))


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_an_encrypted_key_is_refused_and_nobody_is_asked_for_its_passphrase(files: Files) -> None:
    files.encrypt_the_key()
    with pytest.raises(BadCertificate, match=r"proxy\.key: the key is encrypted: give one without a passphrase"):
        client_context(files.settings)


def test_a_reload_that_meets_an_encrypted_key_leaves_what_was_in_use(files: Files) -> None:
    side = files.side()
    before = side.context
    files.encrypt_the_key()
    side.reload()
    assert side.context is before
    assert "certificates not reloaded" in files.log.getvalue()
    assert "the key is encrypted" in files.log.getvalue()


def test_a_certificate_that_has_expired_is_warned_of_at_start_and_at_each_reload(files: Files) -> None:
    files.issue(not_after=PAST)
    side = files.side()
    assert "warning the certificate has expired" in files.log.getvalue()
    assert 'not_after="2020-02-03 04:05:06+00:00"' in files.log.getvalue()
    side.reload()
    assert files.log.getvalue().count("the certificate has expired") == 2
    files.issue()
    side.reload()
    assert files.log.getvalue().count("the certificate has expired") == 2


def test_metrics_say_when_the_certificate_in_use_ends(files: Files) -> None:
    files.issue(not_after=PAST)
    side = files.side()
    upstream = UpstreamSide(UpstreamTls(verify_hostname=False), Log(out=files.log))

    def shown() -> list[tuple[dict[str, str], float]]:
        (family,) = CertificateMetrics(lambda: [side, upstream]).collect()
        return [(sample.labels, sample.value) for sample in family.samples]

    assert shown() == [({"setting": "client_tls"}, PAST.timestamp())]
    files.issue(not_after=PAST + timedelta(days=1))
    files.encrypt_the_key()
    side.reload()
    assert shown() == [({"setting": "client_tls"}, PAST.timestamp())]
    files.issue(not_after=PAST + timedelta(days=1))
    side.reload()
    assert shown() == [({"setting": "client_tls"}, PAST.timestamp() + 86_400)]


# With and beyond two digits for the year.
@pytest.mark.parametrize(
    "end", [PAST, datetime(2049, 12, 31, 23, 59, 59, tzinfo=UTC), datetime(2050, 1, 1, tzinfo=UTC)]
)
def test_the_end_is_the_one_that_was_issued(files: Files, end: datetime) -> None:
    files.issue(not_after=end)
    assert not_after(str(files.certificate)) == end


def test_the_end_is_of_the_first_certificate_wherever_the_key_stands() -> None:
    pem = Certificates().issue("proxy", "localhost")
    told = ssl._ssl._test_decode_cert(str(pem))["notAfter"]  # type: ignore[attr-defined]
    end = not_after(str(pem))
    assert end is not None
    assert end.timestamp() == ssl.cert_time_to_seconds(told)


@pytest.mark.parametrize("text", ["", "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----", "no certificate"])
def test_what_is_no_certificate_has_no_end(tmp_path: Path, text: str) -> None:
    (tmp_path / "pem").write_text(text)
    assert not_after(str(tmp_path / "pem")) is None
    assert not_after(str(tmp_path / "missing")) is None


def hello_to(name: bytes) -> bytes:
    """A ClientHello with a server name that no library would ask for."""
    stands_for_it, sent = "x" * len(name), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), sent, server_hostname=stands_for_it)
    with contextlib.suppress(ssl.SSLWantReadError):
        client.do_handshake()
    return sent.read().replace(stands_for_it.encode(), name)


def test_a_server_name_that_is_no_name_is_nobodys_concern_where_names_are_not_noted(files: Files) -> None:
    """Where they are, Python can raise it to nobody; pytest would hear of that."""
    arrived = ssl.MemoryBIO()
    arrived.write(hello_to(b"\xff" * 60))
    with pytest.raises(ssl.SSLWantReadError):
        files.side().context.wrap_bio(arrived, ssl.MemoryBIO(), server_side=True).do_handshake()


def shake(client: ssl.SSLContext, server: ssl.SSLContext) -> None:
    """To the end, or to the first who objects."""
    to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = [
        client.wrap_bio(to_client, to_server, server_hostname="localhost"),
        server.wrap_bio(to_server, to_client, server_side=True),
    ]
    for end in ends * 3:
        with contextlib.suppress(ssl.SSLWantReadError):
            end.do_handshake()


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of our own authority, on a machine that trusts the public one."""
    PUBLIC.cert_pem.write_to_path(tmp_path / "public.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "public.pem"))
    AUTHORITY.cert_pem.write_to_path(tmp_path / "ours.pem")
    return tmp_path / "ours.pem"


def broker_of(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    return context


def test_brokers_are_trusted_by_the_authorities_that_are_given_and_by_no_others(ours: Path) -> None:
    shake(upstream_context(UpstreamTls(ca_file=str(ours))), broker_of(AUTHORITY))
    shake(upstream_context(UpstreamTls()), broker_of(PUBLIC))
    for settings, authority in ((UpstreamTls(ca_file=str(ours)), PUBLIC), (UpstreamTls(), AUTHORITY)):
        with pytest.raises(ssl.SSLCertVerificationError):
            shake(upstream_context(settings), broker_of(authority))


def test_clients_are_trusted_by_the_authorities_that_are_given_and_by_no_others(ours: Path, files: Files) -> None:
    server = client_context(ClientTls(files.settings.certificate_file, files.settings.private_key_file, str(ours)))
    client = ssl.create_default_context(cafile=str(ours))
    AUTHORITY.issue_cert("client").configure_cert(client)
    shake(client, server)
    PUBLIC.issue_cert("client").configure_cert(client)
    with pytest.raises(ssl.SSLCertVerificationError):
        shake(client, server)


def shown_by(pem: Path) -> bytes:
    """What its peer has of it."""
    return load_pem_x509_certificate(pem.read_bytes()).public_bytes(Encoding.DER)


def test_each_client_has_its_own_identity_upstream_and_of_whom_has_none_the_log_says_so_once(tmp_path: Path) -> None:
    out, issued = io.StringIO(), Certificates()
    clients = {name: shown_by(issued.issue(name, name)) for name in ("alice", "bob", "carol")}
    own = {name: str(issued.issue(f"{name}-upstream", name)) for name in ("alice", "bob")}
    identities = tuple(Identity(subject(clients[name]), file, file) for name, file in own.items())
    side = UpstreamSide(UpstreamTls(str(issued.authority), identities=identities), Log(out=out))
    alices, bobs = side.with_those_of_clients[1:]
    assert (alices.setting, bobs.setting) == ("upstream_tls.identities[0]", "upstream_tls.identities[1]")
    for name, spoken_for_by in (("bob", bobs), ("alice", alices), ("carol", side), ("carol", side)):
        assert side.shown_for(clients[name]) is spoken_for_by
    assert side.shown_for(None) is side
    warned = f"warning a client has no identity upstream subject={json.dumps(subject(clients['carol']))} shown=none"
    assert [line.partition(" ")[2] for line in out.getvalue().splitlines()] == [warned]
    ends = CertificateMetrics(lambda: side.with_those_of_clients).collect()
    assert [sample.labels["setting"] for family in ends for sample in family.samples] == [alices.setting, bobs.setting]
    before = alices.context, bobs.context
    bobs.reload()
    assert (alices.context is before[0], bobs.context is before[1]) == (True, False)
    assert 'certificates reloaded side="proxy ⇄ brokers (upstream_tls.identities[1])"' in out.getvalue()


async def test_identities_are_exchanged_as_a_whole_or_not_at_all(
    tmp_path: Path, autojump_clock: trio.testing.MockClock
) -> None:
    issued = Certificates()
    alice, bob = (shown_by(issued.issue(name, name)) for name in ("alice", "bob"))
    file = issued.issue("upstream", "upstream")
    alices, bobs = (Identity(subject(each), str(file), str(file)) for each in (alice, bob))
    side = UpstreamSide(UpstreamTls(str(issued.authority), identities=(alices,)), Log(out=io.StringIO()))
    was = side.shown_for(alice)
    with pytest.raises(BadCertificate, match=r"identities\[1\]\): /nowhere"):
        side.identify((bobs, Identity("CN=carol", "/nowhere", "/nowhere")))
    assert side.shown_for(alice) is was
    assert side.shown_for(bob) is side
    side.identify((bobs,))
    assert side.shown_for(alice) is side
    now = side.shown_for(bob)
    assert now is not side
    # Whose file changes from now on is read again.
    async with trio.open_nursery() as nursery:
        nursery.start_soon(follow, lambda: side.with_those_of_clients)
        context = now.context
        file.touch()
        await trio.sleep(CHECK_SECONDS + 1)
        assert now.context is not context
        nursery.cancel_scope.cancel()


def test_without_identities_nobody_lacks_one() -> None:
    out = io.StringIO()
    side = UpstreamSide(UpstreamTls(), Log(out=out))
    assert side.shown_for(shown_by(Certificates().issue("alice", "alice"))) is side
    assert out.getvalue() == ""


def test_an_identity_whose_files_cannot_serve_is_named() -> None:
    missing = UpstreamTls(identities=(Identity("CN=billing", "/nowhere", "/nowhere"),))
    said = r"proxy ⇄ brokers \(upstream_tls\.identities\[0\]\): /nowhere: No such file or directory"
    with pytest.raises(BadCertificate, match=said):
        UpstreamSide(missing, Log(out=io.StringIO()))


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_client_that_takes_up_its_session_again_is_who_it_was(version: ssl.TLSVersion) -> None:
    """As Java's clients do: no certificate is shown again."""
    issued = Certificates()
    pem, alices = str(issued.issue("proxy", "localhost")), issued.issue("alice", "alice")
    server = client_context(ClientTls(pem, pem, str(issued.authority)))
    client = ssl.create_default_context(cafile=str(issued.authority))
    client.load_cert_chain(alices)
    client.maximum_version = version
    session = None
    for is_again in (False, True):
        to_client, to_server = ssl.MemoryBIO(), ssl.MemoryBIO()
        near = client.wrap_bio(to_client, to_server, server_hostname="localhost", session=session)
        far = server.wrap_bio(to_server, to_client, server_side=True)
        for end in (near, far) * 3:
            with contextlib.suppress(ssl.SSLWantReadError):
                end.do_handshake()
        far.write(b"x")
        assert near.read(1) == b"x"
        assert near.session_reused == is_again
        assert far.getpeercert(binary_form=True) == shown_by(alices)
        session = near.session
