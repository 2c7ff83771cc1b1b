"""Do the settings agree with one another, and with this machine's files? What no single setting's type can say."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from proxy.settings import (
    HIGHEST_PORT,
    LARGEST_NODE,
    BadSettings,
    ClientTls,
    Identity,
    Settings,
    Traces,
    Translation,
    UpstreamTls,
)
from proxy.tls import BadCertificate, client_context, identities, upstream_context

LOCALHOST = ("127.0.0.1", "::1")
HOST_NAME = re.compile(r"[\w-]{1,63}(\.[\w-]{1,63})*\.?")
# Its lock, and what is to replace it (journal.py).
JOURNAL_AND_BESIDE = ("", ".lock", ".new")
DOTTED = re.compile(r"[0-9.]+")
NODE_ID = re.compile(r"0|[1-9][0-9]{0,9}")
PORT = re.compile(r"[0-9]{1,5}")
# One part of it, by a keyword or a number.
SUBJECT = re.compile(r"[A-Z0-9.]+=")
UPSTREAM_MISSING = "upstream: it must be given: the brokers to stand in front of, --upstream HOST:PORT[,HOST:PORT]"


def check(settings: Settings, *, listens: bool = True, dials: bool = True) -> None:
    """Raises BadSettings. For who does not listen, or does not dial brokers, what only that needs is not looked at."""
    if not settings.upstream:
        raise BadSettings(UPSTREAM_MISSING)
    host, port = _check_address("listen", settings.listen)
    for seed in settings.upstream:
        if _check_address("upstream", seed)[1] == port and listens:
            _check_not_itself(seed, settings.listen)
    _check_admin(settings, port)
    if settings.advertise is not None:
        _check_advertise(settings.advertise)
    if settings.sni is None:
        if settings.advertise is None and _is_wildcard(host):
            raise BadSettings(
                f"listen = {settings.listen!r}: clients can't be told to dial every address; "
                "set `advertise` to the host name or address that they reach this machine by"
            )
        _check_ports(settings, port)
    else:
        _check_sni(settings)
    _check_sessions(settings.translation)
    _check_written(settings.translation.journal, settings.traces)
    _check_endpoint(settings.traces.otlp_endpoint)
    if listens and settings.upstream_tls is not None:
        _check_identities(settings.upstream_tls.identities, settings.client_tls)
    _check_tls(settings.client_tls if listens else None, settings.upstream_tls if dials else None)


def _check_address(path: str, text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if colon and not host:
        raise BadSettings(f"{path} = {text!r}: the host is missing; for example 127.0.0.1:{port}")
    if _is_ipv6(host):
        raise BadSettings(f"{path} = {text!r}: write an IPv6 address in brackets: [{host}]:{port}")
    is_host = _is_name(host) or (host[0:1] + host[-1:] == "[]" and _is_ipv6(host[1:-1]))
    if not is_host or not PORT.fullmatch(port) or not 0 < int(port) <= HIGHEST_PORT:
        several = "; no scheme, and a comma between several" if host and not is_host else ""
        raise BadSettings(f"{path} = {text!r}: not HOST:PORT; for example localhost:9092 or [::1]:9092{several}")
    return host.strip("[]"), int(port)


def _check_not_itself(seed: str, listen: str) -> None:
    """The same port; the hosts may be spelled otherwise. A connection to oneself dials the next, until there are no more."""
    dialled, bound = (text.rpartition(":")[0].strip("[]").lower() for text in (seed, listen))
    reached = {dialled, *(LOCALHOST if dialled == "localhost" or _is_wildcard(dialled) else ())}
    taken = {bound, *(LOCALHOST if bound == "localhost" else ())}
    if reached & taken or any(_is_within(host, bound) for host in reached):
        raise BadSettings(
            f"upstream = {seed!r}: that is `listen`, the proxy itself; name the brokers, or set `listen` to another port"
        )


def _is_name(host: str) -> bool:
    """What a resolver can be asked for. Beyond ASCII each part has another form there, and may be too long in it. An IPv4
    address that is none is no name either."""
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return HOST_NAME.fullmatch(host) is not None and (not DOTTED.fullmatch(host) or _ip(host) is not None)


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """As a resolver reads it: to that `0` and `127.1` are addresses too (inet_aton(3))."""
    with suppress(ValueError):
        return ipaddress.ip_address(host)
    with suppress(OSError):
        return ipaddress.IPv4Address(socket.inet_aton(host))
    return None


def _is_ipv6(host: str) -> bool:
    return isinstance(_ip(host), ipaddress.IPv6Address)


def _is_wildcard(host: str) -> bool:
    ip = _ip(host)
    inside = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return ip is not None and (inside or ip).is_unspecified


def _is_within(host: str, bound: str) -> bool:
    """An address of this machine alone, and a listener on every address of its family."""
    ip, all_of_them = _ip(host), _ip(bound)
    return _is_wildcard(bound) and ip is not None and ip.is_loopback and type(ip) is type(all_of_them)


def _check_advertise(host: str) -> None:
    if host.lower() == "none":
        raise BadSettings(
            f"advertise = {host!r}: clients would dial it; leave it out, and they are told the host of `listen`"
        )
    if _is_wildcard(host):
        raise BadSettings(f"advertise = {host!r}: clients can't be told to dial every address; name one host")
    if not _is_name(host) and not _is_ipv6(host):
        raise BadSettings(
            f"advertise = {host!r}: it must be a host only, an IPv6 address without brackets; ports follow `listen`"
        )


def _check_admin(settings: Settings, bootstrap: int) -> None:
    if settings.admin is None:
        return
    first = _check_address("admin", settings.admin)[1]
    each = "" if settings.processes == 1 else f" (that of each of {settings.processes} `processes` is one higher)"
    if first <= bootstrap < first + settings.processes:
        raise BadSettings(
            f"admin = {settings.admin!r}: the port of `listen`{each}; choose another, or none to go without"
        )
    if first + settings.processes - 1 > HIGHEST_PORT:
        raise BadSettings(f"admin = {settings.admin!r}: there is no port so high{each}; choose another")


def _check_ports(settings: Settings, bootstrap: int) -> None:
    taken = {bootstrap: "listen"}
    if settings.admin is not None:
        first = int(settings.admin.rpartition(":")[2])
        taken |= {first + number: "admin" for number in range(settings.processes)}
    for node in settings.ports:
        if not NODE_ID.fullmatch(node) or int(node) > LARGEST_NODE:
            raise BadSettings(f"ports.{node}: not a node id; write the number of the broker, as in ports.2 = 19094")
    ports = dict(settings.ports)
    ports |= {str(node): bootstrap + 1 + node for node in settings.nodes if str(node) not in ports}
    for node, port in ports.items():
        if port > HIGHEST_PORT:
            raise BadSettings(f"nodes: node {node} would listen on port {port}; give it one in `ports`, or use `sni`")
        if port in taken:
            raise BadSettings(f"ports.{node} = {port}: already the port of {taken[port]}; choose another")
        taken[port] = f"node {node}"


def _check_sni(settings: Settings) -> None:
    assert settings.sni is not None
    if settings.client_tls is None:
        raise BadSettings("sni: server names come with TLS; set client_tls.certificate_file and private_key_file")
    pattern = settings.sni.broker_pattern
    if pattern.count("{node}") != 1 or not _is_name(pattern.replace("{node}", "0")):
        raise BadSettings(
            f"sni.broker_pattern = {pattern!r}: it must be a host name that holds {{node}} once, "
            "as in broker-{node}.kafka.example"
        )
    name = settings.sni.bootstrap_name
    if name is not None and (not _is_name(name) or _is_like(name.lower(), pattern.lower())):
        raise BadSettings(
            f"sni.bootstrap_name = {name!r}: it must be a host name, without a port, and none of those that "
            f"sni.broker_pattern = {pattern!r} gives to brokers; as in kafka.example"
        )


def _is_like(name: str, pattern: str) -> bool:
    before, _, after = pattern.partition("{node}")
    return re.fullmatch(f"{re.escape(before)}[0-9]+{re.escape(after)}", name) is not None


def _check_sessions(translation: Translation) -> None:
    least, most = translation.min_session_ms, translation.max_session_ms
    if least > most:
        raise BadSettings(
            f"translation.min_session_ms = {least}: more than max_session_ms ({most}), so no client could join; "
            "give both what the brokers have as group.min.session.timeout.ms and group.max.session.timeout.ms"
        )


def _check_written(journal: str | None, traces: Traces) -> None:
    for path, file in (("translation.journal", journal), ("traces.file", traces.file)):
        if file is not None and (_has_no_name(file) or _is_device(file)):
            raise BadSettings(f"{path} = {file!r}: not a file; name one, in a folder that the proxy may write")
    taken = [f"{os.path.realpath(journal)}{beside}" for beside in JOURNAL_AND_BESIDE] if journal else []
    if traces.file and os.path.realpath(traces.file) in taken:
        raise BadSettings(
            f"traces.file = {traces.file!r}: that is the journal, or what stands beside it; give each a file of its own"
        )


def _has_no_name(file: str) -> bool:
    """`/` and `.`: others have theirs beside them, which is made of it."""
    return not Path(file).name


def _is_device(file: str) -> bool:
    """Journal and traces are replaced by new ones in the course of time, which would be the end of it."""
    return os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file)


def _check_endpoint(endpoint: str | None) -> None:
    if endpoint is None:
        return
    try:
        url = urlsplit(endpoint)
        is_one = url.scheme in ("http", "https") and url.hostname is not None and url.port != 0
    except ValueError:
        # An IPv6 address without its second bracket, a port beyond all ports.
        is_one = False
    if not is_one:
        raise BadSettings(f"traces.otlp_endpoint = {endpoint!r}: not http://HOST:PORT or https://HOST:PORT")
    if "@" in url.netloc:
        raise BadSettings(
            "traces.otlp_endpoint: it is shown and logged, so it may hold no user and password: give them in the "
            "environment, as in OTEL_EXPORTER_OTLP_HEADERS=authorization=Basic%20…"
        )


def _check_identities(found: Sequence[Identity], clients: ClientTls | None) -> None:
    if found and (clients is None or clients.client_ca_file is None):
        raise BadSettings(
            "upstream_tls.identities: clients are not asked for certificates: set `client_tls.client_ca_file`"
        )
    seen = set[str]()
    for number, identity in enumerate(found):
        said = f"upstream_tls.identities[{number}].client = {identity.client!r}"
        if not SUBJECT.match(identity.client):
            raise BadSettings(
                f"{said}: not a certificate's subject; write it as brokers do, for example CN=billing,O=Example"
            )
        if identity.client in seen:
            raise BadSettings(f"{said}: there is one for this client above; keep one of them")
        seen.add(identity.client)


def _check_tls(clients: ClientTls | None, brokers: UpstreamTls | None) -> None:
    if brokers is not None and (brokers.certificate_file is None) != (brokers.private_key_file is None):
        raise BadSettings("upstream_tls: certificate_file and private_key_file go together; set both or neither")
    try:
        if clients is not None:
            client_context(clients)
        if brokers is not None:
            upstream_context(brokers)
            for setting, of_client in identities(brokers):
                upstream_context(of_client, setting)
    except BadCertificate as failure:
        raise BadSettings(str(failure)) from failure
