"""The Dockerfile beside the packages and the command: no container engine is needed, and no image is built.

With IMAGE=1 in the environment, the steps that build one are executed in a clean virtual environment, and what they
installed serves: a minute, and the network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

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


def build_steps() -> list[str]:
    """The commands of the stage that builds: what is copied is there already, and `python -m venv` is the first."""
    stage = DOCKERFILE[: DOCKERFILE.index("FROM build AS programs")]
    return [step.replace("\\\n", " ") for step in re.findall(r"^RUN ((?:.*\\\n)*.*)$", stage, re.MULTILINE)]


@pytest.mark.skipif("IMAGE" not in os.environ, reason="IMAGE=1 executes the steps that build the image")
def test_what_the_steps_install_in_a_clean_place_serves(tmp_path: Path) -> None:
    source, installed = tmp_path / "source", tmp_path / "installed"
    source.mkdir()
    for name in copied():
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, source)
    clean = {"PATH": f"{installed}/bin:{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
    for step in build_steps():
        there = step.replace("/opt/kip848-proxy", str(installed))
        done = subprocess.run(["sh", "-c", there], cwd=source, env=clean, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{there}\n{done.stderr}"
    command = [str(installed / "bin/kip848-proxy"), "serve", "--print-config", "--upstream", "kafka:9092"]
    printed = subprocess.run(command, cwd="/", env=clean, capture_output=True, text=True, check=True).stdout
    assert tomllib.loads(printed)["upstream"] == ["kafka:9092"]
    exporter = "from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter"
    subprocess.run([str(installed / "bin/python"), "-c", exporter], env=clean, check=True)
