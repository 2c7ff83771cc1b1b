"""Where settings come from: flags before environment before file before defaults. What is wrong is refused, with remedy.

The environment names a setting by its path: KIP848_PROXY_LISTEN, KIP848_PROXY_LIMITS__IDLE_TIMEOUT_MS. Lists are separated
by commas there and in flags; ports are pairs, NODE=PORT; groups can stand in the file only.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from proxy.settings import BadSettings, Port, Settings
from proxy.soundness import UPSTREAM_MISSING, check

ENVIRONMENT_PREFIX = "KIP848_PROXY_"
ENVIRONMENT = "environment"
# `none`, or an empty word, in a flag or in the environment takes back what the file says of these.
MAY_BE_NONE = ("admin", "translation.journal", "traces.file")
# What Kubernetes tells every pod of each Service of its namespace. One may be named kip848-proxy, or begin so.
SERVICE, SERVICE_HOST = "KIP848_PROXY", "_SERVICE_HOST"
SERVICE_LINK = re.compile(r"_SERVICE_(HOST|PORT(_\w+)?)|_PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?")


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
    except (ValueError, RecursionError) as error:
        # Python's own bounds are among them: for the digits of a number, and for what is nested.
        raise BadSettings(f"{file}: not TOML: {error}") from error


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        # Node ids are keys of `ports`, not settings of their own. An empty table says something: [upstream_tls] is TLS.
        if isinstance(value, dict) and value and f"{prefix}{name}" != "ports":
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    services = [
        name.removesuffix(SERVICE_HOST)
        for name in environment
        if name.startswith(SERVICE) and name.endswith(SERVICE_HOST)
    ]
    return {
        name.removeprefix(ENVIRONMENT_PREFIX).lower().replace("__", "."): value
        for name, value in environment.items()
        if name.startswith(ENVIRONMENT_PREFIX)
        and not any(SERVICE_LINK.fullmatch(name.removeprefix(service)) for service in services)
    }


def _put(said: dict[str, Any], path: str, value: Any) -> None:
    *tables, name = path.split(".")
    for table in tables:
        inner = said.setdefault(table, {})
        if not isinstance(inner, dict):
            raise BadSettings(
                f"{path}: {table} is {_shown(inner)}, not a table; write [{table}] and the settings below it"
            )
        said = inner
    if path in ("upstream", "nodes") and isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    elif path == "ports" and isinstance(value, str):
        value = dict(_pair(pair.strip()) for pair in value.split(",") if pair.strip())
    elif path in MAY_BE_NONE and value in ("none", ""):
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
            raise BadSettings(f"{path} ({_origin(path, origins)}): no such setting; {_hint(path, known, origins)}")
        inner = _table_in(known[name])
        several = isinstance(value, list)
        for index, table in enumerate(value if several else [value]):
            if inner is not None and isinstance(table, dict):
                _refuse_unknown(table, inner, f"{path}[{index}]." if several else f"{path}.", origins)


def _hint(path: str, known: Mapping[str, Any], origins: Mapping[str, str]) -> str:
    """What was meant by a setting that is not known here."""
    tables, dot, name = path.rpartition(".")
    is_variable = origins.get(path) == ENVIRONMENT
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
    return f"{path} = {_shown(value)} ({_origin(path, origins)}): {reason[0].lower()}{reason[1:]}"


def _shown(value: Any) -> str:
    try:
        return repr(value)
    except ValueError:
        # Said in hexadecimal digits: Python writes none of so many decimal ones.
        return "a very large number"


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
