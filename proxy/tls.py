"""TLS on either side. Each side is named in every error, for the two are easily confused:

    clients ⇄ proxy    `client_tls`: the proxy shows a certificate, and may ask clients for one
    proxy ⇄ brokers    `upstream_tls`: the brokers show theirs, and may ask the proxy for one; which one may depend on
                       the client that the connection is for

Certificates are read again when their files change (`follow`) or at SIGHUP. New connections use what was read last; files
that can't be used are reported and what was in use stays.
"""

from __future__ import annotations

import contextlib
import contextvars
import ssl
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import msgspec
import trio

from proxy.certificates import not_after, subject
from proxy.logs import Log
from proxy.memory import Memory
from proxy.settings import ClientTls, Identity, UpstreamTls
from proxy.tls_stream import HungUp, TlsStream

CLIENT_SIDE = "clients ⇄ proxy (client_tls)"
UPSTREAM_TLS = "upstream_tls"
CHECK_SECONDS = 5.0

_asked_name: contextvars.ContextVar[str | None] = contextvars.ContextVar("server name asked for", default=None)


class BadCertificate(Exception):
    """Files that can't serve: which side, which file, and why."""


class HandshakeFailed(Exception):
    """The peer is not who it should be, does not speak TLS, or does not trust us."""


async def _shake(secured: TlsStream, side: str) -> None:
    try:
        await secured.handshake()
    except HungUp as failure:
        raise HandshakeFailed(f"{side}: the peer hung up") from failure
    except (ssl.SSLError, trio.BrokenResourceError) as failure:
        raise HandshakeFailed(f"{side}: {failure}") from failure


class _Side:
    """A context that follows its files."""

    def __init__(
        self,
        setting: str,
        name: str,
        certificate: str | None,
        others: tuple[str | None, ...],
        build: Callable[[], ssl.SSLContext],
        log: Log,
    ) -> None:
        self.setting = setting
        self._name = name
        self._certificate = certificate
        self._files = [Path(file) for file in (certificate, *others) if file]
        self._build = build
        self._log = log
        self._seen = self._stamps()
        self.context = build()
        self.not_after: datetime | None = None
        self._note_its_end()

    def _stamps(self) -> list[tuple[int, int]]:
        stamps = []
        for file in self._files:
            with contextlib.suppress(OSError):
                found = file.stat()
                stamps.append((found.st_mtime_ns, found.st_ino))
        return stamps

    def reload(self) -> None:
        self._seen = self._stamps()
        try:
            self.context = self._build()
        except BadCertificate as failure:
            self._log.error("certificates not reloaded", side=self._name, reason=str(failure))
        else:
            self._log.info("certificates reloaded", side=self._name)
            self._note_its_end()

    def _note_its_end(self) -> None:
        self.not_after = end = not_after(self._certificate) if self._certificate else None
        if end is not None and end <= datetime.now(UTC):
            self._log.warning("the certificate has expired", side=self._name, file=self._certificate, not_after=end)

    def look(self) -> None:
        if self._stamps() != self._seen:
            self.reload()


async def follow(sides: Callable[[], Iterable[_Side]]) -> None:
    """Those that there are by then, for ever."""
    while True:
        await trio.sleep(CHECK_SECONDS)
        for side in sides():
            side.look()


class ClientSide(_Side):
    def __init__(self, settings: ClientTls, log: Log, notes_names: bool = False) -> None:
        others = (settings.private_key_file, settings.client_ca_file)
        build = partial(client_context, settings, notes_names)
        super().__init__("client_tls", CLIENT_SIDE, settings.certificate_file, others, build, log)

    async def handshake(self, stream: trio.abc.Stream) -> tuple[trio.abc.Stream, str | None]:
        """The secured stream, and the server name that the client asked for, where names are noted."""
        _asked_name.set(None)
        secured = TlsStream(stream, self.context, server_side=True)
        await _shake(secured, CLIENT_SIDE)
        return secured, _asked_name.get()


