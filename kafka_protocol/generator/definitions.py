"""Reading Kafka's definitions, and uniting those of several releases.

The first release wins wherever it still defines a version; older releases fill in the versions that it dropped.
"""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path
from typing import Any

from kafka_protocol.schema import FOREVER, NEVER, Field, Layout, Schema

EMBEDDED = ("ConsumerProtocolSubscription", "ConsumerProtocolAssignment")

Definition = dict[str, Any]


def read_jar(jar: Path) -> dict[str, Definition]:
    with zipfile.ZipFile(jar) as archive:
        texts = [
            archive.read(name).decode() for name in archive.namelist() if re.match(r"common/message/.*\.json", name)
        ]
    definitions = [json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)) for text in texts]
    return {definition["name"]: definition for definition in definitions}


def unite(releases: list[dict[str, Definition]]) -> list[Schema]:
    """All that a client may say to a broker and be told, by name; newest release first."""
    newest = releases[0]
    keys = {each["apiKey"] for each in newest.values() if "broker" in each.get("listeners", ())}
    names = sorted(name for name, each in newest.items() if each.get("apiKey", -1) in keys or name in EMBEDDED)
    return [_schema(name, [release[name] for release in releases if name in release]) for name in names]


def _schema(name: str, definitions: list[Definition]) -> Schema:
    layouts: list[Layout] = []
    oldest = FOREVER + 1
    for definition in definitions:
        first, last = versions(definition["validVersions"])
        last = min(last, oldest - 1)
        if first <= last:
            layouts.append(Layout((first, last), _fields(name, definition, first, last)))
            oldest = first
    flexible = versions(definitions[0]["flexibleVersions"])
    return Schema(
        name, definitions[0].get("apiKey", -1), flexible[0] if flexible != NEVER else FOREVER, tuple(sorted(layouts))
    )


def _fields(message: str, definition: Definition, first: int, last: int) -> tuple[Field, ...]:
    common = {struct["name"]: struct["fields"] for struct in definition.get("commonStructs", ())}

    def convert(fields: list[Definition]) -> tuple[Field, ...]:
        converted = (convert_one(each) for each in fields)
        return tuple(field for field in converted if field.versions[0] <= last and field.versions[1] >= first)

    def convert_one(each: Definition) -> Field:
        array, element = "[]" * each["type"].startswith("[]"), each["type"].removeprefix("[]")
        children = each.get("fields") or common.get(element, [])
        return Field(
            name=snake_case(each["name"]),
            type=array + (class_name(message, element) if children or element[0].isupper() else element),
            versions=versions(each["versions"]),
            default=_default(array + element, each.get("default")),
            nullable=versions(each.get("nullableVersions")),
            tagged=versions(each.get("taggedVersions")),
            tag=each.get("tag", -1),
            never_compact=each.get("flexibleVersions") == "none",
            fields=convert(children),
        )

    return convert(definition["fields"])


def versions(text: str | None) -> tuple[int, int]:
    """ "3+", "2-4", "7" or "none", as the definitions have them."""
    if text is None or text.strip() == "none":
        return NEVER
    first, dash, last = text.strip().partition("-")
    if first.endswith("+"):
        return int(first[:-1]), FOREVER
    return int(first), int(last) if dash else int(first)


def snake_case(name: str) -> str:
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    return snake + "_" if snake in ("from", "class", "def", "is", "in") else snake


def class_name(message: str, struct: str) -> str:
    return struct if struct.startswith(message) else message + struct


def _default(type_: str, text: Any) -> Any:
    if text == "null":
        return None
    if type_.startswith("[]"):
        return []
    if type_ == "bool":
        return str(text).lower() == "true"
    if type_ == "string":
        return text or ""
    if type_ in ("bytes", "records"):
        return b""
    if type_ == "uuid":
        return bytes(16)
    if type_ == "float64":
        return float(text or 0)
    if type_[0].islower():
        return int(str(text), 0) if text not in (None, "") else 0
    return None
