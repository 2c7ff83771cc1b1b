"""Where settings come from: flags before environment before file before defaults. What is wrong is refused, with remedy.

The environment names a setting by its path: KIP848_PROXY_LISTEN, KIP848_PROXY_LIMITS__IDLE_TIMEOUT_MS. Lists are separated
by commas there and in flags.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from proxy.settings import Settings
from proxy.tls import BadCertificate, client_context, upstream_context

ENVIRONMENT_PREFIX = "KIP848_PROXY_"
WILDCARDS = ("0.0.0.0", "::", "")


class BadSettings(Exception):
    """Path, value, what is wrong and what to do, in one line."""


class Loaded(msgspec.Struct, frozen=True):
    settings: Settings
    # Path of each setting that is not a default, and who said it.
    origins: dict[str, str]


def load(flags: Mapping[str, Any], environment: Mapping[str, str], file: Path | None) -> Loaded:
    """Flags by path (`limits.idle_timeout_ms`). Raises BadSettings."""
    said: dict[str, Any] = {}
    origins: dict[str, str] = {}
    sources = [
        (_from_file(file) if file else {}, str(file)),
        (_from_environment(environment), "environment"),
        (flags, "flag"),
    ]
    for values, origin in sources:
        for path, value in values.items():
            _put(said, path, value)
            origins[path] = origin
    _refuse_unknown(said, Settings, "", origins)
    try:
        settings = msgspec.convert(said, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise BadSettings(_explained(str(error), said, origins)) from error
    check(settings)
    return Loaded(settings, origins)


def _from_file(file: Path) -> dict[str, Any]:
    try:
        return dict(_flat(tomllib.loads(file.read_text())))
    except OSError as failure:
        raise BadSettings(f"{file}: {failure.strerror}; --config must name a readable TOML file") from failure
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSettings(f"{file}: not TOML: {error}") from error


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        # Node ids are keys of `ports`, not settings of their own.
        if isinstance(value, dict) and f"{prefix}{name}" != "ports":
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
        value = dict(pair.strip().split("=", 1) for pair in value.split(",") if "=" in pair)
    elif path == "admin" and value in ("none", ""):
        value = None
    said[name] = value


def _refuse_unknown(said: Mapping[str, Any], struct: type, prefix: str, origins: Mapping[str, str]) -> None:
    known = get_type_hints(struct)
    for name, value in said.items():
        path = f"{prefix}{name}"
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = f"did you mean {prefix}{near[0]}?" if near else f"known here: {', '.join(known)}"
            where = origins.get(path) or next((o for p, o in origins.items() if p.startswith(path)), "?")
            raise BadSettings(f"{path} ({where}): no such setting; {hint}")
        inner = next((t for t in (known[name], *get_args(known[name])) if _is_table(t)), None)
        if inner is not None and isinstance(value, dict):
            _refuse_unknown(value, inner, f"{path}.", origins)


def _is_table(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


def _explained(message: str, said: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    """msgspec says what is wrong and where (`$.limits.idle_timeout_ms`); add the value and who set it."""
    reason, _, where = message.partition(" - at `$")
    path = where.rstrip("`").lstrip(".")
    if not path:
        if "upstream" in message:
            return "upstream: it must be given: the brokers to stand in front of, --upstream HOST:PORT[,HOST:PORT]"
        return message
    value: Any = said
    for part in re.split(r"[.\[]", path):
        if isinstance(value, dict):
            value = value.get(part, "?")
    return f"{path} = {value!r} ({origins.get(path, 'set')}): {reason[0].lower()}{reason[1:]}"


# ------------------------------------------------------------------------------------- what single types can't say


def check(settings: Settings) -> None:
    """Rules between settings, and against this machine's files."""
    if not settings.upstream:
        raise BadSettings(
            "upstream: it must be given: the brokers to stand in front of, --upstream HOST:PORT[,HOST:PORT]"
        )
    for seed in settings.upstream:
        _check_address("upstream", seed)
    host, port = _check_address("listen", settings.listen)
    _check_admin(settings, port)
    if settings.sni is None:
        if settings.advertise is None and host in WILDCARDS:
            raise BadSettings(
                f"listen = {settings.listen!r}: clients can't be told to dial every address; "
                "set `advertise` to the host name or address that they reach this machine by"
            )
        _check_ports(settings, port)
    else:
        _check_sni(settings)
    _check_files(settings)


def _check_address(path: str, text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise BadSettings(f"{path} = {text!r}: not HOST:PORT; for example localhost:9092 or [::1]:9092")
    if ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise BadSettings(f"{path} = {text!r}: write an IPv6 address in brackets: [{host}]:{port}")
    if not host:
        raise BadSettings(f"{path} = {text!r}: the host is missing; for example 127.0.0.1:{port}")
    return host.strip("[]"), int(port)


def _check_admin(settings: Settings, bootstrap: int) -> None:
    if settings.admin is not None and _check_address("admin", settings.admin)[1] == bootstrap:
        raise BadSettings(f"admin = {settings.admin!r}: the port of `listen`; choose another, or none to go without")


def _check_ports(settings: Settings, bootstrap: int) -> None:
    taken = {bootstrap: "listen"}
    if settings.admin is not None:
        taken[int(settings.admin.rpartition(":")[2])] = "admin"
    for node in settings.ports:
        if not (node.isascii() and node.isdigit()):
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
    if settings.sni.broker_pattern.count("{node}") != 1:
        raise BadSettings(
            f"sni.broker_pattern = {settings.sni.broker_pattern!r}: it must hold {{node}} once, "
            "as in broker-{node}.kafka.example"
        )


def _check_files(settings: Settings) -> None:
    tls = settings.upstream_tls
    if tls is not None and (tls.certificate_file is None) != (tls.private_key_file is None):
        raise BadSettings("upstream_tls: certificate_file and private_key_file go together; set both or neither")
    try:
        if settings.client_tls is not None:
            client_context(settings.client_tls)
        if tls is not None:
            upstream_context(tls)
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
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{key}" = {_toml(inner)}' for key, inner in value.items()) + " }" if value else "{}"
    return msgspec.json.encode(value).decode()