class UpstreamSide(_Side):
    def __init__(self, settings: UpstreamTls, log: Log, setting: str = UPSTREAM_TLS) -> None:
        others = (settings.private_key_file, settings.ca_file)
        build = partial(upstream_context, settings, setting)
        super().__init__(setting, _broker_side(setting), settings.certificate_file, others, build, log)
        self._settings = settings
        self._said = Memory()
        # By the subjects of clients' certificates.
        self._of_clients: dict[str, UpstreamSide] = {}
        self.identify(settings.identities)

    def identify(self, wanted: tuple[Identity, ...]) -> None:
        """From now on, on new connections. Raises BadCertificate where one can't serve: then it is as it was."""
        own = identities(msgspec.structs.replace(self._settings, identities=wanted))
        self._of_clients = {
            identity.client: UpstreamSide(settings, self._log, name)
            for identity, (name, settings) in zip(wanted, own, strict=True)
        }

    @property
    def with_those_of_clients(self) -> list[UpstreamSide]:
        return [self, *self._of_clients.values()]

    def shown_for(self, certificate: bytes | None) -> UpstreamSide:
        """`certificate`: the client's, if it has shown one."""
        if not (self._of_clients and certificate):
            return self
        client = subject(certificate)
        if client not in self._of_clients and self._said.is_new((client, "")):
            self._log.warning("a client has no identity upstream", subject=client, shown=self._certificate or "none")
        return self._of_clients.get(client, self)

    async def handshake(self, stream: trio.abc.Stream, host: str) -> trio.abc.Stream:
        secured = TlsStream(stream, self.context, server_hostname=host)
        await _shake(secured, self._name)
        return secured


def identities(settings: UpstreamTls) -> list[tuple[str, UpstreamTls]]:
    """Each by its path, and with all that it has in common with others."""
    return [
        (
            f"{UPSTREAM_TLS}.identities[{number}]",
            msgspec.structs.replace(
                settings,
                certificate_file=identity.certificate_file,
                private_key_file=identity.private_key_file,
                identities=(),
            ),
        )
        for number, identity in enumerate(settings.identities)
    ]


def _broker_side(setting: str) -> str:
    return f"proxy ⇄ brokers ({setting})"


def client_context(settings: ClientTls, notes_names: bool = False) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _settle_versions(context)
    _load_chain(context, CLIENT_SIDE, settings.certificate_file, settings.private_key_file)
    if settings.client_ca_file is not None:
        with _authorities_in(CLIENT_SIDE, settings.client_ca_file):
            context.load_verify_locations(settings.client_ca_file)
        context.verify_mode = ssl.CERT_REQUIRED
    if notes_names:
        # Only then: of a name that is not ASCII Python makes an error that it can raise to nobody (`logs.hear_python`).
        context.sni_callback = _note_name
    return context


def _note_name(_connection: object, name: str | None, _context: ssl.SSLContext) -> None:
    """Called within the handshake, so in the context of the task that asks for the name after it."""
    _asked_name.set(name)


def upstream_context(settings: UpstreamTls, setting: str = UPSTREAM_TLS) -> ssl.SSLContext:
    with _authorities_in(_broker_side(setting), settings.ca_file):
        # Those of the file alone, or the system's: whom the public trusts must not stand between a cluster and its own proxy.
        context = ssl.create_default_context(cafile=settings.ca_file)
    _settle_versions(context)
    context.check_hostname = settings.verify_hostname
    if settings.certificate_file is not None:
        _load_chain(context, _broker_side(setting), settings.certificate_file, settings.private_key_file)
    return context


def _settle_versions(context: ssl.SSLContext) -> None:
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    # Kafka never asks for it, and without it writing need never wait for reading (`tls_stream.py`).
    context.options |= ssl.OP_NO_RENEGOTIATION


def _load_chain(context: ssl.SSLContext, side: str, certificate: str, key: str | None) -> None:
    for file in filter(None, (certificate, key)):
        _must_be_readable(side, file)

    def nobody_to_ask() -> str:
        """Without it OpenSSL asks at the terminal, and all connections wait for the answer."""
        raise BadCertificate(f"{side}: {key or certificate}: the key is encrypted: give one without a passphrase")

    try:
        context.load_cert_chain(certificate, key, nobody_to_ask)
    except OSError as failure:
        raise BadCertificate(
            f"{side}: {certificate} with {key or 'its own key'}: {failure}; "
            "both must be PEM, the certificate first in its chain, and the key its own"
        ) from failure


@contextlib.contextmanager
def _authorities_in(side: str, file: str | None) -> Iterator[None]:
    """While they are loaded."""
    if file is not None:
        _must_be_readable(side, file)
    try:
        yield
    except OSError as failure:
        raise BadCertificate(f"{side}: {file} holds no certificate authorities in PEM: {failure}") from failure


def _must_be_readable(side: str, file: str) -> None:
    try:
        Path(file).read_bytes()
    except OSError as failure:
        raise BadCertificate(f"{side}: {file}: {failure.strerror}") from failure
