"""Where settings come from: flags before environment before file before defaults. What is wrong is refused, with remedy.

The environment names a setting by its path: KIP848_PROXY_LISTEN, KIP848_PROXY_LIMITS__IDLE_TIMEOUT_MS. Lists are separated
by commas there and in flags; ports are pairs, NODE=PORT; groups can stand in the file only.
"""

from __future__ import annotations

import difflib
import ipaddress
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints
from urllib.parse import urlsplit

import msgspec

from proxy.settings import ClientTls, Port, Settings, Traces, Translation, UpstreamTls
from proxy.tls import BadCertificate, client_context, upstream_context

ENVIRONMENT_PREFIX = "KIP848_PROXY_"
ENVIRONMENT = "environment"
# What Kubernetes tells every pod of a Service that is named kip848-proxy.
SERVICE_LINK = re.compile(r"service_(host|port\w*)|port_\d+_\w+")
LOCALHOST = ("127.0.0.1", "::1")
HOST_NAME = re.compile(r"[\w-]{1,63}(\.[\w-]{1,63})*\.?")
NODE_ID = re.compile(r"0|[1-9][0-9]{0,9}")
PORT = re.compile(r"[0-9]{1,5}")

UPSTREAM_MISSING = "upstream: it must be given: the brokers to stand in front of, --upstream HOST:PORT[,HOST:PORT]"


class BadSettings(Exception):
    """Path, value, what is wrong and what to do, in one line."""


class Loaded(msgspec.Struct, frozen=True):
    settings: Settings
    # Path of each setting that is not a default, and who said it.
    origins: dict[str, str]


def load(
    flags: Mapping[str, Any],
    environment: Mapping[str, str],
    file: Path | None,
    *,
    listens: bool = True,
    dials: bool = True,
) -> Loaded:
    """Flags by path (`limits.idle_timeout_ms`). Raises BadSettings. Who only asks the brokers does not listen, who only asks
    a proxy does not dial them either: what is needed for neither may be out of its reach."""
    said: dict[str, Any] = {}
    origins: dict[str, str] = {}
    sources = [
        (_from_file(file) if file else {}, str(file)),
        (_from_environment(environment), ENVIRONMENT),
        (flags, "flag"),
    ]
    for values, origin in sources:
        for path, value in values.items():
            origins[path] = origin
            _must_be_text(path, value, origins)
            _put(said, path, value)
    _refuse_unknown(said, Settings, "", origins)
    try:
        settings = msgspec.convert(said, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise BadSettings(_explained(str(error), said, origins)) from error
    check(settings, listens=listens, dials=dials)
    return Loaded(settings, origins)


def _must_be_text(path: str, value: Any, origins: Mapping[str, str]) -> None:
    """An environment holds bytes, and TOML can escape NUL: no file, host or group is called so."""
    for text in _texts(value):
        # What is no UTF-8 comes as surrogates.
        if re.search("[\0\ud800-\udfff]", text):
            raise BadSettings(f"{path} = {text!r} ({_origin(path, origins)}): not text; write it in UTF-8, without NUL")


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts([*value, *value.values()])
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _from_file(file: Path) -> dict[str, Any]:
    try:
        # Editors of Windows begin it with a byte order mark.
        return dict(_flat(tomllib.loads(file.read_text(encoding="utf-8-sig"))))
    except OSError as failure:
        raise BadSettings(f"{file}: {failure.strerror}; --config must name a readable TOML file") from failure
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSettings(f"{file}: not TOML: {error}") from error


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        # Node ids are keys of `ports`, not settings of their own. An empty table says something: [upstream_tls] is TLS.
        if isinstance(value, dict) and value and f"{prefix}{name}" != "ports":
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        name.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", "."): value
        for name, value in environment.items()
        if name.startswith(ENVIRONMENT_PREFIX)
    }


def _put(said: dict[str, Any], path: str, value: Any) -> None:
    *tables, name = path.split(".")
    for table in tables:
        inner = said.setdefault(table, {})
        if not isinstance(inner, dict):
            raise BadSettings(f"{path}: {table} is {inner!r}, not a table; write [{table}] and the settings below it")
        said = inner
    if path in ("upstream", "nodes") and isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    elif path == "ports" and isinstance(value, str):
        value = dict(_pair(pair.strip()) for pair in value.split(",") if pair.strip())
    elif path == "admin" and value in ("none", ""):
        value = None
    said[name] = value


def _pair(text: str) -> tuple[str, str]:
    node, equals, port = text.partition("=")
    if not equals:
        raise BadSettings(f"ports = {text!r}: not NODE=PORT; for example 1=19094,2=19095")
    return node.strip(), port.strip()


