"""The Python that is checked in: for each API a module of typed structs and their schema, and an index of them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_protocol.generator.definitions import EMBEDDED, snake_case
from kafka_protocol.schema import NEVER, Field, Schema

SCALARS = {"bool": "bool", "float64": "float", "uuid": "bytes", "string": "str", "bytes": "bytes", "records": "bytes"}
BANNER = "# Generated from Kafka's message definitions by `make codec`. Do not edit.\n"


def api_name(schema: Schema) -> str:
    if schema.name in EMBEDDED:
        return "ConsumerProtocol"
    return schema.name.removesuffix("Request").removesuffix("Response")


def package(schemas: list[Schema]) -> dict[str, str]:
    """File name to text."""
    apis: dict[str, list[Schema]] = {}
    for schema in schemas:
        apis.setdefault(api_name(schema), []).append(schema)
    files = {f"{snake_case(name)}.py": _module(name, group) for name, group in apis.items()}
    files["__init__.py"] = _index(apis)
    keyed = {name: group for name, group in apis.items() if group[0].key >= 0}
    files["apis.py"] = _api_table(keyed)
    files["keys.py"] = _keys(keyed)
    return files


def _module(name: str, schemas: list[Schema]) -> str:
    lines = [BANNER + f'"""{name}."""\n', "from __future__ import annotations\n"]
    lines += ["from msgspec import Struct, field\n" if _any_list(schemas) else "from msgspec import Struct\n"]
    lines += ["from kafka_protocol.schema import Field, Layout, Schema\n"]
    for schema in schemas:
        for struct, fields in _structs(schema):
            lines += ["", *_class(struct, fields), ""]
    lines += ["SCHEMAS = {"]
    for schema in schemas:
        lines += [
            f"    {schema.name!r}: Schema(",
            f"        {schema.name!r}, {schema.key}, {schema.flexible_from},",
            "        (",
        ]
        for layout in schema.layouts:
            lines += [f"            Layout({layout.versions}, (", *_rows(layout.fields, 16), "            )),"]
        lines += ["        ),", "    ),"]
    return "\n".join([*lines, "}", ""])


def _any_list(schemas: list[Schema]) -> bool:
    return any(
        each.is_array for schema in schemas for _, fields in _structs(schema) for each in fields if each.default == []
    )


def _structs(schema: Schema) -> Iterator[tuple[str, list[Field]]]:
    """Every struct of a message with the fields of all versions, those first that others name."""
    found: dict[str, dict[str, Field]] = {}

    def visit(name: str, fields: Iterable[Field]) -> None:
        mine: dict[str, Field] = {}
        for each in fields:
            if each.element[0].isupper():
                visit(each.element, each.fields)
            mine[each.name] = each
        known = found.setdefault(name, {})
        for field_name, each in mine.items():
            known.setdefault(field_name, each)

    for layout in reversed(schema.layouts):
        visit(schema.name, layout.fields)
    for name, fields in found.items():
        yield name, list(fields.values())


def _class(name: str, fields: list[Field]) -> list[str]:
    lines = [f"class {name}(Struct, gc=False):"]
    for each in fields:
        default = "field(default_factory=list)" if each.default == [] else repr(each.default)
        lines.append(f"    {each.name}: {_annotation(each)} = {default}")
    return [*lines, "    unknown_tags: tuple[tuple[int, bytes], ...] = ()"]


def _annotation(each: Field) -> str:
    element = SCALARS.get(each.element) or ("int" if each.element[0].islower() else each.element)
    annotation = f"list[{element}]" if each.is_array else element
    is_struct = not each.is_array and each.element[0].isupper()
    nullable = each.nullable != NEVER or each.default is None or is_struct
    return f"{annotation} | None" if nullable else annotation


def _rows(fields: tuple[Field, ...], indent: int) -> list[str]:
    lines = []
    for each in fields:
        said = [f"{key}={value!r}" for key, value in each._asdict().items() if _matters(each, key)]
        head = " " * indent + f"Field({each.name!r}, {each.type!r}, " + ", ".join(said)
        if each.fields:
            lines += [head + (", " if said else "") + "fields=(", *_rows(each.fields, indent + 4), " " * indent + ")),"]
        else:
            lines.append(head.rstrip(", ") + "),")
    return lines


def _matters(each: Field, key: str) -> bool:
    return key not in ("name", "type", "fields") and getattr(each, key) != Field._field_defaults[key]


def _index(apis: dict[str, list[Schema]]) -> str:
    """All classes by name, each module loaded when first asked for: a sidecar uses a dozen of two hundred messages."""
    names = {
        struct: snake_case(api) for api, schemas in apis.items() for schema in schemas for struct, _ in _structs(schema)
    }
    lines = [BANNER + '"""Typed messages, loaded when first asked for."""\n', "from __future__ import annotations\n"]
    lines += ["from importlib import import_module", "from typing import TYPE_CHECKING, Any\n", "if TYPE_CHECKING:"]
    lines += [
        f"    from kafka_protocol.messages.{module} import {name} as {name}" for name, module in sorted(names.items())
    ]
    lines += ["", "MODULES = {", *(f"    {name!r}: {module!r}," for name, module in sorted(names.items())), "}\n\n"]
    lines += ["def __getattr__(name: str) -> Any:", "    if name not in MODULES:", "        raise AttributeError(name)"]
    lines += ["    value = getattr(import_module(f'kafka_protocol.messages.{MODULES[name]}'), name)"]
    return "\n".join([*lines, "    globals()[name] = value", "    return value", ""])


def _api_table(apis: dict[str, list[Schema]]) -> str:
    lines = [BANNER + '"""The APIs: key, name, versions, first flexible version."""\n']
    lines += ["APIS = {"]
    for name, schemas in sorted(apis.items(), key=lambda item: item[1][0].key):
        request = next(each for each in schemas if each.name.endswith("Request"))
        lines.append(f"    {request.key}: ({name!r}, {request.versions}, {request.flexible_from}),")
    return "\n".join([*lines, "}", ""])


def _keys(apis: dict[str, list[Schema]]) -> str:
    lines = [BANNER + '"""The keys of the APIs, by name."""\n']
    lines += [f"{snake_case(name).upper()} = {group[0].key}" for name, group in apis.items()]
    return "\n".join([*lines, ""])
