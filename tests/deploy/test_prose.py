"""The documents that people act by, beside the code: settings, log lines, causes, metrics and links that they name exist."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

from proxy.causes import Cause
from proxy.configuration import load
from proxy.settings import Settings
from tests.deploy.manifests import DEPLOY, ROOT

DOCUMENTS = [
    *(ROOT / "docs" / f"{name}.md" for name in ("runbook", "troubleshooting", "limits", "security")),
    DEPLOY / "README.md",
]
TROUBLESHOOTING = (ROOT / "docs/troubleshooting.md").read_text()
SOURCES = "\n".join(path.read_text() for package in ("proxy", "translation") for path in (ROOT / package).rglob("*.py"))


def settings(struct: type, prefix: str = "") -> Iterator[str]:
    for name, kind in get_type_hints(struct).items():
        yield prefix + name
        for inner in (kind, *get_args(kind)):
            if isinstance(inner, type) and issubclass(inner, msgspec.Struct):
                yield from settings(inner, f"{prefix}{name}.")


def named(pattern: str, text: str) -> set[str]:
    found = set(re.findall(pattern, text))
    assert found
    return found


def test_settings_that_are_named_exist() -> None:
    tables = "|".join({path.split(".")[0] for path in settings(Settings) if "." in path})
    text = "\n".join(path.read_text() for path in DOCUMENTS)
    assert named(rf"`((?:{tables})\.\w+)", text) <= set(settings(Settings)) | {"traces.json"}


def test_metrics_that_are_named_exist() -> None:
    text = "\n".join(path.read_text() for path in DOCUMENTS)
    assert named(r"`(kip848_proxy_\w+)", text) <= named(r"`(kip848_proxy_\w+)`", (ROOT / "docs/metrics.md").read_text())


def test_causes_of_disconnects_that_are_named_exist() -> None:
    assert named(r"cause=([a-z_]+)`", TROUBLESHOOTING) <= {cause.value for cause in Cause}


@pytest.mark.parametrize(
    "line",
    [
        "upstream unreachable, trying again",
        "brokers are learnt from clients",
        "a broker has no listener",
        "certificates not reloaded",
        "the certificate has expired",
        "stopping at once",
        "accepting paused",
        "client too old for its broker",
        "group passes untranslated",
        "group refused",
        "join refused",
        "member joins",
        "member is asked to rejoin",
        "member is told its partitions",
        "member leaves",
        "member adopted",
        "the journal cannot be written",
        "our mistake",
        "raised to nobody",
        "traces cannot be exported",
        "traces are exported again",
        "the last traces were not exported in time",
        "a Kafka Streams assignor",
        "a Faust assignor",
        "the brokers do not offer ConsumerGroupHeartbeat",
        "it is a member of a classic group",
        "a broker translates for this member, or it needs no translation",
        "partitions to give up",
        "new partitions to take",
        "session ended",
        "rebalance timeout",
        "seen elsewhere",
        "was elsewhere",
    ],
)
def test_what_is_looked_up_is_what_is_said(line: str) -> None:
    assert f'"{line}"' in SOURCES
    assert f"`{line}" in TROUBLESHOOTING


def links() -> Iterator[tuple[Path, str]]:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)]+)\)", document.read_text()):
            yield document, target


@pytest.mark.parametrize(("document", "target"), list(links()))
def test_links_lead_somewhere(document: Path, target: str) -> None:
    file, _, heading = target.partition("#")
    path = document.parent / file if file else document
    headings = [title.lower().replace(" ", "-") for title in re.findall(r"^#+ (.+)$", path.read_text(), re.MULTILINE)]
    assert not heading or heading in headings


@pytest.mark.parametrize("name", ["proxy/", "tests/", "deploy/", "docs/"])
def test_files_that_are_named_exist(name: str) -> None:
    text = "\n".join(path.read_text() for path in DOCUMENTS)
    for file in re.findall(rf"`({name}[\w./-]+)`", text):
        assert (ROOT / file).exists(), file


def examples() -> list[dict[str, Any]]:
    """The rules in the runbook, as a reader would put them in a file."""
    text = (ROOT / "docs/runbook.md").read_text()
    blocks = re.findall(r"^ {7}(?:\[\[groups\]\]\n(?: {7}.*\n|\n)+)", text, re.MULTILINE)
    return [tomllib.loads(re.sub(r"^ {7}", "", block, flags=re.MULTILINE)) for block in blocks]


def test_the_rules_of_the_runbook_are_taken(tmp_path: Path) -> None:
    assert len(examples()) == 2
    for example in examples():
        file = tmp_path / "proxy.toml"
        rules = "\n".join(
            "[[groups]]\n" + "\n".join(f'{key} = "{value}"' for key, value in rule.items())
            for rule in example["groups"]
        )
        file.write_text(f'upstream = ["kafka:9092"]\n{rules}\n')
        assert len(load({}, {}, file).settings.groups) == len(example["groups"])


PACKAGES = [
    "proxy",
    "proxy/groups",
    "proxy/tracing",
    "translation",
    "kafka_protocol",
    "simulation",
    "pipeline",
    "demo",
    "demo/cluster",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_names_every_file_of_its_own(package: str) -> None:
    said = (ROOT / package / "__init__.py").read_text()
    files = {path.stem for path in (ROOT / package).glob("*.py") if not path.stem.startswith("__")}
    assert {name for name in files if not re.search(rf"\b{name}\b", said)} == set()
