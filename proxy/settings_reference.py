"""python -m proxy.settings_reference: docs/settings.md, printed from the settings' own structs and the comments in them."""

from __future__ import annotations

import ast
import inspect
import typing
from collections.abc import Iterator
from typing import Any

import msgspec

from proxy import settings
from proxy.settings import Settings

HEAD = """\
# Settings

Printed from `proxy/settings.py` by `python -m proxy.settings_reference`; a test fails when they differ.

A setting is given by its path: in the file (`[limits]`, `idle_timeout_ms = 60000`), in the environment
(`KIP848_PROXY_LIMITS__IDLE_TIMEOUT_MS=60000`), or by a flag where `kip848-proxy serve --help` has one. Flags win over the
environment, the environment over the file. In the environment and in flags, lists are separated by commas
(`KIP848_PROXY_NODES=0,1,2`) and `ports` are pairs of node and port (`KIP848_PROXY_PORTS=1001=19500,7=19501`); `groups` and
`upstream_tls.identities` can stand in the file only. `none`, or an empty word, says that there is no `admin`,
`translation.journal` or `traces.file` (`KIP848_PROXY_TRANSLATION__JOURNAL=`); a file of that name is `./none`. What is wrong
is refused at start with its path, its value and the remedy; `kip848-proxy serve --print-config` prints what is effective and
who said so.
"""


def reference() -> str:
    return HEAD + "".join(_table("", Settings))


def _table(prefix: str, struct: type[msgspec.Struct]) -> Iterator[str]:
    comments = _comments(struct)
    hints = typing.get_type_hints(struct, include_extras=True)
    nested = []
    yield f"\n## {prefix.rstrip('.') or 'Top level'}\n\n{inspect.getdoc(struct)}\n\n"
    yield "| setting | default | may be | meaning |\n|---|---|---|---|\n"
    for field in msgspec.structs.fields(struct):
        inner = _struct_in(hints[field.name])
        if inner is not None:
            nested.append((f"{prefix}{field.name}.", inner))
            continue
        cells = (f"`{prefix}{field.name}`", _default(field), _bounds(hints[field.name]), comments.get(field.name, ""))
        yield f"| {' | '.join(cells)} |\n"
    for path, inner in nested:
        yield from _table(path, inner)


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "*must be given*"
    default = field.default_factory() if field.default_factory is not msgspec.NODEFAULT else field.default
    if default is None:
        return "none"
    return f"`{msgspec.json.encode(default).decode()}`"


def _bounds(hint: Any) -> str:
    """Its own, or those of what stands in it (a list, a table, `… | None`); empty where only the type bounds it."""
    if isinstance(hint, msgspec.Meta):
        if hint.min_length:
            return "not empty"
        return f"{hint.ge} or more" if hint.le is None else f"{hint.ge} to {hint.le}"
    if typing.get_origin(hint) is typing.Literal:
        return ", ".join(f"`{choice}`" for choice in typing.get_args(hint))
    inside = [*getattr(hint, "__metadata__", ()), *typing.get_args(hint)]
    return next(filter(None, map(_bounds, inside)), "")


def _struct_in(hint: Any) -> type[msgspec.Struct] | None:
    for kind in (hint, *typing.get_args(hint)):
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return kind
    return None


def _comments(struct: type) -> dict[str, str]:
    """The comment lines above each field."""
    source = inspect.getsource(settings).splitlines()
    body = next(
        node.body
        for node in ast.parse("\n".join(source)).body
        if isinstance(node, ast.ClassDef) and node.name == struct.__name__
    )
    found = {}
    for node in body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            lines: list[str] = []
            above = node.lineno - 2
            while source[above].strip().startswith("#"):
                lines.insert(0, source[above].strip().removeprefix("#").strip())
                above -= 1
            found[node.target.id] = " ".join(lines)
    return found


if __name__ == "__main__":
    print(reference(), end="")
