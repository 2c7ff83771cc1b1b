"""The Dockerfile beside the packages and the command: no container engine is needed, and no image is built."""

from __future__ import annotations

import re
import tomllib

from proxy.cli import _parser
from tests.deploy.manifests import DEPLOY, ROOT

DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def instructions(name: str) -> list[str]:
    return re.findall(rf"^{name} (.*)$", DOCKERFILE, re.MULTILINE)


def copied() -> set[str]:
    """From the source tree."""
    lines = [line.split()[:-1] for line in instructions("COPY") if not line.startswith("--from")]
    return {name for line in lines for name in line}


def test_every_package_is_copied_and_everything_copied_is_there() -> None:
    assert set(PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) <= copied()
    assert [name for name in copied() if not (ROOT / name).exists()] == []


def test_what_is_copied_is_not_ignored() -> None:
    kept = re.findall(r"^!(.*)$", (DEPLOY / "Dockerfile.dockerignore").read_text(), re.MULTILINE)
    assert set(kept) == copied()


def test_extras_are_the_projects() -> None:
    extras = re.findall(r"'\.\[(\w+)\]'", DOCKERFILE)
    assert extras
    assert set(extras) <= PROJECT["project"]["optional-dependencies"].keys()


def test_the_image_runs_the_command_as_nobody_in_particular() -> None:
    last = DOCKERFILE[DOCKERFILE.rindex("\nFROM ") :]
    entry = re.search(r'^ENTRYPOINT \["(.+)"\]$', last, re.MULTILINE)
    default = re.search(r"^CMD \[(.+)\]$", last, re.MULTILINE)
    user = re.search(r"^USER (\d+):", last, re.MULTILINE)
    assert entry is not None
    assert default is not None
    assert user is not None
    assert entry[1] in PROJECT["project"]["scripts"]
    assert _parser().parse_args([word.strip(' "') for word in default[1].split(",")]).command == "serve"
    assert int(user[1]) > 0


def test_the_python_is_one_that_the_project_takes() -> None:
    versions = re.findall(r"^FROM python:(\d+\.\d+)", DOCKERFILE, re.MULTILINE)
    assert set(versions) == {PROJECT["project"]["requires-python"].removeprefix(">=")}