def _refuse_unknown(said: Mapping[str, Any], struct: type, prefix: str, origins: Mapping[str, str]) -> None:
    known = get_type_hints(struct)
    for name, value in said.items():
        path = f"{prefix}{name}"
        if name not in known:
            raise BadSettings(
                f"{path} ({_origin(path, origins)}): no such setting; {_hint(path, value, known, origins)}"
            )
        inner = _table_in(known[name])
        several = isinstance(value, list)
        for index, table in enumerate(value if several else [value]):
            if inner is not None and isinstance(table, dict):
                _refuse_unknown(table, inner, f"{path}[{index}]." if several else f"{path}.", origins)


def _hint(path: str, value: Any, known: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    """What was meant by a setting that is not known here."""
    tables, dot, name = path.rpartition(".")
    is_variable = origins.get(path) == ENVIRONMENT
    if is_variable and (SERVICE_LINK.fullmatch(path) or str(value).startswith("tcp://")):
        return (
            "Kubernetes sets it for a Service of that name; enableServiceLinks: false in the pod, or rename the Service"
        )
    if not is_variable and dot and name in get_type_hints(Settings):
        return f"{name} is a top-level setting: write it above the first [table]"
    # A single underscore where two stand for the dot.
    meant = [whole for whole in _paths() if whole.replace(".", "_") == path]
    meant += [f"{tables}{dot}{near}" for near in difflib.get_close_matches(name, known, 1)]
    if meant:
        return f"did you mean {_variable(meant[0]) if is_variable else meant[0]}?"
    return f"known here: {', '.join(known)}"


def _paths() -> Iterator[str]:
    for name, kind in get_type_hints(Settings).items():
        inner = _table_in(kind)
        yield from (f"{name}.{below}" for below in get_type_hints(inner)) if inner else (name,)


def _table_in(kind: Any) -> type[msgspec.Struct] | None:
    """Of a setting's type: of itself, of `… | None`, of a list."""
    kinds = (kind, *get_args(kind))
    return next((one for one in kinds if isinstance(one, type) and issubclass(one, msgspec.Struct)), None)


def _variable(path: str) -> str:
    return ENVIRONMENT_PREFIX + path.upper().replace(".", "__")


def _origin(path: str, origins: Mapping[str, str]) -> str:
    """Who said it, what it stands in (`groups` of `groups[0].mode`), or something in it."""
    for said in sorted(origins, key=len, reverse=True):
        if path == said or path.startswith((f"{said}.", f"{said}[")) or said.startswith(f"{path}."):
            return f"{ENVIRONMENT}, {_variable(said)}" if origins[said] == ENVIRONMENT else origins[said]
    return "?"


def _explained(message: str, said: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    """msgspec says what is wrong and where (`$.limits.idle_timeout_ms`); add the value, who set it and what may be said."""
    reason, _, where = message.partition(" - at `$")
    path = where.rstrip("`").lstrip(".")
    if missing := re.fullmatch("Object missing required field `(.+)`", reason):
        return f"{path}.{missing[1]}: it must be given in {path}" if path else UPSTREAM_MISSING
    value: Any = said
    if path == "ports[...]":
        node, value = _wrong_port(said["ports"])
        path = f"ports.{node}"
    else:
        for part in re.findall(r"[^.\[\]]+", path):
            value = value[int(part) if isinstance(value, list) else part]
    if reason.startswith("Invalid enum value"):
        reason = f"no such choice; choose {_either(_choices(path))}"
    return f"{path} = {value!r} ({_origin(path, origins)}): {reason[0].lower()}{reason[1:]}"


def _wrong_port(ports: Mapping[str, Any]) -> tuple[str, Any]:
    """msgspec does not say whose port it is."""
    for node, port in ports.items():
        try:
            msgspec.convert(port, Port, strict=False)
        except msgspec.ValidationError:
            return node, port
    raise AssertionError(f"{ports} are ports")


def _choices(path: str) -> tuple[str, ...]:
    kind: Any = Settings
    for name in re.findall("[a-z_]+", path):
        kind = get_type_hints(_table_in(kind) or kind)[name]
    return get_args(kind)


def _either(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


# ------------------------------------------------------------------------------------- what single types can't say


def check(settings: Settings, *, listens: bool = True, dials: bool = True) -> None:
    """Rules between settings, and against this machine's files."""
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
    _check_tls(settings.client_tls if listens else None, settings.upstream_tls if dials else None)


def _check_address(path: str, text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if colon and not host:
        raise BadSettings(f"{path} = {text!r}: the host is missing; for example 127.0.0.1:{port}")
    if _is_ipv6(host):
        raise BadSettings(f"{path} = {text!r}: write an IPv6 address in brackets: [{host}]:{port}")
    is_host = _is_name(host) or (host[0:1] + host[-1:] == "[]" and _is_ipv6(host[1:-1]))
    if not is_host or not PORT.fullmatch(port) or not 0 < int(port) < 65536:
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
    """What a resolver can be asked for. Beyond ASCII each part has another form there, and may be too long in it."""
    try:
        host.encode("idna")
    except UnicodeError:
        return False
    return HOST_NAME.fullmatch(host) is not None


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


def _is_ipv6(host: str) -> bool:
    return isinstance(_ip(host), ipaddress.IPv6Address)


def _is_wildcard(host: str) -> bool:
    ip = _ip(host)
    return ip is not None and ip.is_unspecified


def _is_within(host: str, bound: str) -> bool:
    """An address of this machine alone, and a listener on every address of its family."""
    ip, all_of_them = _ip(host), _ip(bound)
    return _is_wildcard(bound) and ip is not None and ip.is_loopback and type(ip) is type(all_of_them)


def _check_advertise(host: str) -> None:
    if _is_wildcard(host):
        raise BadSettings(f"advertise = {host!r}: clients can't be told to dial every address; name one host")
    if not _is_name(host) and not _is_ipv6(host):
        raise BadSettings(
            f"advertise = {host!r}: it must be a host only, an IPv6 address without brackets; ports follow `listen`"
        )


def _check_admin(settings: Settings, bootstrap: int) -> None:
    if settings.admin is not None and _check_address("admin", settings.admin)[1] == bootstrap:
        raise BadSettings(f"admin = {settings.admin!r}: the port of `listen`; choose another, or none to go without")


def _check_ports(settings: Settings, bootstrap: int) -> None:
    taken = {bootstrap: "listen"}
    if settings.admin is not None:
        taken[int(settings.admin.rpartition(":")[2])] = "admin"
    for node in settings.ports:
        if not NODE_ID.fullmatch(node):
            raise BadSettings(f"ports.{node}: not a node id; write the number of the broker, as in ports.2 = 19094")
    ports = dict(settings.ports)
    ports |= {str(node): bootstrap + 1 + node for node in settings.nodes if str(node) not in ports}
    for node, port in ports.items():
        if port > 65535:
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


def _check_sessions(translation: Translation) -> None:
    least, most = translation.min_session_ms, translation.max_session_ms
    if least > most:
        raise BadSettings(
            f"translation.min_session_ms = {least}: more than max_session_ms ({most}), so no client could join; "
            "give both what the brokers have as group.min.session.timeout.ms and group.max.session.timeout.ms"
        )


def _check_written(journal: str | None, traces: Traces) -> None:
    for path, file in (("translation.journal", journal), ("traces.file", traces.file)):
        # Both are replaced by new ones in the course of time, which is the end of a device.
        if file is not None and os.path.exists(file) and not os.path.isfile(file) and not os.path.isdir(file):
            raise BadSettings(f"{path} = {file!r}: not a file; name one, in a folder that the proxy may write")
    if journal and traces.file and os.path.realpath(journal) == os.path.realpath(traces.file):
        raise BadSettings(f"traces.file = {traces.file!r}: that is the journal; give each a file of its own")


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


def _check_tls(clients: ClientTls | None, brokers: UpstreamTls | None) -> None:
    if brokers is not None and (brokers.certificate_file is None) != (brokers.private_key_file is None):
        raise BadSettings("upstream_tls: certificate_file and private_key_file go together; set both or neither")
    try:
        if clients is not None:
            client_context(clients)
        if brokers is not None:
            upstream_context(brokers)
    except BadCertificate as failure:
        raise BadSettings(str(failure)) from failure


# ------------------------------------------------------------------------------------------------ what is effective


def effective(loaded: Loaded) -> str:
    """Everything, as TOML that can be given back with --config; who said it in the comments."""
    lines: list[str] = []
    tables: list[str] = []
    for name, value in msgspec.to_builtins(loaded.settings).items():
        if isinstance(value, dict) and name != "ports":
            tables += ["", f"[{name}]", *(_line(f"{name}.{inner}", inner, v, loaded) for inner, v in value.items())]
        else:
            lines.append(_line(name, name, value, loaded))
    return "\n".join([*lines, *tables, ""])


def _line(path: str, name: str, value: Any, loaded: Loaded) -> str:
    origin = loaded.origins.get(path, "default")
    if value is None:
        return f"# {name} is not set" if path != "admin" else f'admin = "none"  # {origin}'
    return f"{name} = {_toml(value)}  # {origin}"


def _toml(value: Any) -> str:
    """TOML has no null: what is None is left out."""
    if isinstance(value, dict):
        said = [f'"{key}" = {_toml(inner)}' for key, inner in value.items() if inner is not None]
        return f"{{ {', '.join(said)} }}" if said else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return msgspec.json.encode(value).decode()
